"""The rate behind a judge's rate, from its sensitivity and specificity on labelled items.

Rogan and Gladen (1978), "Estimating prevalence from the results of a screening test", American Journal of
Epidemiology 107:71-76; the interval of Lee et al. (2025), arXiv 2511.21140, which smooths the three rates after Agresti
and Coull and moves the centre accordingly. A cross-check of PPI++ that rests on one more assumption: that the
judge errs as often on the unlabelled items of each class as on the labelled ones.

Dependent or weighted items count as the effective number of independent ones (Korn and Graubard 1998, Survey
Methodology 24:193-201): one design effect for all three rates, since clusters that hold labelled and unlabelled items
make the rates depend on each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from annotation.stats.clustered_shares import estimate_clustered_share
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import explain_no_interval
from annotation.stats.jackknife import student_quantile
from annotation.stats.shares import compute_effective_number
from annotation.stats.table import BoolArray, FloatArray
from judging.stats.asymptotic import build_resampling, build_undefined, drop_interval, figure, quantile, sum_by_cluster
from judging.stats.calibration_types import RoganGladenDocument

IMPOSSIBLE = "no interval: no rate from 0 to 1 fits; the judge errs otherwise on unlabelled items than on labelled"


@dataclass(frozen=True)
class RoganGladen:
    """A corrected rate with the two rates of the judge that it rests on."""

    rate: Estimate
    sensitivity: Estimate
    specificity: Estimate

    def to_json(self) -> RoganGladenDocument:
        """The figures as in the document of ``calibrate``."""
        sensitivity, specificity = self.sensitivity.to_json(), self.specificity.to_json()
        return {
            **self.rate.to_json(),
            "sensitivity": sensitivity["value"],
            "specificity": specificity["value"],
            "intervals": {"sensitivity": sensitivity, "specificity": specificity},
        }


@dataclass(frozen=True)
class _Smoothed:
    """A rate with a few imagined items added, and the number of items it then has."""

    rate: float
    n: float

    @property
    def variance(self) -> float:
        """Of the rate."""
        return self.rate * (1 - self.rate) / self.n


def rogan_gladen(
    human: npt.ArrayLike,
    judge: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    clusters: Sequence[str] | None = None,
    confidence: float = 0.95,
) -> RoganGladen:
    """The corrected rate of the unlabelled items from columns over all items.

    Parameters
    ----------
    human, judge
        (n,) 1 for yes, 0 for no, NaN where there is no label (no verdict). Sensitivity and specificity come from the
        items with both, the judge's rate from those with the judge's verdict alone.
    weights, clusters
        (n,) survey weights, and what is independent of each other; by default equal, and every item.
    confidence
        Nominal coverage.

    Raises
    ------
    ValueError
        If something other than 0, 1 and NaN occurs.
    """
    y, f = np.asarray(human, dtype=float), np.asarray(judge, dtype=float)
    if not (np.isin(y[~np.isnan(y)], (0, 1)).all() and np.isin(f[~np.isnan(f)], (0, 1)).all()):
        raise ValueError("Rogan-Gladen needs 0 and 1")
    w = None if weights is None else np.asarray(weights, dtype=float)
    said = ~np.isnan(f)
    parts = {"rest": np.isnan(y) & said, "yes": (y == 1) & said, "no": (y == 0) & said}
    sensitivity, specificity = (
        estimate_clustered_share(
            (f == value)[parts[name]].astype(float),
            weights=None if w is None else w[parts[name]],
            clusters=_chosen(clusters, parts[name]),
            confidence=confidence,
            reason=f"no labelled item is a {name}",
            n_raters=2,
        )
        for name, value in (("yes", 1), ("no", 0))
    )
    n_labelled, n_rest = sensitivity.n_items + specificity.n_items, int(parts["rest"].sum())
    for known in (sensitivity, specificity):
        if not known.defined:
            return RoganGladen(
                build_undefined(known.reason or "", n_items=n_rest, confidence=confidence), sensitivity, specificity
            )
    p = float(np.average(f[parts["rest"]], weights=None if w is None else w[parts["rest"]])) if n_rest else 0.0
    rates = {"p": p, "q0": specificity.value, "q1": sensitivity.value}
    labelled = parts["yes"] | parts["no"]
    units = build_resampling(n_labelled, _chosen(clusters, labelled), None if w is None else w[labelled], confidence)
    effect = _design_effect(f, parts, rates, w, clusters) * _student_effect(units.n_units - 1, confidence)
    effect = max(effect, 1.0)
    rate = compute_corrected_rate(
        **rates,
        n=n_rest / effect,
        m0=specificity.n_items / effect,
        m1=sensitivity.n_items / effect,
        confidence=confidence,
    )
    rate = drop_interval(rate, explain_no_interval(units))
    n_items, n_ratings = n_rest + n_labelled, n_rest + 2 * n_labelled
    return RoganGladen(replace(rate, n_items=n_items, n_ratings=n_ratings), sensitivity, specificity)


def _chosen(clusters: Sequence[str] | None, kept: BoolArray) -> list[str] | None:
    return None if clusters is None else [name for name, there in zip(clusters, kept, strict=True) if there]


def _design_effect(
    f: FloatArray,
    parts: dict[str, BoolArray],
    rates: dict[str, float],
    weights: FloatArray | None,
    clusters: Sequence[str] | None,
) -> float:
    """Variance of the linearised corrected rate over that of as many independent items of equal weight.

    Where none of the rates varies it is the number of items over the effective number of clusters by their weight.
    """
    youden = rates["q0"] + rates["q1"] - 1
    theta = (rates["p"] + rates["q0"] - 1) / youden if abs(youden) > 1e-12 else 0.5
    w = np.ones(len(f)) if weights is None else weights
    influence, independent, used = np.zeros(len(f)), 0.0, np.zeros(len(f), dtype=bool)
    of = {"rest": (rates["p"], 1.0), "yes": (rates["q1"], -theta), "no": (1 - rates["q0"], theta - 1)}
    for name, (rate, slope) in of.items():
        here = parts[name]
        if here.any():
            influence[here] = slope * w[here] * (f[here] - rate) / w[here].sum()
            independent += slope**2 * rate * (1 - rate) / int(here.sum())
            used |= here
    names = _chosen(clusters, used)
    if independent < 1e-24:
        return float(used.sum()) / compute_effective_number(sum_by_cluster(w[used], names))
    return float((sum_by_cluster(influence[used], names) ** 2).sum()) / independent


def _student_effect(df: int, confidence: float) -> float:
    """(t / z)^2: what few units widen an interval by, as a design effect; 1 without degrees of freedom."""
    t = float(student_quantile(np.array([float(df)]), confidence)[0])
    return (t / quantile(confidence)) ** 2 if df >= 1 else 1.0


def compute_corrected_rate(
    *, p: float, n: float, q0: float, m0: float, q1: float, m1: float, confidence: float = 0.95
) -> Estimate:
    """theta = (p + q0 - 1) / (q0 + q1 - 1) with the smoothed interval, both cut to 0 … 1.

    Parameters
    ----------
    p, n
        The judge's rate of yes, and of how many unlabelled items; numbers of items may be effective ones.
    q0, m0
        Specificity: share of no among the ``m0`` labelled items that people call no.
    q1, m1
        Sensitivity: share of yes among the ``m1`` that people call yes.
    confidence
        Nominal coverage.

    Returns
    -------
    Estimate
        NaN with a reason where the judge cannot be told from one that answers without looking: the lower end of
        q0 + q1 - 1, after smoothing, is not above 0. Dividing by it would say nothing.

    Examples
    --------
    >>> rate = compute_corrected_rate(p=0.4, n=1000, q0=0.7, m0=200, q1=0.9, m1=200)
    >>> round(rate.value, 4), round(rate.low, 4), round(rate.high, 4)
    (0.1667, 0.0564, 0.2627)
    """
    total = round(n + m0 + m1)
    if not n:
        return build_undefined("no unlabelled item that the judge scored", n_items=total, confidence=confidence)
    z = quantile(confidence)
    p_all = _Smoothed((n * p + z**2 / 2) / (n + z**2), n + z**2)
    no, yes = _Smoothed((m0 * q0 + 1) / (m0 + 2), m0 + 2), _Smoothed((m1 * q1 + 1) / (m1 + 2), m1 + 2)
    youden = no.rate + yes.rate - 1
    if q0 + q1 <= 1 or youden - z * np.sqrt(no.variance + yes.variance) <= 0:
        return build_undefined(
            "the judge cannot be told from chance: sensitivity + specificity - 1 may be 0",
            n_items=total,
            confidence=confidence,
        )
    theta = (p_all.rate + no.rate - 1) / youden
    variance = p_all.variance + (1 - theta) ** 2 * no.variance + theta**2 * yes.variance
    centre = theta + 2 * z**2 * (theta * yes.variance - (1 - theta) * no.variance)
    half = z * np.sqrt(variance) / youden
    value = float(np.clip((p + q0 - 1) / (q0 + q1 - 1), 0.0, 1.0))
    if centre + half <= 0 or centre - half >= 1:
        return figure(value, n_items=total, confidence=confidence, method="none", reason=IMPOSSIBLE)
    low, high = np.clip([centre - half, centre + half], 0.0, 1.0)
    return figure(
        value,
        (float(low), float(high)),
        n_items=total,
        confidence=confidence,
        method="smoothed",
        n_ratings=round(n + 2 * (m0 + m1)),
    )
