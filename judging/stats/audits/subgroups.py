"""Is the judge's error the same in every group of items (domain, tier, assistant, demographics)?

Items of one profile depend on each other. A grouping that is constant within profiles is tested by dealing profiles to
groups, never items; one that varies within them by turning the signs of what profiles contribute (Cameron, Gelbach and
Miller 2008, Review of Economics and Statistics 90:414-427, with the null hypothesis imposed).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy

from annotation.stats.estimate import Estimate
from annotation.stats.shares import count_df
from annotation.stats.table import BoolArray, FloatArray, IntArray
from judging.stats.asymptotic import figure
from judging.stats.audits.design import SIMPLE, SamplingDesign
from judging.stats.audits.probe import LEAST, LEAST_CLUSTERS, LEVEL, POWER, TINY, Probe, few_clusters, not_made
from judging.stats.audits.unit_groups import (
    DRAWS,
    MOST_PERMUTED,
    SEED,
    compare_groups,
    difference,
    mean_and_error,
    n_contrasts,
)

UNIT = "judge − people in the group that stands out most, less the same elsewhere"
LEAST_UNITS = 3
"""Clusters below which a group that is constant within clusters is left out."""


def subgroups(
    differences: npt.ArrayLike,
    groups: Sequence[str],
    *,
    design: SamplingDesign = SIMPLE,
    name: str = "subgroups",
    unit: str = UNIT,
) -> Probe:
    """The group whose bias stands out most from the rest.

    Parameters
    ----------
    differences
        (n,) the judge's departure from people on each item; NaN where missing.
    groups
        (n,) group of each item; items whose group has no name are left out. So are groups of fewer than 10 items or,
        where a group holds whole clusters, fewer than three clusters.
    design
        Clusters and weights of the items; groups have weighted means.
    name, unit
        Of the probe, for example ``"subgroups:domain"``.

    Returns
    -------
    Probe
        The interval of the effect and those in ``details`` (by group) hold for all groups together (Bonferroni).
    """
    d = np.asarray(differences, dtype=float)
    labels = np.asarray(groups, dtype=object).astype(str)
    known = ~np.isnan(d) & (labels != "")
    alone = design.clusters is None
    names = np.arange(len(d)) if alone else np.asarray(design.clusters, dtype=object).astype(str)
    w, d, labels, cluster = design.weigh(len(d))[known], d[known], labels[known], _places(names[known])
    constant = _is_constant(labels, cluster)
    kept, shown = _large(labels, cluster, LEAST_UNITS if constant and not alone else 1)
    if len(shown) < 2:
        few = "" if alone else f", in {LEAST_UNITS} clusters or more where they hold whole clusters"
        return not_made(name, unit, f"fewer than two groups of {LEAST} items or more{few}", len(d))
    w, d, labels, cluster = w[kept], d[kept], labels[kept], _places(cluster[kept])
    n_units = int(cluster.max()) + 1
    if not alone and n_units < LEAST_CLUSTERS:
        return not_made(name, unit, few_clusters(n_units), len(d))
    if np.ptp(d) < TINY:
        return not_made(name, unit, "judge − people is the same on every item", len(d))
    members = labels[:, None] == np.array(shown)[None, :]
    find = _of_whole_clusters if constant else _within_clusters
    t, p, test, effects = find(d, w, cluster, members)
    worst = int(t.argmax())
    value, se, df = effects[worst]
    quantile = float(scipy.special.stdtrit(df, 1 - LEVEL / (2 * n_contrasts(members))))
    power = float(scipy.special.stdtrit(df, POWER))
    return Probe(
        name,
        _interval(value, se, quantile, len(d)),
        f"{unit} (group {shown[worst]})",
        test.replace("units", "items" if alone else "clusters"),
        p,
        (quantile + power) * se if se > TINY else np.nan,
        {label: _mean(d, w, cluster, members[:, k], len(shown)) for k, label in enumerate(shown)},
    )


def _is_constant(labels: npt.NDArray[np.object_], cluster: IntArray) -> bool:
    """Whether no cluster has items of two groups."""
    pairs = {*zip(cluster.tolist(), labels.tolist(), strict=True)}
    return len(pairs) == len(set(cluster.tolist()))


def _large(labels: npt.NDArray[np.object_], cluster: IntArray, least: int) -> tuple[BoolArray, list[str]]:
    """(n,) which items are in a group that is large enough, and the names of these groups."""
    shown = [
        label
        for label in sorted(set(labels.tolist()))
        if (labels == label).sum() >= LEAST and len(np.unique(cluster[labels == label])) >= least
    ]
    return np.isin(labels.astype(str), shown), shown


Effect = tuple[float, float, float]
"""One group minus the rest: value, standard error, degrees of freedom."""


def _of_whole_clusters(
    d: FloatArray, w: FloatArray, cluster: IntArray, members: BoolArray
) -> tuple[FloatArray, float, str, list[Effect]]:
    """Clusters (or items on their own) are exchangeable among groups."""
    sums, counts = _sums(d, w, cluster)
    first = np.unique(cluster, return_index=True)[1]
    whole = members[first]
    t, p, test = compare_groups(sums, counts, whole)
    return t, p, test, [difference(sums, counts, whole[:, k]) for k in range(whole.shape[1])]


def _within_clusters(
    d: FloatArray, w: FloatArray, cluster: IntArray, members: BoolArray
) -> tuple[FloatArray, float, str, list[Effect]]:
    """What a cluster contributes to a group's departure has either sign with equal chance."""
    inside, outside, g = w[:, None] * members, w[:, None] * ~members, int(cluster.max()) + 1
    inside, outside = inside / inside.sum(axis=0), outside / outside.sum(axis=0)
    weights = inside - outside
    value = d @ weights
    null = _summed((d - np.average(d, weights=w))[:, None] * weights, cluster)
    t = np.abs(null.sum(axis=0)) / np.sqrt(np.maximum((null**2).sum(axis=0), TINY))
    fitted = d[:, None] - np.where(members, d @ inside, d @ outside)
    se = np.sqrt(g / (g - 1) * (_summed(fitted * weights, cluster) ** 2).sum(axis=0))
    df = count_df(np.bincount(cluster, w))
    effects = [(float(v), float(s), df) for v, s in zip(value, se, strict=True)]
    if g > MOST_PERMUTED:
        tails = 2 * scipy.special.stdtr(df, -np.abs(value) / np.maximum(se, TINY))
        return t, min(1.0, n_contrasts(members) * float(tails.min())), f"t over {g} units, Bonferroni", effects
    signs = np.random.default_rng(SEED).choice([-1.0, 1.0], (DRAWS, g))
    extreme = (np.abs(signs @ null) / np.sqrt(np.maximum((null**2).sum(axis=0), TINY))).max(axis=1)
    p = float((1 + (extreme >= t.max() - 1e-9).sum()) / (DRAWS + 1))
    return t, p, f"signs of {g} units, {DRAWS} draws", effects


