"""Do criteria move together more for the judge than what is judged and people's own habits explain?

Thorndike (1920), "A constant error in psychological ratings", Journal of Applied Psychology 4:25-29. Noise of the judge
takes no part: what the criteria share in the items is told from different people's scores, whose errors are
independent (as in the multitrait-multirater tables of Campbell and Fiske 1959, Psychological Bulletin 56:81-105).
"""

import numpy as np
import numpy.typing as npt
import scipy

from annotation.stats.arrays import ratio
from annotation.stats.jackknife import effective_df
from annotation.stats.shares import count_df
from annotation.stats.table import FloatArray
from judging.stats.asymptotic import figure, sum_by_cluster
from judging.stats.audits.design import SIMPLE, SamplingDesign
from judging.stats.audits.probe import LEAST, LEVEL, TINY, Probe, detectable, explain_clusters, not_made

UNIT = "correlation of this criterion with another beyond what items share, judge − person"
LEAST_RATINGS = 10
"""A person with fewer is centred with all others, not by their own mean."""


def halo(judge: npt.ArrayLike, people: npt.ArrayLike, *, design: SamplingDesign = SIMPLE) -> Probe:
    """Excess covariance of the judge's scores on the first criterion and each other one, less people's own.

    Parameters
    ----------
    judge
        (n, k) scores on k criteria; NaN where missing.
    people
        (n, r, k) scores of r people.
    design
        As in `mean_probe`.

    Notes
    -----
    With J = cov(f_1, f_l), T = cov(y_j1, y_hl) of different people, b_k = cov(f_k, y_jk) / cov(y_jk, y_hk) and
    P = cov(y_j1, y_jl) of one person, the effect is the mean over l of (J - b_1 b_l T) / sd(f_1) sd(f_l) less
    (P - T) / sd(y_1) sd(y_l). The test is one-sided, by a jackknife over clusters.
    """
    f, y = np.asarray(judge, dtype=float), np.asarray(people, dtype=float)
    n = int((~np.isnan(f[:, 0]) & (~np.isnan(y[:, :, 0])).any(axis=1)).sum())
    if n < LEAST:
        return not_made("halo", UNIT, f"{n} items with every score; the probe needs {LEAST}", n)
    if why := explain_clusters(design):
        return not_made("halo", UNIT, why, n)
    w = design.weigh(len(f))
    parts = sum_by_cluster(w[:, None] * _moments(f, y, w), design.clusters)
    g = len(parts)
    total = parts.sum(axis=0, keepdims=True)
    value = float(_excess(total, f.shape[1])[0])
    if np.isnan(value):
        return not_made("halo", UNIT, "no other criterion on which two people rated the same items and agree at all", n)
    without = _excess(total - parts, f.shape[1])
    se = float(np.sqrt((g - 1) / g * ((without - without.mean()) ** 2).sum()))
    if not se > TINY:
        return not_made("halo", UNIT, "the scores do not vary", n)
    most = count_df(sum_by_cluster(w, design.clusters))
    df = float(effective_df((without - without.mean())[:, None], np.ones(g), most)[0])
    half = float(scipy.special.stdtrit(df, 1 - LEVEL / 2)) * se
    effect = figure(value, (value - half, value + half), n_items=n, confidence=1 - LEVEL, method="jackknife")
    p = float(scipy.special.stdtr(df, -(value / se)))
    return Probe("halo", effect, UNIT, "t by jackknife, one-sided", p, detectable(se, sides=1))


def _moments(f: FloatArray, y: FloatArray, w: FloatArray) -> FloatArray:
    """(n, 22 (k - 1)) sums and numbers of products, eleven for each other criterion l; ``w`` (n,) weigh the means.

    In order: f1 fl; f1 f1; fl fl; f1 y1; fl yl; then y1 yl, y1 y1, yl yl of different people, and of one person.
    """
    known = ~np.isnan(f)
    f = f - ratio(w @ np.where(known, f, 0.0), w @ known)
    y = _centred(y, w)
    columns = []
    for other in range(1, f.shape[1]):
        a, b = (f[:, k] for k in (0, other))
        c, d = (y[:, :, k] for k in (0, other))
        products = [(a * b)[:, None], (a * a)[:, None], (b * b)[:, None], a[:, None] * c, b[:, None] * d]
        columns += [part for product in products for part in _sum_and_number(product)]
        columns += [part for u, v in ((c, d), (c, c), (d, d)) for part in _across(u, v)]
        columns += [part for u, v in ((c, d), (c, c), (d, d)) for part in _sum_and_number(u * v)]
    return np.column_stack(columns) if columns else np.zeros((len(f), 0))


def _centred(y: FloatArray, w: FloatArray) -> FloatArray:
    """Scores less the mean of the person on the criterion: severity is no covariance."""
    known = ~np.isnan(y)
    total, weight = (np.tensordot(w, column, axes=1) for column in (np.where(known, y, 0.0), known))
    overall = ratio(total.sum(axis=0), weight.sum(axis=0))
    centred: FloatArray = y - np.where(known.sum(axis=0) >= LEAST_RATINGS, ratio(total, weight), overall)[None]
    return centred


def _sum_and_number(products: FloatArray) -> tuple[FloatArray, FloatArray]:
    known = ~np.isnan(products)
    return np.where(known, products, 0.0).sum(axis=1), known.sum(axis=1).astype(float)


def _across(u: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sum and number of products of two different people's scores of an item."""
    has_u, has_v = ~np.isnan(u), ~np.isnan(v)
    u, v = np.where(has_u, u, 0.0), np.where(has_v, v, 0.0)
    total = u.sum(axis=1) * v.sum(axis=1) - (u * v).sum(axis=1)
    number = has_u.sum(axis=1) * has_v.sum(axis=1) - (has_u & has_v).sum(axis=1)
    return total, number.astype(float)


def _excess(moments: FloatArray, k: int) -> FloatArray:
    """(g,) the effect from rows of summed moments; NaN where no other criterion can be used."""
    if k < 2:
        return np.full(len(moments), np.nan)
    table = moments.reshape(len(moments), k - 1, 11, 2)
    number = table[..., 1]
    means = np.divide(table[..., 0], number, out=np.full(number.shape, np.nan), where=number > 0)
    j, ff1, ffl, fy1, fyl, t, t1, tl, p, p1, pl = np.moveaxis(means, 2, 0)
    usable = (t1 > TINY) & (tl > TINY) & (ff1 > TINY) & (ffl > TINY) & (p1 > TINY) & (pl > TINY)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_judge = (j - fy1 / t1 * fyl / tl * t) / np.sqrt(ff1 * ffl)
        by_people = (p - t) / np.sqrt(p1 * pl)
    excess = np.where(usable, by_judge - by_people, np.nan)
    number_used = usable.sum(axis=1)
    found: FloatArray = np.where(number_used > 0, np.nansum(excess, axis=1) / np.maximum(number_used, 1), np.nan)
    return found
