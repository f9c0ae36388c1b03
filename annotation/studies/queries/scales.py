"""Labels as they are compared, and the scale on which they are places.

A choice has its categories. Everything else has an open scale: the answers that were given, by people and by whoever
else answers the criterion. Those who do add a source, since this room does not know of judges.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

from django.db.models import Model, QuerySet

from annotation.stats.labels import WRITTEN
from annotation.stats.spans import Span, parse_spans, spell_spans
from annotation.studies.models.labels import Adjudication, Annotation
from annotation.studies.models.studies import Criterion
from annotation.studies.parsing.answers import spell_decimal

Given = tuple[int, str, object]
"""A criterion's id, a value and its content."""

Source = Callable[[Sequence[Criterion]], Iterable[Given]]

SOURCES: list[Source] = []
"""Who answers criteria besides people."""

Scale = tuple[str, ...]

STEPS = 1000
"""Numbers between the bounds of a criterion that are told apart at most."""

MOST_NAMED = 3
"""Spans of an answer that are named one by one."""


def has_open_scale(criterion: Criterion) -> bool:
    """Whether its answers are no categories that were named beforehand."""
    return criterion.type != Criterion.Type.CHOICE


def to_label(criterion: Criterion, value: str, content: object) -> str:
    """An answer as it is compared; empty where there is none."""
    if not value:
        return ""
    if criterion.type == Criterion.Type.SPANS:
        return spell_spans(to_spans(content))
    if criterion.type == Criterion.Type.NUMBER:
        return round_number(criterion, value)
    return WRITTEN if criterion.level == Criterion.Level.TEXT else value


def round_number(criterion: Criterion, value: str) -> str:
    """A number as it is compared: to a thousandth of what the criterion spans, where it spans something.

    So that as many categories are told apart, whatever the number of answers. What is stored stays as it is.
    """
    least, most = (criterion.limits.get(name) for name in ("least", "most"))
    if least is None or most is None or criterion.limits.get("step"):
        return value
    start, width = Decimal(str(least)), Decimal(str(most)) - Decimal(str(least))
    step = width / STEPS
    return spell_decimal(start + ((Decimal(value) - start) / step).to_integral_value() * step) if step else value


def to_spans(content: Any) -> list[Span]:
    """Stored spans without their words."""
    return [Span(one["part"], one["start"], one["end"], one["category"]) for one in content or ()]


def load_scales(criteria: Iterable[Criterion]) -> dict[int, Scale]:
    """By criterion id, the labels that are told apart, in order. Without an open scale no query, else one a source."""
    asked = list(criteria)
    found = {one.pk: tuple(one.values) for one in asked if not has_open_scale(one)}
    return found | _load_open([one for one in asked if has_open_scale(one)])


def _load_open(criteria: Sequence[Criterion]) -> dict[int, Scale]:
    if not criteria:
        return {}
    by_id = {one.pk: one for one in criteria}
    labels: dict[int, set[str]] = defaultdict(set)
    for source in (list_by_people, list_decided, *SOURCES):
        for pk, value, content in source(criteria):
            labels[pk].add(to_label(by_id[pk], value, content))
    return {pk: sort_labels(one, labels[pk] - {""}) for pk, one in by_id.items()}


def sort_labels(criterion: Criterion, labels: Iterable[str]) -> Scale:
    """Numbers by size, all else by its text."""
    return tuple(sorted(labels, key=float if criterion.type == Criterion.Type.NUMBER else str))


def list_by_people(criteria: Sequence[Criterion]) -> Iterable[Given]:
    """What annotators gave, each answer once."""
    return select_distinct(Annotation.objects.all(), criteria)


def select_distinct(answers: QuerySet[Model], criteria: Sequence[Criterion]) -> Iterable[Given]:
    """The distinct answers of a table that holds values and contents; of spans each row."""
    plain = [one.pk for one in criteria if one.type != Criterion.Type.SPANS]
    spans = [one.pk for one in criteria if one.type == Criterion.Type.SPANS]
    if plain:
        rows = answers.filter(criterion__in=plain).exclude(value="").order_by()
        yield from ((pk, value, None) for pk, value in rows.values_list("criterion_id", "value").distinct())
    if spans:
        yield from answers.filter(criterion__in=spans).exclude(value="").values_list("criterion_id", "value", "content")


def list_decided(criteria: Sequence[Criterion]) -> Iterable[Given]:
    """What was decided on disputed items. Spans are settled by counting, never by one person."""
    plain = [one.pk for one in criteria if one.type != Criterion.Type.SPANS]
    rows = Adjudication.objects.filter(criterion__in=plain).order_by().values_list("criterion_id", "value").distinct()
    return ((pk, value, None) for pk, value in rows)


def name_label(criterion: Criterion, label: str) -> str:
    """A label as people read it."""
    if criterion.type == Criterion.Type.SPANS:
        return describe_spans(label)
    return criterion.label_of(label)


def describe_spans(label: str) -> str:
    """Spans in a few words: of which category, and where; of many how many."""
    spans = parse_spans(label)
    if len(spans) > MOST_NAMED:
        counts = Counter(span.category for span in spans)
        return ", ".join(f"{n} × {name}" for name, n in sorted(counts.items()))
    places = [f"{one.category} ({one.part.replace('-', ' ')}, {one.start}–{one.end})" for one in spans]
    return ", ".join(places) or "nothing marked"


def describe_answer(criterion: Criterion, value: str, content: object) -> str:
    """An answer as people read it, with the words that it marks or says; empty where there is none."""
    if isinstance(content, list) and content:
        return "; ".join(f"{one['category']}: “{one.get('text', '')}”" for one in content)
    if isinstance(content, dict):
        return str(content.get("text", ""))
    if criterion.type == Criterion.Type.SPANS and value:
        return describe_spans("[]")
    return criterion.label_of(value)
