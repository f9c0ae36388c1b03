"""How far two sets of categories agree.

As MASI says (Passonneau 2006, "Measuring Agreement on Set-valued Items (MASI) for Semantic and Pragmatic Annotation",
LREC), two sets lie 1 - J M apart. J is Jaccard's share of the categories of either that are of both; M is 1 for the
same set, 2/3 where one holds the other, 1/3 where both hold something the other lacks, 0 without a common one.
"""

from collections.abc import Callable, Sequence
from math import comb

import numpy as np

from annotation.stats.label_sets import options_of, parse_set
from annotation.stats.table import FloatArray


def members_of(sets: Sequence[str], options: Sequence[str]) -> FloatArray:
    """(q, k) whether each set holds each of the options."""
    return np.array([[option in one for option in options] for one in map(parse_set, sets)], dtype=float).reshape(
        len(sets), len(options)
    )


def jaccard_weights(sets: Sequence[str]) -> FloatArray:
    """(q, q) share of the categories of either set that are of both; 1 for two empty sets."""
    size, common = _sizes(sets)
    union = size[:, None] + size[None, :] - common
    return np.where(union > 0, common / np.where(union > 0, union, 1.0), 1.0)


def masi_weights(sets: Sequence[str]) -> FloatArray:
    """(q, q) credit J M of each two sets, 0 to 1."""
    size, common = _sizes(sets)
    return jaccard_weights(sets) * _monotonicity(size[:, None], size[None, :], common)


def _sizes(sets: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """(q,) sizes of the sets, and (q, q) how many categories each two share."""
    members = members_of(sets, options_of(sets))
    return members.sum(axis=1), members @ members.T


def _monotonicity(first: FloatArray, second: FloatArray, common: FloatArray) -> FloatArray:
    """M of sets of the given sizes."""
    one_holds_other = common == np.minimum(first, second)
    partly = np.where(one_holds_other, 2 / 3, np.where(common > 0, 1 / 3, 0.0))
    return np.where((first == second) & one_holds_other, 1.0, partly)


def random_agreement(n_options: int) -> float:
    """Mean of `masi_weights` of two sets drawn from all the 2^k that k options make, the empty one among them."""
    return _mean_credit(n_options, lambda a, b, common: _credit(a, b, common)) / 4.0**n_options


def _mean_credit(k: int, credit: Callable[[int, int, int], float]) -> float:
    """Sum of the credit over all pairs of sets, by their sizes and by what they share."""
    return sum(
        comb(k, common) * comb(k - common, a - common) * comb(k - a, b - common) * credit(a, b, common)
        for a in range(k + 1)
        for b in range(k + 1)
        for common in range(max(0, a + b - k), min(a, b) + 1)
    )


def _credit(a: int, b: int, common: int) -> float:
    union = a + b - common
    if not union:
        return 1.0
    m = _monotonicity(np.array(float(a)), np.array(float(b)), np.array(float(common)))
    return float(m) * common / union
