"""The commands on a study's judge, as they are typed."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command

from annotation.studies.models.studies import Criterion
from tests.db.judging.assessment.services.judged import compute_results, study
from tests.support.factories import JudgeFactory
from tests.support.shared_rows import share_rows

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


def run(*args):
    out = io.StringIO()
    call_command(*map(str, args), stdout=out)
    return out.getvalue()


def refused(*args):
    with pytest.raises(CommandError) as caught:
        run(*args)
    assert caught.value.returncode == 2
    return str(caught.value)


@pytest.fixture(scope="module")
def made(django_db_setup, django_db_blocker):
    def make():
        criterion = study(n=60, labelled=50)
        compute_results(criterion.study)
        return criterion.pk

    yield from share_rows(django_db_blocker, make)


@pytest.fixture
def known(made, db):
    return Criterion.objects.get(pk=made)


JUDGE = ("--study", "Known", "--judge", "gpt")


@pytest.mark.long
def test_calibrate_of_a_study_has_the_document_of_a_file_and_more(known):
    found = json.loads(run("calibrate", *JUDGE, "--bootstrap", "40", "--json"))
    assert (found["n_labelled"], found["n_unlabelled"]) == (50, 10)
    assert {"human_only", "judge_only", "ppi", "rogan_gladen", "scores", "selective", "warnings"} <= set(found)
    assert {"agreement", "alt_test", "tiers", "groups", "leaderboard", "gained"} <= set(found)
    text = run("calibrate", *JUDGE, "--bootstrap", "40")
    assert "gpt beside people: the mean score; 50 labelled and 10 unlabelled items" in text
    assert found["second_opinion"]["message"] in text
    assert f"likeliest tier has probability {found['tiers']['by_difficulty']['sure']:.2f} on average" in text


def test_audit_says_the_verdict_with_every_reason_and_every_probe(known):
    (found,) = json.loads(run("audit", *JUDGE, "--json"))
    assert found["criterion"] == "personalization"
    assert found["found"] == [probe["name"] for probe in found["probes"] if probe["found"]]
    assert found["verdict"]["decision"] in ("replace", "assist and escalate", "not enough evidence")
    assert [one["below"] for one in found["verdict"]["power"]["judges"]] == [0, 0.115]
    assert {"leniency", "central_tendency", "length", "subgroups:tier"} <= {p["name"] for p in found["probes"]}
    text = run("audit", *JUDGE, "--rule", "least_items=500", "--reason", "more is better")
    assert "gpt: NOT ENOUGH EVIDENCE" in text
    assert f"tiers: the likeliest by the difficulty model, with probability {found['tiers']['sure']:.2f}" in text
    assert "- 50 labelled items with a verdict (500 needed), in 50 clusters (10 needed), " in text
    assert "of judges 0.115 below the human ceiling (50 independent items, 3 people" in text
    assert "leniency" in text


@pytest.mark.long
def test_a_report_in_each_format(known, tmp_path):
    for name, start in (("html", "<!DOCTYPE html>"), ("latex", "% Tables"), ("json", "{")):
        path = tmp_path / name
        said = json.loads(run("report", "--study", "Known", "--format", name, "-o", path, "--json"))
        assert list(said["judges"]) == ["gpt"]
        assert path.read_text(encoding="utf-8").startswith(start)
    assert "No such file" in refused("report", "--study", "Known", "-o", tmp_path / "no" / "where.html")


def test_a_certificate_is_written_and_verified(known, tmp_path):
    path = tmp_path / "certificate.json"
    assert "gpt v1 on Known" in run("certificate", *JUDGE, "-o", path)
    assert json.loads(run("verify_certificate", path, "--json"))["holds"] is True
    JudgeFactory(name="gpt", version=2, provider="imported")
    assert "does not hold" in refused("verify_certificate", path)
    path.write_text(path.read_text().replace("least_items", "most_items"))
    assert "does not hold" in refused("verify_certificate", path)


def test_a_dash_is_standard_output(known, capfd):
    call_command("report", "--study", "Known", "--format", "json", "-o", "-")
    out, err = capfd.readouterr()
    assert list(json.loads(out)["judges"]) == ["gpt"]
    assert err.endswith("written: /dev/stdout\n")
    call_command("certificate", *JUDGE, "-o", "-")
    out, err = capfd.readouterr()
    assert err.startswith(f"gpt v1 on Known: {json.loads(out)['sha256']}")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("calibrate", "--study", "Known", "--judge", "claude"), "there are: gpt"),
        (("calibrate", *JUDGE, "--human", "gold"), "--human belongs to a file"),
        (("calibrate", *JUDGE, "--criterion", "other"), "no criterion is called 'other'"),
        (("calibrate", *JUDGE, "--epsilon", "2"), "between 0 and 1"),
        (("audit", *JUDGE, "--rule", "least_items=many"), "is not a number"),
        (("audit", *JUDGE, "--rule", f"least_items={10**23}"), "is out of range"),
        (("audit", *JUDGE, "--rule", "must_pass_alt_test=No"), "field must_pass_alt_test: 'No' is neither yes nor no"),
        (("panel", "Jury", "--runs", f"1,{10**20}"), "field runs: There is no run"),
        (("audit", *JUDGE, "--rule", "most_unscored=2"), "not a share"),
        (("certificate", *JUDGE, "-o", "/"), "/: cannot be written: "),
        (("report", *JUDGE[:2], "--format", "json", "-o", "/"), "/: cannot be written: "),
        (("audit", *JUDGE, "--level", "0"), "between 0 and 1"),
        (("audit", "--study", "Unknown", "--judge", "gpt"), "Unknown"),
    ],
)
def test_bad_usage_says_what_is_wrong(known, args, message):
    assert message in refused(*args)


def test_what_is_no_rule_is_told_which_there_are(known):
    with pytest.raises(CommandError, match="'nope' is not NAME=VALUE with one of least_items, "):
        run("audit", *JUDGE, "--rule", "nope")


def test_a_file_still_needs_its_column(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("item,gold,gpt\n1,1,1\n")
    assert "column of people's labels" in refused("calibrate", path, "--judge", "gpt")
    assert "either a file" in refused("calibrate", "--judge", "gpt", "--human", "gold")
