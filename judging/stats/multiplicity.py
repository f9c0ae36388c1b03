"""Many tests at once: p-values adjusted so that one level holds for all of them.

References
----------
Holm (1979), Scandinavian Journal of Statistics 6:65-70 (family-wise error). Benjamini and Hochberg (1995), JRSS B
57:289-300 (false discovery rate of independent tests). Benjamini and Yekutieli (2001), Annals of Statistics
29:1165-1188 (the same under any dependence).
"""

from typing import Literal

import numpy as np
import numpy.typing as npt

from annotation.stats.table import FloatArray

Method = Literal["holm", "benjamini-hochberg", "benjamini-yekutieli", "none"]


def adjust_p_values(p_values: npt.ArrayLike, method: Method = "holm") -> FloatArray:
    """(m,) adjusted p-values; NaN stays NaN and does not count as a test.

    A hypothesis is rejected at level alpha where its adjusted p-value is at most alpha.

    Parameters
    ----------
    p_values
        (m,) between 0 and 1, or NaN for a test that could not be made.
    method
        ``"holm"`` holds the chance of any false alarm, the two Benjamini procedures the expected share of false
        alarms among all alarms; ``"benjamini-yekutieli"`` whatever the dependence of the tests.

    Examples
    --------
    >>> adjust_p_values([0.01, 0.04, 0.03], "holm").round(10).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    made = ~np.isnan(p)
    found = np.full(p.shape, np.nan)
    if method not in ("holm", "benjamini-hochberg", "benjamini-yekutieli", "none"):
        raise ValueError(f"method is {method!r}; it must be holm, benjamini-hochberg, benjamini-yekutieli or none")
    if made.any():
        found[made] = _step(p[made], method)
    return found


def _step(p: FloatArray, method: Method) -> FloatArray:
    m, order = len(p), np.argsort(p, kind="stable")
    ranks = np.arange(1, m + 1)
    if method == "none":
        return p
    if method == "holm":
        stepped = np.maximum.accumulate(p[order] * (m - ranks + 1))
    else:
        penalty = (1 / ranks).sum() if method == "benjamini-yekutieli" else 1.0
        stepped = np.minimum.accumulate((p[order] * m * penalty / ranks)[::-1])[::-1]
    back = np.empty(m)
    back[order] = np.minimum(stepped, 1.0)
    return back
