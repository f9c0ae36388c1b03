"""The four tiers as bands of kappa."""

from collections.abc import Sequence

import numpy as np

from annotation.stats.table import FloatArray, IntArray

Cuts = tuple[float, float, float]

TIERS = ("contested", "hard", "medium", "easy")
"""From the least to the most agreement. Contested items are kept out of gold."""

NO_TIER = len(TIERS)
"""In place of a position in `TIERS`: an item without a kappa."""

NAMES: tuple[str | None, ...] = (*TIERS, None)
"""By position."""

DEFAULT_CUTS: Cuts = (0.4, 0.6, 0.8)
"""Upper ends of contested, hard and medium: contested <= 0.4 < hard <= 0.6 < medium <= 0.8 < easy."""

ROUNDING = 1e-9
"""A kappa this little above a cut lies on it: (0.8 - 0.5) / 0.5 is not exactly 0.6 in binary."""


def check_cuts(cuts: Sequence[float]) -> None:
    """Raise ``ValueError`` unless ``cuts`` are three ascending finite numbers."""
    ascending = len(cuts) == 3 and cuts[0] < cuts[1] < cuts[2]
    if not ascending or not np.isfinite(cuts).all():
        raise ValueError(f"cuts are {list(cuts)}; three ascending numbers are needed, such as 0.4,0.6,0.8")


def band_positions(kappa: FloatArray, cuts: Cuts) -> IntArray:
    """Position in `TIERS` of each kappa (never NaN); a kappa on a cut belongs to the tier below."""
    return np.searchsorted(np.array(cuts), kappa - ROUNDING, side="left").astype(np.int64)


def tier_places(kappas: FloatArray, cuts: Cuts = DEFAULT_CUTS) -> IntArray:
    """Position in `TIERS` of each kappa; `NO_TIER` where it is NaN."""
    return np.where(np.isnan(kappas), NO_TIER, band_positions(np.nan_to_num(kappas), cuts))


def find_tier(kappa: float, cuts: Cuts = DEFAULT_CUTS) -> str | None:
    """The tier of one kappa; None where it is NaN."""
    return None if np.isnan(kappa) else TIERS[int(band_positions(np.array([kappa]), cuts)[0])]


def tier_counts(kappa: FloatArray, cuts: Cuts) -> dict[str, int]:
    """Number of items per tier, and of those without one as ``"none"``."""
    return count_tiers(tier_places(kappa, cuts))


def count_tiers(places: IntArray) -> dict[str, int]:
    """Number of items per tier, and of those without one as ``"none"``, from their positions in `TIERS`."""
    found = np.bincount(places, minlength=NO_TIER + 1).tolist()
    return dict(zip((*TIERS, "none"), found, strict=True))
