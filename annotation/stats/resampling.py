"""Resampling of items as weights: every replicate of every coefficient is one matrix product.

A coefficient is a function of sums over items. A bootstrap replicate repeats some items and drops others,
which only changes the weights of the items in those sums. So B replicates are a (B, n) matrix of weights
times the (n, k) matrix of contributions; clusters and strata change how the weights are drawn and nothing
else; leaving out one unit is the total minus that unit's row. Items that are alike share a row. (Efron and
Tibshirani, An Introduction to the Bootstrap, 1993, chapters 6, 8, 11 and 14.)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self

import numpy as np

from annotation.stats.arrays import ratio, sum_by_group
from annotation.stats.drawing import BUDGET, SingleArray
from annotation.stats.table import FloatArray, IntArray
from annotation.stats.units import Draws, Resampling

__all__ = [
    "Draws",
    "GroupStatistic",
    "Prepared",
    "PreparedGroups",
    "PreparedSums",
    "Replicates",
    "Resampling",
    "Statistic",
    "SumStatistic",
    "ratio",
    "replicate",
    "side_by_side",
    "sum_by_group",
]

EXACT = 2.0**24
"""Whole numbers below this are exact in single precision, and so are their sums."""

WHOLE = (60.0, 2520.0)
"""Factors that make whole numbers of shares: 60 of those of up to six ratings, 2520 of those of up to ten."""

ROUNDING = 1e-9
"""A number this close to a whole one is meant to be it."""


class Prepared(Protocol):
    """Some statistics made ready for one resampling."""

    def evaluate(self, draws: Draws) -> list[FloatArray]:
        """Per statistic, (b, m) values of a block of replicates."""

    def evaluate_left_out(self) -> list[FloatArray]:
        """Per statistic, (k, m) values without one unit of each kind in turn."""


class Statistic(Protocol):
    """Something that can be computed for any weights of the items."""

    def evaluate(self, weights: FloatArray) -> FloatArray:
        """(b, m) values at (b, n_items) weights."""


@dataclass(frozen=True, eq=False)
class SumStatistic:
    """m coefficients that are one function of the column sums of an (n_items, k) matrix.

    Attributes
    ----------
    contributions
        (n_items, k): what each item adds to each sum.
    function
        Takes (…, k) sums to (…, m) values, NaN where a value is undefined.
    counted
        Takes (…, k) sums to the (…, m) amounts that the values are means over, such as the number of items, where each
        is a mean of numbers from 0 to 1; NaN for other values. None where there is no such mean.
    """

    contributions: FloatArray
    function: Callable[[FloatArray], FloatArray]
    counted: Callable[[FloatArray], FloatArray] | None = None

    def evaluate(self, weights: FloatArray) -> FloatArray:
        return self.function(weights @ self.contributions)

    def find_unit_weights(self, value: FloatArray, resampling: Resampling) -> FloatArray | None:
        """(k, m) share that one unit of each kind has in what each value (m,) is a mean over.

        NaN where it is no mean. None where no value is one, and for single items of equal weight, which all have about
        the same share, unless a value is 0 or 1.
        """
        if self.counted is None or (resampling.is_simple and not np.isin(value, (0, 1)).any()):
            return None
        held = self.counted(resampling.sum_by_unit(self.contributions))
        return ratio(held, np.broadcast_to(resampling.times @ held, held.shape))


@dataclass(frozen=True, eq=False)
class PreparedSums:
    """Statistics of sums, their contributions side by side and added up per unit: one product serves all.

    Attributes
    ----------
    rows
        (n_units, k) what each unit adds to each sum.
    times
        (n_units,) how many units each row stands for.
    parts
        The columns of each statistic and its function.
    """

    rows: FloatArray
    times: FloatArray
    parts: Sequence[tuple[slice, Callable[[FloatArray], FloatArray]]]

    @classmethod
    def prepare(cls, statistics: Sequence[SumStatistic], resampling: Resampling) -> Self:
        """The statistics made ready for a resampling."""
        ends = np.cumsum([stat.contributions.shape[1] for stat in statistics]).tolist()
        columns = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
        together = np.empty((len(statistics[0].contributions), ends[-1]), order="F")
        for place, stat in zip(columns, statistics, strict=True):
            together[:, place] = stat.contributions
        rows = np.asfortranarray(resampling.sum_by_unit(together))
        return cls(rows, resampling.times, list(zip(columns, [stat.function for stat in statistics], strict=True)))

    def evaluate(self, draws: Draws) -> list[FloatArray]:
        exact = self._scale > 0
        # Held sum by sum: the functions then work on neighbours in memory.
        of_whole = (self._single.T @ draws.single.T).T / self._scale[exact]
        if exact.all():
            return self._values(of_whole)
        sums = np.empty((len(draws.single), self.rows.shape[1]), order="F")
        sums[:, exact] = of_whole
        sums[:, ~exact] = draws.double @ self.rows[:, ~exact]
        return self._values(sums)

    def _values(self, sums: FloatArray) -> list[FloatArray]:
        return [function(sums[..., columns]) for columns, function in self.parts]

    @cached_property
    def _scale(self) -> FloatArray:
        """(k,) factors that make columns whole numbers whose sums are exact in single precision; 0 for none."""
        largest = np.abs(self.rows).max(axis=0, initial=0.0) * self.times.sum()
        scale = np.where((self.rows == np.rint(self.rows)).all(axis=0), 1.0, 0.0)
        for factor in WHOLE:
            left = np.flatnonzero(scale == 0)
            scaled = self.rows[:, left] * factor
            scale[left[(np.abs(scaled - np.rint(scaled)) < ROUNDING).all(axis=0)]] = factor
        return np.where(largest * scale < EXACT, scale, 0.0)

    @cached_property
    def _single(self) -> SingleArray:
        """(n_units, j) the columns that can be made whole numbers, so made."""
        exact = self._scale > 0
        return np.rint(self.rows[:, exact] * self._scale[exact]).astype(np.float32)

    def evaluate_left_out(self) -> list[FloatArray]:
        total = self.times @ self.rows
        size = max(1, BUDGET // max(1, self.rows.shape[1]))
        starts = range(0, len(self.rows), size)
        chunks = [self._values(total - self.rows[start : start + size]) for start in starts]
        return [np.concatenate(parts) for parts in zip(*chunks, strict=True)]


def scale_to_effective(statistic: SumStatistic, number: FloatArray, item_weights: FloatArray | None) -> SumStatistic:
    """The same statistic of sums whose weights add up to the effective number of observations (Kish 1965).

    For a function that corrects for the number of observations, which the scale of survey weights must not decide: with
    weights w, each item there ``number`` (n_items,) times, that number is (sum of w)^2 / (sum of w^2). It is exact for
    pairs of two different observations: their share of the weight of all pairs is 1 - 1 / number.

    Parameters
    ----------
    statistic
        A function of sums over items.
    number
        (n_items,) how many observations each item holds, 0 for an item that takes no part.
    item_weights
        (n_items,) the weights of the items in all sums (`Resampling.item_weights`); None where they are equal.
    """
    if item_weights is None or not number.any() or not np.ptp(item_weights):
        return statistic
    usual = float(np.average(item_weights, weights=number))  # keeps the sum of squares as large as the sum

    def function(sums: FloatArray) -> FloatArray:
        factor = ratio(sums[..., -2], sums[..., -1]) / usual
        return statistic.function(sums[..., :-2] * factor[..., None])

    return SumStatistic(np.column_stack([statistic.contributions, number, number * item_weights / usual]), function)


@dataclass(frozen=True, eq=False)
class GroupStatistic:
    """m coefficients that are one function of the total weight of each of k groups of items.

    The same as a `SumStatistic` whose contributions are one 1 per row, without holding the zeros: ranks can
    need as many groups as there are items.

    Attributes
    ----------
    group
        (n_items,) index of each item's group, 0 … k - 1; -1 for an item that takes no part.
    n_groups
        k.
    function
        Takes (…, k) total weights to (…, m) values, NaN where a value is undefined.
    """

    group: IntArray
    n_groups: int
    function: Callable[[FloatArray], FloatArray]

    def evaluate(self, weights: FloatArray) -> FloatArray:
        kept = self.group >= 0
        return self.function(sum_by_group(weights[..., kept], self.group[kept], self.n_groups))

    @property
    def is_small(self) -> bool:
        """Whether the zeros can be afforded: one product is faster than adding up by group."""
        return len(self.group) * self.n_groups <= BUDGET

    def dense(self) -> SumStatistic:
        """The same with the zeros."""
        return SumStatistic((self.group[:, None] == np.arange(self.n_groups)).astype(float), self.function)


@dataclass(frozen=True, eq=False)
class PreparedGroups:
    """A statistic of groups of items, and the resampling of those items."""

    statistic: GroupStatistic
    resampling: Resampling

    def evaluate(self, draws: Draws) -> list[FloatArray]:
        return [self.statistic.evaluate(self.resampling.draw_item_weights(draws))]

    def evaluate_left_out(self) -> list[FloatArray]:
        group, unit, weights = self.statistic.group, self.resampling.unit, self.resampling.item_weights
        total = self._totals(group, np.zeros(len(unit), dtype=np.int64), self.resampling.all_items, 1)
        n_units = len(self.resampling.stratum)
        if n_units != len(unit):
            return [self._without(total, group, unit, weights, n_units)]
        # single items of one group and weight are alike: each kind is left out once
        _, first, kind = np.unique(np.stack([group, weights]), axis=1, return_index=True, return_inverse=True)
        found = self._without(total, group[first], np.arange(len(first)), weights[first], len(first))
        return [found[kind.ravel()[np.argsort(unit)]]]  # units may be numbered in another order than items

    def _without(
        self, total: FloatArray, group: IntArray, row: IntArray, weights: FloatArray, n_rows: int
    ) -> FloatArray:
        """(n_rows, m) values without the items of each ``row``."""
        size = max(1, BUDGET // max(1, self.statistic.n_groups))
        parts = []
        for start in range(0, n_rows, size):
            n = min(size, n_rows - start)
            parts.append(self.statistic.function(total - self._totals(group, row - start, weights, n)))
        return np.concatenate(parts)

    def _totals(self, group: IntArray, row: IntArray, weights: FloatArray, n_rows: int) -> FloatArray:
        """(n_rows, k) total weight by row and group of the items whose ``row`` is 0 … n_rows - 1."""
        k = self.statistic.n_groups
        used = (group >= 0) & (row >= 0) & (row < n_rows)
        totals = np.bincount(row[used] * k + group[used], weights[used], minlength=n_rows * k)
        return totals.reshape(n_rows, k).astype(float)


@dataclass(frozen=True, eq=False)
class Replicates:
    """Values (m,), bootstrap replicates (B, m) and leave-one-out values (k, m) of m coefficients.

    ``weight`` (k, m) is that of `SumStatistic.find_unit_weights`, or None.
    """

    value: FloatArray
    bootstrap: FloatArray
    left_out: FloatArray
    weight: FloatArray | None = None

    def select(self, places: Sequence[int] | IntArray | slice) -> Self:
        """Some of the coefficients, by their places."""
        weight = None if self.weight is None else self.weight[:, places]
        return type(self)(self.value[places], self.bootstrap[:, places], self.left_out[:, places], weight)


def side_by_side(parts: Sequence[Replicates]) -> Replicates:
    """The values of several replicates as one."""
    return Replicates(
        np.concatenate([part.value for part in parts]),
        np.concatenate([part.bootstrap for part in parts], axis=1),
        np.concatenate([part.left_out for part in parts], axis=1),
        _join_weights(parts),
    )


def _join_weights(parts: Sequence[Replicates]) -> FloatArray | None:
    """The weights of several replicates as one, NaN where a part has none; None where no part has any."""
    n_units = next((len(part.weight) for part in parts if part.weight is not None), 0)
    if not n_units:
        return None
    columns = [np.full((n_units, len(p.value)), np.nan) if p.weight is None else p.weight for p in parts]
    return np.concatenate(columns, axis=1)


def replicate(statistics: Sequence[Statistic], resampling: Resampling) -> list[Replicates]:
    """All replicates of several statistics in one pass over the draws.

    Returns one `Replicates` per statistic. With no replicates or fewer than two units there is nothing to
    resample, and the bootstrap and leave-one-out arrays are empty.
    """
    values = [stat.evaluate(resampling.all_items[None, :])[0] for stat in statistics]
    if resampling.n_replicates == 0 or resampling.n_units < 2:
        return [Replicates(value, np.empty((0, len(value))), np.empty((0, len(value)))) for value in values]
    ready, order = _prepared(statistics, resampling)
    blocks = [[part for one in ready for part in one.evaluate(draws)] for draws in resampling.draws()]
    bootstrap = [np.concatenate(parts) for parts in zip(*blocks, strict=True)]
    left_out = [part for one in ready for part in one.evaluate_left_out()]
    weights = [
        stat.find_unit_weights(value, resampling) if isinstance(stat, SumStatistic) else None
        for stat, value in zip(statistics, values, strict=True)
    ]
    return [
        Replicates(value, bootstrap[i], left_out[i], weight)
        for value, i, weight in zip(values, order, weights, strict=True)
    ]


def _prepared(statistics: Sequence[Statistic], resampling: Resampling) -> tuple[list[Prepared], list[int]]:
    """The statistics made ready, those of sums together and first, and where to find each."""
    used = [stat.dense() if isinstance(stat, GroupStatistic) and stat.is_small else stat for stat in statistics]
    sums = [stat for stat in used if isinstance(stat, SumStatistic)]
    groups = [stat for stat in used if isinstance(stat, GroupStatistic)]
    ready: list[Prepared] = [PreparedSums.prepare(sums, resampling)] if sums else []
    ready += [PreparedGroups(stat, resampling) for stat in groups]
    place = {id(stat): i for i, stat in enumerate([*sums, *groups])}
    return ready, [place[id(stat)] for stat in used]
