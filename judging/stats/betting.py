"""A lower bound of a mean or ratio of bounded quantities, by betting: exact at any number of independent units.

Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", JRSS B 86:1-27. Whoever bets
a fixed share of the money on "the mean is above m" cannot be expected to gain where it is not, so that capital of
1 / delta is reached with probability delta at most (Markov). The capital here is the mean over a grid of bets (their
"grid Kelly"): it does not depend on the order of the units, and there is no seed.
"""

import numpy as np
import scipy

from annotation.stats.table import FloatArray

N_BETS = 64

BETS: FloatArray = np.sqrt((np.arange(N_BETS) + 0.5) / N_BETS)
"""Bets as shares of the largest one that cannot ruin; the larger ones are denser, for agreement is mostly high."""

LEAST = 1e-6
"""A bound below this is given as 0."""


def log_capital(agreeing: FloatArray, kept: FloatArray, ratio: float, *, largest: float = 0.0) -> float:
    """Log of the capital of those who bet that sum(agreeing) / sum(kept) lies above ``ratio``.

    Parameters
    ----------
    agreeing, kept
        (g,) of each independent unit: how much it keeps, and how much of that agrees, 0 to ``kept``.
    ratio
        Of the expectations, above 0.
    largest
        What a unit may keep, where that is more than any of these does: one that disagrees must ruin nobody.

    Notes
    -----
    With d = agreeing / ratio - kept, which is at least -K, the capital of bet b is prod(1 + b d / K), K the larger of
    max(kept) and ``largest``. Where the expectations of d add up to 0 or less, so does its expectation not exceed 1:
    of independent units it is prod(1 + b E d / K), at most 1 by the means inequality. Units need not be alike.
    """
    return _log_capital(_alike(agreeing, kept), ratio, largest)


def _alike(agreeing: FloatArray, kept: FloatArray) -> FloatArray:
    """(k, 3) what agrees in a unit, what it keeps, and how many units are just so."""
    pairs, times = np.unique(np.column_stack([agreeing, kept])[kept > 0], axis=0, return_counts=True)
    return np.column_stack([pairs, times])


def _log_capital(units: FloatArray, ratio: float, largest: float) -> float:
    gain = (units[:, 0] / ratio - units[:, 1]) / max(float(units[:, 1].max()), largest)
    capital = np.log1p(BETS[:, None] * gain) @ units[:, 2]
    return float(scipy.special.logsumexp(capital) - np.log(N_BETS))


def compute_betting_p(agreeing: FloatArray, kept: FloatArray, ratio: float) -> float:
    """p-value that E sum(agreeing) / E sum(kept) is at most ``ratio``: one over the capital, by Markov's inequality.

    Examples
    --------
    >>> compute_betting_p(np.ones(60), np.ones(60), 0.95) > 0.05 > compute_betting_p(np.ones(60), np.ones(60), 0.9)
    True
    """
    return float(min(1.0, np.exp(-log_capital(agreeing, kept, max(ratio, LEAST)))))


def compute_betting_bound(agreeing: FloatArray, kept: FloatArray, delta: float, *, largest: float = 0.0) -> float:
    """Lower bound of E sum(agreeing) / E sum(kept), exceeded by the truth with probability 1 - delta.

    ``largest`` is as of `log_capital`.

    Examples
    --------
    >>> round(compute_betting_bound(np.ones(60), np.ones(60), 0.05), 2)
    0.94
    """
    if not agreeing.any():
        return 0.0
    units, wanted = _alike(agreeing, kept), float(-np.log(delta))

    def short(ratio: float) -> float:
        return _log_capital(units, ratio, largest) - wanted

    if short(LEAST) < 0:
        return 0.0
    return float(scipy.optimize.brentq(short, LEAST, 1.0, xtol=1e-9))
