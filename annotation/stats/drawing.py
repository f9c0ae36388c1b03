"""Drawing with replacement, many replicates at once: how often each unit is drawn, not in which order.

n draws from n equal units are one multinomial draw. Units that are alike in everything a statistic looks at
(items with the same ratings) need no telling apart: what counts is how often each *kind* is drawn.

A multinomial draw is made in two steps, because the first is cheap. Every kind gets a Poisson number of draws
with a mean slightly below its share; given their sum M, these are exactly M multinomial draws. The missing
n - M are then drawn unit by unit. Where M exceeds n, which is rare, the replicate is drawn unit by unit as a
whole. Neither step looks at anything but M, so that every replicate is a plain bootstrap draw. The Poisson
numbers are read off a table, whose probabilities are multiples of 2^-16. (Multinomial draws as Poisson
variates of a given sum: Devroye, Non-Uniform Random Variate Generation, 1986, chapter XI.)
"""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.special import pdtr

from annotation.stats.table import FloatArray, IntArray

SingleArray = npt.NDArray[np.float32]
PoissonTable = npt.NDArray[np.uint16]

BUDGET = 4_000_000
"""Numbers that one block of draws, or of sums, may hold (32 MB)."""

ROWS = 256
"""Replicates drawn at a time. Part of what a seed means: another number gives other draws."""

TABLE = 1 << 16
FEWEST_KINDS = 4
"""A table serves this many kinds of the same number of copies, or it is not worth making."""

WORTH_A_THREAD = 1_000_000
"""Below this many numbers starting threads costs more than it saves."""

THREADS = min(4, os.cpu_count() or 1)

FEWEST_UNITS = 100
"""Below this number of units a Poisson start saves nothing."""


