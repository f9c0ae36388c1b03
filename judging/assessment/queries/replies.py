"""What a judge replied on the items of a study, read in one query, and as columns."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.stats.labels import Label
from annotation.stats.orders import is_straight, list_places, name_responses
from annotation.stats.table import MISSING
from annotation.studies.models.studies import Criterion
from annotation.studies.queries.scales import has_open_scale, to_label
from annotation.studies.queries.units import unit
from judging.assessment.queries.ratings import CombinedVerdict, combine_verdicts
from judging.judges.providers.base import OWN_EXAMPLE
from judging.runs.models.runs import Judgment
from judging.stats.observed import ItemColumns, JudgeVerdicts
from judging.stats.stated_verdicts import TIE, find_stated_category, find_stated_preference

LOG_PROBABILITIES, REPEATS = "probabilities of the verdict", "share of calls with the same verdict"
OF_MEMBERS = "share of the panel's members with the same verdict"


@dataclass(frozen=True, slots=True)
class StoredReply:
    position: int
    turn: int
    repeat: int
    order: str
    value: str
    reason: str
    score: float | None
    distribution: Mapping[str, float] | None
    prompt: str | None
    explanation: str

    @property
    def name(self) -> str:
        """Of the row that it is about (`annotation.studies.queries.units`)."""
        return unit(self.position, self.turn)


def load_replies(run_ids: Iterable[int]) -> dict[tuple[int, int], list[StoredReply]]:
    """By run and criterion, every reply, by item, turn or response, repeat and order. One query."""
    found: dict[tuple[int, int], list[StoredReply]] = defaultdict(list)
    rows = (
        Judgment.objects.filter(run_id__in=list(run_ids))
        .order_by("run_id", "criterion_id", "item__position", "turn", "repeat", "order")
        .values_list(
            "run_id",
            "criterion_id",
            "item__position",
            "turn",
            "repeat",
            "order",
            "value",
            "unscored_reason",
            "score",
            "details__distribution",
            "details__prompt",
            "explanation",
        )
        .iterator(chunk_size=5000)
    )
    for row in rows:
        found[row[0], row[1]].append(StoredReply(*row[2:]))
    return found


def build_verdicts(
    replies: Iterable[StoredReply],
    items: ItemColumns,
    criterion: Criterion,
    scale: Sequence[Label],
    *,
    shares: str = LOG_PROBABILITIES,
) -> JudgeVerdicts:
    """A judge's replies on one criterion as columns. The first repeat counts; further ones tell how steady it is.

    ``scale`` is that of people's table, on which an answer that came after it was read has no place.

    `shares` says what the distributions over the scale that come with its replies are.
    """
    place = {name: row for row, name in enumerate(items.names)}
    code = {str(value): k for k, value in enumerate(scale)} | {"": MISSING}
    names = (
        {value: (value, criterion.label_of(value)) for value in criterion.values}
        if not has_open_scale(criterion)
        else {}
    )
    by_item: dict[int, list[StoredReply]] = defaultdict(list)
    told = replies if not has_open_scale(criterion) else [to_compared(criterion, reply) for reply in replies]
    for reply in told:
        if reply.value in code and reply.name in place and reply.reason != OWN_EXAMPLE.unscored:
            by_item[place[reply.name]].append(reply)
    calls = max((reply.repeat for each in by_item.values() for reply in each), default=1)
    columns = _Columns(items.n, calls)
    for row, each in by_item.items():
        columns.fill(row, each, code, names)
    return columns.frozen(shares)


def to_compared(criterion: Criterion, reply: StoredReply) -> StoredReply:
    """The reply with its value as it is compared."""
    return replace(reply, value=to_label(criterion, reply.value, None))


class _Columns:
    """The columns of a `Said` while they are filled, row by row."""

    def __init__(self, n: int, calls: int) -> None:
        self.asked = np.zeros(n, dtype=bool)
        self.codes, self.first, self.second = (np.full(n, MISSING, dtype=np.int64) for _ in range(3))
        self.score, self.probability, self.steady = (np.full(n, np.nan) for _ in range(3))
        self.repeated = np.full((n, calls), MISSING, dtype=np.int64)
        self.contradicts, self.explained = np.full(n, np.nan), np.zeros(n, dtype=bool)

    def fill(
        self, row: int, replies: Sequence[StoredReply], code: Mapping[str, int], names: Mapping[str, Sequence[str]]
    ) -> None:
        for reply in replies:
            if reply.order == replies[0].order:
                self.repeated[row, reply.repeat - 1] = code[reply.value]
        counting = [reply for reply in replies if reply.repeat == 1]
        if not counting:
            return
        self.asked[row] = True
        value = combine_verdicts([CombinedVerdict(reply.value, reply.reason) for reply in counting]).value
        self.codes[row] = code[value]
        for reply in counting:
            if reply.order:
                (self.first if is_straight(reply.order) else self.second)[row] = code[reply.value]
        if value:
            self.score[row] = _mean(reply.score for reply in counting)
            self.probability[row] = _mean((reply.distribution or {}).get(value) for reply in counting)
            verdicts = [reply.value for reply in replies if reply.value]
            self.steady[row] = verdicts.count(value) / len(verdicts)
        self.explained[row] = any(reply.value and reply.explanation for reply in counting)
        self.contradicts[row] = next(
            (flag for reply in counting if (flag := _contradicts(reply, names)) >= 0), math.nan
        )

    def frozen(self, shares: str) -> JudgeVerdicts:
        verdicts = self.codes != MISSING
        known = verdicts.any() and not np.isnan(self.probability[verdicts]).any()
        steady = self.repeated.shape[1] > 1
        confidence = self.probability if known else self.steady if steady else np.full(len(self.codes), np.nan)
        return JudgeVerdicts(
            asked=self.asked,
            codes=self.codes,
            score=self.score,
            confidence=confidence,
            confidence_from=shares if known else REPEATS if steady else "",
            first=self.first,
            second=self.second,
            repeated=self.repeated,
            contradicts=self.contradicts,
            explained=self.explained,
        )


def _contradicts(reply: StoredReply, names: Mapping[str, Sequence[str]]) -> float:
    """1 where the explanation states another verdict than was given, 0 where the same; NaN where it states none."""
    if not (reply.value and reply.explanation):
        return math.nan
    stated = _stated(reply, names)
    return math.nan if stated is None else float(stated != reply.value)


def _stated(reply: StoredReply, names: Mapping[str, Sequence[str]]) -> str | None:
    """The value that the explanation states; a side of a pair is known only where the order shown is."""
    if len(name_responses(tuple(names))) == 2:
        side = find_stated_preference(reply.explanation) if reply.order else None
        return side if side == TIE and TIE in names else list_places(reply.order).get(side or "")
    return find_stated_category(reply.explanation, names)


def _mean(values: Iterable[float | None]) -> float:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else math.nan
