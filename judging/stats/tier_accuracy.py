"""How often a judge agrees with people within tiers that are only probable.

Every item counts in every tier by its probability of being there. Where tiers are blurred, the figures lie nearer
to each other than those of the true tiers: the mean largest probability of an item's tiers says how blurred they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.stats.bands import TIERS
from annotation.stats.clustered_shares import estimate_clustered_share
from annotation.stats.estimate import Estimate
from annotation.stats.table import FloatArray
from judging.stats.calibration_types import TierAccuracyDocument

LEAST_EXPECTED = 1.0
"""Expected items below which a tier has no figure."""


@dataclass(frozen=True, eq=False)
class TierAccuracy:
    """Agreement of a judge with people's labels by tier.

    Attributes
    ----------
    items
        By tier, the expected number of items with label and verdict: a sum of probabilities.
    accuracy
        By tier, the share on which the judge gives people's label.
    sure
        Mean probability of an item's likeliest tier, 1/4 to 1; NaN without items.
    """

    items: dict[str, float]
    accuracy: dict[str, Estimate]
    sure: float

    def to_json(self) -> TierAccuracyDocument:
        """As JSON types, the easiest tier first."""
        return {
            "sure": None if np.isnan(self.sure) else self.sure,
            "by_tier": {
                tier: {"items": self.items[tier], "accuracy": self.accuracy[tier].to_json()} for tier in reversed(TIERS)
            },
        }


def select_rows(wanted: Sequence[str], names: Sequence[str], values: FloatArray) -> FloatArray:
    """The rows of ``values`` (n, k), which are named, in the wanted order; NaN where there is none."""
    place = {name: row for row, name in enumerate(names)}
    rows = np.array([place.get(name, -1) for name in wanted], dtype=np.int64)
    found = np.full((len(wanted), values.shape[1]), np.nan)
    found[rows >= 0] = values[rows[rows >= 0]]
    return found


def accuracy_by_tier(
    agreement: FloatArray,
    tiers: FloatArray,
    *,
    weights: FloatArray | None = None,
    clusters: Sequence[str] | None = None,
    confidence: float = 0.95,
) -> TierAccuracy:
    """The weighted share of agreement in each tier.

    Parameters
    ----------
    agreement
        (n,) 1 where the judge gives people's label, 0 where not, a share where they are tied; NaN without either.
    tiers
        (n, 4) probability of each of `TIERS`; NaN where it is not known.
    weights, clusters
        (n,) one over the inclusion probability, and what is independent of each other.
    """
    used = ~np.isnan(agreement) & ~np.isnan(tiers).any(axis=1)
    w = np.ones(len(agreement)) if weights is None else weights
    mine = None if clusters is None else [name for name, kept in zip(clusters, used.tolist(), strict=True) if kept]
    expected = tiers[used].sum(axis=0)
    found = {}
    for place, tier in enumerate(TIERS):
        enough = expected[place] >= LEAST_EXPECTED
        found[tier] = estimate_clustered_share(
            agreement[used] if enough else np.empty(0),
            weights=w[used] * tiers[used, place],
            clusters=mine,
            confidence=confidence,
            reason="less than one item is expected in this tier",
        )
    sure = float(tiers[used].max(axis=1).mean()) if used.any() else np.nan
    return TierAccuracy(dict(zip(TIERS, expected.tolist(), strict=True)), found, sure)


def accuracy_on_new(
    agreement: FloatArray,
    tiers: FloatArray,
    new: FloatArray,
    *,
    weights: FloatArray | None = None,
    clusters: Sequence[str] | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """What agreement to expect on items of the predicted tiers ``new`` (m, 4).

    The mean of the tiers' figures by the new items' share of each tier: a weighted mean of the agreements of the
    labelled items, whose tiers (n, 4) must be predicted in the same way, without their labels.
    """
    used = ~np.isnan(agreement) & ~np.isnan(tiers).any(axis=1)
    w = (np.ones(len(agreement)) if weights is None else weights)[used]
    own = tiers[used]
    total = w @ own
    share = np.where(total > 0, new.mean(axis=0) / np.where(total > 0, total, 1.0), 0.0) if len(new) else np.zeros(4)
    return estimate_clustered_share(
        agreement[used] if len(new) else np.empty(0),
        weights=w * (own @ share),
        clusters=None if clusters is None else [one for one, kept in zip(clusters, used.tolist(), strict=True) if kept],
        confidence=confidence,
        reason="there is no item to predict" if not len(new) else "no items with label and verdict",
    )
