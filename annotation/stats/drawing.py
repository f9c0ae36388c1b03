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
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np
import numpy.typing as npt
import scipy

from annotation.stats.table import FloatArray, IntArray

SingleArray = npt.NDArray[np.float32]
PoissonTable = npt.NDArray[np.uint16]

BUDGET = 4_000_000
"""Numbers that one block of draws, or of sums, may hold (32 MB)."""

ROWS = 128
"""Replicates drawn at a time. Part of what a seed means: another number gives other draws."""

TABLE = 1 << 16
WORTH_A_THREAD = 2_000_000
"""Below this many numbers threads wait for each other longer than they save."""

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

        Every `ROWS` replicates have their own stream of random numbers, so that nothing depends on how many
        a block holds, or on how many threads draw. A block is held kind by kind: what is done to one kind is
        done to neighbours in memory.
        """
        k = max(1, len(self.copies))
        rows = max(1, min(ROWS, BUDGET // k))
        together = max(1, BUDGET // k // rows) * rows
        for start in range(0, n_replicates, together):
            times = np.empty((len(self.copies), min(together, n_replicates - start)), dtype=np.float32)
            self._fill(times, rows, seed, start // rows)
            yield times.T

    def _fill(self, times: SingleArray, rows: int, seed: int, stream: int) -> None:
        """Draw all of ``times`` (k, b), ``rows`` replicates from each stream, the first from ``stream``."""
        starts = range(0, times.shape[1], rows)
        draw = partial(self._draw, times, rows, seed, stream)
        if times.size < WORTH_A_THREAD:
            for start in starts:
                draw(start)
            return
        self._prepare()
        with ThreadPoolExecutor(THREADS) as pool:  # numpy lets them run side by side
            for _ in pool.map(draw, starts):
                pass

    def _prepare(self) -> None:
        """Make once what every block needs."""
        if self._mean:
            self._tables  # noqa: B018
        self._kind_of  # noqa: B018

    def _draw(self, times: SingleArray, rows: int, seed: int, stream: int, start: int) -> None:
        """Draw the replicates ``start``, ``start`` + 1, … of ``times`` (k, b), ``rows`` of them."""
        sequence = np.random.SeedSequence(seed, spawn_key=(stream + start // rows,))
        rng = np.random.default_rng(sequence)
        n = min(rows, times.shape[1] - start)
        own = np.empty((len(self.copies), n), dtype=np.float32)  # small enough for a cache; single draws jump about
        short = np.tile(self._size, (n, 1))
        if self._mean:
            self._start(rng, own)
            short -= np.einsum("kr->r", own).astype(np.int64)[:, None]
            too_many = short[:, 0] < 0
            own[:, too_many], short[too_many] = 0, self._size
        else:
            own[:] = 0
        self._one_by_one(rng, own, short)
        times[:, start : start + n] = own

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
    def _tables(self) -> list[tuple[slice | IntArray, bool, PoissonTable]]:
        """Which kinds take a Poisson number from which table, and whether it is their first.

        A kind of 13 copies is one of 8, one of 4 and one of 1: a handful of tables serves any numbers.
        """
        found: list[tuple[slice | IntArray, bool, PoissonTable]] = []
        for bit in range(int(self.copies.max()).bit_length()):
            has = (self.copies >> bit) & 1 == 1
            first = has & (self.copies >> bit == 1)
            table = poisson_table(self._mean * (1 << bit))
            found += [(_as_slice(np.flatnonzero(of)), of is first, table) for of in (first, has & ~first) if of.any()]
        return sorted(found, key=lambda one: not one[1])

    def _start(self, rng: np.random.Generator, times: SingleArray) -> None:
        """Fill ``times`` (k, rows) with Poisson numbers of draws."""
        rows = times.shape[1]
        n_kinds = [_length(kinds) for kinds, _, _ in self._tables]
        random, used = _random_16_bits(rng, rows * sum(n_kinds)), 0
        room = np.empty(rows * max(n_kinds), dtype=np.uint16)
        for (kinds, is_first, table), n in zip(self._tables, n_kinds, strict=True):
            # 16 bits never lie beyond the table; numpy would copy once more to look whether they do
            table.take(random[used : used + rows * n], out=room[: rows * n], mode="clip")
            numbers = room[: rows * n].reshape(n, rows)
            used += rows * n
            if is_first:
                times[kinds] = numbers
            else:
                times[kinds] += numbers

    def _one_by_one(self, rng: np.random.Generator, times: SingleArray, numbers: IntArray) -> None:
        """Add draws of single units to ``times`` (k, rows), ``numbers`` (rows, h) of them from each stratum."""
        rows, n_strata = numbers.shape
        cell = np.repeat(np.arange(rows), numbers.sum(axis=1))
        if n_strata == 1:
            unit = rng.integers(0, len(self._kind_of), size=len(cell))
        else:
            stratum = np.repeat(np.tile(np.arange(n_strata), rows), numbers.ravel())
            first = np.cumsum(self._size) - self._size
            unit = first[stratum] + (rng.random(len(cell)) * self._size[stratum]).astype(np.int64)
        cell += self._kind_of.take(unit) * rows
        np.add.at(times.reshape(-1), cell, np.float32(1))


@lru_cache(maxsize=128)  # 128 kB each; a handful for each number of units that is resampled
def poisson_table(mean: float) -> PoissonTable:
    """Poisson numbers of a mean, each repeated in proportion to its probability; 2^16 entries in all."""
    largest = int(mean + 20 * np.sqrt(mean) + 20)
    share: FloatArray = scipy.special.pdtr(np.arange(largest), mean)
    ends = np.append(np.rint(share * TABLE), TABLE).astype(np.int64)
    return np.repeat(np.arange(largest + 1, dtype=np.uint16), np.diff(ends, prepend=0))


def _as_slice(places: IntArray) -> slice | IntArray:
    """The same places as a slice where they are neighbours: copying is then much faster."""
    neighbours = len(places) and places[-1] - places[0] == len(places) - 1
    return slice(int(places[0]), int(places[-1]) + 1) if neighbours else places


def _length(places: slice | IntArray) -> int:
    return int(places.stop - places.start) if isinstance(places, slice) else len(places)


def _random_16_bits(rng: np.random.Generator, n: int) -> npt.NDArray[np.uint16]:
    """n uniform numbers from 0 to 2^16 - 1."""
    words: npt.NDArray[np.uint64] = rng.bit_generator.random_raw(-(-n // 4))
    return words.astype("<u8", copy=False).view("<u2")[:n].astype(np.uint16, copy=False)
