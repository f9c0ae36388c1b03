"""What every probe answers with, and the two tests that most of them need."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import scipy

from annotation.stats.estimate import Estimate, number_or_none
from annotation.stats.intervals import LARGEST_SHARE
from annotation.stats.resampling import SumStatistic
from annotation.stats.table import FloatArray
from judging.stats.asymptotic import build_undefined, correct_skewness, figure, sum_by_cluster, undo_skewness
from judging.stats.audits.design import SIMPLE, SamplingDesign, compute_ratio
from judging.stats.result_types import ProbeDocument

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

    def to_json(self) -> ProbeDocument:
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


def explain_clusters(design: SamplingDesign) -> str | None:
    """Say why the clusters of the items are too few, or one too large, for a probe; None where they are not."""
    if design.clusters is None:
        return None
    sizes = sum_by_cluster(design.weigh(len(design.clusters)), design.clusters)
    if len(sizes) < LEAST_CLUSTERS:
        return few_clusters(len(sizes))
    share = sizes.max() / sizes.sum()
    return f"one cluster holds {100 * share:.0f} % of the items" if share > LARGEST_SHARE else None


def detectable(se: float, *, sides: int = 2, level: float = LEVEL, power: float = POWER) -> float:
    """The effect that a normal test with standard error ``se`` shows with the given power."""
    return float((scipy.special.ndtri(1 - level / sides) + scipy.special.ndtri(power)) * se)


def mean_probe(
    name: str,
    differences: npt.ArrayLike,
    *,
    unit: str,
    design: SamplingDesign = SIMPLE,
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
    design
        Clusters and weights of the items; with either the mean is weighted, and the error of the t-test that of leaving
        out each cluster in turn, with its effective degrees of freedom (`annotation.stats.jackknife`). Few clusters may
        err to one side: of the t-test and of that without skewness the one that is less sure counts.
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
    return influence_probe(
        name,
        float(d.mean()),
        (d - d.mean()) / len(d),
        SumStatistic(np.column_stack([d, np.ones(len(d))]), compute_ratio),
        d,
        unit=unit,
        design=design.select(known),
        details=details,
        bounds=bounds,
    )


def influence_probe(
    name: str,
    value: float,
    influence: FloatArray,
    statistic: SumStatistic,
    d: FloatArray | None = None,
    *,
    unit: str,
    design: SamplingDesign = SIMPLE,
    details: Mapping[str, Estimate] | None = None,
    bounds: tuple[float, float] = ANY,
) -> Probe:
    """A probe of an estimate that deviates by the sum of ``influence`` (n,), and is a ``statistic`` of sums over items.

    ``value`` is that of independent items of the same weight; with clusters or weights the statistic gives it. ``d``
    are the differences where the estimate is their mean, as in `mean_probe`.
    """
    n = len(influence)
    if why := explain_clusters(design):
        return not_made(name, unit, why, n)
    se, df, skew = float(np.sqrt(n / (n - 1) * (influence**2).sum())), n - 1.0, 0.0
    if not design.is_simple:
        value, se, df, skew = design.estimate(statistic)
        skew = skew if design.clusters is not None else 0.0
    if np.isnan(se):
        return not_made(name, unit, "without one of the clusters there is no effect to be measured", n)
    flat = se < TINY
    quantile = float(scipy.special.stdtrit(n - 1 if flat else df, 0.975))
    down, up = undo_skewness(quantile, skew), undo_skewness(-quantile, skew)
    ends = max(value - max(down, quantile) * se, bounds[0]), min(value - min(up, -quantile) * se, bounds[1])
    effect = figure(
        value,
        (np.nan, np.nan) if flat else ends,
        n_items=n,
        confidence=1 - LEVEL,
        method="t",
        reason="no interval: the data do not vary" if flat else None,
    )
    if d is not None and design.is_simple and len(np.unique(np.abs(d[d != 0]))) <= 1:
        p, test = _sign_test(d), "exact sign test"
    elif flat:
        p, test = (np.nan, "none")
    else:
        t = min(abs(value / se), abs(float(correct_skewness(value / se, skew))))
        p, test = float(2 * scipy.special.stdtr(df, -t)), "t-test"
    return Probe(name, effect, unit, test, p, np.nan if flat else detectable(se), details or {})


def _sign_test(d: FloatArray) -> float:
    """Two-sided exact p-value that ups and downs are equally likely (for pairs of yes and no: McNemar's)."""
    up, moved = int((d > 0).sum()), int((d != 0).sum())
    return float(scipy.stats.binomtest(up, moved).pvalue) if moved else 1.0
