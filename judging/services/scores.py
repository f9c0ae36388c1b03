"""What a judge's run found: means, distributions, by group, and by turn of the dialogue."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.errors import InputError
from annotation.models import Criterion
from annotation.services.agreement import Options
from annotation.stats.table import FloatArray
from judging.models import JudgeRun
from judging.queries import scores as queries
from judging.queries.requests import as_numbers, spec_of
from judging.queries.scores import ScoredRow, ScoredRun
from judging.services.comparison import SCORES, VERDICTS
from judging.stats.means import clustered_means

DOMAIN = "domain"
YES = "yes"


@dataclass(frozen=True)
class Measure:
    """What is averaged: a number for each value, and what the mean is called. No numbers where nothing can be."""

    name: str
    numbers: Mapping[str, float]


def measure_of(criterion: Criterion) -> Measure:
    """The mean of the scale; of two categories without order, the share of yes or else of the first."""
    numbers = as_numbers(spec_of(criterion))
    if numbers:
        return Measure("mean", numbers)
    values = criterion.values
    if len(values) != 2:
        return Measure("", {})
    one = YES if YES in values else values[0]
    return Measure(f"share of {criterion.label_of(one)}", {value: float(value == one) for value in values})


def of_run(run: JudgeRun, *, by: str = DOMAIN, reads: str = VERDICTS, options: Options | None = None) -> dict[str, Any]:
    """The document of a run: every criterion, over all judgments, by group, and by turn where turns were judged.

    Every judgment counts once, so that repeats and orders of an item count as often as they were asked. With `reads`
    score, means on scales with an order are of the scores that the judge's probabilities give; a judgment without any
    counts by its verdict, and `by_probabilities` says how many have some. InputError on an unknown `by` or `reads`.
    """
    if reads not in (VERDICTS, SCORES):
        raise InputError(f"must be {VERDICTS} or {SCORES}", field="read")
    chosen, said = options or Options(), queries.of_run(run, by=by)
    criteria = run.criteria.order_by("position")
    return {
        "run": run.pk,
        "study": run.study.name,
        "judge": str(run.judge),
        "kind": run.judge.kind,
        "state": run.state,
        "every_turn": run.every_turn,
        "by": by,
        "reads": reads,
        "resampled": "profiles; items where no profile is known",
        "bootstrap": chosen.bootstrap,
        "confidence": chosen.confidence,
        "seed": chosen.seed,
        "criteria": {
            criterion.key: Scores(criterion, said.rows.get(criterion.pk, []), said, chosen, reads).document()
            for criterion in criteria
        },
    }


ALL, WEIGHTED, VALUE, GROUP, TURN = "all", "weighted", "value", "group", "turn"
Column = tuple[str, Any]
"""What a mean is of: all verdicts, all weighted scores, one value's share, one group, one turn."""


class Scores:
    """What was said on one criterion."""

    def __init__(
        self, criterion: Criterion, rows: Sequence[ScoredRow], run: ScoredRun, options: Options, reads: str
    ) -> None:
        self.criterion, self.rows, self.options = criterion, rows, options
        self.measure = measure_of(criterion)
        self.weighted = np.array([np.nan if row.score is None else row.score for row in rows], dtype=float)
        self.reads_scores = reads == SCORES and criterion.level != Criterion.Level.NOMINAL
        self.groups = [run.groups[row.position] for row in rows]
        self.clusters = [run.clusters[row.position] for row in rows]
        self.turns = [row.turn for row in rows]

    def document(self) -> dict[str, Any]:
        criterion, found = self.criterion, self.means()
        return {
            "name": criterion.name,
            "level": criterion.level,
            "measure": "mean score" if self.reads_scores else self.measure.name,
            "by_probabilities": int(np.isfinite(self.weighted).sum()),
            "least": min(self.measure.numbers.values(), default=None),
            "most": max(self.measure.numbers.values(), default=None),
            **counts(self.rows, criterion.values),
            "overall": found.get((ALL, ALL)),
            "weighted": found.get((WEIGHTED, ALL)),
            "distribution": [
                {**category, "share": found.get((VALUE, category["value"]))} for category in self.categories()
            ],
            "groups": list(self.parts(GROUP, self.groups, found)),
            "turns": list(self.parts(TURN, self.turns, found)),
        }

    def categories(self) -> Iterator[dict[str, Any]]:
        n = Counter(row.value for row in self.rows)
        for category in self.criterion.categories:
            value = str(category["value"])
            yield {"value": value, "label": str(category["label"]), "n": n[value]}

    def parts(self, kind: str, labels: Sequence[Any], found: Mapping[Column, Any]) -> Iterator[dict[str, Any]]:
        """Each group, or each turn of the assistant from 1, with its counts and its mean."""
        rows: dict[Any, list[ScoredRow]] = defaultdict(list)
        for row, label in zip(self.rows, labels, strict=True):
            if label:
                rows[label].append(row)
        for label in sorted(rows):
            yield {kind: label, **counts(rows[label], self.criterion.values), "estimate": found.get((kind, label))}

    def means(self) -> dict[Column, dict[str, Any]]:
        """All means of the document, from the same resamples."""
        columns = dict(self.columns()) if self.rows else {}
        if not columns:
            return {}
        found = clustered_means(
            np.column_stack(list(columns.values())),
            items=[str(row.position) for row in self.rows],
            clusters=self.clusters,
            bootstrap=self.options.bootstrap,
            confidence=self.options.confidence,
            seed=self.options.seed,
        )
        return dict(zip(columns, [one.as_json() for one in found], strict=True))

    def columns(self) -> Iterator[tuple[Column, FloatArray]]:
        """(n,) numbers of the judgments, NaN where they do not belong."""
        values = self.criterion.values
        for value in values:
            yield (VALUE, value), self.numbers({other: float(other == value) for other in values})
        if np.isfinite(self.weighted).any():
            yield (WEIGHTED, ALL), self.weighted
        if self.measure.numbers:
            numbers = self.numbers(self.measure.numbers)
            if self.reads_scores:
                numbers = np.where(np.isfinite(self.weighted), self.weighted, numbers)
            yield (ALL, ALL), numbers
            yield from self.split(GROUP, self.groups, numbers)
            yield from self.split(TURN, self.turns, numbers)

    def numbers(self, of_values: Mapping[str, float]) -> FloatArray:
        return np.array([of_values.get(row.value, np.nan) for row in self.rows], dtype=float)

    def split(self, kind: str, labels: Sequence[Any], numbers: FloatArray) -> Iterator[tuple[Column, FloatArray]]:
        given = np.array(labels, dtype=object)
        for label in sorted(set(labels)):
            if label:
                yield (kind, label), np.where(given == label, numbers, np.nan)


def counts(rows: Sequence[ScoredRow], values: Sequence[str]) -> dict[str, Any]:
    """How many items and judgments, how many of each value, and how many without one by reason."""
    unscored = Counter(row.reason for row in rows if not row.value)
    said = Counter(row.value for row in rows if row.value)
    return {
        "n_items": len({row.position for row in rows}),
        "n_judgments": len(rows),
        "scored": sum(said.values()),
        "unscored": dict(sorted(unscored.items())),
        "counts": {value: said[value] for value in values},
    }
