"""Whether people fall into two camps of different taste: told only where it predicts ratings that were held out.

By the difficulty model, people who agree beyond what the items make them are put into one camp: by the sign of the
first eigenvector of what their ratings leave over. A rating that was held out is then predicted from the item's other
ratings of all people, and by the mean of that and the prediction from the person's own camp. Where people have one
taste, the ratings of all are worth more than those of a camp, and the second prediction is no better.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from annotation.stats.clustered import estimate_clustered_means
from annotation.stats.difficulty.components import GridComponent, fit_largest
from annotation.stats.difficulty.latent import Ratings, Tables
from annotation.stats.estimate import Estimate
from annotation.stats.result_types import TasteDocument
from annotation.stats.shares import build_undefined
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, RatingTable

FOLDS = 5
LEAST_PEOPLE, LEAST_RATINGS = 6, 200
MOST_ITEMS = 1000
"""Items that are looked at; of more a seeded draw."""

NO_MODEL = "camps are looked for on scales of categories alone"


@dataclass(frozen=True, eq=False)
class Taste:
    """Two camps, or none.

    Attributes
    ----------
    gain
        Bits by which two camps predict a held-out rating better than one; the interval resamples clusters.
    camps
        By person, 1 for the smaller camp and 0 for the other; empty unless the interval of the gain lies above 0.
    """

    gain: Estimate
    camps: dict[str, int]

    def to_json(self) -> TasteDocument:
        """As JSON types."""
        return {"gain": self.gain.to_json(), "camps": self.camps}


def taste(table: RatingTable, *, bootstrap: int = 2000, seed: int = 0) -> Taste:
    """Look for two camps among the people of a table; ``seed`` is that of folds, items and interval.

    Raises
    ------
    NoConvergenceError
        If the difficulty model cannot be fitted.
    """
    n, r, m = table.n_items, table.n_raters, table.n_ratings
    if r < LEAST_PEOPLE or m < LEAST_RATINGS:
        reason = f"{r} people and {m} ratings; {LEAST_PEOPLE} and {LEAST_RATINGS} are needed"
        return Taste(build_undefined(reason, n_items=n, n_raters=r), {})
    rng = np.random.default_rng(seed)
    if n > MOST_ITEMS:
        table = table.subset_items(np.isin(np.arange(n), rng.choice(n, MOST_ITEMS, replace=False)))
    part = fit_largest(table)
    if not isinstance(part, GridComponent):
        return Taste(build_undefined(NO_MODEL, n_items=n, n_raters=r), {})
    codes, people = part.table.codes, part.table.raters
    rows, gains = _held_out(codes, part.fit.tables, rng)
    names = part.table.clusters or part.table.items
    (gain,) = estimate_clustered_means(gains[:, None], [names[row] for row in rows], bootstrap=bootstrap, seed=seed)
    if not gain.low > 0:
        return Taste(gain, {})
    first = find_camps(codes, part.fit.tables)
    smaller = first if first.sum() <= len(first) / 2 else ~first
    return Taste(gain, dict(zip(people, smaller.astype(int).tolist(), strict=True)))


def _held_out(codes: IntArray, tables: Tables, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """(M,) the item of each rating, and by how many bits two camps predict it better."""
    rows, people = np.nonzero(codes != MISSING)
    fold, gains = rng.permutation(len(rows)) % FOLDS, np.zeros(len(rows))
    for number in range(FOLDS):
        test = np.flatnonzero(fold == number)
        i, j = rows[test], people[test]
        known = codes.copy()
        known[i, j] = MISSING
        first = find_camps(known, tables)
        of_all = _predicted(known, tables, i, j, codes)
        in_first, in_second = (
            _predicted(np.where(camp, known, MISSING), tables, i, j, codes) for camp in (first, ~first)
        )
        of_camp = np.where(first[j], in_first, in_second)
        gains[test] = np.log2((of_all + of_camp) / 2 / of_all)
    return rows, gains


def _predicted(known: IntArray, tables: Tables, i: IntArray, j: IntArray, codes: IntArray) -> FloatArray:
    """(M,) probability of what people j say of items i, given the known ratings."""
    joint = _log_joint(known, tables)
    posterior = scipy.special.softmax(joint[i], axis=1)
    return np.asarray((posterior * tables.p[j, codes[i, j]]).sum(axis=1))


def _log_joint(codes: IntArray, tables: Tables) -> FloatArray:
    return Ratings(codes, np.ones(len(codes)), tables.p.shape[1]).log_joint(tables)


def find_camps(codes: IntArray, tables: Tables) -> BoolArray:
    """(r,) the camp of each person: who agrees with whom beyond what is expected given the item's other ratings."""
    (n, r), q = codes.shape, tables.p.shape[1]
    joint, left = _log_joint(codes, tables), []
    for j in range(r):
        rows = np.flatnonzero(codes[:, j] != MISSING)
        said = codes[rows, j]
        without = scipy.special.softmax(joint[rows] - np.log(tables.p[j])[said], axis=1)
        residual = np.eye(q)[said] - without @ tables.p[j].T
        place = (rows[:, None] * q + np.arange(q)).ravel()
        left.append(scipy.sparse.csr_array((residual.ravel(), (np.zeros(place.size, int), place)), shape=(1, n * q)))
    matrix = scipy.sparse.vstack(left, format="csr")
    together = (matrix @ matrix.T).toarray()
    np.fill_diagonal(together, 0.0)
    return np.asarray(np.linalg.eigh(together)[1][:, -1] > 0)
