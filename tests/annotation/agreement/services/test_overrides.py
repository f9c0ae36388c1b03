"""Tiers that a person sets against what is computed: the last one holds, all stay on record."""

import pytest

from annotation.agreement import queries as agreement_queries
from annotation.agreement.models import TierOverride
from annotation.agreement.services import tiers
from annotation.agreement.services.overrides import set_tier
from annotation.agreement.services.tiers import TierOptions
from annotation.studies.queries import ratings
from core.errors import InputError
from tests.factories import CriterionFactory, ResearcherFactory
from tests.labelled import people_say, with_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def criterion():
    found = CriterionFactory(study=with_items(3), key="personalization")
    people_say(found, {"bob": ["1", "2", "3"], "dana": ["1", "4", "3"]})
    return found


def item(criterion, position):
    return criterion.study.items.get(position=position)


def of_items(criterion) -> list[str | None]:
    return tiers.load_tiers(ratings.load_criterion(criterion))


def test_the_last_decision_holds_and_all_stay_on_record(criterion):
    alice, erin = ResearcherFactory(username="alice"), ResearcherFactory(username="erin")
    assert of_items(criterion) == ["easy", "contested", "easy"]
    set_tier(by=alice, item=item(criterion, 2), criterion=criterion, tier="hard", reason="clear once explained")
    set_tier(by=erin, item=item(criterion, 2), criterion=criterion, tier="medium", reason="easier still")
    assert of_items(criterion) == ["easy", "medium", "easy"]
    newest, first = agreement_queries.history(item(criterion, 2))
    assert (first.before, first.tier, str(first.decided_by)) == ("contested", "hard", "alice")
    assert (newest.before, newest.tier, newest.reason) == ("hard", "medium", "easier still")


def test_it_can_be_taken_back(criterion):
    alice = ResearcherFactory()
    set_tier(by=alice, item=item(criterion, 1), criterion=criterion, tier="hard", reason="a trick question")
    set_tier(by=alice, item=item(criterion, 1), criterion=criterion, tier="", reason="no, it is not")
    assert of_items(criterion)[0] == "easy"
    assert agreement_queries.load_overrides(criterion) == {}
    assert TierOverride.objects.count() == 2


def test_the_document_has_both_tiers_and_both_counts(criterion):
    set_tier(
        by=ResearcherFactory(username="alice"), item=item(criterion, 2), criterion=criterion, tier="hard", reason="so"
    )
    found = tiers.compute_criterion(
        criterion.study, ratings.load_criterion(criterion), TierOptions(draws=0, bootstrap=0)
    )
    assert (found["counts"]["hard"], found["computed_counts"]["hard"], found["overridden"]) == (1, 0, 1)
    second = found["items"][1]
    assert (second["tier"], second["computed_tier"]) == ("hard", "contested")
    assert second["override"] | {"at": ""} == {
        "tier": "hard",
        "before": "contested",
        "reason": "so",
        "by": "alice",
        "at": "",
    }
    assert found["items"][0]["override"] is None


@pytest.mark.parametrize(
    ("tier", "reason", "field"),
    [("simple", "so", "tier"), ("hard", "  ", "reason"), ("", "so", "tier")],
    ids=["no tier", "no reason", "nothing to take back"],
)
def test_what_is_refused(criterion, tier, reason, field):
    with pytest.raises(InputError) as refused:
        set_tier(by=ResearcherFactory(), item=item(criterion, 1), criterion=criterion, tier=tier, reason=reason)
    assert refused.value.field == field
    assert not TierOverride.objects.exists()


def test_a_criterion_of_another_study_is_refused(criterion):
    with pytest.raises(InputError, match="no such criterion"):
        set_tier(
            by=ResearcherFactory(), item=item(criterion, 1), criterion=CriterionFactory(), tier="hard", reason="so"
        )


@pytest.mark.parametrize(
    ("kind", "unit", "said"), [("dialogue", "user_turn", "turns"), ("pair", "response", "responses")]
)
def test_tiers_of_parts_are_not_set_by_hand(kind, unit, said):
    criterion = CriterionFactory(study=with_items(1, kind=kind), unit=unit)
    with pytest.raises(InputError, match=f"is asked of {said}: their tiers are not set by hand"):
        set_tier(by=ResearcherFactory(), item=item(criterion, 1), criterion=criterion, tier="hard", reason="so")
