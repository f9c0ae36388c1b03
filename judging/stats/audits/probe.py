"""What every probe answers with, and the two tests that most of them need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from annotation.stats.estimate import Estimate, number_or_none
from annotation.stats.table import FloatArray
from judging.stats.asymptotic import build_undefined, figure, sum_by_cluster

LEVEL = 0.05
POWER = 0.8
LEAST = 10
"""Items below which no probe is made."""

LEAST_CLUSTERS = 5
"""Clusters below which no probe is made: so few say nothing of how much they vary."""

TINY = 1e-12

ANY = (-np.inf, np.inf)
SHARES = (-1.0, 1.0)
"""What a difference of two shares lies between."""

ONE_CLUSTER = "all items lie in one cluster"


@dataclass(frozen=True)
class Probe:
    """One probe of a judge.

    Attributes
    ----------
    name
        What it looks for.
    effect
        Its size with a 95 % interval; 0 (or 1 for a ratio) is no bias.
    unit
        What the effect is measured in, in words.
    test
        Name of the test.
    p_value
        Two-sided unless the test says otherwise; NaN where it could not be made.
    minimum_detectable
        The smallest effect that this many items would show in four of five studies, at the 5 % level before any
        correction for other probes. An effect smaller than this may be there unseen.
    details
        Further figures by name.
    """

    name: str
    effect: Estimate
    unit: str
    test: str
    p_value: float
    minimum_detectable: float
    details: Mapping[str, Estimate] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The probe as JSON types."""
        return {
            "name": self.name,
            "effect": self.effect.to_json(),
            "unit": self.unit,
            "test": self.test,
            "p_value": number_or_none(self.p_value),
            "minimum_detectable_effect": number_or_none(self.minimum_detectable),
            "details": {name: estimate.to_json() for name, estimate in self.details.items()},
        }


def not_made(name: str, unit: str, reason: str, n_items: int = 0) -> Probe:
    """A probe for which there is not enough, and why."""
    return Probe(name, build_undefined(reason, n_items=n_items), unit, "none", np.nan, np.nan)


def few_clusters(g: int) -> str:
    """Why a probe of items in g clusters was not made."""
    return f"all items lie in {g} clusters; the probe needs at least {LEAST_CLUSTERS}" if g > 1 else ONE_CLUSTER


def detectable(se: float, *, sides: int = 2, level: float = LEVEL, power: float = POWER) -> float:
    """The effect that a normal test with standard error ``se`` shows with the given power."""
    return float((scipy.special.ndtri(1 - level / sides) + scipy.special.ndtri(power)) * se)


def mean_probe(
    name: str,
    differences: npt.ArrayLike,
    *,
    unit: str,
    clusters: Sequence[str] | None = None,
    details: Mapping[str, Estimate] | None = None,
    why_few: str = "items",
    bounds: tuple[float, float] = ANY,
) -> Probe:
    """Whether a mean difference is 0: exact sign test where it falls only up or down, otherwise t-test.

    Parameters
    ----------
    name, unit, details
        As in `Probe`.
    differences
        (n,) one number per item; NaN takes no part.
    clusters
        What is independent of each other; with clusters the t-test is on their sums, with G - 1 degrees of freedom,
        and each sum counts as if its cluster were left out (CR3).
    why_few
        What there are too few of, for the reason.
    bounds
        What the mean lies between: the interval is cut there.
    """
    column = np.asarray(differences, dtype=float)
    known = ~np.isnan(column)
    d = column[known]
    if len(d) < LEAST:
        return not_made(name, unit, f"{len(d)} {why_few}; the probe needs at least {LEAST}", len(d))
    names = None if clusters is None else tuple(np.asarray(clusters, dtype=object)[known])
    return influence_probe(
        name, float(d.mean()), (d - d.mean()) / len(d), d, unit=unit, clusters=names, details=details, bounds=bounds
    )


def influence_probe(
    name: str,
    value: float,
    influence: FloatArray,
    d: FloatArray | None = None,
    *,
    unit: str,
    clusters: Sequence[str] | None = None,
    details: Mapping[str, Estimate] | None = None,
    bounds: tuple[float, float] = ANY,
) -> Probe:
    """A probe of an estimate that deviates by the sum of ``influence`` (n,).

    ``d`` are the differences where the estimate is their mean, as in `mean_probe`.
    """
    parts = sum_by_cluster(influence, clusters)
    g = len(parts)
    if clusters is not None and g < LEAST_CLUSTERS:
        return not_made(name, unit, few_clusters(g), len(influence))
    if clusters is not None:
        parts = parts / (1 - sum_by_cluster(np.full(len(influence), 1 / len(influence)), clusters))
        parts = parts * (g - 1) / g  # of equal clusters the usual sum; a large one counts for more
    se = float(np.sqrt(g / (g - 1) * (parts**2).sum()))
    quantile = float(scipy.special.stdtrit(g - 1, 0.975))
    flat = se < TINY
    ends = max(value - quantile * se, bounds[0]), min(value + quantile * se, bounds[1])
    effect = figure(
        value,
        (np.nan, np.nan) if flat else ends,
        n_items=len(influence),
        confidence=1 - LEVEL,
        method="t",
        reason="no interval: the data do not vary" if flat else None,
    )
    if d is not None and clusters is None and len(np.unique(np.abs(d[d != 0]))) <= 1:
        p, test = _sign_test(d), "exact sign test"
    elif flat:
        p, test = (np.nan, "none")
    else:
        p, test = float(2 * scipy.special.stdtr(g - 1, -(abs(value) / se))), "t-test"
    return Probe(name, effect, unit, test, p, np.nan if flat else detectable(se), details or {})


def _sign_test(d: FloatArray) -> float:
    """Two-sided exact p-value that ups and downs are equally likely (for pairs of yes and no: McNemar's)."""
    up, moved = int((d > 0).sum()), int((d != 0).sum())
    return float(scipy.stats.binomtest(up, moved).pvalue) if moved else 1.0
