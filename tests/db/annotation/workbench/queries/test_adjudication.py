"""On an ordered scale, a near miss is less of a dispute than answers from both ends."""

import pytest

from annotation.studies.models.studies import Criterion
from annotation.workbench.queries.adjudication import disputes
from tests.support.factories import CriterionFactory
from tests.support.labelled import people_say, with_items

pytestmark = pytest.mark.django_db

ANSWERS = {"bob": ["1", "3", "2"], "dana": ["1", "3", "2"], "erin": ["4", "4", "2"]}


@pytest.fixture
def ordered():
    found = CriterionFactory(study=with_items(3), key="personalization")
    people_say(found, ANSWERS)
    return found


def test_a_near_miss_is_a_medium_item_and_opposite_ends_a_contested_one(ordered):
    """By hand, four steps, quadratic weights: P_e = 1 - 40/144; P is (1 + 2 x 8/9) / 3 for 3, 3, 4, 1/3 for 1, 1, 4."""
    expected = 1 - 40 / 144
    ends, near = disputes(ordered)
    assert [(one.position, one.spread, one.tier) for one in (ends, near)] == [(1, 3, "contested"), (2, 1, "medium")]
    assert near.kappa == pytest.approx(((1 + 2 * 8 / 9) / 3 - expected) / (1 - expected))
    assert ends.kappa == pytest.approx((1 / 3 - expected) / (1 - expected))


def test_on_a_nominal_scale_both_are_alike(ordered):
    Criterion.objects.filter(pk=ordered.pk).update(level="nominal")
    ordered.refresh_from_db()
    first, second = disputes(ordered)
    assert [one.position for one in (first, second)] == [1, 2]
    assert first.kappa == second.kappa == pytest.approx((1 / 3 - 1 / 4) / (3 / 4))
    assert (first.spread, first.tier) == (None, "contested")
