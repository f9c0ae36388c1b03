"""Two raters at a time: Cohen's kappa, Scott's pi, and their means over pairs of raters.

References
----------
Cohen (1960), Educational and Psychological Measurement 20:37-46 (kappa); Cohen (1968), Psychological Bulletin
70:213-220 (weighted kappa); Scott (1955), Public Opinion Quarterly 19:321-325 (pi); Light (1971),
Psychological Bulletin 76:365-377 (the mean over pairs).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

from annotation.stats.arrays import find_smallest_step, ratio
from annotation.stats.drawing import BUDGET
from annotation.stats.kemeny import kemeny_distances
from annotation.stats.masi import masi_weights
from annotation.stats.resampling import Replicates, Resampling, SumStatistic, replicate
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, RatingTable
from annotation.stats.weighting import positions

KINDS = ("cohen_kappa", "weighted_cohen_kappa", "percent_agreement", "linear_cohen_kappa", "scott_pi")
"""What is computed of each pair of raters, in order; weighted kappa is quadratic, of rankings by Kemeny's and of
sets by MASI distance."""

PER_PAIR = len(KINDS)

DECIMALS = 9
"""Distances in smallest steps are rounded to these: 0.3 is three steps of 0.1, but not in binary."""

LEAST_SHARE = 0.2
"""A pair, or a rater, with fewer items than this share of the largest number takes no part in a mean."""

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class CategoryDistances:
    """(q, q) disagreement weights of the two weighted kappas, to any factor; without them these are NaN.

    Distances and not credits: those of whole numbers are whole, and their sums exact and fast.
    """

    quadratic: FloatArray
    linear: FloatArray


def compute_distances(table: RatingTable) -> CategoryDistances | None:
    """The distances on a table's scale; None on a nominal scale, which has no order to weigh by."""
    if table.level == "nominal":
        return None
    if table.level in ("ranking", "set"):
        named = [str(category) for category in table.categories]
        apart = 2 * kemeny_distances(named) if table.level == "ranking" else np.round(1 - masi_weights(named), DECIMALS)
        return CategoryDistances(apart, apart)
    places = positions(table)
    apart = np.abs(places[:, None] - places[None, :]) / find_smallest_step(places)
    return CategoryDistances(np.round(apart**2, DECIMALS), np.round(apart, DECIMALS))


def pairs_statistic(
    codes: IntArray, pairs: Sequence[Pair], n_categories: int, distances: CategoryDistances | None
) -> SumStatistic:
    """The figures of `KINDS` of each pair of raters, as one statistic.

    Parameters
    ----------
    codes
        (n_items, n_raters) categories, -1 where missing. A pair is compared on the items both rated.
    pairs
        P pairs of columns of ``codes``.
    n_categories
        q.
    distances
        Disagreement weights of the weighted kappas.

    Returns
    -------
    SumStatistic
        With 5 P values, kind by kind. Kappa is (p_o - p_e) / (1 - p_e), p_o the share of items on which the
        two say the same and p_e that of answers drawn from each one's own shares, for pi from the shares of
        both together; weighted kappa is 1 - d_o / d_e with the mean distances of the same answers. NaN where
        both always used one category.
    """
    matrix = np.zeros((len(codes), len(pairs) * (3 + 2 * n_categories)), order="F")
    for columns, (a, b) in zip(np.split(matrix, max(len(pairs), 1), axis=1), pairs, strict=False):
        _fill(columns, codes[:, a], codes[:, b], distances)
    function = partial(_pair_values, n_pairs=len(pairs), q=n_categories, distances=distances)
    return SumStatistic(matrix, function, partial(_count_common, n_pairs=len(pairs), q=n_categories))


