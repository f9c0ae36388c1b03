"""One item with all that was said of it."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Count, Max, QuerySet

from annotation.studies.models.labels import Adjudication, Annotation
from annotation.studies.models.studies import Item, Study
from core import row_counts
from judging.runs.models.runs import Judgment


def list_items(study: Study) -> QuerySet[Item]:
    """The items with their dialogue or pair, in the study's order."""
    return study.items.select_related("dialogue", "pair").order_by("position")


def positions(study: Study) -> Sequence[int] | QuerySet[Item, int]:
    """Of all items, in order: what a list is cut into pages by, without a text for each item before the page.

    Where no number is left out, which is so as long as nothing was removed, they need not be read: a page far behind
    costs what the first one does. One query; of a large study it is a minute old, which is drawn by then.
    """

    def count() -> tuple[int, int]:
        found = study.items.aggregate(n=Count("position"), last=Max("position"))
        return found["n"], found["last"] or 0

    n, last = row_counts.count_cached(("positions", study.pk), count, lambda found: found[0])
    return range(1, n + 1) if n == last else study.items.order_by("position").values_list("position", flat=True)


def load_at_positions(study: Study, these: Sequence[int]) -> list[Item]:
    """The items at these positions, in order."""
    return list(list_items(study).filter(position__in=these))


def load_neighbours(study: Study, item: Item) -> tuple[int, int, int | None, int | None]:
    """The item's place among those of its study, how many there are, and the positions before and after it."""
    every = study.items.order_by("position")
    before, after = every.filter(position__lt=item.position), every.filter(position__gt=item.position)
    listed = positions(study)
    place, total = (item.position, len(listed)) if isinstance(listed, range) else (before.count() + 1, every.count())
    nearest = [found.values_list("position", flat=True) for found in (before.reverse(), after)]
    return place, total, nearest[0].first(), nearest[1].first()


def load_annotations(item: Item) -> QuerySet[Annotation]:
    """People's submitted answers, by criterion and annotator."""
    submitted = Annotation.objects.only_counting().filter(assignment__item=item)
    return submitted.select_related("assignment__annotator", "criterion").order_by(
        "criterion__position", "turn", "assignment__annotator__username"
    )


def load_judgments(item: Item) -> QuerySet[Judgment]:
    """Every judgment of every ordinary run, by criterion, judge, run, turn, repeat and order."""
    return (
        Judgment.objects.only_ordinary()
        .filter(item=item)
        .select_related("run__judge", "criterion", "item__dialogue", "item__pair")
        .order_by("criterion__position", "run__judge__name", "run__judge__version", "run_id", "turn", "repeat", "order")
    )


def load_gold(item: Item) -> dict[tuple[int, int], Adjudication]:
    """By criterion and turn (0: the whole item), the newest adjudication."""
    oldest_first = Adjudication.objects.filter(item=item).select_related("decided_by").order_by("created_at", "pk")
    return {(one.criterion_id, one.turn): one for one in oldest_first}
