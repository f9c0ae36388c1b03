"""A leaderboard of assistants from pair preferences: as people, as the judge, and as the corrected judge sees it.

The corrected board adds to the judge's preferences on all unlabelled pairs what people's preferences differ by on the
labelled ones, as PPI++ does for a mean (Angelopoulos et al. 2023, arXiv 2311.01453), pairing by pairing of assistants.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from annotation.stats.arrays import ratio
from annotation.stats.estimate import Estimate, number_or_none
from annotation.stats.intervals import Basis, estimates
from annotation.stats.jackknife import Scale
from annotation.stats.resampling import PreparedSums, Replicates, Resampling, SumStatistic
from annotation.stats.simultaneous import rank_sets
from annotation.stats.table import FloatArray, IntArray
from judging.stats.asymptotic import build_resampling, drop_interval, few_units, figure
from judging.stats.bradley_terry import NOT_CONNECTED, bradley_terry
from judging.stats.calibration_types import BoardRowDocument, BoardsDocument
from judging.stats.differences import compute_simultaneous_differences

OUTCOMES = 3
"""First wins, second wins, tie."""

NEVER = "never compared"


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Pairs of responses by two assistants.

    Attributes
    ----------
    assistants
        The k names.
    first, second
        (n,) index of the assistants of each pair.
    human, judge
        (n,) who is preferred: 1 the first, 0 the second, 0.5 a tie; between them where people are tied between the
        one and the other; NaN where nobody said.
    clusters
        What is independent of each other, or None for the pairs themselves.
    weights
        (n,) one over the inclusion probability, or None.
    """

    assistants: tuple[str, ...]
    first: IntArray
    second: IntArray
    human: FloatArray
    judge: FloatArray
    clusters: tuple[str, ...] | None = None
    weights: FloatArray | None = None

    @classmethod
    def from_names(
        cls,
        first: Sequence[str],
        second: Sequence[str],
        human: npt.ArrayLike,
        judge: npt.ArrayLike,
        *,
        clusters: Sequence[str] | None = None,
        weights: FloatArray | None = None,
    ) -> "Comparisons":
        """From the names of each pair's assistants.

        Raises
        ------
        ValueError
            If columns differ in length, a preference is not between 0 and 1, or an assistant meets itself.
        """
        names = sorted({*first, *second})
        place = {name: k for k, name in enumerate(names)}
        a, b = (np.array([place[name] for name in column], dtype=np.int64) for column in (first, second))
        y, f = np.asarray(human, dtype=float), np.asarray(judge, dtype=float)
        if not len(a) == len(b) == len(y) == len(f) or (clusters is not None and len(clusters) != len(y)):
            raise ValueError("assistants, preferences and clusters need one entry per pair")
        for column in (y, f):
            if ((column < 0) | (column > 1)).any():
                raise ValueError("a preference is 1 (the first), 0 (the second), 0.5 (a tie) or between them")
        if (a == b).any():
            raise ValueError("an assistant cannot meet itself")
        return cls(tuple(names), a, b, y, f, None if clusters is None else tuple(clusters), weights)


@dataclass(frozen=True)
class BoardRow:
    """One assistant on a board.

    Attributes
    ----------
    assistant
        Its name.
    win_rate
        Share of its comparisons that it won, a tie half; over the opponents it met.
    strength
        Log strength in the Bradley-Terry model with ties; the mean over assistants is 0. Unlike the win rate it does
        not depend on whom the assistant met.
    rank
        1 is best, with the ranks that the simultaneous intervals of all differences of strengths leave possible.
    """

    assistant: str
    win_rate: Estimate
    strength: Estimate
    rank: Estimate

    def to_json(self) -> BoardRowDocument:
        """The standing as JSON types."""
        return {
            "assistant": self.assistant,
            "win_rate": self.win_rate.to_json(),
            "strength": self.strength.to_json(),
            "rank": self.rank.to_json(),
        }


@dataclass(frozen=True)
class Boards:
    """Three boards of the same assistants, each in the order of their names.

    Attributes
    ----------
    people
        From people's preferences alone.
    judge
        From the judge's on all pairs it scored: what would be printed without people.
    corrected
        From both; empty where there is nothing to correct with.
    weight
        lambda of the correction.
    reason
        Why there is no corrected board, or None.
    """

    people: tuple[BoardRow, ...]
    judge: tuple[BoardRow, ...]
    corrected: tuple[BoardRow, ...]
    weight: float
    reason: str | None

    def to_json(self) -> BoardsDocument:
        """The boards as JSON types."""
        return {
            "people": [one.to_json() for one in self.people],
            "judge": [one.to_json() for one in self.judge],
            "corrected": [one.to_json() for one in self.corrected],
            "lambda": number_or_none(self.weight),
            "reason": self.reason,
        }


def leaderboard(pairs: Comparisons, *, confidence: float = 0.95) -> Boards:
    """Win rates, strengths and ranks by people, by the judge and corrected.

    Intervals are Student's t from leaving out one pair, or one cluster of pairs, in turn.
    """
    human, judge = ~np.isnan(pairs.human), ~np.isnan(pairs.judge)
    both, rest = human & judge, judge & ~human
    by_people, by_judge = _cells(pairs, pairs.human), _cells(pairs, pairs.judge)
    reason = "too few pairs with both labels" if both.sum() < 2 else None
    reason = reason or (None if rest.any() else "no unlabelled pair that the judge scored")
    weight = np.nan if reason else _power_tuned(by_people[both], by_judge[both], by_judge[judge], int(rest.sum()))
    masks = np.column_stack([both, rest]).astype(float)
    rows = np.hstack([by_people, by_people * masks[:, :1], by_judge * masks[:, :1], by_judge * masks[:, 1:], masks])
    rows, resampling = _units(pairs, rows, confidence)
    prepared = PreparedSums.prepare([SumStatistic(rows, partial(_figures, len(pairs.assistants), weight))], resampling)
    value = SumStatistic(rows, prepared.parts[0][1]).evaluate(resampling.all_items[None, :])[0]
    found = Replicates(value, np.zeros((1, len(value))), prepared.evaluate_left_out()[0])
    told = ((human, human), (judge, judge), *([] if reason else [(judge, both)]))  # its pairs, and what it hangs on
    boards = [
        _board(pairs.assistants, found, resampling, place, int(of.sum()), few_units(on, pairs.clusters, pairs.weights))
        for place, (of, on) in enumerate(told)
    ]
    return Boards(boards[0], boards[1], () if reason else boards[2], weight, reason)


