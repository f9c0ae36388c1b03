"""Seeded draws of items, each with the probability it had of being drawn."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import numpy as np

Id = TypeVar("Id", bound=Hashable)
Allocation = Literal["proportional", "equal"]


@dataclass(frozen=True)
class DrawnItem(Generic[Id]):
    """One drawn item.

    Attributes
    ----------
    id
        The item.
    stratum
        Its stratum; None in a simple sample.
    probability
        Its inclusion probability n_h / N_h, above 0 and at most 1. One over it is its survey weight.
    """

    id: Id
    stratum: object
    probability: float


@dataclass(frozen=True)
class DrawnSample(Generic[Id]):
    """A draw, stratum by stratum, with what is needed to draw it again.

    Attributes
    ----------
    drawn
        The drawn items in random order within their strata.
    sizes
        Per stratum: how many were drawn and out of how many, (n_h, N_h).
    seed, allocation
        How it was drawn; the allocation is None in a simple sample.
    """

    drawn: tuple[DrawnItem[Id], ...]
    sizes: Mapping[object, tuple[int, int]]
    seed: int
    allocation: Allocation | None

    @property
    def ids(self) -> tuple[Id, ...]:
        """The drawn ids."""
        return tuple(one.id for one in self.drawn)

    @property
    def weights(self) -> tuple[float, ...]:
        """The survey weight N_h / n_h of each drawn item."""
        return tuple(1 / one.probability for one in self.drawn)


def simple_sample(ids: Sequence[Id], n: int, seed: int) -> DrawnSample[Id]:
    """``n`` of ``ids`` without replacement, each with probability n / N.

    The draw depends on which ids there are and on the seed, not on the order of ``ids``: a query may return
    rows in any order.

    Raises
    ------
    ValueError
        If ``ids`` is empty or repeats one, or ``n`` is below 1 or above the number of ids.
    """
    return _sample(ids, [None] * len(ids), n, seed, None)


def draw_stratified_sample(
    ids: Sequence[Id],
    strata: Sequence[object],
    n: int,
    seed: int,
    allocation: Allocation = "proportional",
) -> DrawnSample[Id]:
    """``n`` of ``ids`` without replacement, with a fixed number from every stratum.

    Parameters
    ----------
    ids, strata
        Items and the stratum of each, equally long.
    n
        Size of the whole sample.
    seed
        Seed of the draw. The order of ``ids`` plays no part.
    allocation
        ``"proportional"`` shares n by the sizes of the strata, ``"equal"`` evenly; whole numbers by largest
        remainder, at least one from each stratum where n allows, never more than a stratum holds (what it
        cannot give, the others do).

    Raises
    ------
    ValueError
        If ``ids`` is empty or repeats one, lengths differ, ``n`` is below 1 or above the number of ids, or
        the allocation has another name.
    """
    if allocation not in ("proportional", "equal"):
        raise ValueError(f"allocation is {allocation!r}; it must be 'proportional' or 'equal'")
    return _sample(ids, strata, n, seed, allocation)


def _sample(
    ids: Sequence[Id], strata: Sequence[object], n: int, seed: int, allocation: Allocation | None
) -> DrawnSample[Id]:
    _check(ids, strata, n)
    members = _members(ids, strata)
    sizes = allocate({stratum: len(group) for stratum, group in members.items()}, n, allocation or "proportional")
    rng = np.random.default_rng(seed)
    drawn: list[DrawnItem[Id]] = []
    for stratum, group in members.items():
        chosen = rng.permutation(len(group))[: sizes[stratum]]
        drawn += [DrawnItem(group[i], stratum, sizes[stratum] / len(group)) for i in chosen]
    counts = {stratum: (sizes[stratum], len(group)) for stratum, group in members.items()}
    return DrawnSample(tuple(drawn), counts, seed, allocation)


def _check(ids: Sequence[Id], strata: Sequence[object], n: int) -> None:
    if not len(ids):
        raise ValueError("nothing to draw from: there are no ids")
    if len(ids) != len(strata):
        raise ValueError(f"{len(ids)} ids but {len(strata)} strata")
    if len(set(ids)) != len(ids):
        raise ValueError("an id stands twice among the ids")
    if not 1 <= n <= len(ids):
        raise ValueError(f"cannot draw {n} of {len(ids)} ids without replacement")


def _members(ids: Sequence[Id], strata: Sequence[object]) -> dict[object, list[Id]]:
    """The ids of each stratum; strata and ids in the order of their texts, whatever order they came in."""
    groups: dict[object, list[Id]] = defaultdict(list)
    for one, stratum in sorted(zip(ids, strata, strict=True), key=lambda pair: str(pair[0])):
        groups[stratum].append(one)
    return dict(sorted(groups.items(), key=lambda entry: str(entry[0])))


def allocate(sizes: Mapping[object, int], n: int, allocation: Allocation) -> dict[object, int]:
    """How many of ``n`` to draw from each stratum of the given size, as `draw_stratified_sample` describes."""
    least = 1 if n >= len(sizes) else 0
    wanted = {stratum: size if allocation == "proportional" else 1 for stratum, size in sizes.items()}
    quota = _quotas(wanted, sizes, n)
    given = {stratum: max(least, int(quota[stratum])) for stratum in sizes}
    while sum(given.values()) != n:
        short = sum(given.values()) < n
        _move_one(given, quota, sizes, least, 1 if short else -1)
    return given


def _quotas(wanted: Mapping[object, int], sizes: Mapping[object, int], n: int) -> dict[object, float]:
    """Exact shares of ``n`` in proportion to ``wanted``; a stratum that is used up passes the rest on."""
    quota: dict[object, float] = {}
    open_strata, left = list(wanted), float(n)
    while open_strata:
        total = sum(wanted[stratum] for stratum in open_strata)
        full = [stratum for stratum in open_strata if left * wanted[stratum] >= sizes[stratum] * total]
        if not full:
            return quota | {stratum: left * wanted[stratum] / total for stratum in open_strata}
        quota |= {stratum: float(sizes[stratum]) for stratum in full}
        left -= sum(sizes[stratum] for stratum in full)
        open_strata = [stratum for stratum in open_strata if stratum not in full]
    return quota


def _move_one(
    given: dict[object, int], quota: Mapping[object, float], sizes: Mapping[object, int], least: int, step: int
) -> None:
    """Give one more to (or take one from) the stratum furthest below (above) its quota; ties go by size."""
    movable = [s for s in given if (given[s] < sizes[s] if step > 0 else given[s] > least)]
    best = max(movable, key=lambda s: (step * (quota[s] - given[s]), sizes[s]))
    given[best] += step
