"""The rate behind a judge's rate, from its sensitivity and specificity on labelled items.

Rogan and Gladen (1978), "Estimating prevalence from the results of a screening test", American Journal of
Epidemiology 107:71-76; the interval of Lee et al. (2025), arXiv 2511.21140, which smooths the three rates after Agresti
and Coull and moves the centre accordingly. A cross-check of PPI++ that rests on one more assumption: that the
judge errs as often on the unlabelled items of each class as on the labelled ones.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.stats.estimate import Estimate
from judging.stats.asymptotic import figure, quantile, share, undefined

IMPOSSIBLE = "no interval: no rate from 0 to 1 fits; the judge errs otherwise on unlabelled items than on labelled"


@dataclass(frozen=True)
class RoganGladen:
    """A corrected rate with the two rates of the judge that it rests on."""

    rate: Estimate
    sensitivity: Estimate
    specificity: Estimate

    def as_json(self) -> dict[str, Any]:
        """The figures as in the document of ``calibrate``."""
        return {
            **self.rate.as_json(),
            "sensitivity": self.sensitivity.as_json(),
            "specificity": self.specificity.as_json(),
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


def rogan_gladen(human: npt.ArrayLike, judge: npt.ArrayLike, *, confidence: float = 0.95) -> RoganGladen:
    """The corrected rate of the unlabelled items from columns over all items.

    Parameters
    ----------
    human, judge
        (n,) 1 for yes, 0 for no, NaN where there is no label (no verdict). Sensitivity and specificity come from the
        items with both, the judge's rate from those with the judge's verdict alone.
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
    positive, negative = f[(y == 1) & ~np.isnan(f)], f[(y == 0) & ~np.isnan(f)]
    unlabelled = f[np.isnan(y) & ~np.isnan(f)]
    sensitivity = share(int(positive.sum()), len(positive), confidence=confidence, reason="no labelled item is a yes")
    specificity = share(
        int((1 - negative).sum()), len(negative), confidence=confidence, reason="no labelled item is a no"
    )
    for known in (sensitivity, specificity):
        if not known.defined:
            return RoganGladen(
                undefined(known.reason or "", n_items=len(unlabelled), confidence=confidence), sensitivity, specificity
            )
    rate = corrected_rate(
        p=float(unlabelled.mean()) if len(unlabelled) else np.nan,
        n=len(unlabelled),
        q0=specificity.value,
        m0=len(negative),
        q1=sensitivity.value,
        m1=len(positive),
        confidence=confidence,
    )
    return RoganGladen(rate, sensitivity, specificity)


def corrected_rate(*, p: float, n: int, q0: float, m0: int, q1: float, m1: int, confidence: float = 0.95) -> Estimate:
    """theta = (p + q0 - 1) / (q0 + q1 - 1) with the smoothed interval, both cut to 0 … 1.

    Parameters
    ----------
    p, n
        The judge's rate of yes, and of how many unlabelled items.
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
    >>> rate = corrected_rate(p=0.4, n=1000, q0=0.7, m0=200, q1=0.9, m1=200)
    >>> round(rate.value, 4), round(rate.low, 4), round(rate.high, 4)
    (0.1667, 0.0564, 0.2627)
    """
    total = n + m0 + m1
    if not n:
        return undefined("no unlabelled item that the judge scored", n_items=total, confidence=confidence)
    z = quantile(confidence)
    p_all = _Smoothed((n * p + z**2 / 2) / (n + z**2), n + z**2)
    no, yes = _Smoothed((m0 * q0 + 1) / (m0 + 2), m0 + 2), _Smoothed((m1 * q1 + 1) / (m1 + 2), m1 + 2)
    youden = no.rate + yes.rate - 1
    if q0 + q1 <= 1 or youden - z * np.sqrt(no.variance + yes.variance) <= 0:
        return undefined(
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
        n_ratings=n + 2 * (m0 + m1),
    )
