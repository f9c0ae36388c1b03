"""Gold of a study: adjudicated above counted, ties told and not broken, contested items without."""

import pytest

from annotation.agreement.options import GoldOptions
from annotation.agreement.services import gold
from annotation.agreement.services.tiers import set_tier
from annotation.studies.queries import ratings
from annotation.workbench.services.adjudications import decide
from core.errors import InputError
from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import people_say, with_items

pytestmark = pytest.mark.django_db
# unanimous, tied, two of three, unanimous and decided otherwise, by one only, by nobody
SAID = {
    "bob": ["1", "1", "2", "3", "4", None],
    "dana": ["1", "2", "2", "3", None, None],
    "erin": ["1", None, "1", "3", None, None],
}


@pytest.fixture
def criterion():
    found = CriterionFactory(study=with_items(6), key="personalization")
    people_say(found, SAID)
    return found


def items(criterion, **options):
    found = gold.compute_criterion(criterion.study, ratings.load_criterion(criterion), GoldOptions(**options))
    return {item["position"]: item for item in found["items"]}, found


def test_counted_decided_and_why_there_is_none(criterion):
    alice = ResearcherFactory()
    decide(by=alice, item=criterion.study.items.get(position=4), criterion=criterion, value="4", reason="misread")
    decide(by=alice, item=criterion.study.items.get(position=6), criterion=criterion, value="2")
    by_position, found = items(criterion)
    assert {p: (one["gold"], one["source"]) for p, one in by_position.items() if one["gold"]} == {
        1: ("1", "median"),
        3: ("2", "median"),
        4: ("4", "adjudication"),
        6: ("2", "adjudication"),
    }
    assert {p: one["reason"] for p, one in by_position.items() if not one["gold"]} == {
        2: "tied",
        5: "too few ratings",
    }
    assert by_position[2]["candidates"] == ["1", "2"]
    assert found["tied"] == 1
    assert found["counts"]["adjudication"] == 2


def test_a_nominal_scale_takes_the_majority_and_has_no_median(criterion):
    criterion.level = "nominal"
    criterion.save()
    by_position, found = items(criterion)
    assert (by_position[1]["source"], found["method"]) == ("majority", "majority")
    assert {p: one["reason"] for p, one in by_position.items() if not one["gold"]} == {
        2: "contested",
        3: "contested",
        5: "too few ratings",
    }
    with pytest.raises(InputError, match="has no median"):
        items(criterion, method="median")


def test_a_tier_set_by_hand_decides_on_what_is_contested(criterion):
    item = criterion.study.items.get(position=3)
    set_tier(by=ResearcherFactory(), item=item, criterion=criterion, tier="contested", reason="a trap")
    assert items(criterion)[0][3]["reason"] == "contested"
    set_tier(by=ResearcherFactory(), item=item, criterion=criterion, tier="hard", reason="one slip")
    by_position, _ = items(criterion)
    assert (by_position[3]["gold"], by_position[3]["confidence"]) == ("2", pytest.approx(2 / 3))


def test_dawid_and_skene(criterion):
    by_position, found = items(criterion, method="dawid_skene")
    assert by_position[1]["source"] == "dawid_skene"
    assert found["method"] == "dawid_skene"


def test_an_unknown_method_is_refused():
    with pytest.raises(InputError, match="is not one of majority, median, consensus, dawid_skene"):
        GoldOptions(method="coin")  # type: ignore[arg-type]
