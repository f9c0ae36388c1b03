"""The checker finds what is planted, and nothing in a site that is as it should be."""

from __future__ import annotations

import json

import pytest
from django.core.management import call_command
from django.utils import timezone

from config import invariants
from tests.factories import (
    AnnotationFactory,
    AssignmentFactory,
    ExperimentFactory,
    JudgeChunkFactory,
    SimulatedDialogueFactory,
    TurnFactory,
)
from tests.judging.helpers import dialogue_study, judged, scripted


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


def test_the_command_exits_1_where_something_is_broken(db, capsys):
    call_command("check_invariants", json=True)
    assert json.loads(capsys.readouterr().out)["findings"] == []
    SimulatedDialogueFactory(ending="done", ended_at=timezone.now())
    with pytest.raises(SystemExit) as ended:
        call_command("check_invariants", json=True)
    assert ended.value.code == 1
    assert json.loads(capsys.readouterr().out)["findings"][0]["n"] == 1
