"""A leaderboard of assistants from pair preferences: as people, as the judge, and as the corrected judge sees it.

The corrected board adds to the judge's preferences on all unlabelled pairs what people's preferences differ by on the
labelled ones, as PPI++ does for a mean (Angelopoulos et al. 2023, arXiv 2311.01453), pairing by pairing of assistants.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.stats.arrays import ratio
from annotation.stats.estimate import Estimate
from annotation.stats.table import FloatArray, IntArray
from judging.stats.bradley_terry import NOT_CONNECTED, bradley_terry
from judging.stats.redraw import percentile, redraws

OUTCOMES = 3
"""First wins, second wins, tie."""


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
        (n,) who is preferred: 1 the first, 0 the second, 0.5 a tie; NaN where nobody said.
    clusters
        What is resampled together, or None.
    """

    assistants: tuple[str, ...]
    first: IntArray
    second: IntArray
    human: FloatArray
    judge: FloatArray
    clusters: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls,
        first: Sequence[str],
        second: Sequence[str],
        human: npt.ArrayLike,
        judge: npt.ArrayLike,
        *,
        clusters: Sequence[str] | None = None,
    ) -> "Comparisons":
        """From the names of each pair's assistants.

        Raises
        ------
        ValueError
            If columns differ in length, a preference is none of 0, 0.5 and 1, or an assistant meets itself.
        """
        names = sorted({*first, *second})
        place = {name: k for k, name in enumerate(names)}
        a, b = (np.array([place[name] for name in column], dtype=np.int64) for column in (first, second))
        y, f = np.asarray(human, dtype=float), np.asarray(judge, dtype=float)
        if not len(a) == len(b) == len(y) == len(f) or (clusters is not None and len(clusters) != len(y)):
            raise ValueError("assistants, preferences and clusters need one entry per pair")
        for column in (y, f):
            if not np.isin(column[~np.isnan(column)], (0, 0.5, 1)).all():
                raise ValueError("a preference is 1 (the first), 0 (the second) or 0.5 (a tie)")
        if (a == b).any():
            raise ValueError("an assistant cannot meet itself")
        return cls(tuple(names), a, b, y, f, None if clusters is None else tuple(clusters))


