from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from django.core.cache import cache
from django.core.management import call_command

from annotation.corpus.models import Dialogue, Profile
from core.errors import InputError, NotComputedError
from core.jobs import waiting
from simulation import tasks
from simulation.experiments.models import PreferenceType
from simulation.experiments.services import schemas
from simulation.experiments.services.grids import grid
from simulation.results import charts
from simulation.results.services import measure_tables, measures
from tests.support import by_hand, by_hand_datasets, factories

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
    path.write_text(json.dumps(content, indent=1))
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
            ([{"affinities": []}], "line 2, field domain: is missing"),
            ([{"domain": "A", "affinities": [{"name": ""}]}], "line 6, field affinities.0.name: is empty"),
            (
                [{"domain": "A", "affinities": [{"name": "x"}, {"name": "x"}]}],
                "line 9, field affinities.1.name: A: x stands there twice",
            ),
            ({"no": "list"}, "line 1: a JSON list of domains is expected"),
        ],
    )
    def test_a_bad_file_is_named_with_its_field(self, tmp_path, content, message):
        with pytest.raises(InputError, match=message):
            schemas.load(by=None, path=write(tmp_path, content), source="made")
        assert not PreferenceType.objects.exists()

    def test_a_file_that_is_not_there(self, tmp_path):
        with pytest.raises(InputError, match="does not exist"):
            schemas.load(by=None, path=tmp_path / "none.json", source="made")


class TestProfiles:
    def test_evenness_over_values_that_occur_and_over_possible_ones(self, tmp_path):
        schemas.load(by=None, path=write(tmp_path, SCHEMA), source="made")
        profile(Cuisine=["Thai", "Greek"], Favourite="Sushi Bar")
        profile(Cuisine=["Thai", "Greek"], Favourite="Olive")

        found = {one["type"]: one for one in measures.measure_profiles("made")["preferences"]}

        # two of four values, each twice: H = log 2, over log 2 and over log 4
        cuisine, favourite = found["Cuisine"], found["Favourite"]
        assert (cuisine["occurring"]["value"], cuisine["possible"]["value"]) == (1, pytest.approx(0.5))
        assert (cuisine["n_possible"], cuisine["n_occurring"], cuisine["n"], cuisine["profiles"]) == (4, 2, 4, 2)
        assert (favourite["is_categorical"], favourite["n_possible"]) == (False, None), "the schema has only examples"
        assert favourite["occurring"]["value"] == pytest.approx(1)
        assert favourite["possible"]["reason"] == "any value is possible: there is no list of them"

    def test_a_list_counts_every_item_as_it_stands(self):
        profile(Cuisine=["Thai", "Thai", "thai"])

        assert measures.measure_profiles("made")["preferences"][0]["counts"] == {"Thai": 2, "thai": 1}

    def test_a_value_that_the_schema_does_not_have_is_said(self, tmp_path):
        schemas.load(by=None, path=write(tmp_path, SCHEMA), source="made")
        profile(Cuisine=["Martian", "Thai", "Greek", "Mexican", "Thai food"])

        found = measures.measure_profiles("made")["preferences"][0]
        assert found["unlisted"] == ["Martian"]
        assert (found["n_possible"], found["n_occurring"], found["generated"]) == (4, 5, 4)

    def test_tasks_and_scenarios_of_each_domain(self):
        single = factories.TaskFactory(source="made", domains=["Music"])
        several = factories.TaskFactory(source="made", domains=["Music", "Alarm"], is_multi_domain=True)
        for task, n in ((single, 3), (several, 2)):
            factories.ScenarioFactory.create_batch(n, task=task)

        assert measures.measure_profiles("made")["domains"] == [
            {"domain": "Alarm", "tasks": 1, "scenarios": 2},
            {"domain": "Music", "tasks": 2, "scenarios": 5},
        ]

    def test_demographics(self):
        for gender in ("F", "F", "M", ""):
            factories.ProfileFactory(source="made", demographics={"gender": gender, "user_id": "x"}, preferences={})

        [found] = measures.measure_profiles("made")["demographics"]
        assert (found["field"], found["n"]) == ("gender", 3)
        assert [(one["value"], one["n"]) for one in found["shares"]] == [("F", 2), ("M", 1)]


def talk(scenario, **turns):
    content = [{"role": role, "content": text} for role, text in turns.items()]
    return factories.DialogueFactory(source="made", scenario=scenario, turns=content)


def test_words_of_dialogues():
    single, several = (
        factories.ScenarioFactory(task=factories.TaskFactory(is_multi_domain=several)) for several in (False, True)
    )
    for _ in range(2):
        talk(single, user="one two", assistant="three four five six")
    talk(several, user="seven", assistant="eight")

    found = measures.measure_dialogues("made")

    assert (found["dialogues"], found["turns"]["value"], found["words"]["value"]) == (3, 2, pytest.approx(14 / 3))
    assert (found["turns"]["n_items"], found["turns"]["n_raters"]) == (3, 2), "dialogues, and their profiles"
    user, both = found["diversity"]["user"], found["diversity"]["both"]
    assert user["single"]["pooled"]["dist_1"]["value"] == 0.5, "the same two words twice"
    assert user["single"]["by_dialogue"]["dist_1"]["value"] == 1
    assert [user[tasks]["pooled"]["n_tokens"] for tasks in measures.TASKS] == [4, 1, 5]
    assert (both["all"]["dialogues"], both["all"]["pooled"]["n_utterances"]) == (3, 6)
    assert found["diversity"]["assistant"]["single"]["self_bleu"]["value"] == pytest.approx(1)