def _units(pairs: Comparisons, rows: FloatArray, confidence: float) -> tuple[FloatArray, Resampling]:
    """The rows (n, m) of the pairs and how they are left out; pairs that are alike count as one row, several times."""
    if pairs.clusters is not None:
        return rows, replace(build_resampling(len(rows), pairs.clusters, pairs.weights, confidence), n_replicates=1)
    w = np.ones(len(rows)) if pairs.weights is None else pairs.weights
    _, first, copies = np.unique(np.column_stack([rows, w]), axis=0, return_index=True, return_counts=True)
    resampling = build_resampling(len(first), None, w[first], confidence)
    return rows[first], replace(resampling, n_replicates=1, copies=copies)


def _cells(pairs: Comparisons, preference: FloatArray) -> FloatArray:
    """(n, k * k * 3) a sum of 1 per pair that has a preference: assistants in the order of their index, and the
    outcome. A preference between a tie and a win is in part the one, in part the other."""
    n, k = len(preference), len(pairs.assistants)
    known = ~np.isnan(preference)
    low, high = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
    lead = (2 * preference - 1) * np.where(pairs.first > pairs.second, -1, 1)
    outcomes = np.column_stack([np.maximum(lead, 0), np.maximum(-lead, 0), 1 - np.abs(lead)])
    cells = np.zeros((n, k * k, OUTCOMES))
    cells[known, (low * k + high)[known]] = outcomes[known]
    return cells.reshape(n, -1)


def _power_tuned(y: FloatArray, f: FloatArray, scores: FloatArray, n_unlabelled: int) -> float:
    """The lambda that makes the sum of the cells' variances smallest, cut to 0 … 1."""
    covariance = ((y - y.mean(axis=0)) * (f - f.mean(axis=0))).mean(axis=0).sum()
    variance = scores.var(axis=0).sum()
    return float(np.clip(covariance / ((1 + len(y) / n_unlabelled) * variance), 0, 1)) if variance > 0 else 0.0


def _figures(k: int, weight: float, sums: FloatArray) -> FloatArray:
    """(b, 2 k a board) win rates and strengths from sums (b, 4 * cells + 2); no corrected board where lambda is NaN.

    A corrected share of a cell may come out below 0 and is then taken as 0.
    """
    cells = k * k * OUTCOMES
    people, labelled, judged, others = (sums[:, start * cells : (start + 1) * cells] for start in range(4))
    n_labelled, n_others = sums[:, -2:-1], sums[:, -1:]
    boards = [people, judged + others]
    if not np.isnan(weight):
        shares = ratio(labelled - weight * judged, n_labelled) + weight * ratio(others, n_others)
        boards.append(np.maximum(shares, 0.0) * (n_labelled + n_others))
    return np.hstack([part for board in boards for part in _compute_standings(board.reshape(-1, k, k, OUTCOMES))])


def _compute_standings(cells: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(b, k) win rates, and strengths, from counts (b, k, k, 3)."""
    wins = cells[..., 0] + cells[..., 1].transpose(0, 2, 1)
    ties = cells[..., 2] + cells[..., 2].transpose(0, 2, 1)
    played = wins.sum(axis=2) + wins.sum(axis=1) + ties.sum(axis=2)
    return ratio(wins.sum(axis=2) + ties.sum(axis=2) / 2, played), bradley_terry(wins, ties).log_strength


def _board(
    assistants: Sequence[str],
    found: Replicates,
    resampling: Resampling,
    place: int,
    n_items: int,
    why: str | None,
) -> tuple[BoardRow, ...]:
    """The standings of one of the boards, whose figures stand one behind the other; without intervals if ``why``."""
    k, basis = len(assistants), Basis(n_items, 2, 2 * n_items)
    mine = slice(2 * k * place, 2 * k * (place + 1))
    own = found.select(mine)
    scales: list[Scale] = [*["share"] * k, *["plain"] * k]  # type: ignore[list-item]
    reasons = [NEVER] * k + [NOT_CONNECTED] * k
    each = [
        drop_interval(one, why)
        for one in estimates(own, resampling, [basis] * 2 * k, reasons, scale=scales, student=True)
    ]
    strengths = own.value[k:]
    between = compute_simultaneous_differences(strengths, list(own.left_out[:, k:].T), resampling, basis, NOT_CONNECTED)
    sets = rank_sets(np.array([one.low for one in between]), np.array([one.high for one in between]), k)
    ranks = [
        figure(
            np.nan if np.isnan(value) else 1.0 + float((strengths > value + 1e-6).sum()),
            (np.nan, np.nan) if np.isnan(strength.low) else (float(ends[0]), float(ends[1])),
            n_items=n_items,
            confidence=resampling.confidence,
            method="simultaneous t",
            reason=strength.reason,
        )
        for value, ends, strength in zip(strengths.tolist(), sets, each[k:], strict=True)
    ]
    return tuple(map(BoardRow, assistants, each[:k], each[k:], ranks))
