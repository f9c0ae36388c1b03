"""What looks ahead build on: posteriors of items over nodes, and what fresh people say at these."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from annotation.stats.bands import Cuts
from annotation.stats.difficulty.components import Component, GridComponent, PreferenceComponent, agreements
from annotation.stats.difficulty.described import bands
from annotation.stats.difficulty.items import fit_groups
from annotation.stats.difficulty.latent import LatentFit, NoConvergenceError
from annotation.stats.difficulty.preferences import Preferences, Shown, fresh_answers
from annotation.stats.table import MISSING, FloatArray, IntArray, RatingTable
from annotation.stats.weighting import linear_weights

AT_ONCE = 500
"""Kinds of items that are looked at at a time."""


@dataclass(frozen=True, eq=False)
class Outlook:
    """Items on whose nodes the same answers are expected.

    Attributes
    ----------
    rows
        (n,) places of the items in the table.
    codes
        (n, columns) their ratings, as ``fit`` reads them: items with the same share the work.
    fresh
        (q, N) probability of a fresh person's answer at a node.
    agreement
        (N,) probability that two of them agree.
    """

    rows: IntArray
    codes: IntArray
    fit: LatentFit
    fresh: FloatArray
    agreement: FloatArray

    def bands(self, cuts: Cuts) -> FloatArray:
        """(N, 4) 1 in the tier of a node."""
        return bands(self.agreement, cuts)

    def posteriors(self, kinds: IntArray) -> Iterator[tuple[IntArray, FloatArray]]:
        """By block of the kinds (k, columns) of ratings: their places, and (k, N) probabilities of the nodes."""
        for block in np.array_split(np.arange(len(kinds)), len(kinds) // AT_ONCE + 1):
            yield block, self.fit.finer(kinds[block]).posterior


def outlooks(table: RatingTable, shown: Shown | None = None) -> list[Outlook]:
    """Fit a table, and say what is expected of its items. Numbers and rankings have no look ahead.

    Raises
    ------
    NoConvergenceError
        If no group of people can be fitted, or the scale is of numbers or rankings; the message says why.
    """
    found = [one for rows, part in fit_groups(table, shown).groups for one in _compute_component(rows, part)]
    if not found:
        raise NoConvergenceError(
            "what more ratings would tell is worked out for categories, not for numbers or rankings"
        )
    return found


def _compute_component(rows: IntArray, part: Component) -> Iterator[Outlook]:
    if isinstance(part, GridComponent):
        yield Outlook(rows, part.table.codes, part.fit, part.fresh, agreements(part.fresh, part.credit))
    if isinstance(part, PreferenceComponent):
        yield from _of_preferences(rows, part)


def _of_preferences(rows: IntArray, part: PreferenceComponent) -> Iterator[Outlook]:
    """Pairs of the same two systems together: the same is expected of them."""
    model = part.fit.model
    assert isinstance(model, Preferences)
    share = (part.table.codes != MISSING).sum(axis=0) / part.table.n_ratings
    contrasts, group = np.unique(model.contrast[(part.codes != MISSING).argmax(axis=1)], axis=0, return_inverse=True)
    for number, contrast in enumerate(contrasts):
        mine = np.flatnonzero(group.ravel() == number)
        fresh = fresh_answers(model, part.fit.free, share, contrast)
        credit = linear_weights(np.arange(float(len(fresh))))
        yield Outlook(rows[mine], part.codes[mine], part.fit, fresh, agreements(fresh, credit))
