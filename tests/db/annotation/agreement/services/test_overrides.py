"""Tiers that a person sets against what is computed: the last one holds, all stay on record."""

import pytest
from django.urls import reverse

from annotation.agreement import queries as agreement_queries
from annotation.agreement.models import TierOverride
from annotation.agreement.services import tiers
from annotation.agreement.services.tiers import TierOptions, set_tier
from annotation.studies.queries import ratings
from core.errors import InputError
from judging.assessment.queries.assessment_data import StudyData
from tests.db.judging.assessment.services.parts import NUMBERS, add_items, add_labels
from tests.support.factories import CriterionFactory, ResearcherFactory, StudyFactory
from tests.support.labelled import people_say, with_items

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


def test_an_item_has_no_turn_to_name(criterion):
    with pytest.raises(InputError, match="is asked of the whole item"):
        set_tier(by=ResearcherFactory(), item=item(criterion, 1), criterion=criterion, turn=2, tier="hard", reason="so")


def test_a_criterion_of_another_study_is_refused(criterion):
    with pytest.raises(InputError, match="no such criterion"):
        set_tier(
            by=ResearcherFactory(), item=item(criterion, 1), criterion=CriterionFactory(), tier="hard", reason="so"
        )


@pytest.mark.parametrize(
    ("kind", "unit", "said"), [("dialogue", "assistant_turn", "turn"), ("pair", "response", "response")]
)
class TestParts:
    """Where a criterion is asked of turns or responses, each of them has a tier of its own."""

    @pytest.fixture
    def criterion(self, kind, unit):
        study, (first, second) = StudyFactory(kind=kind, slug="parts"), NUMBERS[unit]
        add_items(study, 2, NUMBERS[unit])
        made = CriterionFactory(study=study, key="helpful", unit=unit)
        for slot, (who, last) in enumerate({"bob": "2", "dana": "4"}.items(), start=1):
            add_labels(made, who, slot, {f"1.{first}": "1", f"1.{second}": last})
        return made

    def test_one_is_set_and_the_others_stay(self, criterion, said):
        first, second = criterion.turns_of(item(criterion, 1))[:2]
        assert of_items(criterion) == ["easy", "contested"]
        alice = ResearcherFactory(username="alice")
        made = set_tier(by=alice, item=item(criterion, 1), criterion=criterion, turn=second, tier="hard", reason="so")
        assert (made.before, made.turn) == ("contested", second)
        assert of_items(criterion) == ["easy", "hard"]
        found = tiers.compute_criterion(
            criterion.study, ratings.load_criterion(criterion), TierOptions(draws=0, bootstrap=0)
        )
        rows = {row["turn"]: row for row in found["items"]}
        assert (rows[second]["tier"], rows[second]["override"]["by"], rows[first]["override"]) == (
            "hard",
            "alice",
            None,
        )
        set_tier(by=alice, item=item(criterion, 1), criterion=criterion, turn=second, tier="", reason="no")
        assert of_items(criterion) == ["easy", "contested"]

    def test_the_part_is_named(self, criterion, said):
        with pytest.raises(InputError, match=f"is asked of {said}s: name one of it") as refused:
            set_tier(by=ResearcherFactory(), item=item(criterion, 1), criterion=criterion, tier="hard", reason="so")
        assert refused.value.field == "turn"

    def test_on_the_items_page_and_through_the_api(self, criterion, said, client):
        client.force_login(ResearcherFactory(username="alice"))
        study, (first, second) = criterion.study, criterion.turns_of(item(criterion, 1))[:2]
        given = {"criterion": "helpful", "tier": "hard", "reason": "odd", "turn": first}
        address = f"/api/v1/studies/{study.slug}/items/1/tier"
        made = client.post(address, given, content_type="application/json")
        assert (made.status_code, made.json()["turn"], made.json()["before"]) == (201, first, "easy")
        url = reverse("item_tier", args=[study.slug, 1, "helpful"])
        html = client.post(url, {"tier": "medium", "reason": "better", "turn": second}, follow=True).content.decode()
        assert f"Item 1, {said} {second} on {criterion.name}: medium." in html
        assert f"{said.capitalize()} {first}: tier" in html
        assert html.count("set by hand; computed") == 2
        counted = client.get(reverse("tiers", args=[study.slug])).content.decode()
        assert counted.count("by hand; computed") == 2
        assert f"{said} {second}</span>" in counted
        evidence = StudyData.load(study).people[criterion.pk]
        assert sorted(evidence.by_hand.values()) == ["hard", "medium"]
