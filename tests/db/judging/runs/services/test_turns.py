"""A run that asks about every turn of the assistant."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from annotation.agreement.services.exports import to_json
from core.errors import InputError
from judging.assessment.queries import ratings
from judging.runs.models.runs import Judgment
from judging.runs.queries import labels, runs as queries
from judging.runs.queries.requests import list_pending
from judging.runs.services import estimates, runs
from tests.support import factories
from tests.support.judging import dialogue_study, judged, pair_study, scripted

pytestmark = pytest.mark.django_db

TALK = [
    {"role": "user", "content": "A table."},
    {"role": "assistant", "content": "At the Thai place?"},
    {"role": "user", "content": "Yes."},
    {"role": "assistant", "content": "It is booked."},
]


@pytest.fixture
def study():
    """Two dialogues, of one and of two turns of the assistant."""
    study = dialogue_study(1)
    factories.CriterionFactory(study=study, key="naturalness_user")
    factories.ItemFactory(study=study, dialogue=factories.DialogueFactory(turns=TALK))
    return study


def test_each_turn_of_the_assistant_gets_a_judgment_of_its_own(study):
    run = judged(study, scripted(), every_turn=True)

    found = set(run.judgments.values_list("item__position", "criterion__key", "turn"))
    assert found == {
        (position, key, turn)
        for position, turn in ((1, 2), (2, 2), (2, 4))
        for key in ("personalization", "task_completion")
    }
    progress = queries.progress(run)
    assert (progress.expected, progress.judged, progress.missing) == (6, 6, 0)


def test_what_was_judged_is_not_asked_again(study):
    run = judged(study, scripted(), every_turn=True)
    Judgment.objects.filter(run=run, turn=4).delete()
    run.chunks.update(error="ended early", finished_at=None)

    runs.resume(by=None, run=run, queue=False)

    left = list_pending(run, list(study.items.values_list("pk", flat=True)), with_prompt=False)
    assert {(one.turn, one.criterion.key) for one in left} == {(4, "personalization"), (4, "task_completion")}


def test_the_judge_is_shown_the_conversation_up_to_the_turn(paid, study):
    judged(study, factories.JudgeFactory(provider="paid", model="m"), every_turn=True, criteria=["personalization"])

    asked = {request.prompt.user for request in paid if "A table." in request.prompt.user}
    first, second = sorted(asked, key=len)
    assert "At the Thai place?" in first
    assert "It is booked." not in first
    assert "Rate turn [4] alone" in second
    assert len({request.seed for request in paid}) == 3


def test_both_turns_of_one_request_cannot_be_kept_twice(study):
    run = judged(study, scripted(), every_turn=True)
    judgment = run.judgments.filter(turn=4).first()

    with pytest.raises(IntegrityError), transaction.atomic():
        Judgment.objects.create(run=run, item=judgment.item, criterion=judgment.criterion, turn=4, value="1")


def test_it_is_estimated_by_its_turns(paid, study):
    judge = factories.JudgeFactory(provider="paid", model="m")
    plan = runs.plan(study=study, judge=judge, every_turn=True)

    assert estimates.estimate(plan).requests == 6
    judged(study, judge, every_turn=True)
    assert estimates.estimate(plan).cached == 6


def test_single_turns_are_no_verdict_on_the_dialogue(study):
    judged(study, scripted(), every_turn=True)

    assert ratings.load_study(study) == {}


def test_exports_name_the_turn(study):
    judged(study, scripted(), every_turn=True, criteria=["personalization"])
    judged(study, scripted(), criteria=["personalization"])

    rows = [to_json(row) for row in labels.load_judges(study)]
    assert sorted((row["position"], row["turn"] or 0) for row in rows) == [(1, 0), (1, 2), (2, 0), (2, 2), (2, 4)]


def test_a_run_on_turns_is_another_question_than_one_on_dialogues(study):
    judge = scripted()

    assert (
        runs.plan(study=study, judge=judge, criteria=["personalization"]).input_hash
        != runs.plan(study=study, judge=judge, criteria=["personalization"], every_turn=True).input_hash
    )


def test_the_baseline_measures_up_to_the_turn(study):
    study.shown = ["goal"]
    study.save()
    judge = factories.JudgeFactory(provider="baseline")

    run = judged(study, judge, every_turn=True, criteria=["task_completion"])

    said = {j.turn: j.details["features"]["confirms"] for j in run.judgments.filter(item__position=2)}
    assert said == {2: False, 4: True}


class TestRefused:
    def test_pairs_have_no_turns(self):
        with pytest.raises(InputError, match="no turns"):
            runs.plan(study=pair_study(1), judge=scripted(), every_turn=True)

    def test_a_criterion_about_the_user(self, study):
        with pytest.raises(InputError, match="user's turns"):
            runs.plan(study=study, judge=scripted(), criteria=["naturalness_user"], every_turn=True)

    def test_dialogues_in_which_the_assistant_says_nothing(self):
        study = dialogue_study(0)
        factories.ItemFactory(study=study, dialogue=factories.DialogueFactory(turns=TALK[:1]))

        with pytest.raises(InputError, match="turn of the assistant"):
            runs.plan(study=study, judge=scripted(), every_turn=True)

    def test_a_template_that_cannot_name_the_turn(self, study):
        judge = factories.JudgeFactory(provider="local", parameters={"template": "$conversation $criterion $scale"})

        with pytest.raises(InputError, match="which turn to rate") as refused:
            runs.plan(study=study, judge=judge, every_turn=True)
        assert refused.value.field == "judge"
