"""What a judge's run found: means, distributions, by group, and by turn or response."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from annotation.agreement.options import IntervalOptions
from annotation.stats.result_types import EstimateDocument
from annotation.stats.table import FloatArray, IntArray
from annotation.studies.models.studies import Criterion
from annotation.studies.queries import columns
from core.errors import InputError
from judging.assessment.options import SCORES, VERDICTS
from judging.assessment.queries import scores as queries
from judging.assessment.queries.scores import DOMAIN, ScoredRun
from judging.assessment.score_types import CriterionScoresDocument, ScoreCountsDocument, ScoresDocument
from judging.judges.queries.contents import build_spec, to_numbers
from judging.runs.models.runs import JudgeRun
from judging.stats.means import compute_means

YES = "yes"


@dataclass(frozen=True)
class Measure:
    """What is averaged: a number for each value, and what the mean is called. No numbers where nothing can be."""

    name: str
    numbers: Mapping[str, float]


def choose_measure(criterion: Criterion) -> Measure:
    """The mean of the scale; of two categories without order, the share of yes or else of the first."""
    numbers = to_numbers(build_spec(criterion))
    if numbers:
        return Measure("mean", numbers)
    values = criterion.values
    if len(values) != 2:
        return Measure("", {})
    one = YES if YES in values else values[0]
    return Measure(f"share of {criterion.label_of(one)}", {value: float(value == one) for value in values})


def compute_run(
    run: JudgeRun, *, by: str = DOMAIN, reads: str = VERDICTS, options: IntervalOptions | None = None
) -> ScoresDocument:
    """The document of a run: every criterion, over all judgments, by group, by turn or response if these were judged.

    Every judgment counts once, so that repeats and orders of an item count as often as they were asked. With `reads`
    score, means on scales with an order are of the scores that the judge's probabilities give; a judgment without any
    counts by its verdict, and `by_probabilities` says how many have some. InputError on an unknown `by` or `reads`.
    """
    if reads not in (VERDICTS, SCORES):
        raise InputError("must be {verdicts} or {scores}", field="read", verdicts=VERDICTS, scores=SCORES)
    chosen, said = options or IntervalOptions(), queries.load_run(run, by=by)
    criteria = run.criteria.order_by("position")
    return {
        "run": run.pk,
        "study": run.study.name,
        "judge": str(run.judge),
        "kind": run.judge.kind,
        "state": run.state,
        "every_turn": run.every_turn,
        "unit": run.unit,
        "by": by,
        "reads": reads,
        "resampled": "profiles; items where no profile is known",
        "bootstrap": chosen.bootstrap,
        "confidence": chosen.confidence,
        "seed": chosen.seed,
        "criteria": {
            criterion.key: Scores(criterion, said.select_criterion(criterion), chosen, reads).document()
            for criterion in criteria
        },
    }


ALL, WEIGHTED, VALUE, GROUP, TURN = "all", "weighted", "value", "group", "turn"
Column = tuple[str, str | int]
"""What a mean is of: all verdicts, all weighted scores, one value's share, one group, one turn or response."""


Name = TypeVar("Name", str, int)


