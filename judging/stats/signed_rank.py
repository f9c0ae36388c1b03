"""Wilcoxon's signed-rank test, exact also where ranks are tied.

Wilcoxon (1945), Biometrics Bulletin 1:80-83; zeros are dropped, as he did. Under the hypothesis every difference is as
likely to be negative as positive, so that the distribution of the rank sum is a convolution of n coins.
"""

import numpy as np
import scipy

from annotation.stats.table import FloatArray


def compute_signed_rank_p(differences: FloatArray) -> float:
    """One-sided p-value that the differences (n,) lie around 0 rather than below it; 1 where all are 0.

    Examples
    --------
    >>> import numpy as np
    >>> signed_rank_less(np.array([-1.0, -2.0, -3.0]))
    0.125
    """
    moved = differences[differences != 0]
    # twice the mid-rank is a whole number
    ranks = (2 * scipy.stats.rankdata(np.abs(moved).round(12))).round().astype(np.int64)
    chances = np.ones(1)
    for rank in ranks.tolist():
        spread = np.zeros(len(chances) + rank)
        spread[: len(chances)] += chances / 2
        spread[rank:] += chances / 2
        chances = spread
    observed = int(ranks[moved > 0].sum())
    return float(min(1.0, chances[: observed + 1].sum()))
