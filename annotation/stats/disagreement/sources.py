"""What makes people differ: severe or careless people, an unclear guideline, and the items themselves.

By the fitted difficulty model two different people disagree on an item of the study by a certain amount. The same is
computed as if all were equally severe (or drawn equally to the response shown first), and then as if nobody were less
consistent than the average: what that takes away is the part of people. The rest stays with the items.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from annotation.stats.clustered import number_units
from annotation.stats.difficulty.categories import Categories
from annotation.stats.difficulty.components import GridComponent, compute_credit, fit_largest
from annotation.stats.difficulty.graded import GradedResponseModel
from annotation.stats.difficulty.latent import LatentFit, Model
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis, estimates
from annotation.stats.jackknife import student_quantile
from annotation.stats.resampling import Resampling, SumStatistic, replicate
from annotation.stats.result_types import SourcesDocument
from annotation.stats.shares import build_undefined, figure
from annotation.stats.table import MISSING, FloatArray, IntArray, RatingTable

LEVEL = 0.95
STEP = 1e-4
ONE_VERSION = "all answers were given under one version of the guideline"
NO_MODEL = "numbers and preferences are not split into people and items"


@dataclass(frozen=True, eq=False)
class Sources:
    """Parts of the disagreement of two different people, 0 to 1.

    Attributes
    ----------
    observed
        Mean over items of the disagreement of pairs of their people.
    severity, carelessness, items
        Parts of what the model expects, which add up to `expected`.
    guideline
        Part of what is observed that pairs of answers under different versions of the guideline have more than pairs
        under the same one.
    moved
        Items with answers under different versions.
    """

    observed: Estimate
    expected: Estimate
    severity: Estimate
    carelessness: Estimate
    items: Estimate
    guideline: Estimate
    moved: int

    def to_json(self) -> SourcesDocument:
        """As JSON types."""
        return {
            "observed": self.observed.to_json(),
            "expected": self.expected.to_json(),
            "severity": self.severity.to_json(),
            "carelessness": self.carelessness.to_json(),
            "items": self.items.to_json(),
            "guideline": self.guideline.to_json(),
            "moved": self.moved,
        }


def sources(table: RatingTable, *, versions: IntArray | None = None, bootstrap: int = 2000, seed: int = 0) -> Sources:
    """Split the disagreement of a table.

    ``versions`` (n, r) tell under which version of the guideline each answer was given. The model is that of the
    largest group of people who share items.

    Raises
    ------
    NoConvergenceError
        If the model cannot be fitted.
    ValueError
        If versions have another shape than the ratings.
    """
    if versions is not None and versions.shape != table.codes.shape:
        raise ValueError(f"versions have shape {versions.shape}, the ratings {table.codes.shape}")
    observed, guideline, moved = _counted(table, versions, bootstrap, seed)
    return Sources(observed, *_of_model(table), guideline, moved)


def _of_model(table: RatingTable) -> tuple[Estimate, Estimate, Estimate, Estimate]:
    """Expected, severity, carelessness, items."""
    part = fit_largest(table)
    if not isinstance(part, GridComponent):
        none = build_undefined(NO_MODEL, n_items=table.n_items, n_raters=table.n_raters)
        return none, none, none, none
    share = part.fit.ratings.counts.sum(axis=1)
    pairs = np.outer(share, share) * (1 - np.eye(len(share)))

    def split(free: FloatArray) -> FloatArray:
        model = part.fit.model
        equal = _equally_severe(model, free)
        steps = [free, equal, _careful(model, equal)]
        whole, without, rest = (_disagreement(model, at, pairs / pairs.sum(), part.credit) for at in steps)
        return np.array([whole, whole - without, without - rest, rest])

    ends = _delta(part.fit, split)
    n, r, m = part.table.n_items, part.table.n_raters, part.table.n_ratings
    found = [
        figure(v, (v - half, v + half), n_items=n, n_raters=r, n_ratings=m, confidence=LEVEL, method="delta")
        for v, half in ends
    ]
    return found[0], found[1], found[2], found[3]


def _disagreement(model: Model, free: FloatArray, pairs: FloatArray, credit: FloatArray) -> float:
    """Of two people drawn by ``pairs`` (r, r) on an item of the study, 1 less their agreement."""
    tables = model.tables(free)
    agreed = np.einsum("jk,jan,ab,kbn->n", pairs, tables.p, credit, tables.p, optimize=True)
    return 1 - float(np.exp(tables.log_prior) @ agreed)


def _equally_severe(model: Model, free: FloatArray) -> FloatArray:
    changed = free.copy()
    if isinstance(model, GradedResponseModel):
        start = model.sizes[0]
        changed[start : start + model.sizes[1]] = 0.0
    return changed


def _careful(model: Model, free: FloatArray) -> FloatArray:
    """As if those who are less consistent than the average were as consistent as it."""
    changed = free.copy()
    if isinstance(model, Categories):
        place = slice(sum(model.sizes[:2]), sum(model.sizes[:3]))
        changed[place] = np.maximum(free[place], free[place].mean())
    elif isinstance(model, GradedResponseModel) and model.own_consistency:
        logs = np.log(model.slopes(free))
        raised = np.maximum(logs, logs.mean())
        at, start = sum(model.sizes[:2]), sum(model.sizes[:3])
        changed[at] = raised.mean()
        changed[start : start + model.sizes[3]] = (raised - raised.mean())[:-1]
    return changed


def _delta(fit: LatentFit, of: Callable[[FloatArray], FloatArray]) -> list[tuple[float, float]]:
    """Each value with half the width of its interval, by the delta method."""
    steps = STEP * np.eye(len(fit.free))
    slopes = np.array([of(fit.free + step) - of(fit.free - step) for step in steps]) / (2 * STEP)
    errors = np.sqrt(np.maximum(np.einsum("fk,fg,gk->k", slopes, fit.covariance, slopes), 0.0))
    return list(zip(of(fit.free).tolist(), (student_quantile(np.array(fit.df), LEVEL) * errors).tolist(), strict=True))


def _counted(
    table: RatingTable, versions: IntArray | None, bootstrap: int, seed: int
) -> tuple[Estimate, Estimate, int]:
    """What pairs of answers show: disagreement, the part of different versions, and items with both."""
    sums = pair_sums(table, versions)
    unit, n_units = number_units(table.clusters or table.items)
    weights = np.ones(table.n_items) if table.weights is None else table.weights
    zeros = np.zeros(n_units, dtype=np.int64)
    resampling = Resampling(unit, zeros, weights, bootstrap, LEVEL, seed, unit_name="clusters")
    paired = sums[:, 1] + sums[:, 3] > 0
    moved = int((sums[:, 3] > 0).sum())
    bases = [Basis(int(paired.sum()), table.n_raters, table.n_ratings)] * 2
    replicates = replicate([SumStatistic(sums, _same_and_other)], resampling)[0]
    reason = ONE_VERSION if not moved else "no pair of answers under one version"
    observed, guideline = estimates(replicates, resampling, bases, ["no item has two ratings", reason])
    return observed, guideline, moved


def _same_and_other(sums: FloatArray) -> FloatArray:
    """Mean disagreement, and by how much it is larger for what pairs under different versions have more."""
    same, n_same, other, n_other = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        excess = (other / n_other - same / n_same) * n_other / (n_same + n_other)
        return np.stack([(same + other) / (n_same + n_other), excess], axis=-1)


def pair_sums(table: RatingTable, versions: IntArray | None) -> FloatArray:
    """(n, 4) disagreement and number of pairs of an item's answers, under one version and under two.

    An item's pairs weigh 1 in all, so that items count alike.
    """
    apart, rated = 1 - compute_credit(table), table.codes != MISSING
    sums = np.zeros((table.n_items, 4))
    r = table.codes.shape[1]
    for j in range(r):
        for k in range(j + 1, r):
            rows = np.flatnonzero(rated[:, j] & rated[:, k])
            differs = 0 if versions is None else 2 * (versions[rows, j] != versions[rows, k])
            sums[rows, 0 + differs] += apart[table.codes[rows, j], table.codes[rows, k]]
            sums[rows, 1 + differs] += 1
    total = sums[:, 1] + sums[:, 3]
    return np.asarray(sums / np.maximum(total, 1)[:, None])
