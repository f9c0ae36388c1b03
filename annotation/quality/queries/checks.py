"""Answers to checks beside what is known, and answers to repeats beside the first ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from django.db.models import Exists, OuterRef, QuerySet

from annotation.quality.models import KnownAnswer
from annotation.stats.checks import CheckComparison
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Item, Study
from annotation.studies.queries.dependence import read_dependence

SUBMITTED, RATING = Assignment.State.SUBMITTED, Assignment.Purpose.RATING
REPEAT, CHECK = Assignment.Purpose.REPEAT, Assignment.Purpose.CHECK


def load_study(study: Study) -> list[CheckComparison]:
    """All that can be compared, of excluded annotators too, with the clusters of the items.

    Four queries; where there is anything, two more, and one or two for each study that the items are of.
    """
    found = [*load_checks(study), *load_repeats(study)]
    clusters = load_clusters({one.item for one in found}) if found else {}
    return [replace(one, cluster=clusters.get(one.item, "")) for one in found]


def load_clusters(items: set[int]) -> dict[int, str]:
    """By item, what it depends on in its own study, which is another one for some checks; without those that stand
    alone."""
    found: dict[int, str] = {}
    places = list(Item.objects.filter(pk__in=items).values_list("study", "pk", "position"))
    for owner in Study.objects.filter(pk__in={place[0] for place in places}):
        clusters = read_dependence(owner).clusters or {}
        found |= {pk: clusters[at] for study, pk, at in places if study == owner.pk and at in clusters}
    return found


def answers(study: Study, purpose: str) -> QuerySet[Annotation]:
    found = Annotation.objects.filter(assignment__study=study, assignment__state=SUBMITTED, assignment__purpose=purpose)
    return found.order_by("assignment_id", "criterion__position")


FIELDS = (
    "assignment__annotator__username",
    "assignment__item",
    "criterion",
    "turn",
    "criterion__key",
    "value",
    "assignment__number",
    "assignment__submitted_at",
)


def load_checks(study: Study) -> Iterator[CheckComparison]:
    """Answers to checks that are not retired; right is every value that is accepted. What is not known is left out."""
    known = {
        (answer.known_id, answer.criterion_id, answer.turn): answer
        for answer in KnownAnswer.objects.filter(known__study=study, known__retired_at=None)
    }
    for known_id, *rest in answers(study, CHECK).values_list("assignment__known", *FIELDS):
        name, item, criterion, turn, key, value, number, when = rest
        if answer := known.get((known_id, criterion, turn)):
            same = answer.accepts(value) if value else None
            yield CheckComparison(name, "accuracy", item, key, number or 0, when, same)


def load_repeats(study: Study) -> Iterator[CheckComparison]:
    """Answers to repeats; the same is the same value as in the first rating as it stands now."""
    again = Assignment.objects.filter(  # by item alone: by study, each label would look at all assignments
        purpose=REPEAT,
        state=SUBMITTED,
        item=OuterRef("assignment__item"),
        annotator=OuterRef("assignment__annotator"),
    )
    first = {
        (name, item, criterion, turn): value
        for name, item, criterion, turn, value in answers(study, RATING)
        .filter(Exists(again))
        .values_list("assignment__annotator__username", "assignment__item", "criterion", "turn", "value")
    }
    for name, item, criterion, turn, key, value, number, when in answers(study, REPEAT).values_list(*FIELDS):
        before = first.get((name, item, criterion, turn))
        same = value == before if value and before else None
        yield CheckComparison(name, "consistency", item, key, number or 0, when, same)
