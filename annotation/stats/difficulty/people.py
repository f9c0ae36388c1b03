"""What a fitted model says of each person: severity, consistency, and how well the model describes them.

Infit and outfit are mean squares of what a person said minus what the model expects, given what everybody else said of
the item (Wright and Masters 1982, Rating Scale Analysis, chapter 5): 1 where the model holds, more for noise, less for
answers that are more regular than the model says.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import SupportsFloat

import numpy as np
import scipy

from annotation.stats.arrays import ratio
from annotation.stats.difficulty.categories import Categories
from annotation.stats.difficulty.graded import GradedResponseModel
from annotation.stats.difficulty.latent import LatentFit, Ratings
from annotation.stats.difficulty.preferences import Preferences
from annotation.stats.difficulty.ranked import RankingModel
from annotation.stats.difficulty.result_types import PersonFitDocument
from annotation.stats.estimate import Estimate, number_or_none
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
    order
        Log odds by which the person is drawn to the response that was shown first; of preferences alone.
    infit, outfit
        Mean squares: weighted by information, and unweighted.
    """

    person: str
    n_ratings: int
    severity: Estimate
    consistency: Estimate
    order: Estimate
    infit: float
    outfit: float

    def to_json(self) -> PersonFitDocument:
        """As JSON types."""
        return {
            "person": self.person,
            "n_ratings": self.n_ratings,
            "severity": self.severity.to_json(),
            "consistency": self.consistency.to_json(),
            "order": self.order.to_json(),
            "infit": number_or_none(self.infit),
            "outfit": number_or_none(self.outfit),
        }


def compute_people(fit: LatentFit, codes: IntArray, names: Sequence[str]) -> list[PersonFit]:
    """Each person of a fit; ``codes`` (n, columns) are the ratings item by item, as the model has them."""
    whose = _whose(fit)
    numbers = np.bincount(whose, (codes != MISSING).sum(axis=0), len(names)).astype(int).tolist()
    own = zip(_severities(fit, numbers), _consistencies(fit, numbers), _orders(fit, numbers), strict=True)
    infit, outfit = mean_squares(fit, codes)
    return [
        PersonFit(name, numbers[j], *three, infit[j], outfit[j])
        for j, (name, three) in enumerate(zip(names, own, strict=True))
    ]


def _whose(fit: LatentFit) -> IntArray:
    """(columns,) the person of each column of the ratings."""
    return fit.model.person if isinstance(fit.model, Preferences) else np.arange(fit.model.n_people)


def _severities(fit: LatentFit, numbers: Sequence[int]) -> list[Estimate]:
    model = fit.model
    if not isinstance(model, GradedResponseModel):
        scale = "an unordered scale" if isinstance(model, Categories) else "a preference"
        return build_undefined(f"people have no severity on {scale}", numbers)
    return estimates(model.severities(fit.free), _errors(fit, model.contrast(1)), numbers, df=fit.df)


def _consistencies(fit: LatentFit, numbers: Sequence[int]) -> list[Estimate]:
    model = fit.model
    if isinstance(model, Categories):
        start = sum(model.sizes[:2])
        place = slice(start, start + model.n_people)
        return estimates(model.skills(fit.free), fit.standard_errors[place], numbers, scipy.special.expit, fit.df)
    steep, contrast = _steepness(fit)
    logs = np.log(steep)
    return estimates(logs - logs.mean(), _errors(fit, contrast - contrast.mean(axis=0)), numbers, np.exp, fit.df)


def _steepness(fit: LatentFit) -> tuple[FloatArray, FloatArray]:
    """(people,) c, and (people, f) that takes the parameters to its logarithms."""
    model = fit.model
    if isinstance(model, GradedResponseModel):
        return model.slopes(fit.free), model.contrast(3)
    if isinstance(model, RankingModel):
        return model.consistencies(fit.free), model.contrast_of_consistencies()
    assert isinstance(model, Preferences)
    return model.consistencies(fit.free), model.contrast_of(2)


def _orders(fit: LatentFit, numbers: Sequence[int]) -> list[Estimate]:
    model = fit.model
    if not isinstance(model, Preferences):
        return build_undefined("only of a preference is the order of two responses known", numbers)
    if not model.has_order:
        return build_undefined("the order in which people saw the responses is not known", numbers)
    return estimates(model.orders(fit.free), _errors(fit, model.contrast_of(1)), numbers, df=fit.df)


def _errors(fit: LatentFit, contrast: FloatArray) -> FloatArray:
    """(people,) standard errors of combinations (people, f) of the parameters."""
    return np.asarray(np.sqrt(np.maximum(np.einsum("jf,fg,jg->j", contrast, fit.covariance, contrast), 0.0)))


def build_undefined(reason: str, numbers: Sequence[int]) -> list[Estimate]:
    """A figure of each person that is not there."""
    return [replace(_estimate(np.nan, np.nan, n), reason=reason) for n in numbers]


def estimates(
    values: FloatArray,
    errors: FloatArray,
    numbers: Sequence[int],
    back: Callable[[float], SupportsFloat] | None = None,
    df: float = np.inf,
) -> list[Estimate]:
    """Student's intervals (normal ones by default), on the scale on which they are symmetric, taken ``back``."""
    found = [_estimate(v, e, n, df) for v, e, n in zip(values.tolist(), errors.tolist(), numbers, strict=True)]
    if back is None:
        return found
    return [
        replace(
            one,
            value=float(back(one.value)),
            low=float(back(one.low)),
            high=float(back(one.high)),
            se=np.nan,
            df=np.nan,
        )
        for one in found
    ]


def _estimate(value: float, error: float, n: int, df: float = np.inf) -> Estimate:
    half = float(scipy.special.stdtrit(df, (1 + LEVEL) / 2)) * error
    return Estimate(
        value=value,
        low=value - half,
        high=value + half,
        reason=None,
        n_items=n,
        n_raters=1,
        n_ratings=n,
        confidence=LEVEL,
        method="none" if not np.isfinite(error) else "normal" if np.isinf(df) else "t",
        seed=None,
        se=error,
        df=df if np.isfinite(df) and np.isfinite(error) else np.nan,
    )


def mean_squares(fit: LatentFit, codes: IntArray) -> tuple[list[float], list[float]]:
    """Infit and outfit of each person; NaN for one whose items nobody else rated."""
    model, tables = fit.model, fit.tables
    kinds, times = np.unique(codes[(codes != MISSING).sum(axis=1) > 1], axis=0, return_counts=True)
    joint = Ratings(kinds, times.astype(float), model.n_categories).log_joint(tables)
    sums = np.zeros((model.n_people, 4))  # residuals, variances, their ratios, ratings
    for j in range(model.n_people):
        rows = np.flatnonzero(kinds[:, j] != MISSING)
        said, weight = kinds[rows, j], times[rows]
        without = joint[rows] - np.log(tables.p[j])[said]
        shares = scipy.special.softmax(without, axis=1) @ tables.p[j].T
        residual, variance = _residuals(shares, said, unordered=isinstance(model, Categories | RankingModel))
        sums[j] = weight @ np.column_stack([residual, variance, residual / variance, np.ones(len(rows))])
    whose = _whose(fit)
    total = np.array([np.bincount(whose, column) for column in sums.T])
    return ratio(total[0], total[1]).tolist(), ratio(total[2], total[3]).tolist()


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
