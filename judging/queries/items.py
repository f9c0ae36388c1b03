"""One item with all that was said of it."""

from __future__ import annotations

from django.db.models import QuerySet

from annotation.models import Adjudication, Annotation, Item, Study
from judging.models import Judgment


def items_of(study: Study) -> QuerySet[Item]:
    """The items with their dialogue or pair, in the study's order."""
    return study.items.select_related("dialogue", "pair").order_by("position")


def annotations_on(item: Item) -> QuerySet[Annotation]:
    """People's submitted answers, by criterion and annotator."""
    submitted = Annotation.objects.counting().filter(assignment__item=item)
    return submitted.select_related("assignment__annotator", "criterion").order_by(
        "criterion__position", "turn", "assignment__annotator__username"
    )


def judgments_on(item: Item) -> QuerySet[Judgment]:
    """Every judgment of every ordinary run, by criterion, judge, run, turn, repeat and order."""
    return (
        Judgment.objects.beside_people()
        .filter(item=item)
        .select_related("run__judge", "criterion", "item__dialogue", "item__pair")
        .order_by("criterion__position", "run__judge__name", "run__judge__version", "run_id", "turn", "repeat", "order")
    )


def gold_on(item: Item) -> dict[tuple[int, int], str]:
    """By criterion and turn (0: the whole item), the value that the newest adjudication gave."""
    oldest_first = Adjudication.objects.filter(item=item).order_by("created_at", "pk")
    rows = oldest_first.values_list("criterion_id", "turn", "value")
    return {(criterion, turn): value for criterion, turn, value in rows}
