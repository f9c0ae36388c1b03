"""How often somebody answers as is known, and as they answered before: in all, and over time.

The unit is the item: an item's mark is the share of its criteria that are right (or the same as before), 0 to 1. The
criteria of one item hang together, so that items and not answers are counted, and the interval is Wilson's for the mean
mark of n items: a score between 0 and 1 varies at most as much as a yes or no with the same mean, so that the interval
is rather too wide than too narrow. Where items share a cluster, n is their effective number. An answer "cannot judge"
is neither right nor wrong and is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Literal

import numpy as np

from annotation.stats.clustered_shares import estimate_clustered_share
from annotation.stats.estimate import Estimate
from annotation.stats.shares import build_undefined, figure, wilson

Kind = Literal["accuracy", "consistency"]
STRETCH = 10
"""Items of a stretch of time."""

NONE_YET = {"accuracy": "no checks answered", "consistency": "no repeats answered"}


@dataclass(frozen=True)
class CheckComparison:
    """One answer beside what is known, or beside the first answer; `same` is None where either is "cannot judge".

    Items of one `cluster` depend on each other; one without any stands alone.
    """

    annotator: str
    kind: Kind
    item: int
    criterion: str
    number: int
    when: datetime
    same: bool | None
    cluster: str = ""


@dataclass(frozen=True)
class Mark:
    """An item's mark: the share of its scored criteria that are right, or as before."""

    number: int
    when: datetime
    value: float
    cluster: str = ""


@dataclass(frozen=True)
class Stretch:
    """A stretch of an annotator's items: their numbers, the time of the last, and the mean mark."""

    first: int
    last: int
    until: datetime
    estimate: Estimate


@dataclass(frozen=True)
class CheckRecord:
    """One annotator's checks, or repeats.

    Attributes
    ----------
    annotator, kind
        Who, and of what.
    overall
        Mean mark of all items.
    stretches
        The mean mark of each `STRETCH` items in the order in which they were given; a short rest belongs to the
        stretch before it.
    by_criterion
        For each criterion that was scored, the mean mark of the items on it alone: of a criterion that is asked of
        turns, an item's mark is the share of its turns that are right, or as before.
    unscored
        Answers left out, because one of the two is "cannot judge".
    """

    annotator: str
    kind: Kind
    overall: Estimate
    stretches: tuple[Stretch, ...]
    by_criterion: dict[str, Estimate]
    unscored: int

    def to_json(self) -> dict[str, object]:
        """The record as JSON types."""
        return {
            "annotator": self.annotator,
            "kind": self.kind,
            **self.overall.to_json(),
            "unscored": self.unscored,
            "by_criterion": {key: one.to_json() for key, one in self.by_criterion.items()},
            "stretches": [
                {"first": one.first, "last": one.last, "until": one.until.isoformat(), **one.estimate.to_json()}
                for one in self.stretches
            ],
        }


def records(compared: Iterable[CheckComparison], *, confidence: float = 0.95) -> list[CheckRecord]:
    """The record of every annotator and kind, by name and kind."""
    ordered = sorted(compared, key=lambda one: (one.annotator, one.kind, one.number, one.item))
    return [
        record(annotator, kind, list(answers), confidence=confidence)
        for (annotator, kind), answers in groupby(ordered, key=lambda one: (one.annotator, one.kind))
    ]


def record(annotator: str, kind: Kind, answers: Sequence[CheckComparison], *, confidence: float = 0.95) -> CheckRecord:
    """One annotator's record of one kind, of their answers in order."""
    found = marks(answers)
    criteria = sorted({one.criterion for one in answers if one.same is not None})
    return CheckRecord(
        annotator=annotator,
        kind=kind,
        overall=mean_mark(found, kind, confidence),
        stretches=tuple(
            Stretch(
                part[0].number,
                part[-1].number,
                part[-1].when,
                mean_mark(part, kind, confidence),
            )
            for part in stretches(found)
        ),
        by_criterion={
            key: mean_mark(marks([answer for answer in answers if answer.criterion == key]), kind, confidence)
            for key in criteria
        },
        unscored=sum(one.same is None for one in answers),
    )


def marks(answers: Sequence[CheckComparison]) -> list[Mark]:
    """A mark for each item of which anything was scored."""
    found = []
    for _, group in groupby(answers, key=lambda one: (one.number, one.item)):
        scored = [one for one in group if one.same is not None]
        if scored:
            share = sum(bool(one.same) for one in scored) / len(scored)
            found.append(Mark(scored[0].number, scored[0].when, share, scored[0].cluster))
    return found


def stretches(found: Sequence[Mark], size: int = STRETCH) -> list[Sequence[Mark]]:
    """Parts of `size` in order; what is left over and shorter than half of it goes to the part before."""
    parts = [found[start : start + size] for start in range(0, len(found), size)]
    if len(parts) > 1 and 2 * len(parts[-1]) < size:
        rest = parts.pop()
        parts[-1] = [*parts[-1], *rest]
    return parts


def mean_mark(found: Sequence[Mark], kind: Kind, confidence: float = 0.95) -> Estimate:
    """The mean of marks with Wilson's interval (Wilson 1927, JASA 22:209-212); NaN without any."""
    n = len(found)
    if not n:
        return build_undefined(NONE_YET[kind], n_items=0, confidence=confidence, n_raters=1)
    clusters = [one.cluster or f"alone {place}" for place, one in enumerate(found)]
    if len(set(clusters)) < n:
        values = np.array([one.value for one in found])
        return estimate_clustered_share(values, clusters=clusters, confidence=confidence)
    mean = sum(one.value for one in found) / n
    ends = wilson(mean, n, confidence)
    return figure(mean, ends, n_items=n, confidence=confidence, method="Wilson", n_raters=1)
