"""Trivial baselines: the longer response, the one with more structure, the one listed first."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.stats.benchmarks.cases import Case, cells, column, shares
from annotation.stats.benchmarks.result_types import ShortcutDocument
from annotation.stats.estimate import Estimate

STRUCTURE = re.compile(r"^[ \t]*(?:[-*+•]|\d+[.)、]|#{1,6})[ \t]|\*\*[^*\n]+\*\*", re.MULTILINE)
"""Marks of layout: bullets, numbers and headings at the start of a line, and bold words."""


def length(text: str) -> float:
    """Characters."""
    return float(len(text))


def structure(text: str) -> float:
    """Marks of layout (`STRUCTURE`)."""
    return float(len(STRUCTURE.findall(text)))


def build_baseline(measure: Callable[[str], float]) -> Callable[[Case], float]:
    """1 where the chosen response has more of something, 0 where it has less, one half where both have as much."""

    def score(case: Case) -> float:
        if not case.gold:
            return np.nan
        return float(np.sign(measure(case.chosen) - measure(case.rejected)) + 1) / 2

    return score


def choose_first(case: Case) -> float:
    """1 where response 1 was chosen."""
    return np.nan if not case.gold else float(case.gold == "1")


RULES: dict[str, Callable[[Case], float]] = {
    "the longer response": build_baseline(length),
    "the response with more layout": build_baseline(structure),
    "response 1": choose_first,
}
"""What each rule scores on a case, 0 to 1: one half where it has no answer."""


@dataclass(frozen=True)
class Shortcut:
    """How often a rule says what people said, in a cell of the benchmark. Chance is one half."""

    rule: str
    kind: str
    tier: str
    accuracy: Estimate

    def to_json(self) -> ShortcutDocument:
        """As JSON types."""
        return {"rule": self.rule, "kind": self.kind, "tier": self.tier, "accuracy": self.accuracy.to_json()}


def shortcuts(cases: Sequence[Case], *, bootstrap: int, seed: int) -> list[Shortcut]:
    """Every rule in every cell, with an interval that resamples personas."""
    found = list(cells(cases))
    scores = {rule: column(cases, score) for rule, score in RULES.items()}
    columns = [np.where(cell.members, scores[rule], np.nan) for rule in RULES for cell in found]
    figures = iter(shares(columns, cases, bootstrap=bootstrap, seed=seed))
    return [Shortcut(rule, cell.kind, cell.tier, next(figures)) for rule in RULES for cell in found]


def unlike_in_form(cases: Sequence[Case]) -> list[float]:
    """(n,) 1 where one response has marks of layout and the other has none."""
    return [float((structure(case.response_1) > 0) != (structure(case.response_2) > 0)) for case in cases]
