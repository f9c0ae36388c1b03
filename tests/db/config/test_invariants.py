"""The checker finds what is planted, and nothing in a site that is as it should be."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from config import invariants
from judging.assessment import row_triggers
from tests.support.factories import (
    AnnotationFactory,
    AssignmentFactory,
    ExperimentFactory,
    JudgeChunkFactory,
    SimulatedDialogueFactory,
    TurnFactory,
)
from tests.support.judging import dialogue_study, judged, scripted


def texts() -> list[str]:
    return [one.invariant for one in invariants.findings()]


def test_a_site_as_it_should_be(db):
    study = dialogue_study()
    judged(study, scripted())
    item = study.items.first()
    slot = AssignmentFactory(item=item, submitted=True)
    for criterion in study.criteria.all():
        AnnotationFactory(assignment=slot, criterion=criterion)
    assert texts() == []


def test_an_infinite_budget_is_named_with_its_row(db):
    run = judged(dialogue_study(), scripted())
    with connection.cursor() as cursor:
        if connection.vendor != "sqlite":
            pytest.skip("only SQLite keeps an infinite number in such a column")
        cursor.execute("UPDATE judging_judgerun SET budget_usd = 9e999")
    (found,) = invariants.findings()
    assert (found.invariant, found.n) == ("Every amount is a finite number.", 1)
    assert found.examples == (f"judge run {run.pk}, budget_usd in the table judging_judgerun",)


def test_a_missing_judgment_of_a_finished_run(db):
    run = judged(dialogue_study(), scripted())
    run.judgments.first().delete()
    assert texts() == ["A finished run has every judgment that was asked for."]


def test_an_item_rated_more_often_than_its_overlap(db):
    study = dialogue_study(overlap=1)
    item = study.items.first()
    for n in (1, 2):
        slot = AssignmentFactory(item=item, slot=n, submitted=True)
        for criterion in study.criteria.all():
            AnnotationFactory(assignment=slot, criterion=criterion)
    assert texts() == ["An item has no more ratings than its study's overlap."]


def test_half_of_what_was_handed_in(db):
    study = dialogue_study()
    slot = AssignmentFactory(item=study.items.first(), submitted=True)
    AnnotationFactory(assignment=slot, criterion=study.criteria.first())
    assert texts() == ["What a person handed in answers every criterion."]


def test_answers_of_what_was_not_handed_in(db):
    study = dialogue_study()
    slot = AssignmentFactory(item=study.items.first(), leased=True)
    AnnotationFactory(assignment=slot, criterion=study.criteria.first())
    assert texts() == ["Answers belong to what was handed in."]


def test_a_part_left_of_a_finished_run(db):
    run = judged(dialogue_study(), scripted())
    JudgeChunkFactory(run=run, index=99, item_ids=[])
    assert texts() == ["A finished run has no part left."]


def test_a_dialogue_that_is_not_material_and_one_with_a_gap(db):
    SimulatedDialogueFactory(ending="done", ended_at=timezone.now())
    TurnFactory(simulated=SimulatedDialogueFactory(), number=3)
    assert texts() == [
        "A dialogue that ended as it should became material.",
        "The turns of a dialogue are numbered without gaps.",
    ]


def test_a_dialogue_left_of_a_finished_experiment(db):
    SimulatedDialogueFactory(experiment=ExperimentFactory(finished_at=timezone.now()), ending="")
    assert texts() == ["A finished experiment has no dialogue left."]


ROWS = "The triggers that keep rules and revocations as they were written are there and work."


@pytest.mark.parametrize("table", row_triggers.GUARDED)
@pytest.mark.parametrize("done", row_triggers.DONE)
def test_a_trigger_of_rules_or_revocations_that_is_gone_or_does_nothing(db, table, done):
    if done == "replaced" and connection.vendor != "sqlite":
        pytest.skip("PostgreSQL has no INSERT OR REPLACE")
    name, on = f"{table}_not_{done}", "" if connection.vendor == "sqlite" else f" ON {table}"
    event = {"changed": "UPDATE", "deleted": "DELETE", "replaced": "INSERT"}[done]
    if connection.vendor == "sqlite":
        idle = f"CREATE TRIGGER {name} BEFORE {event} ON {table} BEGIN SELECT 1; END"
    else:
        never = f"FOR EACH ROW WHEN (false) EXECUTE FUNCTION {table}_refuse()"
        idle = f"CREATE TRIGGER {name} BEFORE {event} ON {table} {never}"
    for statement in (f"DROP TRIGGER {name}{on}", idle):
        with connection.cursor() as cursor:
            cursor.execute(statement)
        (one,) = invariants.findings()
        assert (one.invariant, one.examples) == (ROWS, (name,))


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite's triggers cannot be switched off")
def test_a_trigger_of_rules_that_is_switched_off_and_a_function_that_lets_through(db):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE judging_verdictrules DISABLE TRIGGER judging_verdictrules_not_changed")
        function = "CREATE OR REPLACE FUNCTION judging_revocation_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        cursor.execute(f"{function} $$BEGIN RETURN NEW; END$$")
    (one,) = invariants.findings()
    assert one.examples == (
        "judging_verdictrules_not_changed",
        "judging_revocation_not_changed",
        "judging_revocation_not_deleted",
    )


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has neither roles nor TRUNCATE")
def test_a_role_that_may_empty_the_rules_is_noted(db):
    assert "judging_revocation, judging_verdictrules" in invariants.notes()[0]
    with connection.cursor() as cursor:
        cursor.execute("REVOKE TRUNCATE ON judging_revocation, judging_verdictrules FROM CURRENT_USER")
        cursor.execute("SELECT usesuper FROM pg_user WHERE usename = current_user")
        (may_anything,) = cursor.fetchone()
    assert bool(invariants.notes()) == may_anything


def test_the_command_exits_1_where_something_is_broken(db, capsys):
    call_command("check_invariants", json=True)
    assert json.loads(capsys.readouterr().out)["findings"] == []
    SimulatedDialogueFactory(ending="done", ended_at=timezone.now())
    with pytest.raises(SystemExit) as ended:
        call_command("check_invariants", json=True)
    assert ended.value.code == 1
    assert json.loads(capsys.readouterr().out)["findings"][0]["n"] == 1
