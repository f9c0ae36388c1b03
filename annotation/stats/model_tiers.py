"""What the difficulty model says of all items together: how many of each tier, by group, by counted tier, by cuts."""

from collections.abc import Mapping, Sequence

import numpy as np
import scipy

from annotation.stats.attainable import TierPlan, plan_tiers
from annotation.stats.bands import TIERS
from annotation.stats.difficulty.described import LEVEL
from annotation.stats.difficulty.items import Difficulty
from annotation.stats.result_types import ComparedTierDocument
from annotation.stats.table import FloatArray, IntArray, RatingTable

MOST_EXACT = 1000
"""Items up to which a count's distribution is exact; it is normal beyond."""

MANY_VOTES = 5
"""Votes from which somebody might expect two options to fill every counted tier."""

NOT_FITTED = "none"


def count_intervals(tiers: FloatArray) -> dict[str, tuple[float, float]]:
    """By tier, the central 95 % of the number of items in it, from their probabilities (n, 4); NaN rows are left out.

    Items count as independent given the fitted people, whose own errors are not in it (Poisson binomial).
    """
    fitted = tiers[~np.isnan(tiers).any(axis=1)]
    return {name: _central(fitted[:, k]) for k, name in enumerate(TIERS)}


def _central(p: FloatArray) -> tuple[float, float]:
    tails = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
    if len(p) > MOST_EXACT:
        low, high = p.sum() + np.sqrt((p * (1 - p)).sum()) * scipy.special.ndtri(tails)
        return max(float(low), 0.0), min(float(high), float(len(p)))
    shares = np.ones(1)
    for one in np.clip(p, 0.0, 1.0):
        shares = np.convolve(shares, [1 - one, one])
    low, high = np.searchsorted(np.cumsum(shares), tails)
    return float(low), float(min(high, len(p)))


def compute_expected_by(found: Difficulty, groups: Sequence[str | None]) -> dict[str, dict[str, float]]:
    """By group of items, in the order of the names: ``n`` fitted items and the expected number of each tier.

    Raises ``ValueError`` where there is not one group per item.
    """
    if len(groups) != len(found.items):
        raise ValueError(f"{len(groups)} groups for {len(found.items)} items")
    names, place = np.unique([str(one or NOT_FITTED) for one in groups], return_inverse=True)
    return {
        str(name): {"n": int(mine.sum()), **_expected(found.tiers[mine])}
        for k, name in enumerate(names.tolist())
        for mine in [(place == k) & found.fitted]
    }


def _expected(tiers: FloatArray) -> dict[str, float]:
    return dict(zip(TIERS, tiers.sum(axis=0).tolist(), strict=True))


def compare_with_counted(found: Difficulty, counted: Sequence[str | None]) -> list[ComparedTierDocument]:
    """By counted tier, from easy on, then without one: how many items, and how many the model expects of each tier.

    A row is ``{"counted", "n", "expected"}``; n are items that the model was fitted to. Counted tiers without items are
    left out.
    """
    rows: Mapping[str, dict[str, float]] = compute_expected_by(found, counted)
    return [
        {"counted": name, "n": int(rows[name]["n"]), "expected": {tier: rows[name][tier] for tier in TIERS}}
        for name in (*reversed(TIERS), NOT_FITTED)
        if name in rows and rows[name]["n"]
    ]


def moves(before: Difficulty, after: Difficulty) -> IntArray:
    """(n,) by how many tiers the likeliest one of each item rises with other cuts; below 0 where it becomes harder."""
    both = before.fitted & after.fitted
    places = [np.argmax(np.nan_to_num(one.tiers), axis=1) for one in (before, after)]
    return np.where(both, places[1] - places[0], 0).astype(np.int64)


def few_values(table: RatingTable) -> TierPlan | None:
    """What counted tiers can be where many people choose between two options, and some tier can hold no item."""
    sizes = table.ratings_per_item[table.pairable].astype(np.int64)
    if table.n_categories != 2 or not sizes.size:
        return None
    usual = int(np.bincount(sizes).argmax())
    plan = plan_tiers(usual, 2)
    return plan if usual >= MANY_VOTES and plan.empty_bands else None