def _fill(columns: FloatArray, a: IntArray, b: IntArray, distances: CategoryDistances | None) -> None:
    """Fill (n_items, 3 + 2 q) zeros: whether the same; both distances; categories of the first, the second."""
    both = np.flatnonzero((a != MISSING) & (b != MISSING))
    first, second = a[both], b[both]
    columns[both, 0] = first == second
    for place, distance in enumerate(_both(distances), start=1):
        columns[both, place] = distance[first, second]
    columns[both, 3 + first] = 1.0
    columns[both, 3 + (columns.shape[1] - 3) // 2 + second] = 1.0


def _both(distances: CategoryDistances | None) -> list[FloatArray]:
    return [] if distances is None else [distances.quadratic, distances.linear]


def _pair_values(sums: FloatArray, *, n_pairs: int, q: int, distances: CategoryDistances | None) -> FloatArray:
    by_pair = sums.reshape(*sums.shape[:-1], n_pairs, 3 + 2 * q)
    same, *apart = np.moveaxis(by_pair[..., :3], -1, 0)
    first, second = by_pair[..., 3 : 3 + q], by_pair[..., 3 + q :]
    n = first @ np.ones(q)
    exact, pairs = ratio(same, n), n**2
    kappa = _kappa(exact, ratio(_product(first, second), pairs))
    weighted = [
        1 - ratio(ratio(of_pair, n), ratio(_product(first @ distance, second), pairs))
        for of_pair, distance in zip(apart, _both(distances), strict=False)
    ] or [np.full_like(kappa, np.nan)] * 2
    both = first + second
    pi = _kappa(exact, ratio(_product(both, both), 4 * pairs))
    return np.concatenate([kappa, weighted[0], exact, weighted[1], pi], axis=-1)


def _count_common(sums: FloatArray, *, n_pairs: int, q: int) -> FloatArray:
    """(…, 5 P) number of common items of each pair, over which percent agreement is a mean; the others are none."""
    first = sums.reshape(*sums.shape[:-1], n_pairs, 3 + 2 * q)[..., 3 : 3 + q]
    n = first.sum(axis=-1)
    return np.concatenate([n if kind == "percent_agreement" else np.full_like(n, np.nan) for kind in KINDS], axis=-1)


def _product(a: FloatArray, b: FloatArray) -> FloatArray:
    """(…,) scalar products over the last axis."""
    product: FloatArray = np.einsum("...k,...k->...", a, b)
    return product


def _kappa(observed: FloatArray, expected: FloatArray) -> FloatArray:
    return ratio(observed - expected, 1 - expected)


def rater_pairs(table: RatingTable) -> list[Pair]:
    """Every two columns of the table that have ratings."""
    rated = (table.codes != MISSING).any(axis=0)
    return list(combinations(np.flatnonzero(rated).tolist(), 2))


def pair_blocks(
    table: RatingTable, pairs: Sequence[Pair], resampling: Resampling
) -> Iterator[tuple[Sequence[Pair], Replicates]]:
    """Pairs in blocks, each with its replicates, so that many raters do not fill the memory."""
    distances = compute_distances(table)
    tall = max(table.n_items, resampling.n_replicates, 1)
    size = max(1, BUDGET // (tall * (3 + 2 * table.n_categories)))
    for start in range(0, len(pairs), size):
        block = pairs[start : start + size]
        statistic = pairs_statistic(table.codes, block, table.n_categories, distances)
        yield block, replicate([statistic], resampling)[0]


class RunningMeans:
    """Means over groups of pairs, block by block, without undefined pairs."""

    def __init__(self, n_groups: int) -> None:
        self._n_groups = n_groups
        self._total: Replicates | None = None
        self._n: Replicates | None = None
        self._weight: FloatArray | None = None

    def add(self, block: Replicates, member: FloatArray) -> None:
        """Take in a block of P pairs; ``member`` (P, n_groups) is 1 where a pair belongs to a group."""
        total = _map(block, lambda values: np.nan_to_num(_by_kind(values)) @ member)
        n = _map(block, lambda values: (~np.isnan(_by_kind(values))).astype(float) @ member)
        self._total = total if self._total is None else _add(self._total, total)
        self._n = n if self._n is None else _add(self._n, n)
        if block.weight is not None:
            weight = np.nan_to_num(_by_kind(block.weight)) @ member
            self._weight = weight if self._weight is None else self._weight + weight

    def means(self) -> list[Replicates]:
        """Per group, replicates of the means of the figures of `KINDS`."""
        if self._total is None or self._n is None:
            nothing = np.empty((0, PER_PAIR))
            return [Replicates(np.full(PER_PAIR, np.nan), nothing, nothing)] * self._n_groups
        total, n = self._total, self._n
        return [
            Replicates(
                ratio(total.value[..., g], n.value[..., g]),
                ratio(total.bootstrap[..., g], n.bootstrap[..., g]),
                ratio(total.left_out[..., g], n.left_out[..., g]),
                self._weight_of(g, n.value),
            )
            for g in range(self._n_groups)
        ]

    def _weight_of(self, group: int, n: FloatArray) -> FloatArray | None:
        """(k, 5) mean share of a unit in the figures of a group's pairs, ``n`` (5, n_groups) of them defined.

        A block without weights has no figure of 0 or 1, so that no mean with any of its pairs is asked for.
        """
        if self._weight is None:
            return None
        weight = self._weight[..., group]
        return np.where(weight.any(axis=0), ratio(weight, np.broadcast_to(n[:, group], weight.shape)), np.nan)


def joint_counts(codes: IntArray, copies: IntArray | None = None) -> IntArray:
    """(k, k) number of items that both of two columns of ``codes`` (n_items, k) rated.

    ``copies`` (n_items,) says how many items each row stands for.
    """
    rated = (codes != MISSING).astype(float)
    times = rated if copies is None else rated * copies[:, None]
    joint: IntArray = np.rint(times.T @ rated).astype(np.int64)
    return joint


def everyone_and_each(pairs: Sequence[Pair], raters: Sequence[int], joint: IntArray) -> FloatArray:
    """(P, 1 + k) membership of pairs in means: the mean over all pairs, then that over the pairs of each rater.

    A pair with too few of its `joint_counts` beside the others of a mean is no member of it, see `enough`.
    """
    columns = [
        np.ones(len(pairs), dtype=bool),
        *(np.array([rater in pair for pair in pairs], dtype=bool) for rater in raters),
    ]
    of_pair = np.array([joint[pair] for pair in pairs], dtype=np.int64)
    members = [column & enough(np.where(column, of_pair, 0)) for column in columns]
    return np.column_stack(members).astype(float).reshape(len(pairs), 1 + len(raters))


def enough(n: IntArray) -> BoolArray:
    """Which of ``n`` numbers of items are at least `LEAST_SHARE` of the largest, and not 0.

    An unweighted mean gives one common item the voice of a hundred: somebody who has just begun would decide it.
    """
    return np.asarray((n > 0) & (n >= LEAST_SHARE * n.max(initial=0)))


def _by_kind(values: FloatArray) -> FloatArray:
    """(…, 5, P) view of (…, 5 P) values."""
    return values.reshape(*values.shape[:-1], PER_PAIR, values.shape[-1] // PER_PAIR)


def _map(block: Replicates, function: Callable[[FloatArray], FloatArray]) -> Replicates:
    return Replicates(function(block.value), function(block.bootstrap), function(block.left_out))


def _add(a: Replicates, b: Replicates) -> Replicates:
    return Replicates(a.value + b.value, a.bootstrap + b.bootstrap, a.left_out + b.left_out)
