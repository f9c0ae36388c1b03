"""A judge's single verdicts: in the rows that people's labels have, and as places of an open scale."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries.labels import NO_TIER, LabelRow, Labels, item_fields
from annotation.studies.queries.scales import SOURCES, Given, select_distinct
from judging.judges.models import Judge
from judging.runs.models.runs import Judgment

NOT_OF_JUDGES = (False, "", (), None)
"""Excluded, strength, evidence, active seconds."""


def load_judges(study: Study) -> Labels:
    """All judgments of all ordinary runs, by item, criterion, judge, run, turn, repeat and order."""
    plain = Judgment.objects.only_ordinary().filter(run__study=study)
    records = plain.order_by(
        "item__position",
        "criterion__position",
        "run__judge__name",
        "run__judge__version",
        "run_id",
        "turn",
        "repeat",
        "order",
    ).values_list(
        "run__study__name",
        *item_fields("item__"),
        "criterion__key",
        "value",
        "unscored_reason",
        "order",
        "repeat",
        "turn",
        "explanation",
        "created_at",
        "run_id",
        "run__judge__name",
        "run__judge__version",
        "run__judge__provider",
        "content",
    )
    return Labels(records, _judges_row, plain, study, "item")


def _judges_row(record: tuple[object, ...]) -> LabelRow:
    *rated_by, name, version, provider, content = record
    *item, criterion, value, reason, order, repeat, turn, explanation, at, run = rated_by
    rated = (*item, criterion, *_called(name, version, provider), value, reason, order)
    of_judge = (*NOT_OF_JUDGES, turn or None, "", "", *NO_TIER, content)
    return LabelRow._make([*rated, None, repeat, explanation, None, at, run, *of_judge])


@lru_cache(maxsize=1000)
def _called(name: str, version: int, provider: str) -> tuple[str, str]:
    """A judge's name with its version, and its kind."""
    judge = Judge(name=name, version=version, provider=provider)
    return str(judge), judge.kind


def list_by_judges(criteria: Sequence[Criterion]) -> Iterable[Given]:
    """What judges gave, each answer once."""
    return select_distinct(Judgment.objects.all(), criteria)


SOURCES.append(list_by_judges)
