"""The order of a queue: domains mixed evenly, the places at which checks and repeats come in, and which response
stands where. All by seed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

import numpy as np

from annotation.stats.orders import spell_order
from annotation.stats.table import IntArray

Mixed = Literal["check", "repeat"]
BLOCK = 8
"""Items in a row of which each response is A in half."""


def draw_balanced_order(groups: Sequence[str], rng: np.random.Generator) -> IntArray:
    """An order in which every stretch of the queue holds the groups about as the whole does.

    The items of a group are shuffled, and the j-th of its n (from 0) is put at a place drawn evenly from
    [j / n, (j + 1) / n): one item of the group in each n-th part of the queue, as in stratified sampling with one draw
    per stratum. So the first m of N items hold n m / N of the group, give or
    take one and the little by which the other groups' places are off; and since places are drawn anew in every part,
    somebody who gets only every k-th item does not meet the same group again and again.

    Parameters
    ----------
    groups
        The group of each item, for example its domain.
    rng
        Source of chance.

    Returns
    -------
    numpy.ndarray
        Indices of the items in their order.
    """
    names = np.asarray(groups, dtype=object).astype(str)
    places = np.empty(len(names))
    for name in sorted(set(names.tolist())):
        members = np.flatnonzero(names == name)
        places[rng.permutation(members)] = (np.arange(len(members)) + rng.random(len(members))) / len(members)
    return np.argsort(places, kind="stable")


def lot(*what: object) -> int:
    """A whole number of 63 bits that is drawn by all of `what`, the same on every machine."""
    text = "\x1f".join(map(str, what))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def draw_order(seed: int, annotator: str, number: int, stream: str = "work", n: int = 2) -> str:
    """Draw in which order an annotator sees the `n` responses of their item of this number (from 1).

    Of a pair each response is A in half of every `BLOCK` items of theirs, at places drawn for that annotator and block
    alone; of more responses each stands once at each place in every n items (a Latin square). So what one annotator
    sees says nothing of what another sees: two who always press A agree as often as chance would have it. Were the
    orders of one item balanced, they would disagree by design. `stream` tells apart what is numbered for itself.
    """
    if n != 2:
        return draw_order_of_many(seed, annotator, number, stream, n)
    block, place = divmod(number - 1, BLOCK)
    drawn = [lot(seed, stream, annotator, "order", block, one) for one in range(BLOCK)]
    return "AB" if sorted(drawn).index(drawn[place]) < BLOCK // 2 else "BA"


def draw_order_of_many(seed: int, annotator: str, number: int, stream: str, n: int) -> str:
    """A row of the Latin square that is drawn for these n items: a permutation, turned by a number of places."""
    block, place = divmod(number - 1, n)
    drawn = [[lot(seed, stream, annotator, what, n, block, one) for one in range(n)] for what in ("order", "turned")]
    base, turns = (sorted(range(n), key=lots.__getitem__) for lots in drawn)
    turned = turns[place]
    return spell_order([one + 1 for one in base[turned:] + base[:turned]])


@dataclass(frozen=True)
class Mixing:
    """Where checks and repeats come among one annotator's items.

    Of each `check_every` items in a row one is a check, at a place drawn for that stretch; likewise for repeats, which
    give way to a check by one item, and come only from the item on that has `repeat_after` others and one before it.
    The places follow from the seed, the annotator's name and the number of the item, so that nothing is counted.

    Attributes
    ----------
    seed, annotator
        What the places are drawn with.
    check_every, repeat_every
        Items of which one is mixed in; 0 for none, otherwise 2 or more.
    repeat_after
        Other items at least between an item and its repeat.
    """

    seed: int
    annotator: str
    check_every: int
    repeat_every: int
    repeat_after: int

    def due(self, number: int) -> Mixed | None:
        """What the annotator's item of this number (from 1) should be; None for an item to be rated."""
        if self._place("check", self.check_every, number):
            return "check"
        if number <= self.repeat_after + 1:
            return None
        moved = self._place("check", self.check_every, number - 1) and self._place(
            "repeat", self.repeat_every, number - 1
        )
        return "repeat" if moved or self._place("repeat", self.repeat_every, number) else None

    def _place(self, kind: Mixed, every: int, number: int) -> bool:
        if not every or number < 1:
            return False
        stretch, place = divmod(number - 1, every)
        return lot(self.seed, kind, self.annotator, stretch) % every == place

    def count_ahead(self, number: int, ratings: int, checks: int, repeatable: Iterable[int] = ()) -> int:
        """Count the checks and repeats among the next `ratings` items to be rated, beginning with item `number`.

        A repeat that is due before there is an item to repeat does not come. Nothing comes after the last item to be
        rated.

        Parameters
        ----------
        checks
            Known items that are left for them.
        repeatable
            The numbers of the items that they have been given once. Each can be repeated once enough others follow it.
        """
        if not self.check_every and not self.repeat_every:
            return 0
        mixed, once = 0, deque(sorted(repeatable))
        while ratings > 0:
            due = self.due(number)
            if due == "repeat" and once and once[0] < number - self.repeat_after:
                mixed += 1
                once.popleft()
            elif due == "check" and checks > 0:
                mixed, checks = mixed + 1, checks - 1
            else:
                ratings -= 1
                once.append(number)
            number += 1
        return mixed
