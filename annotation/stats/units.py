"""What is resampled, and how: items one by one, or in clusters; all together, or stratum by stratum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import scipy

from annotation.stats.drawing import BUDGET, SingleArray, Urn
from annotation.stats.table import FloatArray, IntArray, RatingTable


@dataclass(frozen=True, eq=False)
class Resampling:
    """How items are resampled.

    Attributes
    ----------
    unit
        (n_items,) index of the resampling unit of each item: itself, or its cluster.
    stratum
        (k,) index of the stratum of each unit; each replicate keeps the number of units per stratum.
    item_weights
        (n_items,) weights of the items in every sum; their mean over all items is 1.
    n_replicates
        B, the number of bootstrap replicates; 0 for no interval.
    confidence
        Nominal coverage of intervals, between 0 and 1.
    seed
        Seed of the draws. The same seed draws the same items for every coefficient, so that differences
        between coefficients are paired.
    copies
        (k,) how many identical units each one stands for; by default one.
    unit_name
        What units are called, in the plural.
    """

    unit: IntArray
    stratum: IntArray
    item_weights: FloatArray
    n_replicates: int = 2000
    confidence: float = 0.95
    seed: int = 0
    copies: IntArray | None = None
    unit_name: str = "items"

    def __post_init__(self) -> None:
        if self.n_replicates < 0:
            raise ValueError(f"the number of bootstrap replicates is {self.n_replicates}; it must be 0 or more")
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence is {self.confidence}; it must lie between 0 and 1")
        if self.seed < 0:
            raise ValueError(f"the seed is {self.seed}; it must not be negative")

    @classmethod
    def from_table(
        cls,
        table: RatingTable,
        *,
        bootstrap: int = 2000,
        confidence: float = 0.95,
        seed: int = 0,
        copies: IntArray | None = None,
    ) -> Self:
        """The resampling that a table's clusters, strata and weights ask for.

        ``copies`` says how many items each row of the table stands for (see `distinct_items`); with clusters
        every row is one item. Raises ``ValueError`` where a cluster lies in more than one stratum.
        """
        unit = _indices(table.clusters, table.n_items)
        stratum = _stratum_of_units(unit, _indices(table.strata or ("",) * table.n_items, table.n_items))
        weights = np.ones(table.n_items)
        if table.weights is not None and table.n_items:
            weights = table.weights / np.average(table.weights, weights=copies)
        if table.clusters is not None:
            return cls(unit, stratum, weights, bootstrap, confidence, seed, unit_name="clusters")
        return cls(unit, stratum, weights, bootstrap, confidence, seed, copies)

    @cached_property
    def times(self) -> FloatArray:
        """(k,) how many units each row of the draws stands for."""
        return np.ones(len(self.stratum)) if self.copies is None else self.copies.astype(float)

    @property
    def n_units(self) -> int:
        """Number of resampling units."""
        return int(self.times.sum())

    @property
    def is_simple(self) -> bool:
        """Whether units are single items of equal weight."""
        return self.unit_name == "items" and bool((self.item_weights == self.item_weights[:1]).all())

    @property
    def largest_share(self) -> float:
        """The share of the weight of all items that the heaviest unit holds; 0 where nothing has weight."""
        by_unit = np.bincount(self.unit, self.item_weights)
        whole = self.times @ by_unit
        return float(by_unit.max() / whole) if whole else 0.0

    @property
    def copies_of_items(self) -> IntArray:
        """(n_items,) how many items each row of the table stands for."""
        return self.times[self.unit].astype(np.int64)

    @property
    def all_items(self) -> FloatArray:
        """(n_items,) weights of the items in the value itself."""
        whole: FloatArray = self.times[self.unit] * self.item_weights
        return whole

    def draws(self) -> Iterator[Draws]:
        """The B replicates in blocks: how often each draws each unit."""
        return iter(self._kept.result()) if self._are_kept else self._drawn()

    def draw_ahead(self) -> None:
        """Begin to draw, where draws are kept, while whoever asks prepares what they are for."""
        if self._are_kept:
            self._kept  # noqa: B018

    @property
    def _are_kept(self) -> bool:
        """Whether all draws are few numbers: several statistics use the same."""
        return self.n_replicates * len(self.stratum) <= 4 * BUDGET

    @cached_property
    def _kept(self) -> Future[list[Draws]]:
        """All draws, made in a thread of their own."""
        with_one = ThreadPoolExecutor(1)
        found = with_one.submit(lambda: list(self._drawn()))
        with_one.shutdown(wait=False)
        return found

    def _drawn(self) -> Iterator[Draws]:
        return map(Draws, Urn(self.times.astype(np.int64), self.stratum).blocks(self.n_replicates, self.seed))

    def weights(self) -> Iterator[FloatArray]:
        """Blocks of the (B, n_items) matrix of resampling weights."""
        for draws in self.draws():
            yield self.draw_item_weights(draws)

    def draw_item_weights(self, draws: Draws) -> FloatArray:
        """(b, n_items) weights of the items in a block of replicates."""
        weights: FloatArray = draws.double[:, self.unit] * self.item_weights
        return weights

    def sum_by_unit(self, rows: FloatArray) -> FloatArray:
        """(k, m) sums of ``rows`` (n_items, m) over the items of each unit, times their weights."""
        if np.array_equal(self.unit, np.arange(len(self.stratum))):
            return rows * self.item_weights[:, None] if (self.item_weights != 1).any() else rows
        summed: FloatArray = self._items_of_units @ rows
        return summed

    @cached_property
    def _items_of_units(self) -> scipy.sparse.csc_array:
        """(k, n_items): the weight of each item in its unit, 0 in all others."""
        n = len(self.unit)
        return scipy.sparse.csc_array((self.item_weights, self.unit, np.arange(n + 1)), shape=(len(self.stratum), n))

    @cached_property
    def stratum_sizes(self) -> FloatArray:
        """(h,) number of units of each stratum."""
        return np.bincount(self.stratum, self.times).astype(float)

    @cached_property
    def most_df(self) -> float:
        """Degrees of freedom that there are at most: of each stratum the effective number of its units, less one.

        That number is Kish's (1965), by the weight that each unit holds: of unequal clusters it is smaller than their
        number (as in Carter, Schnepel and Steigerwald 2017, Review of Economics and Statistics 99:698-709).
        """
        held = np.bincount(self.unit, self.item_weights, minlength=len(self.stratum)).astype(float)
        return float(self.count_most_df(held[:, None])[0])

    def count_most_df(self, held: FloatArray) -> FloatArray:
        """(m,) the same for m figures, in which the units hold so much each (k, m)."""
        parts = np.zeros((2, len(self.stratum_sizes), held.shape[1]))
        for total, part in zip(parts, (held, held**2), strict=True):
            np.add.at(total, self.stratum, self.times[:, None] * part)
        number = parts[0] ** 2 / np.where(parts[1] > 0, parts[1], 1.0)
        most: FloatArray = np.where(number > 0, number - 1, 0.0).sum(axis=0)
        return most

    def centre(self, values: FloatArray) -> FloatArray:
        """``values`` (k, m) of the units minus the mean of their stratum."""
        if len(self.stratum_sizes) == 1:
            return values - self.times @ values / self.stratum_sizes
        sums = np.zeros((len(self.stratum_sizes), values.shape[1]))
        np.add.at(sums, self.stratum, self.times[:, None] * values)
        centred: FloatArray = values - (sums / self.stratum_sizes[:, None])[self.stratum]
        return centred

    def influence(self, left_out: FloatArray) -> FloatArray:
        """(k, m) influence of a unit of each kind, from the values without it; centred per stratum."""
        scale = ((self.stratum_sizes - 1) / self.stratum_sizes)[self.stratum]
        influence: FloatArray = -scale[:, None] * self.centre(left_out)
        return influence


@dataclass(frozen=True, eq=False)
class Draws:
    """A block of replicates: ``single`` (b, k) says how often each draws each unit, in whole numbers."""

    single: SingleArray

    @cached_property
    def double(self) -> FloatArray:
        """The same in double precision."""
        return self.single.astype(float)


def _indices(labels: Sequence[str] | None, n_items: int) -> IntArray:
    if labels is None:
        return np.arange(n_items, dtype=np.int64)
    return np.unique(np.asarray(labels, dtype=object).astype(str), return_inverse=True)[1].astype(np.int64)


def _stratum_of_units(unit: IntArray, stratum: IntArray) -> IntArray:
    n_units = int(unit.max()) + 1 if unit.size else 0
    of_unit = np.zeros(n_units, dtype=np.int64)
    of_unit[unit] = stratum
    if (of_unit[unit] != stratum).any():
        raise ValueError("a cluster lies in more than one stratum: a stratified cluster bootstrap cannot keep it whole")
    return of_unit
