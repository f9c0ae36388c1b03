"""Agreement as it grows: the coefficients over the first tenth of the ratings, the first two tenths, and so on."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from annotation.stats import chance_corrected as chance
from annotation.stats.alpha import krippendorff_alpha
from annotation.stats.dependence import can_keep_strata, drop_useless
from annotation.stats.distinct import distinct_items
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import estimates
from annotation.stats.jackknife import find_scales
from annotation.stats.pairs import count_basis
from annotation.stats.resampling import Resampling, replicate
from annotation.stats.result_types import GrowthPointDocument
from annotation.stats.table import MISSING, BoolArray, RatingTable

ALPHA = "krippendorff_alpha"
SHOWN = ("percent_agreement", "fleiss_kappa", ALPHA)
POINTS = 10


@dataclass(frozen=True)
class GrowthPoint:
    """Agreement when so many ratings were in.

    Attributes
    ----------
    n_ratings, n_items
        Ratings until then, and items with one or more.
    coefficients
        The figures of `SHOWN` by name.
    """

    n_ratings: int
    n_items: int
    coefficients: Mapping[str, Estimate]

    def to_json(self) -> GrowthPointDocument:
        """As JSON types."""
        found = {name: estimate.to_json() for name, estimate in self.coefficients.items()}
        return {"n_ratings": self.n_ratings, "n_items": self.n_items, "coefficients": found}


def growth(
    table: RatingTable,
    order: npt.ArrayLike,
    *,
    points: int = POINTS,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> tuple[GrowthPoint, ...]:
    """Agreement at ``points`` equally spaced numbers of ratings, the last of them all.

    The last point is that of the whole table, with the items that nobody could judge.

    Parameters
    ----------
    table
        The ratings; intervals use its clusters, strata and weights.
    order
        (n_items, n_raters) when each rating was given, in any unit; read only where there is a rating.
    points
        Number of points; fewer where there are fewer ratings.
    bootstrap, confidence, seed
        As in `annotation.stats.agreement.agreement`, whose figures on the same ratings these are.

    Raises
    ------
    ValueError
        Where ``order`` has another shape than the table, or is NaN where there is a rating.
    """
    when = np.asarray(order, dtype=float)
    if when.shape != table.codes.shape:
        raise ValueError(f"the order has shape {when.shape}, the table {table.codes.shape}")
    rated = table.codes != MISSING
    if np.isnan(when[rated]).any():
        raise ValueError("a rating has no place in the order")
    total = int(rated.sum())
    sizes = sorted({max(1, round(total * point / points)) for point in range(1, points + 1)}) if total else []
    place = np.full(when.shape, total, dtype=np.int64)
    place[rated] = np.argsort(np.argsort(when[rated], kind="stable"), kind="stable")
    parts = [_first(table, place < size) for size in sizes[:-1]] + [table] * bool(sizes)
    return tuple(_point(part, bootstrap, confidence, seed) for part in parts)


def _first(table: RatingTable, given: BoolArray) -> RatingTable:
    """The ratings at the places (n_items, n_raters) that are true, on the items that have one."""
    part = drop_useless(table.replace_codes(np.where(given, table.codes, MISSING)).subset_items(given.any(axis=1)))
    if part.strata and not can_keep_strata(part.strata, part.clusters or part.items):
        return replace(part, strata=None)
    return part


def _point(known: RatingTable, bootstrap: int, confidence: float, seed: int) -> GrowthPoint:
    distinct = distinct_items(known)
    resampling = Resampling.from_table(
        distinct.table, bootstrap=bootstrap, confidence=confidence, seed=seed, copies=distinct.copies
    )
    of_alpha = krippendorff_alpha(distinct.table, item_weights=resampling.item_weights)
    shared, alpha = replicate([chance.chance_corrected(distinct.table), of_alpha], resampling)
    basis, reason = count_basis(known, known.pairable), chance.explain_undefined(known)
    names = (*chance.NAMES, ALPHA)
    figures = [
        *estimates(
            shared,
            resampling,
            [basis] * len(chance.NAMES),
            [reason] * len(chance.NAMES),
            scale=find_scales(chance.NAMES),
        ),
        *estimates(alpha, resampling, [basis], [reason], scale="coefficient"),
    ]
    found = dict(zip(names, figures, strict=True))
    n_items = int((known.ratings_per_item > 0).sum())
    return GrowthPoint(int(known.n_ratings), n_items, {name: found[name] for name in SHOWN})
