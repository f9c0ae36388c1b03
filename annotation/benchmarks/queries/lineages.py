"""From the items of a first study to where each of them was voted on last, through every filter round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from annotation.agreement import queries as agreement_queries
from annotation.agreement.models import TierOverride
from annotation.benchmarks.models import FilterOutcome
from annotation.stats.benchmarks.votes import VALUES, Votes
from annotation.studies.models.labels import Adjudication, Annotation
from annotation.studies.models.studies import Item, Study

GOES_ON = (FilterOutcome.Outcome.ASKED_AGAIN, FilterOutcome.Outcome.REVISED)


class Vote(NamedTuple):
    """What a person chose: 1, 2 or tie; the order in which they saw the responses (AB or BA) and by how much one is
    better (much or slightly), both empty where that is not known."""

    value: str
    order: str
    strength: str


@dataclass(frozen=True)
class Lineage:
    """An item of the first study with all that became of it.

    Attributes
    ----------
    items
        The item in each study it was voted on in, oldest first.
    outcomes
        What each filter round did with it, oldest first.
    """

    items: tuple[Item, ...]
    outcomes: tuple[FilterOutcome, ...]

    @property
    def last(self) -> Item:
        """Where its votes are."""
        return self.items[-1]

    @property
    def outcome(self) -> FilterOutcome | None:
        """What the last study's round did with it; None where there was none."""
        return next((one for one in self.outcomes if one.item_id == self.last.pk), None)


def list_derived_studies(study: Study) -> list[Study]:
    """List the study and all made from its filter rounds, directly or not. A query for each generation."""
    found, newest = [study], [study]
    while newest:
        newest = list(Study.objects.filter(follows__study__in=newest).distinct().order_by("pk"))
        found += newest
    return found


def load_study(study: Study) -> list[Lineage]:
    """Load every item of the study, by position. Two queries besides those for the studies."""
    studies = list_derived_studies(study)
    items = list(Item.objects.filter(study__in=studies).select_related("study", "pair__profile").order_by("position"))
    outcomes = FilterOutcome.objects.filter(round__study__in=studies).select_related(
        "round__study", "round__follow_up", "revised_pair", "decided_by", "item__pair"
    )
    by_item = {one.item_id: one for one in outcomes}
    place = {(item.study_id, item.pair_id): item for item in items}
    return [follow_lineage(item, by_item, place) for item in items if item.study_id == study.pk]


def follow_lineage(
    item: Item, by_item: Mapping[int, FilterOutcome], place: Mapping[tuple[int, int | None], Item]
) -> Lineage:
    found, outcomes = [item], list[FilterOutcome]()
    while outcome := by_item.get(found[-1].pk):
        outcomes.append(outcome)
        if outcome.outcome not in GOES_ON or outcome.round.follow_up_id is None:
            break
        pair = outcome.revised_pair_id or found[-1].pair_id
        found.append(place[outcome.round.follow_up_id, pair])
    return Lineage(tuple(found), tuple(outcomes))


def votes(lineages: Sequence[Lineage], criterion: str, *, pooled: bool) -> list[dict[int, Vote]]:
    """Load by person's id the counting votes on each item. One query.

    Those of its last study, or with `pooled` those of all studies in which its texts were the same, the newest of each
    person.
    """
    wanted = {item.pk for one in lineages for item in (list_revised_items(one) if pooled else [one.last])}
    given: dict[int, dict[int, Vote]] = {}
    labels = Annotation.objects.only_counting().filter(
        assignment__item__study__in={item.study_id for one in lineages for item in one.items}, criterion__key=criterion
    )
    fields = ("assignment__item", "assignment__annotator", "value", "assignment__order", "strength")
    for item, person, *vote in labels.values_list(*fields).order_by("pk").iterator(chunk_size=5000):
        if item in wanted and vote[0]:
            given.setdefault(item, {})[person] = Vote(*vote)
    return [_newest(one, given, pooled=pooled) for one in lineages]


def list_revised_items(one: Lineage) -> list[Item]:
    """List the items at the end of the lineage that have the same pair."""
    return [item for item in one.items if item.pair_id == one.last.pair_id]


def _newest(one: Lineage, given: Mapping[int, Mapping[int, Vote]], *, pooled: bool) -> dict[int, Vote]:
    said: dict[int, Vote] = {}
    for item in list_revised_items(one) if pooled else [one.last]:
        said |= given.get(item.pk, {})
    return said


def count(said: Mapping[int, Vote]) -> Votes:
    """Count how many chose each response of one item, and how many neither."""
    values = [vote.value for vote in said.values()]
    return Votes(*(values.count(value) for value in VALUES))


def load_adjudications(lineages: Sequence[Lineage], criterion: str) -> dict[int, Adjudication]:
    """Load by the id of an item the adjudication that holds. One query."""
    ids = {one.last.pk for one in lineages}
    found = Adjudication.objects.filter(
        item__study__in={one.last.study_id for one in lineages}, criterion__key=criterion
    )
    newest = {one.item_id: one for one in found.select_related("decided_by").order_by("created_at", "pk")}
    return {pk: one for pk, one in newest.items() if pk in ids}


def tiers_by_hand(lineages: Sequence[Lineage], criterion: str) -> dict[int, TierOverride]:
    """Load by the id of an item the override of its tier that holds. Two queries a study."""
    found = dict[int, TierOverride]()
    for study in {one.last.study_id: one.last.study for one in lineages}.values():
        positions = {str(one.last.position): one.last.pk for one in lineages if one.last.study_id == study.pk}
        asked = study.criteria.filter(key=criterion).first()
        held = agreement_queries.load_overrides(asked) if asked else {}
        found |= {positions[position]: one for position, one in held.items() if position in positions}
    return found
