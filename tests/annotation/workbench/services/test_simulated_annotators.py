"""Simulated annotators: as accurate as they say, on items that are easy or hard for all of them."""

import pytest

from annotation.stats.bands import TIERS
from annotation.stats.difficulty.items import difficulty
from annotation.studies.models.labels import Annotation
from annotation.studies.queries import ratings
from annotation.workbench.services import simulated_annotators
from annotation.workbench.services.simulated_annotators import SimulatedAnnotator
from core.errors import InputError
from tests.factories import DialogueFactory

pytestmark = pytest.mark.django_db
THREE = [SimulatedAnnotator(f"Simulated {name}", accuracy) for name, accuracy in (("A", 0.9), ("B", 0.8), ("C", 0.7))]


@pytest.fixture
def study(open_study):
    DialogueFactory.reset_sequence(0)  # how easy an item is follows from its name
    return open_study([], items=100, overlap=3, criteria=["naturalness_assistant"])


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


def test_an_item_without_a_stated_level_is_refused(study):
    with pytest.raises(InputError, match="no stated level"):
        simulated_annotators.rate(by=None, study=study, truth={}, annotators=THREE, seed=1)
