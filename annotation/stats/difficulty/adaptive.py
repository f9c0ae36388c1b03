"""Adaptive overlap: which items are worth another rating, and which have enough.

A further rating costs `WORTH`, in probability of the right tier. By backward induction over all answers that the
ratings which are left may give (DeGroot 1970, Optimal Statistical Decisions, chapter 12) an item is asked about again
where the best plan for them is worth more than stopping. So an item stops when its tier is clear enough, and when it
lies so near a cut that the ratings left would not tell. Answers are those of fresh people, as in `more`.
"""

from dataclasses import dataclass

import numpy as np

from annotation.stats.bands import Cuts, check_cuts
from annotation.stats.difficulty.items import AGREEMENT_CUTS, CLEAR
from annotation.stats.difficulty.more import AHEAD, SimulatedAnswers, foresee
from annotation.stats.difficulty.outlook import Outlook, outlooks
from annotation.stats.difficulty.preferences import Shown
from annotation.stats.table import BoolArray, FloatArray, IntArray, RatingTable

WORTH = 0.0135
"""Probability of the right tier that a rating must be expected to gain."""


@dataclass(frozen=True, eq=False)
class Worth:
    """What is decided of the n items of a table.

    Attributes
    ----------
    asks
        (n,) items for which another rating is worth its price.
    is_clear
        (n,) items whose likeliest tier has at least probability `CLEAR`.
    is_fitted
        (n,) items that the model could say something of; the others are not asked about.
    """

    asks: BoolArray
    is_clear: BoolArray
    is_fitted: BoolArray


def choose_items(
    table: RatingTable,
    left: IntArray,
    *,
    cuts: Cuts = AGREEMENT_CUTS,
    price: float = WORTH,
    shown: Shown | None = None,
) -> Worth:
    """Decide which items are worth another rating, where at most ``left`` (n,) further ones can be asked for.

    No more than `AHEAD` are looked ahead, on scales of many categories fewer. ``shown`` says how preferences
    were.

    Raises
    ------
    NoConvergenceError
        If no group of people can be fitted, or the scale is of numbers; the message says why.
    ValueError
        If the cuts are not ascending, or the price is below 0.
    """
    check_cuts(cuts)
    if price < 0:
        raise ValueError("the price of a rating cannot be below 0")
    tree = SimulatedAnswers.build(table.n_categories, max(min(int(left.max(initial=1)), AHEAD), 1))
    asks, is_clear, is_fitted = (np.zeros(table.n_items, dtype=bool) for _ in range(3))
    for one in outlooks(table, shown):
        is_fitted[one.rows] = True
        asks[one.rows], is_clear[one.rows] = _of_outlook(one, left[one.rows].clip(0, tree.ahead), cuts, price, tree)
    return Worth(asks, is_clear, is_fitted)


def _of_outlook(
    one: Outlook, left: IntArray, cuts: Cuts, price: float, tree: SimulatedAnswers
) -> tuple[BoolArray, BoolArray]:
    """Whether each item is asked about, and is clear. Items with the same ratings share the work."""
    kinds, kind = np.unique(np.column_stack([one.codes, left]), axis=0, return_inverse=True)
    ways, bands = tree.ways(one.fresh), one.bands(cuts)
    asks, is_clear = (np.zeros(len(kinds), dtype=bool) for _ in range(2))
    for block, posterior in one.posteriors(kinds[:, :-1]):
        seen, best = foresee(posterior, bands, ways)
        is_clear[block] = best[:, 0] >= CLEAR * seen[:, 0]
        for n in range(1, tree.ahead + 1):
            here = kinds[block, -1] == n
            asks[block[here]] = _continues(seen[here], best[here], n, price, tree)
    return asks[kind.ravel()], is_clear[kind.ravel()]


def _continues(seen: FloatArray, best: FloatArray, left: int, price: float, tree: SimulatedAnswers) -> BoolArray:
    """(u,) whether going on is worth more than stopping; ``seen`` and ``best`` (u, S) as `foresee` gives them."""
    value = best.copy()
    going_on = best[:, :1]
    for at in reversed(tree.levels[:left]):
        going_on = value[:, tree.after[at]].sum(axis=2) - price * seen[:, at]
        value[:, at] = np.maximum(best[:, at], going_on)
    return np.asarray(going_on[:, 0] > best[:, 0] + 1e-12)