class Scores:
    """What was said on one criterion."""

    def __init__(self, criterion: Criterion, said: ScoredRun, options: IntervalOptions, reads: str) -> None:
        self.criterion, self.said, self.options = criterion, said, options
        self.measure = choose_measure(criterion)
        self.reads_scores = (
            reads == SCORES and bool(self.measure.numbers) and criterion.level != Criterion.Level.NOMINAL
        )

    def document(self) -> CriterionScoresDocument:
        criterion, found, said = self.criterion, self.means(), self.said
        (whole,) = self.counts(np.zeros_like(said.codes), 1)
        return {
            "name": criterion.name,
            "unit": criterion.unit,
            "level": criterion.level,
            "measure": "mean score" if self.reads_scores else self.measure.name,
            "by_probabilities": int(np.isfinite(said.scores).sum()),
            "least": min(self.measure.numbers.values(), default=None),
            "most": max(self.measure.numbers.values(), default=None),
            **whole,
            "overall": found.get((ALL, ALL)),
            "weighted": found.get((WEIGHTED, ALL)),
            "distribution": [
                {
                    "value": str(category["value"]),
                    "label": str(category["label"]),
                    "n": whole["counts"][str(category["value"])],
                    "share": found.get((VALUE, str(category["value"]))),
                }
                for category in criterion.categories
            ],
            "groups": [
                {"group": name, **counts, "estimate": found.get((GROUP, name))}
                for name, counts in self.parts(said.groups, dict(enumerate(said.group_names)))
            ],
            "turns": [
                {"turn": turn, **counts, "estimate": found.get((TURN, turn))}
                for turn, counts in self.parts(said.turns, self.turns())
            ],
        }

    def turns(self) -> dict[int, int]:
        """The turns or responses that were judged by themselves."""
        return {turn: turn for turn in np.unique(self.said.turns).tolist() if turn}

    def parts(self, place: IntArray, names: Mapping[int, Name]) -> list[tuple[Name, ScoreCountsDocument]]:
        """Each group, or each turn of the assistant or response from 1, with its counts."""
        each = self.counts(place, max(names, default=-1) + 1)
        return [(name, each[at]) for at, name in names.items() if each[at]["n_judgments"]]

    def counts(self, place: IntArray, n: int) -> list[ScoreCountsDocument]:
        """By part, of `n`: its items and judgments, how many of each value, and how many without one by reason."""
        said, values = self.said, self.criterion.values
        units = np.unique(said.position * n + place) % n if n else place
        of_values = table(place, said.codes, n, len(values))
        reasons = table(place, said.reasons, n, len(said.reason_names))
        scored = np.bincount(place[said.codes != columns.UNSCORED], minlength=n)
        rows, items = np.bincount(place, minlength=n), np.bincount(units, minlength=n)
        return [
            {
                "n_items": int(items[at]),
                "n_judgments": int(rows[at]),
                "scored": int(scored[at]),
                "unscored": {why: k for why, k in zip(said.reason_names, reasons[at].tolist(), strict=True) if k},
                "counts": dict(zip(values, of_values[at].tolist(), strict=True)),
            }
            for at in range(n)
        ]

    def means(self) -> dict[Column, EstimateDocument]:
        """All means of the document, from the same resamples."""
        names: list[Column] = []

        def named() -> Iterator[FloatArray]:
            for name, column in self.columns():
                names.append(name)
                yield column

        if not self.said.codes.size:
            return {}
        found = compute_means(
            named(),
            items=self.said.position,
            clusters=self.said.clusters,
            bootstrap=self.options.bootstrap,
            confidence=self.options.confidence,
            seed=self.options.seed,
        )
        return dict(zip(names, [one.to_json() for one in found], strict=True))

    def columns(self) -> Iterator[tuple[Column, FloatArray]]:
        """(n,) numbers of the judgments, NaN where they do not belong. One after the other: there may be millions."""
        values, said = self.criterion.values, self.said
        for value in values:
            yield (VALUE, value), self.numbers({other: float(other == value) for other in values})
        if np.isfinite(said.scores).any():
            yield (WEIGHTED, ALL), said.scores
        if self.measure.numbers:
            numbers = self.numbers(self.measure.numbers)
            if self.reads_scores:
                numbers = np.where(np.isfinite(said.scores), said.scores, numbers)
            yield (ALL, ALL), numbers
            yield from split_numbers(GROUP, said.groups, dict(enumerate(said.group_names)), numbers)
            yield from split_numbers(TURN, said.turns, self.turns(), numbers)

    def numbers(self, of_values: Mapping[str, float]) -> FloatArray:
        """(n,) what is counted for each verdict, NaN without one."""
        scale = np.array([of_values.get(value, np.nan) for value in self.criterion.values] + [np.nan])
        return np.asarray(scale[np.where(self.said.codes >= 0, self.said.codes, len(scale) - 1)])


def split_numbers(
    kind: str, place: IntArray, names: Mapping[int, str] | Mapping[int, int], numbers: FloatArray
) -> Iterator[tuple[Column, FloatArray]]:
    """The numbers of each part that there are judgments of."""
    there = np.bincount(place)
    for at, name in names.items():
        if at < len(there) and there[at]:
            yield (kind, name), np.where(place == at, numbers, np.nan)


def table(rows: IntArray, codes: IntArray, n: int, q: int) -> IntArray:
    """(n, q) how often each code stands in each part; what is below 0 is not counted."""
    known = (codes >= 0) & (rows < n)
    return np.asarray(np.bincount(rows[known] * q + codes[known], minlength=n * q).reshape(n, q))