def _places(names: npt.NDArray[np.str_ | np.int64]) -> IntArray:
    """(n,) place of each name among them."""
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def _sums(d: FloatArray, w: FloatArray, cluster: IntArray) -> tuple[FloatArray, FloatArray]:
    """Weighted sum of the differences of each cluster, and its weight."""
    return np.bincount(cluster, w * d).astype(float), np.bincount(cluster, w).astype(float)


def _summed(columns: FloatArray, cluster: IntArray) -> FloatArray:
    return np.column_stack([np.bincount(cluster, column) for column in columns.T])


def _interval(value: float, se: float, quantile: float, n: int) -> Estimate:
    ends = (value - quantile * se, value + quantile * se) if se > TINY else (np.nan, np.nan)
    reason = None if se > TINY else "no interval: the data do not vary"
    return figure(value, ends, n_items=n, confidence=1 - LEVEL, method="t over clusters, Bonferroni", reason=reason)


def _mean(d: FloatArray, w: FloatArray, cluster: IntArray, inside: BoolArray, tests: int) -> Estimate:
    sums, counts = _sums(d[inside], w[inside], _places(cluster[inside]))
    if len(sums) < 2:
        return _interval(float((sums / counts)[0]), 0.0, 0.0, int(inside.sum()))
    mean, variance = mean_and_error(sums, counts, np.ones(len(sums), dtype=bool))
    quantile = float(scipy.special.stdtrit(count_df(counts), 1 - LEVEL / (2 * tests)))
    return _interval(mean, float(np.sqrt(variance)), quantile, int(inside.sum()))
