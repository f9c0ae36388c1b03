"""What a run found."""

from __future__ import annotations

import pytest

from annotation.agreement.options import IntervalOptions as Options
from core.errors import InputError
from judging.assessment.services import scores
from judging.runs.models.runs import Judgment
from tests.support import factories
from tests.support.judging import dialogue_study, judged, pair_study, scripted

pytestmark = pytest.mark.django_db

QUICK = Options(bootstrap=50)
TALK = [{"role": role, "content": role} for role in ("user", "assistant", "user", "assistant")]


def run_of(*values: str, key: str = "personalization", **options):
    """A finished run in which the items were given these values, a `!reason` being none."""
    study = dialogue_study(len(values))
    criterion = study.criteria.get(key=key)
    run = factories.JudgeRunFactory(study=study, criteria=[criterion], **options)
    for item, value in zip(study.items.order_by("position"), values, strict=True):
        reason = value[1:] if value.startswith("!") else ""
        given = "" if reason else value
        factories.JudgmentFactory(run=run, item=item, criterion=criterion, value=given, unscored_reason=reason)
    return run


def of(run, **options):
    (one,) = scores.compute_run(run, options=QUICK, **options)["criteria"].values()
    return one


def test_mean_and_distribution_without_the_unscored():
    one = of(run_of("1", "4", "4", "!refusal"))

    assert one["overall"]["value"] == pytest.approx((1 + 4 + 4) / 3)
    assert (one["measure"], one["n_items"], one["scored"], one["unscored"]) == ("mean", 4, 3, {"refusal": 1})
    assert one["counts"] == {"1": 1, "2": 0, "3": 0, "4": 2}
    assert [row["share"]["value"] for row in one["distribution"]] == pytest.approx([1 / 3, 0, 0, 2 / 3])
    assert one["weighted"] is None


def test_of_yes_and_no_it_is_the_share_of_yes():
    one = of(run_of("yes", "no", "yes", "yes", key="task_completion"))

    assert one["measure"].startswith("share of ")
    assert one["overall"]["value"] == 0.75


def test_a_preference_with_ties_has_no_mean_but_shares():
    study = pair_study(2)
    run = judged(study, scripted(otherwise="tie"))

    one = of(run)

    assert (one["measure"], one["overall"]) == ("", None)
    assert {row["value"]: row["share"]["value"] for row in one["distribution"]}["tie"] == 1.0
    assert one["groups"][0]["estimate"] is None


def test_weighted_scores_have_a_mean_of_their_own():
    run = run_of("1", "4")
    Judgment.objects.filter(run=run, value="1").update(score=1.4)
    Judgment.objects.filter(run=run, value="4").update(score=3.6)

    one = of(run)

    assert (one["overall"]["value"], one["weighted"]["value"]) == (2.5, 2.5)


def test_means_may_be_of_scores_and_a_judgment_without_one_counts_by_its_verdict():
    run = run_of("1", "4", "4")
    Judgment.objects.filter(run=run, value="1").update(score=1.75)

    one = of(run, reads="score")

    assert one["overall"]["value"] == (1.75 + 4 + 4) / 3
    assert (one["measure"], one["by_probabilities"]) == ("mean score", 1)
    assert one["groups"][0]["estimate"]["value"] == one["overall"]["value"]
    assert one["counts"]["1"] == 1, "the verdicts stay what they are"
    with pytest.raises(InputError, match="verdict or score"):
        of(run, reads="mood")


def test_yes_and_no_have_no_score():
    assert of(run_of("yes", "no", key="task_completion"), reads="score")["overall"]["value"] == 0.5


def test_groups():
    run = run_of("1", "2", "4")
    for item, domains in zip(
        run.study.items.order_by("position"), (["Books"], ["Books"], ["Hotels", "Train"]), strict=True
    ):
        task = item.dialogue.scenario.task
        task.domains = domains
        task.save()

    groups = {group["group"]: group for group in of(run)["groups"]}

    assert {name: group["estimate"]["value"] for name, group in groups.items()} == {"Books": 1.5, "several domains": 4}
    assert groups["Books"]["counts"] == {"1": 1, "2": 1, "3": 0, "4": 0}
    with pytest.raises(InputError, match="cannot be grouped"):
        scores.compute_run(run, by="colour")


def test_dialogues_of_one_profile_are_resampled_together():
    run = run_of(*"1414141414")
    separate = of(run)["overall"]
    first = run.study.items.first().dialogue.scenario.profile
    for item in run.study.items.all():
        item.dialogue.scenario.profile = first
        item.dialogue.scenario.save()

    together = of(run)["overall"]

    assert separate["low"] is not None
    assert (together["value"], together["low"]) == (2.5, None)
    assert together["reason"], "one profile cannot be resampled"


def test_the_curve_goes_by_the_assistant_s_turns():
    study = dialogue_study(1)
    factories.ItemFactory(study=study, dialogue=factories.DialogueFactory(turns=TALK))
    run = judged(study, scripted(otherwise="2"), every_turn=True, criteria=["personalization"])
    Judgment.objects.filter(run=run, turn=4).update(value="4")
    Judgment.objects.filter(run=run, turn=2, item__position=1).update(value="1")

    turns = of(run)["turns"]

    assert [(turn["turn"], turn["estimate"]["value"], turn["n_items"]) for turn in turns] == [(1, 1.5, 2), (2, 4, 1)]


def test_a_run_that_said_nothing_yet():
    one = of(run_of())

    assert (one["overall"], one["n_judgments"], one["groups"]) == (None, 0, [])


def test_the_number_of_queries_does_not_grow(django_assert_num_queries):
    for n in (1, 5):
        run = judged(dialogue_study(n), scripted(), every_turn=True)
        with django_assert_num_queries(9):
            scores.compute_run(run, options=QUICK)
