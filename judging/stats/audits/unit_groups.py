"""Groups of units that depend on nothing of each other (people, profiles): does one group stand out?"""

import numpy as np
import scipy

from annotation.stats.shares import count_df
from annotation.stats.table import BoolArray, FloatArray
from judging.stats.audits.probe import TINY

DRAWS = 9999
MOST_PERMUTED = 200
"""Units above which t distributions stand in for permutations."""
SEED = 20_240_611
"""Of permutations: the same data have the same p-value."""


def compare_groups(sums: FloatArray, counts: FloatArray, members: BoolArray) -> tuple[FloatArray, float, str]:
    """(g,) Welch's t of each group against the rest, without its sign; p-value of the largest; name of the test.

    Parameters
    ----------
    sums, counts
        (u,) sum and number of the differences of each unit.
    members
        (u, g) who is in which group.
    """
    observed = _welch(sums[None], counts[None], members)[0]
    if len(sums) > MOST_PERMUTED:
        p = [_tail(sums, counts, members[:, k]) for k in range(members.shape[1])]
        return observed, min(1.0, n_contrasts(members) * min(p)), f"Welch's t over {len(sums)} units, Bonferroni"
    rng = np.random.default_rng(SEED)
    drawn = rng.permuted(np.tile(np.arange(len(sums)), (DRAWS, 1)), axis=1)
    extreme = _welch(sums[drawn], counts[drawn], members).max(axis=1)
    p_value = float((1 + (extreme >= observed.max() - 1e-9).sum()) / (DRAWS + 1))
    return observed, p_value, f"permutation of {len(sums)} units, {DRAWS} draws"


def n_contrasts(members: BoolArray) -> int:
    """Comparisons of a group with the rest; of two groups there is one."""
    return 1 if members.shape[1] == 2 else members.shape[1]


def difference(sums: FloatArray, counts: FloatArray, inside: BoolArray) -> tuple[float, float, float]:
    """One group minus the rest: value, standard error, degrees of freedom (Welch and Satterthwaite)."""
    (a, va), (b, vb) = mean_and_error(sums, counts, inside), mean_and_error(sums, counts, ~inside)
    df, rest = count_df(counts[inside]), count_df(counts[~inside])
    spread = va**2 / df + vb**2 / rest
    return a - b, float(np.sqrt(va + vb)), float((va + vb) ** 2 / spread) if spread > 0 else df + rest


def mean_and_error(sums: FloatArray, counts: FloatArray, inside: BoolArray) -> tuple[float, float]:
    """Mean over the differences of the units inside, and its squared standard error over units."""
    total, units = counts[inside].sum(), int(inside.sum())
    mean = sums[inside].sum() / total
    parts = (sums[inside] - counts[inside] * mean) / total
    return float(mean), float(units / (units - 1) * (parts**2).sum())


def _tail(sums: FloatArray, counts: FloatArray, inside: BoolArray) -> float:
    value, se, df = difference(sums, counts, inside)
    return float(2 * scipy.special.stdtr(df, -abs(value) / max(se, TINY)))


def _welch(sums: FloatArray, counts: FloatArray, members: BoolArray) -> FloatArray:
    """(draws, g) absolute t of each group; infinite where groups differ and nobody within them does.

    Studentised, so that one unusual unit, whatever group it is in, makes no difference look certain.
    """
    (a, va), (b, vb) = (_means(sums, counts, inside.astype(float)) for inside in (members, ~members))
    apart, error = np.abs(a - b), np.sqrt(va + vb)
    flat = error < TINY
    t: FloatArray = np.where(flat, np.where(apart < TINY, 0.0, np.inf), apart / np.where(flat, 1.0, error))
    return t


def _means(sums: FloatArray, counts: FloatArray, inside: FloatArray) -> tuple[FloatArray, FloatArray]:
    """As `mean_and_error`, for every draw (rows) and group (columns of ``inside``) at once."""
    total, units = counts @ inside, inside.sum(axis=0)
    mean = (sums @ inside) / total
    squares = (sums**2) @ inside - 2 * mean * ((sums * counts) @ inside) + mean**2 * ((counts**2) @ inside)
    return mean, units / (units - 1) * np.maximum(squares, 0.0) / total**2
