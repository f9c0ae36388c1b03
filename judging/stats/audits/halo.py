"""Do criteria move together more for the judge than for people?

Thorndike (1920), "A constant error in psychological ratings", Journal of Applied Psychology 4:25-29.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from annotation.stats.table import FloatArray
from judging.stats.audits.probe import LEAST, Probe, influence_probe, not_made

UNIT = "mean correlation of two criteria, judge minus person"


def halo(judge: npt.ArrayLike, person: npt.ArrayLike, *, clusters: Sequence[str] | None = None) -> Probe:
    """Mean correlation between criteria in the judge's scores minus that in one person's on the same items.

    Parameters
    ----------
    judge, person
        (n, k) scores on k criteria; an item with a missing score takes no part. Criteria on which either never varies
        are left out.
    clusters
        As in `mean_probe`.

    Notes
    -----
    The standard error adds up what each item contributes to either correlation: z_x z_y - r (z_x^2 + z_y^2) / 2.
    """
    f, y = np.asarray(judge, dtype=float), np.asarray(person, dtype=float)
    known = ~np.isnan(f).any(axis=1) & ~np.isnan(y).any(axis=1)
    n = int(known.sum())
    if n < LEAST:
        return not_made("halo", UNIT, f"{n} items with every score; the probe needs {LEAST}", n)
    varying = (np.ptp(f[known], axis=0) > 0) & (np.ptp(y[known], axis=0) > 0)
    if varying.sum() < 2:
        return not_made("halo", UNIT, "fewer than two criteria on which both judge and person vary", n)
    (by_judge, judge_influence), (by_person, person_influence) = (
        _mean_correlation(scores[known][:, varying]) for scores in (f, y)
    )
    names = None if clusters is None else tuple(np.asarray(clusters, dtype=object)[known])
    return influence_probe("halo", by_judge - by_person, judge_influence - person_influence, unit=UNIT, clusters=names)


def _mean_correlation(scores: FloatArray) -> tuple[float, FloatArray]:
    """Mean correlation over pairs of columns, and what each row adds to its deviation."""
    z = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    a, b = np.triu_indices(z.shape[1], 1)
    products = z[:, a] * z[:, b]
    r = products.mean(axis=0)
    influence = products - r * (z[:, a] ** 2 + z[:, b] ** 2) / 2
    return float(r.mean()), influence.mean(axis=1) / len(z)
