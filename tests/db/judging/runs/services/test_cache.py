from __future__ import annotations

import pytest

from judging.judges.models import CachedReply
from tests.support import factories
from tests.support.judging import dialogue_study, judged, pair_study, scripted

pytestmark = pytest.mark.django_db


def judge(**options):
    return factories.JudgeFactory(provider="paid", model="m", **options)


def values(run) -> dict[tuple[int, int], str]:
    """Item and criterion -> value: concurrent replies are saved in the order in which they come."""
    return {(j.item_id, j.criterion_id): j.value for j in run.judgments.all()}


def test_an_equal_request_is_answered_once(paid):
    study, careful = dialogue_study(2), judge()
    first = judged(study, careful)

    second = judged(study, careful)

    assert len(paid) == 4
    assert second.judgments.count() == 4
    assert values(second) == values(first)
    assert {j.details["cached"] for j in second.judgments.all()} == {True}
    assert set(second.judgments.values_list("cost_usd", "input_tokens", "latency_ms")) == {(0, None, None)}
    assert not first.judgments.filter(details__cached=True).exists()


def test_another_judge_of_the_same_model_shares_the_answers(paid):
    study = dialogue_study(1)
    judged(study, judge(parameters={"concurrency": 2}))

    judged(study, judge(parameters={"concurrency": 7}))

    assert len(paid) == 2


@pytest.mark.parametrize(
    "options", [{"seed": 1}, {"use_cache": False}, {"repeats": 2}], ids=["another seed", "asked anew", "more repeats"]
)
def test_who_wants_another_answer_gets_one(paid, options):
    study, careful = dialogue_study(1), judge()
    judged(study, careful)

    judged(study, careful, **options)

    assert len(paid) == 4, "two more"


def test_other_parameters_are_another_request(paid):
    study = dialogue_study(1)
    judged(study, judge())

    judged(study, judge(parameters={"delay": 0.01}))

    assert len(paid) == 4


def test_an_edited_item_is_asked_about_anew(paid):
    study, careful = dialogue_study(2), judge()
    judged(study, careful)
    dialogue = study.items.first().dialogue
    dialogue.turns = [*dialogue.turns, {"role": "user", "content": "No, at nine."}]
    dialogue.save()

    judged(study, careful)

    assert len(paid) == 4 + 2, "two criteria of one item"


def test_each_order_is_a_request_of_its_own(paid):
    study, careful = pair_study(1), judge()
    judged(study, careful, order_policy="AB")

    judged(study, careful, order_policy="both")

    assert [request.order for request in paid] == ["AB", "BA"]


def test_rules_are_not_kept():
    judged(dialogue_study(1), scripted())

    assert not CachedReply.objects.exists()