@pytest.mark.long
def test_all_dialogues_are_read_without_a_query_for_each(django_assert_num_queries):
    turns = [{"role": "user", "content": "hello"}]
    Dialogue.objects.bulk_create(
        Dialogue(source="made", external_id=str(n), content_hash=str(n), turns=turns) for n in range(2100)
    )

    with django_assert_num_queries(1):
        found = measures.measure_dialogues("made")
    assert found["diversity"]["user"]["single"]["dialogues"] == 2100, "without a task there is one domain at most"


class TestKept:
    @pytest.fixture
    def made(self, monkeypatch):
        """How often profiles were measured; more than one is left to a worker."""
        times = []

        def counting(source):
            times.append(source)
            return measures.measure_profiles(source)

        one = replace(measures.KINDS["profiles"], make=counting, at_once=1)
        monkeypatch.setitem(measures.KINDS, "profiles", one)
        cache.clear()
        return times

    def test_what_is_unchanged_is_measured_once(self, made):
        changed = profile(Cuisine="Thai")
        first, again = measures.measures("profiles", "made"), measures.measures("profiles", "made")
        assert (first, made) == (again, ["made"])

        changed.preferences["Restaurants"]["Cuisine"] = "Greek"
        changed.save()
        assert measures.measures("profiles", "made")["preferences"][0]["counts"] == {"Greek": 1}

    def test_much_is_left_to_a_worker(self, made, monkeypatch):
        profile(Cuisine="Thai"), profile(Cuisine="Greek")
        with pytest.raises(NotComputedError, match="A worker measures more than 1 profiles"):
            measures.measures("profiles", "made")

        sent = []
        monkeypatch.setattr(waiting.current_app, "send_task", lambda name, args: sent.append((name, args)))
        measures.ask(by=factories.ResearcherFactory(username="rosa"), kind="profiles", source="made")
        assert sent == [("simulation.measure", ["profiles", "made", "rosa"])]
        assert "no worker has begun" in measures.find_request("profiles", "made").says

        tasks.measure(*sent[0][1])
        tasks.measure(*sent[0][1])
        assert measures.find_request("profiles", "made") is None
        assert measures.measures("profiles", "made")["profiles"] == 2
        assert made == ["made"]

    def test_a_worker_measures_little_before_anybody_looks_and_much_on_request_only(self, made, monkeypatch):
        sent = []
        monkeypatch.setattr(measures.current_app, "send_task", lambda name, args: sent.append((name, args)))
        profile(Cuisine="Thai")
        measures.send_due()
        measures.send_due()
        assert sent == [("simulation.measure", ["profiles", "made", ""])], "once in ten minutes"

        tasks.measure(*sent.pop()[1])
        monkeypatch.setattr(charts, "svg", lambda *args: pytest.fail("the figure is drawn already"))
        assert measures.measures("profiles", "made")["profiles"] == 1
        assert made == ["made"]
        cache.delete("measures-swept")
        measures.send_due()
        profile(Cuisine="Greek")
        cache.delete("measures-swept")
        measures.send_due()
        assert sent == []


def test_nothing_is_not_an_error():
    found = measures.measure_dialogues("none")
    assert found["turns"]["reason"]
    assert found["diversity"]["both"]["multi"]["self_bleu"]["reason"]
    assert measures.measure_profiles("none")["preferences"] == []


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

    @pytest.mark.any_database
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
                    for one in held:
                        expected.setdefault((domain, name), Counter())[one] += 1

        found = {(one["domain"], one["type"]): one for one in measures.measure_profiles("personalens")["preferences"]}

        assert found.keys() == expected.keys()
        assert len(found) == 90
        for key, counts in expected.items():
            assert found[key]["counts"] == dict(counts), key
            n = sum(counts.values())
            entropy = -sum(k / n * math.log(k / n) for k in counts.values())
            possible = len(set(closed[key]) | set(counts)) if key in closed else 0
            for name, of in (("occurring", len(counts)), ("possible", possible)):
                value = found[key][name]["value"]
                assert value is None if of < 2 else value == pytest.approx(entropy / math.log(of)), (key, name)

    @pytest.mark.any_database
    @pytest.mark.long
    def test_every_row_of_tables_1_and_6_to_9_and_figure_3_equals_an_independent_calculation(self, folder):
        schemas.load(by=None, path=folder / "schema.json", source="personalens")
        made = measures.measures("profiles", "personalens", patient=True)

        found = by_hand_datasets.values(measure_tables.table(number, made) for number in ("1", "6", "7", "8", "9"))

        expected = by_hand_datasets.of_profiles("personalens")
        assert by_hand.differences(found, expected) == {}
        numbers = Counter(key[0] for key in found)
        assert numbers["1"] == 2 * 20
        assert numbers["8"] + numbers["9"] == 7 * 90
        drawn = by_hand_datasets.bars(charts.svg(charts.bars, charts.figure_3(made["demographics"]), charts.FILE))
        assert drawn == by_hand_datasets.figure_3("personalens")
        assert list(drawn) == ["gender", "age", "ethnicity", "religion", "region"]

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
