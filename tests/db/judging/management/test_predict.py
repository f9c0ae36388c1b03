"""`tiers --predict` and `sample --predicted-from`, as they are typed."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command

from annotation.stats.bands import TIERS
from annotation.studies.models.studies import Study
from tests.support.factories import StudyFactory
from tests.support.predictable import study_of_pairs

pytestmark = pytest.mark.django_db


def run(*arguments):
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


@pytest.mark.any_database
def test_the_error_out_of_sample_comes_before_the_items():
    study_of_pairs(100, rated=80)
    options = ("tiers", "--study", "alike", "--predict", "--bootstrap", "200")
    found = json.loads(run(*options, "--json"))
    assert list(found).index("error") < list(found).index("items")
    assert (found["of"], found["n_items"], len(found["items"])) == ("study", 20, 20)
    said = run(*options).removeprefix("preference\n")
    assert said.startswith("Difficulty can be predicted here.")
    assert "expected of 20 items: " in said


@pytest.mark.any_database
def test_a_sample_by_predicted_tier():
    study_of_pairs(120, rated=80)
    StudyFactory(name="Next", slug="next", kind="pair", state=Study.State.DRAFT)
    options = ["--method", "stratified", "--strata", "predicted_tier", "--size", "12", "--allocation", "equal"]
    found = json.loads(run("sample", "next", *options, "--predicted-from", "alike", "--json"))
    assert {one["stratum"] for one in found["drawn"]} <= set(TIERS)
    assert sum(one["size"] for one in found["drawn"]) == 12
    with pytest.raises(CommandError, match="no criterion is called 'nope'; there are: preference"):
        run("sample", "next", *options, "--predicted-from", "alike", "--predicted-criterion", "nope")


def test_prediction_is_of_a_study_only(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("item,rater,value\na,x,1\n")
    with pytest.raises(CommandError, match="predict"):
        run("tiers", str(path), "--predict")
