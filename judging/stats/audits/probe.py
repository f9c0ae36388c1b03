"""What every probe answers with, and the two tests that most of them need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import scipy

from annotation.stats.arrays import ratio
from annotation.stats.estimate import Estimate, number_or_none
from annotation.stats.intervals import LARGEST_SHARE
from annotation.stats.jackknife import Jackknife
from annotation.stats.resampling import PreparedSums, SumStatistic
from annotation.stats.shares import count_df
from annotation.stats.table import FloatArray
from judging.stats.asymptotic import build_resampling, build_undefined, figure
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


def explain_clusters(clusters: Sequence[str] | None) -> str | None:
    """Why the clusters of the items (n,) are too few, or one too large, for a probe; None where they are not."""
    if clusters is None:
        return None
    sizes = np.unique(np.asarray(clusters, dtype=object).astype(str), return_counts=True)[1]
    if len(sizes) < LEAST_CLUSTERS:
        return few_clusters(len(sizes))
    share = sizes.max() / sizes.sum()
    return f"one cluster holds {100 * share:.0f} % of the items" if share > LARGEST_SHARE else None


def find_most_df(clusters: Sequence[str] | None, n: int) -> float:
    """Degrees of freedom that Student's t has at most over the clusters of n items, or over these themselves.

    As `annotation.stats.units.Resampling.most_df`; of unequal clusters fewer than their number less one.
    """
    if clusters is None:
        return n - 1.0
    return count_df(np.unique(np.asarray(clusters, dtype=object).astype(str), return_counts=True)[1])


def leave_out_clusters(statistic: SumStatistic, clusters: Sequence[str]) -> tuple[float, float]:
    """Standard error and effective degrees of freedom of one figure, from leaving out each cluster.

    The error is 0 where no cluster changes the figure, both are NaN where it is undefined without one.
    """
    resampling = build_resampling(len(statistic.contributions), clusters)
    prepared = PreparedSums.prepare([statistic], resampling)
    value = statistic.function(resampling.times @ prepared.rows)
    knife = Jackknife.from_left_out(value, prepared.evaluate_left_out()[0], resampling)
    return (0.0, np.nan) if knife.flat[0] else (float(knife.se[0]), float(knife.df[0]))


def compute_mean_error(values: FloatArray, clusters: Sequence[str] | None) -> tuple[float, float]:
    """Standard error of the mean of ``values`` (n,) and its degrees of freedom; as of `leave_out_clusters`."""
    n = len(values)
    if clusters is None:
        return float(values.std(ddof=1) / np.sqrt(n)), n - 1.0
    return leave_out_clusters(SumStatistic(np.column_stack([values, np.ones(n)]), compute_ratio), clusters)


def compute_ratio(sums: FloatArray) -> FloatArray:
    """(…, 1) the first of two sums over the second."""
    return ratio(sums[..., :1], sums[..., 1:])


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
        What is independent of each other; with clusters the error of the t-test is that of leaving out each in turn,
        with its effective degrees of freedom (`annotation.stats.jackknife`).
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
        name,
        float(d.mean()),
        (d - d.mean()) / len(d),
        SumStatistic(np.column_stack([d, np.ones(len(d))]), compute_ratio),
        d,
        unit=unit,
        clusters=names,
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
    clusters: Sequence[str] | None = None,
    details: Mapping[str, Estimate] | None = None,
    bounds: tuple[float, float] = ANY,
) -> Probe:
    """A probe of an estimate that deviates by the sum of ``influence`` (n,), and is a ``statistic`` of sums over items.

    ``d`` are the differences where the estimate is their mean, as in `mean_probe`.
    """
    n = len(influence)
    if why := explain_clusters(clusters):
        return not_made(name, unit, why, n)
    if clusters is None:
        se, df = float(np.sqrt(n / (n - 1) * (influence**2).sum())), n - 1.0
    else:
        se, df = leave_out_clusters(statistic, clusters)
    if np.isnan(se):
        return not_made(name, unit, "without one of the clusters there is no effect to be measured", n)
    flat = se < TINY
    quantile = float(scipy.special.stdtrit(n - 1 if flat else df, 0.975))
    ends = max(value - quantile * se, bounds[0]), min(value + quantile * se, bounds[1])
    effect = figure(
        value,
        (np.nan, np.nan) if flat else ends,
        n_items=n,
        confidence=1 - LEVEL,
        method="t",
        reason="no interval: the data do not vary" if flat else None,
    )
    if d is not None and clusters is None and len(np.unique(np.abs(d[d != 0]))) <= 1:
        p, test = _sign_test(d), "exact sign test"
    elif flat:
        p, test = (np.nan, "none")
    else:
        p, test = float(2 * scipy.special.stdtr(df, -(abs(value) / se))), "t-test"
    return Probe(name, effect, unit, test, p, np.nan if flat else detectable(se), details or {})


def _sign_test(d: FloatArray) -> float:
    """Two-sided exact p-value that ups and downs are equally likely (for pairs of yes and no: McNemar's)."""
    up, moved = int((d > 0).sum()), int((d != 0).sum())
    return float(scipy.stats.binomtest(up, moved).pvalue) if moved else 1.0
