"""The simulated judge: as accurate as it says, surest where it is right, and never taken for a model."""

import pytest

from config import demo
from judging.judges import providers
from judging.judges.models import Judge
from judging.judges.providers.requests import Category, CriterionSpec, JudgeRequest, PairContent
from judging.judges.services.simulated import draw_chances, share_chances

PREFERENCE = CriterionSpec("preference", "Preference", "", "", "nominal", (Category("A", ""), Category("B", "")))


def ask(item: str, order: str = "AB"):
    chances = {"preference": {"one": {"1": 0.8, "2": 0.2}}}
    judge = providers.create("simulated", parameters={"chances": chances})
    request = JudgeRequest(item, PREFERENCE, PairContent("q", "a", "b"), order=order)
    with pytest.raises(StopIteration) as ended:  # it waits for nothing, and may run beside the event loop of a browser
        judge.judge(request).send(None)
    return judge, ended.value.value


def test_it_gives_the_likeliest_value_on_the_side_where_it_is_shown():
    _, reply = ask("one")
    assert (reply.value, reply.distribution) == ("A", {"A": 0.8, "B": 0.2})
    assert ask("one", "BA")[1].value == "B"
    assert "no model" in reply.explanation


def test_an_item_for_which_nothing_was_drawn_is_unscored():
    judge, reply = ask("other")
    assert (reply.value, reply.unscored) == (None, "nothing_to_measure")
    other = CriterionSpec("depth", "Depth", "", "", "nominal", PREFERENCE.categories)
    assert judge.check([PREFERENCE, other]) == ["nothing was drawn for depth"]


def test_it_is_called_a_simulated_judge_everywhere():
    assert Judge(name="x", provider="simulated").kind == "simulated judge"


@pytest.mark.parametrize("sure", [0.0, 0.4, 1.0])
def test_the_chosen_value_is_the_likeliest(sure):
    shares = share_chances(["1", "2", "3"], 1, sure)
    assert max(shares, key=shares.get) == "2"
    assert sum(shares.values()) == pytest.approx(1)


@pytest.mark.any_database
@pytest.mark.long
@pytest.mark.django_db
def test_it_is_as_often_right_as_it_says(open_study):
    study = open_study([], items=200, overlap=1, criteria=["naturalness_assistant"])
    truth = {item.external_id: {"naturalness_assistant": "3"} for item in study.items.all()}
    drawn = draw_chances(study=study, truth=truth, accuracy={"naturalness_assistant": 0.8}, seed=1)
    right = [(max(one, key=one.get) == "3", max(one.values())) for one in drawn["naturalness_assistant"].values()]
    assert sum(is_right for is_right, _ in right) == pytest.approx(160, abs=20)
    surest = sorted(right, key=lambda pair: -pair[1])[:100]
    assert sum(is_right for is_right, _ in surest) >= 97, "it knows which items it gets right"


def test_every_criterion_of_the_demo_has_an_accuracy():
    assert set(demo.ACCURACY) == {*demo.DIALOGUE_CRITERIA, "preference"}
