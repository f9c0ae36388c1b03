"""Rules are free before the first look at a judge's result, locked by it, and changed on record after it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.urls import reverse

from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from config.invariants import rules_of_verdicts
from core.audit import queries as audit_queries
from core.audit.log import audited
from core.audit.models import Act
from core.errors import InputError
from judging.assessment.models.assessment import CalibrationRun, Revocation
from judging.assessment.models.rules import VerdictRules
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import assessment, certificates, report, rules
from judging.assessment.services.assessment import AssessmentRequest
from judging.assessment.services.rules import Success
from judging.judges.models import Judge
from judging.runs.models.runs import JudgeRun, Judgment
from judging.stats.verdict import Rules
from tests.db.judging.assessment.services.judged import QUICK, study
from tests.support.factories import ResearcherFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def known():
    return study(n=30).study


@pytest.fixture
def alice():
    return ResearcherFactory(username="alice")


def look(known, by=None):
    mine = StudyData.load(known).load_judge(Judge.objects.get())
    return assessment.assess_judge(by=by, evidence=mine, asked=AssessmentRequest(calibration=QUICK))


def change(known, by=None, reason="", success=None, **changes):
    there = rules.load(known)
    return rules.set_rules(
        by=by, study=known, rules=replace(there.rules, **changes), success=success or there.success, reason=reason
    )


def kinds(known):
    return [row.kind for row in rules.load(known).rows]


@pytest.mark.any_database
def test_the_first_look_locks_the_usual_rules(known, alice):
    assert kinds(known) == []
    found = look(known, alice)
    (row,) = found.held_to.rows
    assert (row.kind, row.created_by, row.number) == ("locked", alice, 1)
    assert rules.read_rules(row.rules) == found.rules == Rules()
    look(known)
    assert kinds(known) == ["locked"]
    act = Act.objects.get(verb="rules.lock")
    assert (act.who_id, act.study_id, act.parsed_arguments["sha256"]) == (alice.pk, known.pk, row.sha256)


@pytest.mark.any_database
@pytest.mark.long
def test_before_the_first_look_they_are_free(known, alice):
    change(known, alice, least_items=10)
    change(known, alice, least_items=20, success=Success("assist and escalate", ("personalization",)))
    found = look(known)
    assert kinds(known) == ["set", "set", "locked"]
    assert found.rules.least_items == 20
    assert found.held_to.changes == []
    assert found.held_to.success.in_words == "assist and escalate on personalization"
    assert found.verdicts[0].whole.rules.least_items == 20


@pytest.mark.long
def test_after_it_a_change_takes_a_reason_and_stays_on_record(known, alice):
    look(known)
    with pytest.raises(InputError, match=r"locked since the first look on .* Give a reason"):
        change(known, alice, tolerated_biases=("central_tendency",))
    assert kinds(known) == ["locked"]
    change(known, alice, "it is noise", tolerated_biases=("central_tendency",))
    found = look(known)
    assert kinds(known) == ["locked", "changed"]
    (said,) = found.rules_on_record()["changes"]
    assert said["sentence"].startswith("Rules changed after the first look on 20")
    assert said["sentence"].endswith(" by alice: Tolerated biases: from none to central_tendency. Reason: it is noise")
    assert Act.objects.filter(verb="rules.set", who=alice).count() == 1
    assert audit_queries.find_break() is None


@pytest.mark.any_database
@pytest.mark.long
def test_the_same_rules_are_no_change(known):
    look(known)
    assert change(known) is None
    assert kinds(known) == ["locked"]


@pytest.mark.any_database
@pytest.mark.long
def test_the_change_stands_on_certificate_and_report(known, alice):
    look(known)
    change(known, alice, "we saw it coming", must_pass_alt_test=False)
    found = look(known)
    content = certificates.issue(by=alice, found=found).content
    (said,) = content["rules_on_record"]["changes"]
    assert said["changed"] == [
        {
            "rule": "To replace a person, the alternative-annotator test",
            "from": "must be passed",
            "to": "need not be passed",
        }
    ]
    assert said["by"] == f"account {alice.pk}", "what is signed cannot be changed when somebody is erased"
    assert "alice" not in str(content)
    document = report.describe_judges(StudyData.load(known), [found])
    for text in (report.to_html(document), report.FORMATS["latex"][1](document), report.to_json(document)):
        assert "Rules changed after the first look on" in text
        assert "by alice" in text


@pytest.mark.any_database
@pytest.mark.long
def test_a_result_of_a_version_without_locks_was_looked_at(unguarded, known, alice):
    look(known)
    VerdictRules.objects.all().delete()
    assert CalibrationRun.objects.exists()
    with pytest.raises(InputError, match="Give a reason"):
        change(known, alice, least_items=10)


def test_the_database_keeps_the_promises(known):
    look(known)
    (row,) = rules.load(known).rows
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save()
    second = VerdictRules(study=known, number=2, kind="locked", rules=row.rules, success=row.success)
    with pytest.raises(IntegrityError), transaction.atomic():
        second.save()
    second = VerdictRules(study=known, number=2, kind="changed", rules=row.rules, success=row.success)
    with pytest.raises(IntegrityError), transaction.atomic():
        second.save()


@pytest.mark.long
def test_a_row_that_was_changed_behind_our_back_is_found(unguarded, known):
    look(known)
    change(known, None, "a reason", least_items=10)
    assert rules.is_chained(rules.load(known).rows)
    assert rules_of_verdicts().n == 0
    VerdictRules.objects.filter(kind="locked").update(rules=Rules(least_items=10).to_json())
    assert not rules.is_chained(rules.load(known).rows)
    assert rules_of_verdicts().n == 1


def test_the_database_refuses_to_change_rules_and_revocations(known, alice):
    found = look(known, alice)
    issued = certificates.issue(by=alice, found=found)
    certificates.revoke(by=alice, certificate=issued, reason="a slip")
    for rows, change in (
        (VerdictRules.objects, {"rules": {}}),
        (VerdictRules.objects, {"sha256": "0" * 64}),
        (Revocation.objects, {"reason": "none"}),
    ):
        for done in (lambda rows=rows, change=change: rows.update(**change), rows.all().delete):
            with pytest.raises(IntegrityError, match="never changed or deleted"), transaction.atomic():
                done()
    assert (VerdictRules.objects.count(), Revocation.objects.count()) == (1, 1)


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL has no INSERT OR REPLACE")
@pytest.mark.parametrize("number", ["number", "number + 1"])
def test_a_locked_rule_cannot_be_replaced(known, number):
    """By its number, or as another one that is locked: else it would go unasked."""
    look(known)
    columns = "study_id, number, kind, rules, success, reason, sha256, created_at"
    values = columns.replace("number", number)
    replace = f"INSERT OR REPLACE INTO judging_verdictrules ({columns}) SELECT {values} FROM judging_verdictrules"
    with (
        pytest.raises(IntegrityError, match="never changed or deleted"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(replace)


@pytest.mark.long
@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL has no INSERT OR REPLACE")
def test_a_revocation_cannot_be_replaced(known, alice):
    certificates.revoke(by=alice, certificate=certificates.issue(by=alice, found=look(known, alice)), reason="a slip")
    into = "judging_revocation (certificate_id, reason, created_at)"
    replace = f"INSERT OR REPLACE INTO {into} SELECT certificate_id, 'none', created_at FROM judging_revocation"
    with (
        pytest.raises(IntegrityError, match="never changed or deleted"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(replace)


@pytest.mark.long
def test_who_wrote_them_can_be_forgotten_and_they_go_with_their_study(known, alice):
    issued = certificates.issue(by=alice, found=look(known, alice))
    certificates.revoke(by=alice, certificate=issued, reason="a slip")
    VerdictRules.objects.update(created_by=None)
    Revocation.objects.update(created_by=None)
    for table in (Annotation, Judgment):
        table.objects.all().delete()  # what protects a study
    known.delete()
    connection.check_constraints()
    assert [table.objects.count() for table in (Study, VerdictRules, Revocation)] == [0, 0, 0]


@pytest.mark.long
def test_whoever_is_faster_locks(known, monkeypatch):
    """Two first looks at once: the second finds the row of the first."""
    before, load = rules.load(known), rules.load
    look(known)
    answers = iter([before])
    monkeypatch.setattr(rules, "load", lambda study: next(answers, None) or load(study))
    assert rules.lock(by=None, study=known).locked is not None
    assert VerdictRules.objects.count() == 1


@pytest.mark.parametrize(
    "kept",
    [
        None,
        [],
        {"least_items": "50"},
        {"least_items": True},
        {"must_pass_alt_test": 1},
        {"tolerated_biases": "length"},
        {"tolerated_biases": [1]},
    ],
)
def test_rules_of_an_archive_are_looked_at(kept):
    with pytest.raises(InputError):
        rules.read_rules(kept)
    with pytest.raises(InputError):
        rules.read_success(kept)


def test_rules_that_a_later_version_added_are_the_usual_ones():
    assert rules.read_rules({"least_items": 7, "of_old": 1}) == Rules(least_items=7)


@pytest.mark.any_database
def test_success_takes_the_decision_on_every_criterion(known):
    found = look(known)
    (verdict,) = found.verdicts
    decision = verdict.whole.decision
    assert Success("assist and escalate").is_met([verdict]) == (decision in ("replace", "assist and escalate"))
    assert not Success("replace", ("other",)).is_met([verdict])
    assert not Success().is_met([])
    with pytest.raises(InputError, match="is not a criterion of success"):
        Success("do not use")
    with pytest.raises(InputError, match="no criterion is called"):
        change(known, None, "a reason", success=Success("replace", ("nope",)))


@pytest.mark.parametrize(
    "command",
    [
        ("calibrate", "--study", "Known", "--judge", "gpt", "--bootstrap", "0"),
        ("audit", "--study", "Known", "--judge", "gpt"),
        ("agreement", "--study", "Known", "--bootstrap", "0"),
        ("disagreements", "--study", "Known", "--judge", "gpt"),
        ("disputes", "--study", "Known", "--against-majority"),
        ("plan_labels", "--study", "Known", "--judge", "gpt", "--criterion", "personalization", "--width", "0.5"),
        ("export", "--study", "Known", "-o", "FOLDER/labels.csv"),
        ("export", "--study", "Known", "--format", "hf", "-o", "FOLDER/hf"),
    ],
)
def test_every_way_to_a_result_is_a_look(known, command, capsys, tmp_path):
    call_command(*(part.replace("FOLDER", str(tmp_path)) for part in command))
    assert kinds(known) == ["locked"]


def test_where_people_disagree_is_no_look_at_a_judge(known, capsys):
    call_command("disputes", "--study", "Known")
    assert kinds(known) == []


LOOKS = [
    ("calibration", ["slug"]),
    ("report", ["slug"]),
    ("agreement", ["slug"]),
    ("judge_improve", ["slug", "judge"]),
    ("judge_plan", ["slug", "judge"]),
    ("against_majority", ["slug"]),
    ("item_list", ["slug"]),
    ("item_detail", ["slug", "item"]),
    ("judgment_detail", ["judgment"]),
    ("export", ["slug", "csv"]),
    ("export_for", ["slug", "hf"]),
    ("api_study_calibration", ["slug"]),
    ("api_plan", ["slug", "judge"]),
    ("api_against_majority", ["slug"]),
    ("api_rated_items", ["slug"]),
    ("api_item_judgments", ["slug", "item"]),
    ("api_run_judgments", ["run"]),
    ("api_judgment", ["judgment"]),
    ("api_study_labels", ["slug", "csv"]),
    ("api_export", ["slug", "hf"]),
]
QUERIES = {"api_plan": "?criterion=personalization&width=0.5"}


@pytest.mark.parametrize(("name", "parts"), LOOKS, ids=[name for name, _ in LOOKS])
def test_every_page_and_address_of_a_result_is_a_look(known, client, alice, name, parts):
    client.force_login(alice)
    judgment = Judgment.objects.filter(run__study=known).first()
    values = {
        "slug": known.slug,
        "judge": judgment.run.judge_id,
        "item": judgment.item.position,
        "judgment": judgment.pk,
        "run": judgment.run_id,
    }
    address = reverse(name, args=[values.get(part, part) for part in parts]) + QUERIES.get(name, "")
    assert client.get(address).status_code == 200
    assert kinds(known) == ["locked"]
    assert rules.load(known).locked.created_by == alice
    assert Act.objects.filter(verb="rules.lock", study_id=known.pk).count() == 1


def test_a_lock_within_another_act_is_on_record_before_it(known, alice):
    @audited("labels.plan", on="study")
    def within(*, by, study):
        rules.lock_rules(by=by, study=study)

    @audited("labels.plan", on="study")
    def failing(*, by, study):
        rules.lock_rules(by=by, study=study)
        raise ValueError("and nothing is kept")

    with pytest.raises(ValueError, match="nothing is kept"):
        failing(by=alice, study=known)
    assert (kinds(known), Act.objects.count()) == ([], 0)
    within(by=alice, study=known)
    assert kinds(known) == ["locked"]
    assert list(Act.objects.order_by("number").values_list("verb", "who")) == [
        ("rules.lock", alice.pk),
        ("labels.plan", alice.pk),
    ]


def test_pages_without_a_result_are_no_look(known, client, alice):
    client.force_login(alice)
    client.get(reverse("study_rules", args=[known.slug]))
    client.get(reverse("run_create", args=[known.slug]))
    client.get(reverse("study_detail", args=[known.slug]))
    assert kinds(known) == []


def test_whoever_leaves_it_to_a_worker_looks(known, client, alice):
    client.force_login(alice)
    client.post(reverse("judge_assess", args=[known.slug, Judge.objects.get().pk]))
    assert rules.load(known).locked.created_by == alice


@pytest.mark.any_database
def test_a_study_without_a_judge_is_not_looked_at(known, client, alice):
    JudgeRun.objects.all().delete()
    client.force_login(alice)
    for name in ("calibration", "report", "agreement", "item_list", "against_majority"):
        assert client.get(reverse(name, args=[known.slug])).status_code == 200
    assert kinds(known) == []
