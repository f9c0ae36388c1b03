"""A run that rates every response by itself."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from annotation.corpus.models import ResponsePair
from annotation.studies.models.studies import Study
from core.errors import InputError
from judging.runs.models.runs import JudgeRun, Judgment
from judging.runs.queries import judgments, runs as queries
from judging.runs.queries.requests import list_pending
from judging.runs.services import estimates, panels, runs, trials
from tests.support import factories
from tests.support.judging import dialogue_study, judged, pair_study, response_study, scripted

pytestmark = pytest.mark.django_db
ANSWERS = {"helpful": "3", "correct": "yes"}


@pytest.fixture
def study() -> Study:
    return response_study(2)


def say_both(**parameters: Any) -> Any:
    return scripted(answers=ANSWERS, **parameters)


def test_each_response_gets_a_judgment_of_its_own(study: Study) -> None:
    run = judged(study, say_both(), repeats=2)

    assert (run.unit, run.every_turn, run.order_policy) == ("response", False, "random")
    found = sorted(run.judgments.values_list("item__position", "turn", "criterion__key", "repeat", "order", "value"))
    assert found == [
        (position, number, key, repeat, "", ANSWERS[key])
        for position in (1, 2)
        for number in (1, 2, 3)
        for key in ("correct", "helpful")
        for repeat in (1, 2)
    ]
    progress = queries.progress(run)
    assert (progress.expected, progress.judged, progress.missing) == (24, 24, 0)


def test_items_of_one_and_of_twelve_responses(study: Study) -> None:
    further = [{"text": f"Further {n}"} for n in range(3, 13)]
    factories.ItemFactory(study=study, pair=factories.ResponsePairFactory(further=further, n_responses=12))
    factories.ItemFactory(study=study, pair=factories.ResponsePairFactory(response_2="", n_responses=1))

    run = judged(study, say_both(), criteria=["helpful"])

    numbers = [(position, turn) for position, turn in run.judgments.values_list("item__position", "turn")]
    assert sorted(numbers) == [(p, n) for p, most in ((1, 3), (2, 3), (3, 12), (4, 1)) for n in range(1, most + 1)]


def test_the_judge_is_shown_one_response_alone(paid, study: Study) -> None:
    run = judged(study, factories.JudgeFactory(provider="paid", model="m"), criteria=["helpful"])

    texts = ["First", "Second", "Third"]
    for request in paid:
        (shown,) = request.content.responses.values()
        words = request.prompt.user
        assert [name for name in texts if name in words] == [shown.split()[0]]
        assert "What shall I cook tonight?" in words
        assert "response B" not in words
    assert {request.order for request in paid} == {""}
    assert len({request.seed for request in paid}) == 6
    one = run.judgments.get(item__position=2, turn=3)
    assert "Third 2" in judgments.rebuild_prompt(one).user


def test_the_pictures_are_those_of_the_response(paid, study: Study) -> None:
    def picture(name: str) -> list[dict[str, str]]:
        return [{"kind": "image", "sha256": name * 64, "type": "image/png", "name": f"{name}.png"}]

    ResponsePair.objects.update(
        parts={"question": picture("a"), "response_1": picture("b")},
        further=[{"text": "Third", "parts": picture("c")}],
    )
    judged(study, factories.JudgeFactory(provider="paid", model="m"), criteria=["helpful"])

    shown = {tuple(one.sha256[0] for one in request.prompt.pictures) for request in paid}
    assert shown == {("a", "b"), ("a",), ("a", "c")}


def test_a_trial_asks_about_the_first_response_of_some_items(paid, study: Study) -> None:
    trial = trials.try_out(by=None, judge=factories.JudgeFactory(provider="paid", model="m"), study=study)
    assert len(trial) == 2
    assert [list(request.content.responses.values()) for request in paid] == [["First 1"], ["First 2"]]


def test_equal_responses_are_paid_for_once_and_known_to_the_next_run(paid, study: Study) -> None:
    ResponsePair.objects.update(response_2="First", response_1="First", question="The same?")
    judge = factories.JudgeFactory(provider="paid", model="m")
    plan = runs.plan(study=study, judge=judge)
    assert estimates.estimate(plan).requests == 12

    judged(study, judge)

    assert len(paid) < 12
    assert estimates.estimate(plan).cached == 12


def test_what_was_judged_is_not_asked_again(study: Study) -> None:
    run = judged(study, say_both())
    Judgment.objects.filter(run=run, turn=2).delete()
    run.chunks.update(error="ended early", finished_at=None)
    assert queries.progress(run).missing == 4

    runs.resume(by=None, run=run, queue=False)

    left = list_pending(run, list(study.items.values_list("pk", flat=True)), with_prompt=False)
    assert {one.turn for one in left} == {2}
    assert len(left) == 4


def test_unscored_responses_are_asked_again(study: Study) -> None:
    run = judged(study, scripted(answers=ANSWERS, where={"Second": "nonsense"}))
    assert run.judgments.filter(value="").count() == 4

    assert runs.ask_again(by=None, run=run, queue=False) == 4

    left = list_pending(run, list(study.items.values_list("pk", flat=True)), with_prompt=False)
    assert {one.turn for one in left} == {2}


def test_spans_and_rewrites_name_the_response(study: Study) -> None:
    options = [{"value": "wrong", "label": "Wrong"}]
    study.criteria.all().delete()
    factories.CriterionFactory(
        study=study, key="errors", type="spans", level="spans", categories=options, unit="response"
    )
    factories.CriterionFactory(study=study, key="better", type="rewrite", level="text", categories=[], unit="response")
    spans = json.dumps([{"part": "A", "start": 0, "end": 5, "category": "wrong"}])

    run = judged(study, scripted(answers={"errors": spans, "better": "So it is."}))

    said = run.judgments.get(item__position=1, turn=3, criterion__key="errors").content
    assert said == [{"part": "response-3", "start": 0, "end": 5, "category": "wrong", "text": "Third"}]
    rewritten = run.judgments.get(item__position=1, turn=2, criterion__key="better")
    assert (rewritten.value, rewritten.content) == ("3", {"text": "So it is.", "response": 2})


@pytest.mark.any_database
def test_a_panel_of_runs_on_responses(study: Study) -> None:
    said = [judged(study, scripted(answers={**ANSWERS, "helpful": value})) for value in ("2", "3", "3")]

    panel = panels.combine(by=None, name="jury", runs=said)

    assert (panel.unit, panel.judgments.count()) == ("response", 12)
    helpful = panel.judgments.filter(criterion__key="helpful")
    assert set(helpful.values_list("turn", "value")) == {(1, "3"), (2, "3"), (3, "3")}


class TestWhatARunRates:
    @pytest.fixture
    def mixed(self, study: Study) -> Study:
        factories.CriterionFactory(study=study, key="preference", preference=True)
        return study

    def unit_of(self, study: Study, **options: Any) -> tuple[str, list[str]]:
        plan = runs.plan(study=study, judge=say_both(), **options)
        return plan.unit, [criterion.key for criterion in plan.criteria]

    def test_responses_where_nothing_else_is_asked(self, study: Study) -> None:
        assert self.unit_of(study) == ("response", ["helpful", "correct"])

    def test_whole_items_where_both_are_asked_and_nothing_is_said(self, mixed: Study) -> None:
        assert self.unit_of(mixed) == ("item", ["preference"])

    def test_the_unit_that_is_named(self, mixed: Study) -> None:
        assert self.unit_of(mixed, unit="response") == ("response", ["helpful", "correct"])
        assert self.unit_of(mixed, unit="item") == ("item", ["preference"])

    def test_responses_where_only_their_criteria_are_named(self, mixed: Study) -> None:
        assert self.unit_of(mixed, criteria=["correct"]) == ("response", ["correct"])

    def test_turns_by_the_older_name_and_by_the_new(self) -> None:
        study, judge = dialogue_study(1), scripted()
        old, new = (runs.plan(study=study, judge=judge, **one) for one in ({"every_turn": True}, {"unit": "turn"}))
        assert (old.unit, new.unit) == ("turn", "turn")
        assert old.input_hash == new.input_hash

    def test_another_question_than_that_of_whole_items(self, study: Study) -> None:
        judge = say_both()
        responses = runs.plan(study=study, judge=judge).input_hash
        study.criteria.update(unit="item")
        assert runs.plan(study=study, judge=judge).input_hash != responses


class TestRefused:
    def refuse(self, study: Study, **options: Any) -> InputError:
        with pytest.raises(InputError) as refused:
            runs.plan(study=study, judge=say_both(), **options)
        return refused.value

    def test_criteria_of_both_kinds_in_one_run(self, study: Study) -> None:
        factories.CriterionFactory(study=study, key="preference", name="Preference", preference=True)
        both = ["helpful", "preference"]
        helpful = study.criteria.get(key="helpful").name
        said = (
            f"{helpful} of {study} is asked of each response: let the judge rate every response, in a run of its own."
        )
        assert self.refuse(study, criteria=both).message == said
        said = f"Preference of {study} is asked of the whole item: let the judge rate whole items, in a run of its own."
        assert self.refuse(study, criteria=both, unit="response").message == said

    def test_whole_items_of_a_study_of_responses(self, study: Study) -> None:
        assert "is asked of each response" in self.refuse(study, unit="item").message

    def test_responses_where_nothing_is_asked_of_them(self) -> None:
        study = pair_study(1)
        said = self.refuse(study, unit="response")
        assert (said.field, said.message) == ("criteria", f"{study} has no criterion that is asked of each response.")

    def test_responses_of_dialogues(self) -> None:
        study = dialogue_study(1)
        said = self.refuse(study, unit="response")
        assert (said.field, said.message) == ("unit", f"{study} holds dialogues, which have no responses.")

    def test_turns_of_responses(self, study: Study) -> None:
        assert self.refuse(study, unit="turn").message == f"{study} holds response pairs, which have no turns."

    def test_both_orders(self, study: Study) -> None:
        said = self.refuse(study, order_policy="both")
        assert (said.field, said.message) == (
            "order_policy",
            "Each response is shown alone, so there are no two orders.",
        )

    def test_two_units_at_once(self, study: Study) -> None:
        said = self.refuse(study, every_turn=True, unit="response")
        assert said.message == "A run rates every turn or every response: choose one of them."

    def test_an_unknown_unit(self, study: Study) -> None:
        assert self.refuse(study, unit="word").field == "unit"

    @pytest.mark.parametrize(
        "judge", [{"provider": "baseline"}, {"provider": "baseline", "model": "longer"}, {"provider": "scorer"}]
    )
    def test_a_judge_that_only_compares(self, study: Study, judge: dict[str, str]) -> None:
        two = [{"value": value, "label": value} for value in ("1", "2")]
        study.criteria.update(categories=two)
        made = factories.JudgeFactory(**({"model": "embedding"} | judge if judge["provider"] == "scorer" else judge))
        with pytest.raises(InputError, match=r"compares responses, and .* is asked of each alone\."):
            runs.plan(study=study, judge=made)

    def test_a_panel_of_two_units(self, study: Study) -> None:
        factories.CriterionFactory(study=study, key="preference", preference=True)
        mixed = [judged(study, say_both(otherwise="1"), unit=unit) for unit in ("item", "response")]
        with pytest.raises(InputError, match="judged single turns or responses, others whole items"):
            panels.combine(by=None, name="jury", runs=mixed)

    @pytest.mark.parametrize("wrong", [{"unit": "word"}, {"unit": "response", "order_policy": "both"}])
    def test_the_database_forbids_it_too(self, study: Study, wrong: dict[str, str]) -> None:
        run = judged(study, say_both())
        with pytest.raises(IntegrityError), transaction.atomic():
            JudgeRun.objects.filter(pk=run.pk).update(**wrong)