@dataclass(frozen=True, eq=False)
class Urn:
    """Kinds of units to draw from, stratum by stratum.

    Attributes
    ----------
    copies
        (k,) number of units of each kind, at least 1.
    stratum
        (k,) stratum of each kind, 0 … h - 1. A replicate draws as many units of a stratum as it has.
    """

    copies: IntArray
    stratum: IntArray

    def blocks(self, n_replicates: int, seed: int) -> Iterator[SingleArray]:
        """Blocks of the (n_replicates, k) matrix of how often each kind is drawn: whole numbers.

        Each block has its own stream of random numbers, so that nothing depends on how they are consumed,
        or on how many threads draw.
        """
        rows = max(1, min(ROWS, BUDGET // max(1, len(self.copies))))
        sizes = [min(rows, n_replicates - start) for start in range(0, n_replicates, rows)]
        if n_replicates * len(self.copies) < WORTH_A_THREAD:
            yield from (self._block(seed, block, size) for block, size in enumerate(sizes))
        else:
            yield from self._in_threads(seed, sizes)

    def _in_threads(self, seed: int, sizes: Sequence[int]) -> Iterator[SingleArray]:
        """The same by several threads, which are at most a few blocks ahead; numpy lets them run side by side."""
        self._prepare()
        with ThreadPoolExecutor(THREADS) as pool:
            ahead: deque[Future[SingleArray]] = deque()
            for block, size in enumerate(sizes):
                ahead.append(pool.submit(self._block, seed, block, size))
                if len(ahead) > THREADS:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()

    def _prepare(self) -> None:
        """Make once what every block needs."""
        if self._mean:
            self._groups  # noqa: B018
        self._kind_of  # noqa: B018

    def _block(self, seed: int, block: int, rows: int) -> SingleArray:
        return self._draw(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(block,))), rows)

    def _draw(self, rng: np.random.Generator, rows: int) -> SingleArray:
        if not self._mean:
            times = np.zeros((rows, len(self.copies)), dtype=np.float32)
            self._one_by_one(rng, times, np.tile(self._size, (rows, 1)))
            return times
        times = self._start(rng, rows)
        short = self._size - (times @ np.ones(times.shape[1], dtype=np.float32))[:, None].astype(np.int64)
        too_many = short[:, 0] < 0
        times[too_many], short[too_many] = 0, self._size
        self._one_by_one(rng, times, short)
        return times

    @cached_property
    def _size(self) -> IntArray:
        """(h,) number of units of each stratum."""
        return np.bincount(self.stratum, self.copies).astype(np.int64)

    @cached_property
    def _kind_of(self) -> IntArray:
        """(n,) kind of each unit, units in the order of the strata."""
        order = np.argsort(self.stratum, kind="stable")
        return np.repeat(order, self.copies[order])

    @cached_property
    def _mean(self) -> float:
        """Poisson mean per unit: three standard deviations short of one draw per unit, 0 for no start."""
        n = int(self.copies.sum())
        return 1 - 3 / np.sqrt(n) if n >= FEWEST_UNITS and len(self._size) == 1 else 0.0

    @cached_property
    def _groups(self) -> list[tuple[slice | IntArray, int, PoissonTable | None]]:
        """Kinds of the same number of copies, how many they are, and a table of their Poisson numbers."""
        groups = []
        for copies, n_kinds in zip(*np.unique(self.copies, return_counts=True), strict=True):
            if n_kinds >= FEWEST_KINDS:
                kinds = np.flatnonzero(self.copies == copies)
                groups.append((_as_slice(kinds), len(kinds), poisson_table(self._mean * copies)))
        tabled = np.zeros(len(self.copies), dtype=bool)
        for places, _, _ in groups:
            tabled[places] = True
        rest = np.flatnonzero(~tabled)
        return [*groups, (_as_slice(rest), len(rest), None)]

    def _start(self, rng: np.random.Generator, rows: int) -> SingleArray:
        """(rows, k) Poisson numbers of draws."""
        times = np.empty((rows, len(self.copies)), dtype=np.float32)
        random, used = _random_16_bits(rng, times.size), 0
        for kinds, n_kinds, table in self._groups:
            if table is None:
                times[:, kinds] = rng.poisson(self._mean * self.copies[kinds], size=(rows, n_kinds))
            else:
                numbers = table.take(random[used : used + rows * n_kinds])
                times[:, kinds] = numbers.reshape(rows, n_kinds)
                used += rows * n_kinds
        return times

    def _one_by_one(self, rng: np.random.Generator, times: SingleArray, numbers: IntArray) -> None:
        """Add draws of single units to ``times`` (rows, k), ``numbers`` (rows, h) of them from each stratum."""
        rows, n_strata = numbers.shape
        k = len(self.copies)
        cell = np.repeat(np.arange(rows) * k, numbers.sum(axis=1))
        if n_strata == 1:
            unit = rng.integers(0, len(self._kind_of), size=len(cell))
        else:
            stratum = np.repeat(np.tile(np.arange(n_strata), rows), numbers.ravel())
            first = np.cumsum(self._size) - self._size
            unit = first[stratum] + (rng.random(len(cell)) * self._size[stratum]).astype(np.int64)
        cell += self._kind_of[unit]
        np.add.at(times.reshape(-1), cell, np.float32(1))


def poisson_table(mean: float) -> PoissonTable:
    """Poisson numbers of a mean, each repeated in proportion to its probability; 2^16 entries in all."""
    largest = int(mean + 20 * np.sqrt(mean) + 20)
    share: FloatArray = pdtr(np.arange(largest), mean)
    ends = np.append(np.rint(share * TABLE), TABLE).astype(np.int64)
    return np.repeat(np.arange(largest + 1, dtype=np.uint16), np.diff(ends, prepend=0))


def _as_slice(places: IntArray) -> slice | IntArray:
    """The same places as a slice where they are neighbours: copying is then much faster."""
    neighbours = len(places) and places[-1] - places[0] == len(places) - 1
    return slice(int(places[0]), int(places[-1]) + 1) if neighbours else places


def _random_16_bits(rng: np.random.Generator, n: int) -> npt.NDArray[np.uint16]:
    """n uniform numbers from 0 to 2^16 - 1."""
    words: npt.NDArray[np.uint64] = rng.bit_generator.random_raw(-(-n // 4))
    return words.astype("<u8", copy=False).view("<u2")[:n].astype(np.uint16, copy=False)
