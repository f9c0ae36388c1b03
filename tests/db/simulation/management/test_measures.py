"""`measures` on the published profiles and on rows of one's own."""

from __future__ import annotations

import json
from collections import Counter
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.corpus.models import Profile
from simulation.stats.regions import find_region
from tests.support import factories
from tests.support.shared_rows import share_rows

pytestmark = pytest.mark.django_db


def measures(*options: str) -> str:
    out = StringIO()
    call_command("measures", *options, stdout=out)
    return out.getvalue()


def document(*options: str):
    return json.loads(measures("--json", *options))


@pytest.fixture(scope="module")
def folder(shared_data):
    return shared_data / "personalens"


@pytest.fixture(scope="module")
def published_profiles(django_db_setup, django_db_blocker, folder):
    def make() -> None:
        call_command("import_personalens", str(folder), "--users", "0,7,53,66,107,132", stdout=StringIO())
        call_command("import_schema", str(folder / "schema.json"), stdout=StringIO())

    yield from share_rows(django_db_blocker, make)


@pytest.fixture
def dialogues():
    turns = [{"role": "user", "content": "one two"}, {"role": "assistant", "content": "three four five six"}]
    factories.DialogueFactory.create_batch(2, source="talks", scenario=None, turns=turns)


@pytest.mark.usefixtures("published_profiles")
class TestProfiles:
    def test_evenness_of_every_type(self):
        found = document("--source", "personalens")

        assert len(found["evenness"]) == 90
        alarm = found["evenness"]["Alarm · Alarm Time Preference"]
        assert alarm["n"] == alarm["profiles"] == found["profiles"]["profiles"] == 6
        assert alarm["n_possible"] == 48
        assert alarm["possible"]["value"] < alarm["occurring"]["value"] <= 1
        assert found["evenness"]["Books · Favourite Authors"]["possible"]["value"] is None
        assert "no list" in found["evenness"]["Books · Favourite Authors"]["possible"]["reason"]
        assert found["diversity"] == {}

    @pytest.mark.parametrize(("number", "rows"), [("1", 20), ("8", 44), ("9", 46)])
    def test_a_table_with_the_printed_numbers(self, number, rows):
        found = document("--source", "personalens", "--table", number, "--published")

        assert len(found["rows"]) == rows
        assert found["published"]["source"] == "PersonaLens, arXiv 2506.09902"
        assert not found["published"]["others"], "every printed row has its like here"
        assert sum(any(value is not None for value in row["published"].values()) for row in found["rows"]) > 15

    def test_demographics_with_the_printed_numbers(self):
        rows = {(one["field"], one["value"]): one for one in document("--table", "6", "--published")["rows"]}

        assert rows["gender", "Male"]["published"] == {"n": 757, "percent": 50.5}
        assert rows["gender", "Male"]["percent"] + rows["gender", "Female"]["percent"] == pytest.approx(100)
        education = [one for one in document("--table", "7")["rows"] if one["field"] == "education"]
        assert sum(one["n"] for one in education) == 6

    def test_regions_are_those_of_the_country_of_birth(self):
        rows = [one for one in document("--table", "7", "--published")["rows"] if one["field"] == "region"]
        born = Counter(
            find_region(one["birth_country"]) for one in Profile.objects.values_list("demographics", flat=True)
        )
        assert {one["value"]: one["n"] for one in rows} == born
        assert all(one["published"]["percent"] is not None for one in rows), "the groups are those of the paper"

    def test_as_text(self):
        text = measures("--table", "8", "--published")
        (line,) = (line for line in text.splitlines() if "Alarm Time Preference" in line)
        assert line.endswith("0.72"), line
        assert "published evenness" in text

    @pytest.mark.any_database
    def test_the_figure_is_written(self, tmp_path):
        found = document("--figure", "3", "--output", str(tmp_path / "f.svg"))
        assert [one["field"] for one in found["fields"]] == ["gender", "age", "ethnicity", "religion", "region"]
        assert (tmp_path / "f.svg").read_text().startswith("<svg")
        with pytest.raises(CommandError, match="cannot be written: Is a directory"):
            measures("--figure", "3", "--output", str(tmp_path))
        with pytest.raises(CommandError, match="give --figure too"):
            measures("--table", "8", "--output", str(tmp_path / "t.svg"))

    def test_a_table_or_a_figure(self):
        with pytest.raises(CommandError, match="--figure: not allowed with argument --table"):
            measures("--table", "10", "--figure", "3")


@pytest.mark.usefixtures("dialogues")
class TestDialogues:
    def test_diversity_by_side_and_kind_of_task(self):
        found = document("--source", "talks")
        assert found["evenness"] == {}
        assert found["diversity"]["user"]["all"]["pooled"]["dist_1"]["value"] == 0.5
        assert found["dialogues"]["dialogues"] == 2
        assert "By dialogue: the mean" in found["dialogues"]["choices"]

    def test_the_printed_datasets_stand_below(self):
        found = document("--table", "10", "--published")
        assert len(found["rows"]) == 9
        assert found["published"]["others"][-1]["dataset"] == "PersonaLens - MD"


def test_a_table_without_rows_says_so():
    factories.ProfileFactory(source="mine", demographics={"age": "30"})
    assert measures("--source", "mine", "--table", "7").splitlines()[1] == "  The source has nothing of this."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--source", "none"], "There are no profiles or dialogues of 'none'; there are: "),
        (["--table", "8", "--source", "talks"], "There are no profiles of 'talks'; there are: "),
        (["--table", "3"], "invalid choice: '3'"),
    ],
)
def test_bad_options_are_named(dialogues, options, message):
    with pytest.raises(CommandError, match=message) as raised:
        measures(*options)
    assert raised.value.returncode in (1, 2)
