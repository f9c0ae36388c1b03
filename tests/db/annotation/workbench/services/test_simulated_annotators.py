"""Simulated annotators: as accurate as they say, on items that are easy or hard for all of them."""

import pytest

from annotation.stats.bands import TIERS
from annotation.stats.difficulty.items import difficulty
from annotation.studies.models.labels import Annotation
from annotation.studies.queries import ratings
from annotation.workbench.services import simulated_annotators
from annotation.workbench.services.simulated_annotators import SimulatedAnnotator
from core.errors import InputError
from tests.support.factories import DialogueFactory, ResponsePairFactory

pytestmark = pytest.mark.django_db
THREE = [SimulatedAnnotator(f"Simulated {name}", accuracy) for name, accuracy in (("A", 0.9), ("B", 0.8), ("C", 0.7))]


@pytest.fixture
def study(open_study):
    DialogueFactory.reset_sequence(0)  # how easy an item is follows from its name
    return open_study([], items=100, overlap=3, criteria=["naturalness_assistant"])


@pytest.mark.any_database
def test_they_find_easy_medium_hard_and_contested_items(study):
    truth = {item.external_id: {"naturalness_assistant": "3"} for item in study.items.all()}
    assert simulated_annotators.rate(by=None, study=study, truth=truth, annotators=THREE, seed=1) == 300
    found = difficulty(ratings.load_study(study)[0].table)
    assert set(found.tier) == set(TIERS)
    for one in THREE:
        mine = Annotation.objects.filter(assignment__annotator__username__startswith=one.name)
        assert mine.filter(value="3").count() == pytest.approx(100 * one.accuracy, abs=12)
    assert {user.kind for user in study.annotators.all()} == {"simulated"}


def test_items_that_are_left_out_stay_without_a_label(study):
    truth = {item.external_id: {"naturalness_assistant": "3"} for item in study.items.all()}
    out = sorted(truth)[:40]
    assert simulated_annotators.rate(by=None, study=study, truth=truth, annotators=THREE, seed=1, but=out) == 180
    rated = Annotation.objects.values_list("assignment__item__dialogue__external_id", flat=True)
    assert set(rated) == set(truth) - set(out)


def build_truth(study, value):
    """One stated level for each turn or response that the first criterion is asked of."""
    criterion = study.criteria.get()
    return {
        item.external_id: {f"{criterion.key}.{number}": value for number in criterion.turns_of(item)}
        for item in study.items.select_related("dialogue", "pair")
    }


RUBRIC = {
    "kind": "pair",
    "criterion": [
        {"key": "helpful", "type": "ordinal", "unit": "response", "question": "Helpful?", "category": list("1234")}
    ],
}


@pytest.fixture(params=["turns", "responses"])
def parts(request, open_study):
    """40 items with three turns of the assistant, or three responses, each of which is rated."""
    if request.param == "turns":
        DialogueFactory.reset_sequence(0)
        turns = [{"role": role, "content": "Fine."} for role in ("user", "assistant") * 3]
        DialogueFactory.create_batch(40, turns=turns)
        criteria = ["naturalness_assistant"]
        return open_study([], items=0, overlap=3, criteria=criteria, each_turn=criteria)
    ResponsePairFactory.reset_sequence(0)
    third = [{"text": "Third", "model": "m3"}]
    ResponsePairFactory.create_batch(40, n_responses=3, further=third)
    return open_study([], items=0, kind="pair", overlap=3, criteria=None, rubric=RUBRIC)


def test_they_rate_each_turn_and_each_response(parts):
    truth = build_truth(parts, "3")
    assert simulated_annotators.rate(by=None, study=parts, truth=truth, annotators=THREE, seed=1) == 3 * 3 * 40
    (found,) = ratings.load_study(parts)
    assert found.table.n_items == 120
    assert len(set(found.table.clusters)) == 40
    for one in THREE:
        mine = Annotation.objects.filter(assignment__annotator__username__startswith=one.name)
        assert mine.filter(value="3").count() == pytest.approx(120 * one.accuracy, abs=14)
    assert set(difficulty(found.table).tier) == set(TIERS)


def test_a_part_without_a_stated_level_is_refused(parts):
    truth = build_truth(parts, "3")
    for levels in truth.values():
        levels.popitem()
    with pytest.raises(InputError, match=r"no stated level of \w+\.\d for item"):
        simulated_annotators.rate(by=None, study=parts, truth=truth, annotators=THREE, seed=1)
    assert not Annotation.objects.exists()


@pytest.mark.any_database
def test_an_item_without_a_stated_level_is_refused(study):
    with pytest.raises(InputError, match="no stated level"):
        simulated_annotators.rate(by=None, study=study, truth={}, annotators=THREE, seed=1)
