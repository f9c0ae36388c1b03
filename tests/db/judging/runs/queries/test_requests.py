from __future__ import annotations

import pytest

from judging.judges.providers.requests import DialogueContent, PairContent
from judging.runs.models.runs import JudgeRun
from judging.runs.queries.requests import list_pending
from tests.support import factories
from tests.support.judging import dialogue_study, pair_study

pytestmark = pytest.mark.django_db


def run_on(study, **options) -> JudgeRun:
    return factories.JudgeRunFactory(study=study, **options)


def asked(run, **options):
    return list_pending(run, list(run.study.items.values_list("pk", flat=True)), with_prompt=False, **options)


def test_every_item_is_asked_about_with_every_criterion_one_item_after_the_other():
    study = dialogue_study(2)
    first, second = study.items.all()

    found = [(ask.item_id, ask.request.criterion.key) for ask in asked(run_on(study))]

    assert found == [
        (first.pk, "personalization"),
        (first.pk, "task_completion"),
        (second.pk, "personalization"),
        (second.pk, "task_completion"),
    ]


def test_what_is_judged_already_is_not_asked_again():
    study = dialogue_study(1)
    run = run_on(study, repeats=2)
    item, criterion = study.items.get(), study.criteria.first()
    factories.JudgmentFactory(run=run, item=item, criterion=criterion, repeat=1)
    factories.JudgmentFactory(run=run, item=item, criterion=criterion, repeat=2, value="", unscored_reason="refusal")

    assert [ask.request.criterion.key for ask in asked(run)] == ["task_completion", "task_completion"]


def test_another_run_s_judgments_do_not_count():
    study = dialogue_study(1)
    factories.JudgmentFactory(run=run_on(study), item=study.items.get(), criterion=study.criteria.first())

    assert len(asked(run_on(study))) == 2


def test_the_number_of_queries_does_not_grow_with_the_items(django_assert_num_queries):
    small, large = run_on(dialogue_study(1)), run_on(dialogue_study(5))
    for run in (small, large):
        ids = list(run.study.items.values_list("pk", flat=True))
        with django_assert_num_queries(3):
            list_pending(run, ids, with_prompt=True)


class TestWhatTheJudgeSees:
    def content(self, *shown: str) -> DialogueContent:
        profile = factories.ProfileFactory(persona="Alice bakes.", memories=["has a dog"])
        dialogue = factories.DialogueFactory(scenario=factories.ScenarioFactory(profile=profile))
        study = factories.StudyFactory(shown=list(shown))
        factories.CriterionFactory(study=study)
        factories.ItemFactory(study=study, dialogue=dialogue)
        return asked(run_on(study))[0].request.content

    def test_nothing_that_annotators_do_not_see(self):
        content = self.content()

        assert (content.goal, content.situation, content.person.persona) == ("", {}, "")
        assert content.person.preferences == {}
        assert [turn.role for turn in content.turns] == ["user", "assistant"]

    def test_the_parts_that_the_study_shows(self):
        content = self.content("goal", "persona", "memories")

        assert content.goal == "A table is booked."
        assert content.person.persona == "Alice bakes."
        assert content.person.memories == ["has a dog"]
        assert content.person.preferences == {}
        assert content.domains == ("Restaurants",)

    def test_a_dialogue_without_a_scenario_is_shown_alone(self):
        study = factories.StudyFactory(shown=["goal", "persona"])
        factories.CriterionFactory(study=study)
        factories.ItemFactory(study=study, dialogue=factories.DialogueFactory(scenario=None))

        assert asked(run_on(study))[0].request.content.goal == ""


class TestOrder:
    def test_a_fixed_order_swaps_the_texts(self):
        study = pair_study(1)
        pair = study.items.get().pair

        ab = asked(run_on(study, order_policy="AB"))[0].request
        ba = asked(run_on(study, order_policy="BA"))[0].request

        assert isinstance(ab.content, PairContent)
        assert (ab.content.response_a, ab.content.response_b) == (pair.response_1, pair.response_2)
        assert (ba.content.response_a, ba.content.response_b) == (pair.response_2, pair.response_1)
        assert ba.criterion.values == ("A", "B", "tie")

    def test_both_orders_ask_twice(self):
        assert [ask.order for ask in asked(run_on(pair_study(2), order_policy="both"))] == ["AB", "BA"] * 2

    @pytest.mark.any_database
    def test_a_drawn_order_comes_from_the_seed_and_stays(self):
        study = pair_study(40)
        run = run_on(study, order_policy="random", seed=3)

        drawn = [ask.order for ask in asked(run)]

        assert drawn == [ask.order for ask in asked(run_on(study, order_policy="random", seed=3))]
        assert drawn != [ask.order for ask in asked(run_on(study, order_policy="random", seed=4))]
        assert 8 <= drawn.count("AB") <= 32  # 40 fair draws stay inside with a chance of 0.9999

    def test_a_dialogue_has_no_order(self):
        assert {ask.order for ask in asked(run_on(dialogue_study(2), order_policy="both"))} == {""}


def test_each_request_has_a_seed_of_its_own_that_stays():
    study = dialogue_study(2)

    seeds = [ask.request.seed for ask in asked(run_on(study, repeats=2, seed=1))]

    assert len(set(seeds)) == len(seeds) == 8
    assert seeds == [ask.request.seed for ask in asked(run_on(study, repeats=2, seed=1))]
