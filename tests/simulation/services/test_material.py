from __future__ import annotations

import json
import math
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from annotation.errors import InputError
from annotation.models import Profile
from simulation.models import PreferenceType
from simulation.services import material, schemas
from simulation.services.grids import grid
from tests import factories

pytestmark = pytest.mark.django_db

SCHEMA = [
    {
        "domain": "Restaurants",
        "affinities": [
            {
                "name": "Cuisine",
                "has_multiple_values": True,
                "possible_values": ["Thai", "Greek", "Mexican", "Thai food"],
            },
            {"name": "Favourite", "is_categorical": False, "possible_values": ["Olive"]},
        ],
    }
]


def write(folder: Path, content) -> Path:
    path = folder / "schema.json"
    path.write_text(json.dumps(content))
    return path


def profile(**preferences):
    return factories.ProfileFactory(source="made", preferences={"Restaurants": preferences})


class TestSchema:
    def test_importing_twice_changes_nothing(self, tmp_path):
        path = write(tmp_path, SCHEMA)

        assert schemas.load(by=None, path=path, source="made") == {"created": 2, "updated": 0, "unchanged": 0}
        assert schemas.load(by=None, path=path, source="made") == {"created": 0, "updated": 0, "unchanged": 2}

    def test_a_change_is_taken_over(self, tmp_path):
        schemas.load(by=None, path=write(tmp_path, SCHEMA), source="made")
        changed = json.loads(json.dumps(SCHEMA))
        changed[0]["affinities"][0]["possible_values"] = ["Thai"]

        assert schemas.load(by=None, path=write(tmp_path, changed), source="made")["updated"] == 1
        assert PreferenceType.objects.get(name="Cuisine").possible_values == ["Thai"]

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ([{"affinities": []}], "0.domain"),
            ([{"domain": "A", "affinities": [{"name": ""}]}], "0.affinities.0.name"),
            ([{"domain": "A", "affinities": [{"name": "x"}, {"name": "x"}]}], "A: x stands there twice"),
            ({"no": "list"}, "file"),
        ],
    )
    def test_a_bad_file_is_named_with_its_field(self, tmp_path, content, message):
        with pytest.raises(InputError, match=message):
            schemas.load(by=None, path=write(tmp_path, content), source="made")
        assert not PreferenceType.objects.exists()

    def test_a_file_that_is_not_there(self, tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            schemas.load(by=None, path=tmp_path / "none.json", source="made")


class TestProfiles:
    def test_evenness_over_all_possible_values(self, tmp_path):
        schemas.load(by=None, path=write(tmp_path, SCHEMA), source="made")
        profile(Cuisine=["Thai", "Greek"], Favourite="Sushi Bar")
        profile(Cuisine=["Thai", "Greek"], Favourite="Olive")

        found = {one["type"]: one for one in material.of_profiles("made")["preferences"]}

        # two of four values, each twice: H = log 2, over log 4
        assert found["Cuisine"]["evenness"]["value"] == pytest.approx(0.5)
        assert (found["Cuisine"]["n_possible"], found["Cuisine"]["n_used"], found["Cuisine"]["held"]) == (4, 2, 4)
        assert found["Favourite"]["n_possible"] is None, "the schema has only examples"
        assert found["Favourite"]["evenness"]["value"] == pytest.approx(1)

    def test_a_value_that_the_schema_does_not_have_is_said(self, tmp_path):
        schemas.load(by=None, path=write(tmp_path, SCHEMA), source="made")
        profile(Cuisine=["Martian"])

        found = material.of_profiles("made")["preferences"][0]
        assert found["not_in_schema"] == ["Martian"]
        assert found["n_possible"] == 5

    def test_demographics(self):
        for gender in ("F", "F", "M", ""):
            factories.ProfileFactory(source="made", demographics={"gender": gender, "user_id": "x"}, preferences={})

        [found] = material.of_profiles("made")["demographics"]
        assert (found["field"], found["n"]) == ("gender", 3)
        assert [(one["value"], one["n"]) for one in found["shares"]] == [("F", 2), ("M", 1)]


def test_words_of_dialogues():
    turns = [{"role": "user", "content": "one two"}, {"role": "assistant", "content": "three four five six"}]
    factories.DialogueFactory.create_batch(2, source="made", turns=turns)

    found = material.of_dialogues("made")

    assert (found["dialogues"], found["turns"]["value"], found["words"]["value"]) == (2, 2, 6)
    user, assistant = found["sides"]
    assert (user["side"], user["n_tokens"], user["dist_1"]["value"]) == ("user", 4, 0.5)
    assert assistant["self_bleu"]["value"] == pytest.approx(1)


def test_nothing_is_not_an_error():
    assert material.of_dialogues("none")["turns"]["reason"]
    assert material.of_profiles("none")["preferences"] == []


class TestRealData:
    """The published profiles, held to a calculation that shares nothing with Concord's."""

    @pytest.fixture
    def folder(self, shared_data):
        folder = shared_data / "personalens"
        call_command("import_personalens", str(folder), stdout=StringIO())
        return folder

    def documents(self, folder):
        for path in sorted((folder / "profile").glob("user*")):
            yield path.name, json.loads((path / "profile.json").read_text())

    def test_evenness_and_counts_equal_an_independent_calculation(self, folder):
        schemas.load(by=None, path=folder / "schema.json", source="personalens")
        closed = {
            (domain["domain"], one["name"]): one["possible_values"]
            for domain in json.loads((folder / "schema.json").read_text())
            for one in domain["affinities"]
            if one["is_categorical"]
        }
        expected: dict[tuple[str, str], Counter] = {}
        for _, document in self.documents(folder):
            for domain, types in document["affinities"].items():
                for name, value in types.items():
                    held = value if isinstance(value, list) else [value]
                    for one in {str(part) for part in held if part is not None}:
                        expected.setdefault((domain, name), Counter())[one] += 1

        found = {(one["domain"], one["type"]): one for one in material.of_profiles("personalens")["preferences"]}

        assert found.keys() == expected.keys()
        assert len(found) > 50
        for key, counts in expected.items():
            assert found[key]["counts"] == dict(counts), key
            n = len(set(closed[key]) | set(counts)) if key in closed else len(counts)
            total = sum(counts.values())
            entropy = -sum(k / total * math.log(k / total) for k in counts.values())
            if n > 1:
                assert found[key]["evenness"]["value"] == pytest.approx(entropy / math.log(n)), key
            else:
                assert found[key]["evenness"]["reason"] == "only one value is possible"

    def test_the_sampler_gives_exactly_what_the_masks_allow(self, folder):
        expected = set()
        for user, document in self.documents(folder):
            for name in ("tasks.json", "tasks_md.json"):
                for record in json.loads((folder / "profile" / user / name).read_text()).values():
                    if all(document["interests"].get(domain, 1) for domain in record["Relevant Domains"]):
                        expected.add((user, record["task_id"]))

        found = grid(users="all", tasks="all")
        assert {(one.user, one.task) for one in found.scenarios} == expected
        assert len(expected) == len(found.scenarios)

        some = grid(users="user0,user7", tasks="multi")
        wanted = {(user, task) for user, task in expected if user in ("user0", "user7") and task.startswith("MD-")}
        assert {(one.user, one.task) for one in some.scenarios} == wanted

    def test_a_mask_that_is_set_takes_out_what_it_forbids(self, folder):
        whole = {(one.user, one.task) for one in grid(users="user0", tasks="all").scenarios}
        one = Profile.objects.get(external_id="user0")
        one.interests = one.interests | {"Hotels": 0}
        one.save()

        left = grid(users="user0", tasks="all").scenarios
        gone = whole - {(one.user, one.task) for one in left}
        assert gone
        assert not any("Hotels" in one.domains for one in left)
