"""Single labels with all that belongs to them, in a form that can be streamed, counted and cut into pages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Exists, Model, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation, Exclusion
from annotation.studies.models.studies import Study
from annotation.studies.queries.items import Highlight
from core.batches import iterate_batches

NO_TIER = ("", None, None, None, None, None)
"""Of a label whose file was not asked for with tiers."""

ITEMS = 2000
"""Whose labels are read at once: a sort of all labels of a large study would come before the first of them."""


class LabelRow(NamedTuple):
    """One answer of one rater to one criterion of one item.

    Attributes
    ----------
    item_id, item_source
        The dialogue's or pair's id in its source, and that source.
    position
        Place of the item in the study's order, from 1.
    rater
        Username of the annotator, or the judge with its version.
    rater_kind
        person, imported, simulated, judge, baseline judge or scripted judge.
    value, unscored_reason
        The answer or the reason why there is none; the other one is empty. A pair's value names the response.
    order
        AB where response 1 was shown first, BA where response 2 was; empty for dialogues.
    slot, repeat
        The annotator's rating slot; the judge's repeat.
    note
        What the annotator noted, or how the judge explained itself.
    submitted_at
        When the annotator handed it in, or the judge answered.
    judge_run
        The judge's run; none for annotators.
    excluded
        Whether a researcher has excluded the annotator, so that nothing is computed from the answer.
    strength
        Of a preference, where the study asks for it: slightly or much.
    evidence
        The words that the annotator marked: part, start, end, text.
    active_seconds
        Time that the annotator spent on the item, without idle time.
    turn
        The turn or the response that was rated, from 1; none where it was the whole item.
    purpose
        rating, repeat, check, training or qualification for annotators; empty for judges.
    content_form
        How annotators saw the texts: rendered or plain; empty for judges, who are given the source text.
    model_tier, difficulty, p_easy, p_medium, p_hard, p_contested
        What the difficulty model says of the item on the criterion: its likeliest tier, the probability that two fresh
        people disagree, and the probability of each tier. Empty unless a file is asked for with tiers.
    content
        Of marked spans, texts and rewrites: what was given, as `annotation.studies.parsing.answers` describes it.
    """

    study: str
    item_id: str
    item_source: str
    position: int
    stratum: str
    inclusion_probability: float
    criterion: str
    rater: str
    rater_kind: str
    value: str
    unscored_reason: str
    order: str
    slot: int | None
    repeat: int | None
    note: str
    guideline_version: int | None
    submitted_at: datetime | None
    judge_run: int | None
    excluded: bool = False
    strength: str = ""
    evidence: Sequence[Highlight] = ()
    active_seconds: float | None = None
    turn: int | None = None
    purpose: str = ""
    content_form: str = ""
    model_tier: str = ""
    difficulty: float | None = None
    p_easy: float | None = None
    p_medium: float | None = None
    p_hard: float | None = None
    p_contested: float | None = None
    content: object = None


@dataclass(frozen=True)
class Labels:
    """Rows that are read only when they are asked for.

    Attributes
    ----------
    records
        A `values_list` queryset in a fixed order.
    as_row
        Makes a row of one of its records.
    plain
        The same rows without what belongs to them, for counting.
    study
        Whose labels they are; the order begins with its items' positions.
    item
        What leads from a label to its item.
    """

    records: QuerySet[Model, tuple[object, ...]]
    as_row: Callable[[tuple[object, ...]], LabelRow]
    plain: QuerySet[Model, object]
    study: Study
    item: str

    def __len__(self) -> int:
        return self.plain.count()

    def __iter__(self) -> Iterator[LabelRow]:
        items = self.study.items.order_by("position").values_list("pk", flat=True).iterator(chunk_size=ITEMS)
        for some in iterate_batches(items, ITEMS):
            theirs = self.records.filter(**{f"{self.item}__in": some})
            yield from map(self.as_row, theirs.iterator(chunk_size=ITEMS))

    def page(self, start: int, stop: int) -> list[LabelRow]:
        """Rows start to stop - 1, from 0."""
        return [self.as_row(record) for record in self.records[start:stop]]

    def list_after(self, key: int | None, n: int, wanted: Q) -> tuple[list[LabelRow], int | None]:
        """The n rows behind a key, oldest first, and the last one's key where more follow. Two queries.

        `wanted` narrows them down. The cost does not depend on how many rows come before.
        """
        left = self.records.filter(wanted) if key is None else self.records.filter(wanted, pk__gt=key)
        keys = list(left.order_by("pk").values_list("pk", flat=True)[: n + 1])
        rows = [self.as_row(record) for record in self.records.filter(pk__in=keys[:n]).order_by("pk")]
        return rows, keys[n - 1] if len(keys) > n else None


def item_fields(path: str) -> tuple[str | Coalesce, ...]:
    """What every label says of its item; `path` leads from the label to the item, for example item__."""
    return (
        Coalesce(f"{path}dialogue__external_id", f"{path}pair__external_id"),
        Coalesce(f"{path}dialogue__source", f"{path}pair__source"),
        f"{path}position",
        f"{path}stratum",
        f"{path}inclusion_probability",
    )


def load_people(study: Study, purposes: Collection[str] = (Assignment.Purpose.RATING,)) -> Labels:
    """Submitted answers, by item, criterion, turn and annotator; those of excluded annotators too, marked so.

    Without other `purposes` only ratings: checks, repeats and what comes before the work say something of the
    annotator, not of the item.
    """
    excluded = Exclusion.objects.filter(study=study, annotator=OuterRef("assignment__annotator"), ended_at=None)
    plain = Annotation.objects.filter(
        assignment__study=study,
        assignment__state=Assignment.State.SUBMITTED,
        assignment__purpose__in=list(purposes),
    )
    records = plain.order_by(
        "assignment__item__position", "criterion__position", "turn", "assignment__annotator__username", "pk"
    ).values_list(
        "assignment__study__name",
        *item_fields("assignment__item__"),
        "criterion__key",
        "assignment__annotator__username",
        "assignment__annotator__kind",
        "value",
        "unscored_reason",
        "assignment__order",
        "assignment__slot",
        "note",
        "guideline_version",
        "assignment__submitted_at",
        Exists(excluded),
        "strength",
        "evidence",
        "assignment__active_seconds",
        "turn",
        "assignment__purpose",
        "assignment__study__content_form",
        "content",
    )
    return Labels(records, _persons_row, plain, study, "assignment__item")


def _persons_row(record: tuple[object, ...]) -> LabelRow:
    *to_slot, note, version, submitted_at, excluded, strength, evidence, seconds, turn, purpose, form, content = record
    of_people = (excluded, strength, evidence, seconds, turn or None, purpose, form)
    return LabelRow._make([*to_slot, None, note, version, submitted_at, None, *of_people, *NO_TIER, content])


def count_left_out(study: Study, purposes: Collection[str] = (Assignment.Purpose.RATING,)) -> dict[str, int]:
    """How many submitted answers of people are of another purpose, by purpose."""
    others = Annotation.objects.filter(assignment__study=study, assignment__state=Assignment.State.SUBMITTED)
    counted = others.exclude(assignment__purpose__in=list(purposes)).values_list("assignment__purpose")
    return dict(counted.annotate(n=Count("pk")).order_by("assignment__purpose"))