@dataclass(frozen=True)
class Standing:
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
        1 is best, with the interval of its ranks over the resamples.
    """

    assistant: str
    win_rate: Estimate
    strength: Estimate
    rank: Estimate

    def as_json(self) -> dict[str, Any]:
        """The standing as JSON types."""
        figures = {name: getattr(self, name).as_json() for name in ("win_rate", "strength", "rank")}
        return {"assistant": self.assistant, **figures}


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

    people: tuple[Standing, ...]
    judge: tuple[Standing, ...]
    corrected: tuple[Standing, ...]
    weight: float
    reason: str | None

    def as_json(self) -> dict[str, Any]:
        """The boards as JSON types."""
        boards = {name: [one.as_json() for one in getattr(self, name)] for name in ("people", "judge", "corrected")}
        return {**boards, "lambda": None if np.isnan(self.weight) else self.weight, "reason": self.reason}


def leaderboard(pairs: Comparisons, *, bootstrap: int = 300, confidence: float = 0.95, seed: int = 0) -> Boards:
    """Win rates, strengths and ranks by people, by the judge and corrected, with percentile intervals over pairs.

    Parameters
    ----------
    pairs
        The comparisons.
    bootstrap, confidence, seed
        Number of resamples of pairs (or clusters), nominal coverage, seed.
    """
    n = len(pairs.human)
    weights = np.vstack([np.ones((1, n)), redraws(n, replicates=bootstrap, seed=seed, clusters=pairs.clusters)])
    human, judge = ~np.isnan(pairs.human), ~np.isnan(pairs.judge)
    labelled, unlabelled = human & judge, judge & ~human
    by_people, by_judge = _cells(pairs, pairs.human), _cells(pairs, pairs.judge)
    shape = (len(weights), *2 * (len(pairs.assistants),), OUTCOMES)
    settings = (confidence, seed)
    people_board = _board(pairs, (weights @ by_people).reshape(shape), int(human.sum()), settings)
    judge_board = _board(pairs, (weights @ by_judge).reshape(shape), int(judge.sum()), settings)
    if labelled.sum() < 2 or not unlabelled.any():
        why = "too few pairs with both labels" if labelled.sum() < 2 else "no unlabelled pair that the judge scored"
        return Boards(people_board, judge_board, (), np.nan, why)
    weight = _power_tuned(by_people[labelled], by_judge[labelled], by_judge[judge], int(unlabelled.sum()))
    corrected = _corrected(weights, by_people, by_judge, labelled, unlabelled, weight) * n
    board = _board(pairs, np.maximum(corrected, 0.0).reshape(shape), int((labelled | unlabelled).sum()), settings)
    return Boards(people_board, judge_board, board, weight, None)


def _cells(pairs: Comparisons, preference: FloatArray) -> FloatArray:
    """(n, k * k * 3) one 1 per pair that has a preference: assistants in the order of their index, and the outcome."""
    n, k = len(preference), len(pairs.assistants)
    known = ~np.isnan(preference)
    swapped = pairs.first > pairs.second
    low, high = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
    first_wins = np.where(swapped, 1 - preference, preference)
    outcome = np.where(first_wins == 1, 0, np.where(first_wins == 0, 1, 2))
    cells = np.zeros((n, k * k * OUTCOMES))
    cells[known, ((low * k + high) * OUTCOMES + outcome)[known]] = 1
    return cells


def _power_tuned(y: FloatArray, f: FloatArray, scores: FloatArray, n_unlabelled: int) -> float:
    """The lambda that makes the sum of the cells' variances smallest, cut to 0 … 1."""
    covariance = ((y - y.mean(axis=0)) * (f - f.mean(axis=0))).mean(axis=0).sum()
    variance = scores.var(axis=0).sum()
    return float(np.clip(covariance / ((1 + len(y) / n_unlabelled) * variance), 0, 1)) if variance > 0 else 0.0


def _corrected(
    weights: FloatArray,
    by_people: FloatArray,
    by_judge: FloatArray,
    labelled: npt.NDArray[np.bool_],
    unlabelled: npt.NDArray[np.bool_],
    weight: float,
) -> FloatArray:
    """(b, cells) corrected share of every cell; a share may come out below 0 and is then taken as 0."""
    with_people, without = weights[:, labelled], weights[:, unlabelled]
    rectified = by_people[labelled] - weight * by_judge[labelled]
    first = ratio(with_people @ rectified, with_people.sum(axis=1, keepdims=True))
    second = ratio(without @ by_judge[unlabelled], without.sum(axis=1, keepdims=True))
    found: FloatArray = np.nan_to_num(first) + weight * np.nan_to_num(second)
    return found


def _board(pairs: Comparisons, cells: FloatArray, n_items: int, settings: tuple[float, int]) -> tuple[Standing, ...]:
    """The standings from (b, k, k, 3) counts, the first of which are the data and the others their replicates."""
    wins = cells[..., 0] + cells[..., 1].transpose(0, 2, 1)
    ties = cells[..., 2] + cells[..., 2].transpose(0, 2, 1)
    played = wins.sum(axis=2) + wins.sum(axis=1) + ties.sum(axis=2)
    rates = ratio(wins.sum(axis=2) + ties.sum(axis=2) / 2, played)
    strengths = bradley_terry(wins, ties).log_strength
    ranks = np.where(
        np.isnan(strengths), np.nan, 1.0 + (strengths[:, None, :] > strengths[:, :, None] + 1e-6).sum(axis=2)
    )
    columns = ((rates, "never compared"), (strengths, NOT_CONNECTED), (ranks, NOT_CONNECTED))
    confidence, seed = settings
    return tuple(
        Standing(
            name,
            *(
                percentile(
                    float(values[0, k]),
                    values[1:, k],
                    n_items=n_items,
                    confidence=confidence,
                    seed=seed,
                    reason=reason,
                )
                for values, reason in columns
            ),
        )
        for k, name in enumerate(pairs.assistants)
    )
