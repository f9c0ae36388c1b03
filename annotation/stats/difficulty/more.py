"""What more ratings are expected to tell of items whose tier is not clear, and which items to ask about first.

Preposterior analysis (Raiffa and Schlaifer 1961, Applied Statistical Decision Theory): every answer that up to m fresh
people may give is enumerated with its posterior predictive probability, and the posterior over tiers that would follow.
Fresh people are drawn from the study's people and answer independently given the item, so only the number of answers in
each category counts. The parameters of the model are taken as known.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb, factorial, prod

import numpy as np
import scipy

from annotation.stats.bands import Cuts, check_cuts
from annotation.stats.difficulty.items import AGREEMENT_CUTS, CLEAR
from annotation.stats.difficulty.outlook import Outlook, outlooks
from annotation.stats.difficulty.preferences import Shown
from annotation.stats.difficulty.result_types import MoreRatingsDocument, WantedItemDocument
from annotation.stats.estimate import Estimate
from annotation.stats.table import BoolArray, FloatArray, IntArray, RatingTable

AHEAD = 6
"""Further ratings of an item that are looked at."""

MOST_STATES = 130
"""Numbers of answers by category that are enumerated; scales of many categories are looked at less far ahead."""

LIKELY = 0.5
"""An item less likely to become clear lies too near a cut to be asked about."""

FEW = 200
"""Items up to which the distribution of a total is computed, not taken as normal."""

LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class MoreRatings:
    """The u unclear items of a table, and what 1 to m more ratings of each are expected to tell.

    Attributes
    ----------
    rows
        (u,) place of each in the table.
    items
        Their names.
    certainty
        (u, m + 1) expected probability of the likeliest tier after 0, 1, … m more ratings.
    clears
        (u, m) probability that the item becomes clear with its 1st, 2nd, … m-th further rating.
    n_items, n_clear
        Items with a difficulty, and those of them that are clear.
    n_raters, n_ratings
        Of the table.
    """

    rows: IntArray
    items: tuple[str, ...]
    certainty: FloatArray
    clears: FloatArray
    n_items: int
    n_clear: int
    n_raters: int
    n_ratings: int

    @property
    def ahead(self) -> int:
        """How many further ratings of an item were looked at, m."""
        return int(self.clears.shape[1])

    @cached_property
    def chance(self) -> FloatArray:
        """(u,) probability of becoming clear within m further ratings."""
        return np.asarray(self.clears.sum(axis=1))

    @cached_property
    def asked(self) -> FloatArray:
        """(u, m) probability of being asked once, twice, … m times, if it is asked until clear, m times at most."""
        stopped = self.clears.copy()
        stopped[:, -1:] += 1 - self.chance[:, None]
        return stopped

    @cached_property
    def ratings(self) -> FloatArray:
        """(u,) expected number of further ratings, if the item is asked until clear, m times at most."""
        return np.asarray(self.asked @ np.arange(1, self.ahead + 1))

    @cached_property
    def rate(self) -> FloatArray:
        """(u,) expected clear items per further rating: what items are ordered by."""
        return np.asarray(self.chance / self.ratings)

    @cached_property
    def order(self) -> IntArray:
        """(u,) unclear items, the one to ask about first in front; ties in the order of the table."""
        return np.argsort(-self.rate, kind="stable")

    @property
    def likely(self) -> BoolArray:
        """(u,) items that rather become clear within m further ratings than not."""
        return np.asarray(self.chance >= LIKELY)

    def estimate_settled(self) -> Estimate:
        """How many of the likely items become clear."""
        chance = self.chance[self.likely]
        return self._total(np.column_stack([1 - chance, chance]), 0)

    def estimate_needed(self) -> Estimate:
        """How many further ratings these take, each asked until it is clear, m times at most."""
        return self._total(self.asked[self.likely], 1)

    def _total(self, shares: FloatArray, least: int) -> Estimate:
        value, low, high = total(shares, least)
        n = len(shares)
        reason = None if n else "no item is likely to become clear"
        method = "posterior predictive" if n else "none"
        return Estimate(value, low, high, reason, n, self.n_raters, self.n_ratings, LEVEL, method, None)

    def to_json(self) -> MoreRatingsDocument:
        """As JSON types; items in the order in which to ask."""
        return {
            "items": [self._item(place) for place in self.order.tolist()],
            "n_items": self.n_items,
            "n_clear": self.n_clear,
            "n_unclear": len(self.items),
            "n_first": int(self.likely.sum()),
            "ahead": self.ahead,
            "clear_from": CLEAR,
            "ratings": self.estimate_needed().to_json(),
            "settled": self.estimate_settled().to_json(),
        }

    def _item(self, place: int) -> WantedItemDocument:
        return {
            "item": self.items[place],
            "chance": float(self.chance[place]),
            "ratings": float(self.ratings[place]),
            "rate": float(self.rate[place]),
            "likely": bool(self.likely[place]),
            "certainty": self.certainty[place].tolist(),
            "clear_within": np.cumsum(self.clears[place]).tolist(),
        }


def compute_more_ratings(
    table: RatingTable, *, cuts: Cuts = AGREEMENT_CUTS, ahead: int = AHEAD, shown: Shown | None = None
) -> MoreRatings:
    """What up to ``ahead`` more ratings of each unclear item are expected to tell; ``shown`` says how preferences were.

    Raises
    ------
    NoConvergenceError
        If no group of people can be fitted, or the scale is of numbers; the message says why.
    ValueError
        If the cuts are not ascending, or ``ahead`` is less than 1.
    """
    check_cuts(cuts)
    if ahead < 1:
        raise ValueError("at least one rating has to be looked ahead")
    tree = SimulatedAnswers.build(table.n_categories, ahead)
    looks = outlooks(table, shown)
    found = [_of_outlook(one, cuts, tree) for one in looks]
    rows = np.concatenate([rows for rows, _, _ in found])
    place = np.argsort(rows)
    n = sum(len(one.rows) for one in looks)
    return MoreRatings(
        rows[place],
        tuple(table.items[row] for row in rows[place].tolist()),
        np.concatenate([certainty for _, certainty, _ in found])[place],
        np.concatenate([clears for _, _, clears in found])[place],
        n,
        n - len(rows),
        table.n_raters,
        table.n_ratings,
    )


@dataclass(frozen=True, eq=False)
class SimulatedAnswers:
    """Numbers of answers by category that up to ``ahead`` people may give together.

    Attributes
    ----------
    counts
        (S, q) answers in each category, none first, then by their number.
    after
        (T, q) of the states that are not full, the states with one more answer in each category.
    ahead
        The largest number of answers.
    """

    counts: IntArray
    after: IntArray
    ahead: int

    @classmethod
    def build(cls, q: int, ahead: int) -> "SimulatedAnswers":
        """Of q categories; as far ahead as `MOST_STATES` allows, at least one answer."""
        ahead = next((m for m in range(ahead, 1, -1) if comb(m + q, q) <= MOST_STATES), 1)
        states = [state for m in range(ahead + 1) for state in combinations_with_replacement(range(q), m)]
        place = {state: number for number, state in enumerate(states)}
        after = [[place[tuple(sorted((*state, k)))] for k in range(q)] for state in states if len(state) < ahead]
        return cls(np.array([[state.count(k) for k in range(q)] for state in states]), np.array(after), ahead)

    @cached_property
    def levels(self) -> list[IntArray]:
        """By number of answers, the states that have it."""
        totals = self.counts.sum(axis=1)
        return [np.flatnonzero(totals == m) for m in range(self.ahead + 1)]

    def ways(self, fresh: FloatArray) -> FloatArray:
        """(S, N) probability of the answers of a state in one order; ``fresh`` (q, N) that of one answer."""
        return np.asarray(np.exp(self.counts @ np.log(fresh)))

    @cached_property
    def orders(self) -> FloatArray:
        """(S,) in how many orders the answers of a state may come."""
        return np.array([factorial(sum(one)) / prod(map(factorial, one)) for one in self.counts.tolist()])


def _of_outlook(one: Outlook, cuts: Cuts, tree: SimulatedAnswers) -> tuple[IntArray, FloatArray, FloatArray]:
    """Unclear items (their rows in the table), what is expected of their certainty, and when they become clear."""
    kinds, kind = np.unique(one.codes, axis=0, return_inverse=True)
    bands, ways = one.bands(cuts), tree.ways(one.fresh)
    certainty, clears = np.ones((len(kinds), tree.ahead + 1)), np.zeros((len(kinds), tree.ahead))
    unclear = np.zeros(len(kinds), dtype=bool)
    for block, posterior in one.posteriors(kinds):
        here = (posterior @ bands).max(axis=1, initial=0.0) < CLEAR
        unclear[block] = here
        if here.any():
            certainty[block[here]], clears[block[here]] = _look_ahead(posterior[here], bands, ways, tree)
    mine = unclear[kind.ravel()]
    which = kind.ravel()[mine]
    return one.rows[mine], certainty[which], clears[which]


def _look_ahead(
    posterior: FloatArray, bands: FloatArray, ways: FloatArray, tree: SimulatedAnswers
) -> tuple[FloatArray, FloatArray]:
    """(u, m + 1) expected certainty and (u, m) first passages of items with these posteriors (u, N)."""
    seen, best = foresee(posterior, bands, ways)
    is_clear = best >= CLEAR * seen
    certainty = np.stack([best[:, at] @ tree.orders[at] for at in tree.levels], axis=1)
    reached = np.zeros(seen.shape)  # in how many orders a state is reached without having been clear before
    reached[:, 0] = 1.0
    for state, after in enumerate(tree.after.tolist()):
        for k in after:
            reached[:, k] += reached[:, state] * ~is_clear[:, state]
    arrives = np.where(is_clear, reached * seen, 0.0)
    return certainty, np.stack([arrives[:, at].sum(axis=1) for at in tree.levels[1:]], axis=1)


def foresee(posterior: FloatArray, bands: FloatArray, ways: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(u, S) probability of the answers of each state in one order, and of these with the tier then likeliest."""
    by_tier = np.stack([posterior @ (ways * band).T for band in bands.T if band.any()])  # (tiers, u, S)
    return by_tier.sum(axis=0), by_tier.max(axis=0)


def total(shares: FloatArray, least: int = 0) -> tuple[float, float, float]:
    """Mean and central 95 % of the sum of independent counts.

    ``shares`` (u, k): the probability that each of them is ``least``, ``least`` + 1, …. NaN where there is none.
    """
    if not len(shares):
        return np.nan, np.nan, np.nan
    values = least + np.arange(shares.shape[1])
    means = shares @ values
    mean, tail = float(means.sum()), (1 - LEVEL) / 2
    if len(shares) > FEW:
        half = float(scipy.special.ndtri(1 - tail) * np.sqrt((shares @ values**2 - means**2).sum()))
        return mean, float(np.floor(mean - half)), float(np.ceil(mean + half))
    whole = np.ones(1)
    for one in shares:
        whole = np.convolve(whole, one)
    below = np.cumsum(whole)
    low, high = (int(np.searchsorted(below, at)) for at in (tail, 1 - tail))
    return mean, float(least * len(shares) + low), float(least * len(shares) + high)
