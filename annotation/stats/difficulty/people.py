"""What a fitted model says of each person: severity, consistency, and how well the model describes them.

Infit and outfit are mean squares of what a person said minus what the model expects, given what everybody else said of
the item (Wright and Masters 1982, Rating Scale Analysis, chapter 5): 1 where the model holds, more for noise, less for
answers that are more regular than the model says.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import scipy

from annotation.stats.difficulty.categories import Categories
from annotation.stats.difficulty.graded import Graded
from annotation.stats.difficulty.latent import LatentFit, Ratings
from annotation.stats.estimate import Estimate
from annotation.stats.table import MISSING, FloatArray, IntArray

LEVEL = 0.95


@dataclass(frozen=True)
class PersonFit:
    """One person.

    Attributes
    ----------
    severity
        Standard deviations of the trait by which a person's thresholds lie above the mean; undefined on unordered
        scales.
    consistency
        How steeply answers follow the trait, over the mean of all people; on unordered scales how often the person
        knows the category of an average item.
    infit, outfit
        Mean squares: weighted by information, and unweighted.
    """

    person: str
    n_ratings: int
    severity: Estimate
    consistency: Estimate
    infit: float
    outfit: float

    def as_json(self) -> dict[str, Any]:
        """As JSON types."""
        numbers = {key: None if np.isnan(value) else value for key, value in
                   (("infit", self.infit), ("outfit", self.outfit))}  # fmt: skip
        document = {**asdict(self), **numbers}
        return {**document, "severity": self.severity.as_json(), "consistency": self.consistency.as_json()}


def people_of(fit: LatentFit, codes: IntArray, names: Sequence[str]) -> list[PersonFit]:
    """Each person of a fit; ``codes`` (n, r) are the ratings item by item."""
    severity, consistency = _severities(fit, codes), _consistencies(fit, codes)
    infit, outfit = mean_squares(fit, codes)
    return [
        PersonFit(name, int((codes[:, j] != MISSING).sum()), severity[j], consistency[j], infit[j], outfit[j])
        for j, name in enumerate(names)
    ]


def _severities(fit: LatentFit, codes: IntArray) -> list[Estimate]:
    model = fit.model
    if not isinstance(model, Graded):
        none = _estimate(np.nan, np.nan, 0)
        return [replace(none, reason="people have no severity on an unordered scale")] * model.n_people
    contrast = model.contrast(1)
    errors = np.sqrt(np.einsum("jf,fg,jg->j", contrast, fit.covariance, contrast))
    return _estimates(model.severities(fit.free), errors, codes)


def _consistencies(fit: LatentFit, codes: IntArray) -> list[Estimate]:
    model = fit.model
    if isinstance(model, Categories):
        start = sum(model.sizes[:2])
        place = slice(start, start + model.n_people)
        return _estimates(model.skills(fit.free), fit.standard_errors[place], codes, scipy.special.expit)
    assert isinstance(model, Graded)
    contrast = model.contrast(3)
    contrast -= contrast.mean(axis=0)
    errors = np.sqrt(np.maximum(np.einsum("jf,fg,jg->j", contrast, fit.covariance, contrast), 0.0))
    logs = np.log(model.slopes(fit.free))
    return _estimates(logs - logs.mean(), errors, codes, np.exp)


def _estimates(values: FloatArray, errors: FloatArray, codes: IntArray, back: Any = None) -> list[Estimate]:
    """Normal intervals, on the scale on which they are symmetric, taken ``back``."""
    numbers = (codes != MISSING).sum(axis=0)
    found = [_estimate(v, e, n) for v, e, n in zip(values.tolist(), errors.tolist(), numbers.tolist(), strict=True)]
    if back is None:
        return found
    return [
        replace(one, value=float(back(one.value)), low=float(back(one.low)), high=float(back(one.high)), se=np.nan)
        for one in found
    ]


def _estimate(value: float, error: float, n: int) -> Estimate:
    half = float(scipy.special.ndtri((1 + LEVEL) / 2)) * error
    return Estimate(
        value=value,
        low=value - half,
        high=value + half,
        reason=None,
        n_items=n,
        n_raters=1,
        n_ratings=n,
        confidence=LEVEL,
        method="normal" if np.isfinite(error) else "none",
        seed=None,
        se=error,
    )


def mean_squares(fit: LatentFit, codes: IntArray) -> tuple[list[float], list[float]]:
    """Infit and outfit of each person; NaN for one whose items nobody else rated."""
    model, tables = fit.model, fit.tables
    paired = codes[(codes != MISSING).sum(axis=1) > 1]
    kinds, times = np.unique(paired, axis=0, return_counts=True)
    joint = Ratings(kinds, times.astype(float), model.n_categories).log_joint(tables)
    infit, outfit = [], []
    for j in range(model.n_people):
        rows = np.flatnonzero(kinds[:, j] != MISSING)
        said, weight = kinds[rows, j], times[rows]
        without = joint[rows] - np.log(tables.p[j])[said]
        shares = scipy.special.softmax(without, axis=1) @ tables.p[j].T
        residual, variance = _residuals(shares, said, unordered=isinstance(model, Categories))
        infit.append(float(weight @ residual / (weight @ variance)) if len(rows) else np.nan)
        outfit.append(float(weight @ (residual / variance) / weight.sum()) if len(rows) else np.nan)
    return infit, outfit


def _residuals(shares: FloatArray, said: IntArray, *, unordered: bool) -> tuple[FloatArray, FloatArray]:
    """(n,) squared residuals and their variances: of the category's number, or of having said the likeliest one."""
    rows = np.arange(len(said))
    if unordered:
        best = shares.argmax(axis=1)
        p = shares[rows, best]
        return ((said == best) - p) ** 2, np.maximum(p * (1 - p), 1e-9)
    steps = np.arange(shares.shape[1])
    mean = shares @ steps
    return (said - mean) ** 2, np.maximum(shares @ steps**2 - mean**2, 1e-9)
