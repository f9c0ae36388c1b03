"""Answers that people dispute and nobody has decided, counted for many studies at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from django.db.models import F, Max, Min, Q

from annotation.stats.by_level import NOT_FOR
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Adjudication, Annotation, Exclusion
from core import row_counts

MANY = 1_000
"""Disputes from which on their number is kept for a minute: it takes reading every label."""


def count_undecided(studies: Sequence[int]) -> Counter[int]:
    """By study, the answers of an item, or of a turn of it, that differ and have no decision yet.

    Three queries, however many the studies are.
    """
    return row_counts.count_cached(
        ("undecided", *studies), lambda: _count(studies), lambda found: found.total() * row_counts.LARGE // MANY
    )


def _count(studies: Sequence[int]) -> Counter[int]:
    left_out = Exclusion.objects.filter(study__in=studies, ended_at=None).values_list("study", "annotator")
    counting = Annotation.objects.filter(
        assignment__study__in=studies,
        assignment__state=Assignment.State.SUBMITTED,
        assignment__purpose=Assignment.Purpose.RATING,
    )
    for study, annotator in left_out:
        counting = counting.exclude(assignment__study=study, assignment__annotator=annotator)
    disputed = list(
        counting.exclude(Q(value="") | Q(criterion__level__in=list(NOT_FOR["adjudication"])))
        .order_by()
        .values_list("assignment__study", "assignment__item", "criterion", "turn")
        .annotate(first=Min("value"), last=Max("value"))
        .exclude(first=F("last"))
    )
    if not disputed:
        return Counter()
    decided = set(Adjudication.objects.filter(item__study__in=studies).values_list("item", "criterion", "turn"))
    return Counter(study for study, *which, _, _ in disputed if tuple(which) not in decided)
