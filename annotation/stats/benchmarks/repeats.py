"""Pairs that stand in a benchmark more than once, and labels that contradict each other."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from rapidfuzz.fuzz import ratio

from annotation.stats.benchmarks.cases import Case, cells, shares
from annotation.stats.benchmarks.result_types import RecurringDocument, RepeatedPairDocument
from annotation.stats.estimate import Estimate
from annotation.stats.table import FloatArray

NEAR = 90.0
"""Texts at least this similar, in percent of rapidfuzz's normalised indel similarity, are nearly the same."""


@dataclass(frozen=True)
class Group:
    """Cases with the same persona, question and two responses. `opposite`: their labels contradict each other."""

    cases: tuple[str, ...]
    tiers: tuple[str, ...]
    opposite: bool

    def to_json(self) -> RepeatedPairDocument:
        """As JSON types."""
        return {"cases": list(self.cases), "tiers": list(self.tiers), "opposite": self.opposite}


@dataclass(frozen=True)
class Recurring:
    """How many cases of a cell stand in another tier too, and of those how many with the opposite label."""

    kind: str
    tier: str
    n: int
    recurring: int
    opposite: int
    recurring_share: Estimate
    opposite_share: Estimate

    def to_json(self) -> RecurringDocument:
        """As JSON types."""
        return {
            "kind": self.kind,
            "tier": self.tier,
            "n": self.n,
            "recurring": self.recurring,
            "opposite": self.opposite,
            "recurring_share": self.recurring_share.to_json(),
            "opposite_share": self.opposite_share.to_json(),
        }


def groups(cases: Sequence[Case]) -> list[Group]:
    """The pairs that stand there twice or more, in the order of their first case."""
    found = []
    for members in _by_pair(cases).values():
        if len(members) > 1:
            chosen = {case.chosen for case in members if case.gold}
            tiers = tuple(dict.fromkeys(case.tier for case in members))
            found.append(Group(tuple(case.id for case in members), tiers, len(chosen) > 1))
    return found


def compute_recurring(cases: Sequence[Case], *, bootstrap: int, seed: int) -> list[Recurring]:
    """For all cases, each tier, and each kind and tier: what recurs in another tier."""
    again, opposite = _elsewhere(cases)
    found = list(cells(cases))
    columns: list[FloatArray] = []
    for cell in found:
        columns.append(np.where(cell.members, again, np.nan))
        columns.append(np.where(cell.members & (again == 1), opposite, np.nan))
    figures = shares(columns, cases, bootstrap=bootstrap, seed=seed)
    return [
        Recurring(
            cell.kind,
            cell.tier,
            int(cell.members.sum()),
            int(again[cell.members].sum()),
            int(opposite[cell.members].sum()),
            figures[2 * k],
            figures[2 * k + 1],
        )
        for k, cell in enumerate(found)
    ]


def _by_pair(cases: Sequence[Case]) -> Mapping[tuple[str, ...], list[Case]]:
    found: dict[tuple[str, ...], list[Case]] = defaultdict(list)
    for case in cases:
        found[case.pair].append(case)
    return found


def _elsewhere(cases: Sequence[Case]) -> tuple[FloatArray, FloatArray]:
    """(n,) whether each case stands in another tier, and whether it does so with the opposite label."""
    by_pair = _by_pair(cases)
    again, opposite = np.zeros(len(cases)), np.zeros(len(cases))
    for row, case in enumerate(cases):
        others = [other for other in by_pair[case.pair] if other.tier != case.tier]
        again[row] = bool(others)
        opposite[row] = any(case.gold and other.gold and other.chosen != case.chosen for other in others)
    return again, opposite


def circles(cases: Sequence[Case]) -> list[tuple[str, ...]]:
    """Cases whose labels go round: A before B, B before C, C before A. Three responses or more in each circle.

    Responses of one persona and question are nodes, a label leads from the chosen one to the other; a circle is a
    strongly connected component of three nodes or more. All questions are one graph without edges between them.
    """
    labelled = [case for case in cases if case.gold]
    node: dict[tuple[str, str, str], int] = {}
    start = [node.setdefault((case.persona, case.question, case.chosen), len(node)) for case in labelled]
    end = [node.setdefault((case.persona, case.question, case.rejected), len(node)) for case in labelled]
    if not node:
        return []
    graph = scipy.sparse.coo_matrix((np.ones(len(labelled)), (start, end)), shape=(len(node), len(node)))
    _, component = scipy.sparse.csgraph.connected_components(graph, directed=True, connection="strong")
    sizes = np.bincount(component)
    found: dict[int, list[str]] = defaultdict(list)
    for case, a, b in zip(labelled, component[start].tolist(), component[end].tolist(), strict=True):
        if a == b and sizes[a] > 2:
            found[a].append(case.id)
    return [tuple(names) for names in found.values()]


def nearly_same_responses(cases: Sequence[Case], *, near: float = NEAR) -> list[str]:
    """Cases whose two responses are nearly the same text: little is left to choose."""
    return [case.id for case in cases if ratio(case.response_1, case.response_2, score_cutoff=near)]


def nearly_same_cases(cases: Sequence[Case], *, near: float = NEAR) -> list[tuple[str, str]]:
    """Two cases of one persona and question whose responses are nearly but not exactly the same, in either order."""
    by_question: dict[tuple[str, str], list[Case]] = defaultdict(list)
    for case in cases:
        by_question[case.persona, case.question].append(case)
    return [
        (first.id, second.id)
        for members in by_question.values()
        for k, first in enumerate(members)
        for second in members[k + 1 :]
        if first.pair != second.pair and _alike(first, second, near)
    ]


def _alike(a: Case, b: Case, near: float) -> bool:
    def both(one: str, other: str) -> bool:
        return bool(ratio(a.response_1, one, score_cutoff=near) and ratio(a.response_2, other, score_cutoff=near))

    return both(b.response_1, b.response_2) or both(b.response_2, b.response_1)
