"""The command `probe`, as it is typed."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from judging.runs.models.runs import JudgeRun
from tests.support import factories
from tests.support.judging import dialogue_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return dialogue_study(12, name="First study", slug="first-study")


def probe(*arguments: str) -> dict:
    out = StringIO()
    call_command("probe", "--study", "first-study", "--judge", "baseline", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


def refused(*arguments: str) -> str:
    with pytest.raises(CommandError) as raised:
        probe(*arguments)
    assert raised.value.returncode == 2
    return str(raised.value)


@pytest.fixture
def baseline(study):
    return factories.JudgeFactory(name="baseline", provider="baseline")


def test_a_probe_run_in_this_process(baseline):
    found = probe("--n", "10", "--alterations", "injection,invariance:names", "--now")
    assert found["state"] == "finished"
    assert found["items"] == 10
    assert found["left_out"] == {"invariance:names": 10}
    assert set(found["alterations"]) == {
        "injection:note",
        "injection:system",
        "injection:answer",
        "injection:user",
        "invariance:names",
    }
    assert found["counts"]["judgments"] == found["counts"]["expected"] == 10 * 2 * 6
    assert JudgeRun.objects.get().probe["n_items"] == 10


def test_an_estimate_starts_nothing(baseline):
    found = probe("--n", "10", "--alterations", "injection:note", "--estimate")
    assert found["estimate"]["requests"] == 10 * 2 * 3
    out = StringIO()
    call_command("probe", "--study", "first-study", "--judge", "baseline", "--n", "10", "--estimate", stdout=out)
    assert "of 10 items" in out.getvalue(), "in words as well"
    assert not JudgeRun.objects.exists()


@pytest.mark.any_database
def test_in_words(baseline):
    out = StringIO()
    call_command("probe", "--study", "First study", "--judge", "baseline", "--n", "10", "--now", stdout=out)
    assert "invariance:names" in out.getvalue()
    assert "of 10 items" in out.getvalue()


def test_bad_input(baseline):
    assert "not an alteration of a dialogue" in refused("--alterations", "tea")
    assert "10 to 100000 items" in refused("--n", "3")
    assert "not a criterion" in refused("--criteria", "tea")


def test_a_judge_that_nobody_knows(study):
    assert "There is no judge 'baseline'" in refused()
