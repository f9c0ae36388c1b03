"""Tests of a judge's answer on an altered copy beside its two answers on the item as it is.

Where the alteration does nothing, the three answers are draws of one kind: whichever of them came from the copy changes
no distribution, item by item, whatever the items have in common. So the copy may be taken to be any of the three with
probability 1/3, which gives tests that are exact at any size (Fisher 1935, The Design of Experiments, ch. 3), also
where items depend on each other or weigh differently. The effect is weighted, and its interval the usual one, by
cluster.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import scipy

from annotation.stats.estimate import Estimate
from annotation.stats.table import FloatArray
from judging.stats.audits.design import SamplingDesign
from judging.stats.audits.probe import ANY, LEVEL, POWER, Probe, mean_probe

ODD = "exact binomial test of the odd answer out"
PERMUTED = "exact permutation test"
FINE = 1000
"""Steps of a scale without even steps."""


def exchange_probe(
    name: str,
    differences: FloatArray,
    p_value: float,
    *,
    test: str,
    unit: str,
    design: SamplingDesign,
    details: Mapping[str, Estimate],
    why_few: str,
    bounds: tuple[float, float] = ANY,
) -> Probe:
    """A probe of the mean of ``differences`` (n,) with the p-value of a test of exchange; the rest as of `mean_probe`.

    Where no item moved, the smallest detectable effect is that of items moved by one unit: `compute_least_share`.
    """
    probe = mean_probe(name, differences, unit=unit, design=design, details=details, why_few=why_few, bounds=bounds)
    if not probe.effect.defined:
        return replace(probe, details=details)
    known = differences[~np.isnan(differences)]
    least = probe.minimum_detectable if known.any() else compute_least_share(len(known))
    return replace(probe, test=test, p_value=p_value, minimum_detectable=least)


def odd_one_out(first: FloatArray, again: FloatArray, copy: FloatArray) -> float:
    """One-sided p-value that the copy (n,) is the odd answer out of three more often than one in three times.

    Items with three equal or three different answers say nothing.
    """
    copy_is_odd = int(((first == again) & (copy != first)).sum())
    other_is_odd = int(((copy == first) ^ (copy == again)).sum())
    n = copy_is_odd + other_is_odd
    return float(scipy.stats.binomtest(copy_is_odd, n, 1 / 3, alternative="greater").pvalue) if n else 1.0


def compute_p_value(first: FloatArray, again: FloatArray, copy: FloatArray, sign: FloatArray) -> float:
    """Two-sided p-value of the sum of (copy - mean of the others) * sign, each of the three (n,) being the copy.

    Exact: the distribution of the sum is the convolution of the items', by way of its Fourier transform.
    """
    three = np.column_stack([copy, first, again])
    if_copy = (three - (three.sum(axis=1, keepdims=True) - three) / 2) * sign[:, None]
    moving = if_copy[np.ptp(three, axis=1) > 0]
    if not len(moving):
        return 1.0
    steps = np.rint(moving / _step(three)).astype(np.int64)
    rows, counts = np.unique(steps, axis=0, return_counts=True)
    low = rows.min(axis=1)
    reach = int((rows.max(axis=1) - low) @ counts) + 1
    size = scipy.fft.next_fast_len(reach, real=True)
    frequency = np.arange(size // 2 + 1)[:, None, None] / size
    of_item = np.exp(-2j * np.pi * frequency * (rows - low[:, None])).mean(axis=2)
    probability = np.fft.irfft(np.prod(of_item**counts, axis=1), size)[:reach]
    sums = np.arange(reach) + int(low @ counts)
    p = float(np.maximum(probability, 0.0)[np.abs(sums) >= abs(int(steps[:, 0].sum()))].sum())
    return float(np.clip(p, 3.0 ** -len(moving), 1.0))


def _step(scores: FloatArray) -> float:
    """Half the distance between scores; of scores at uneven distances, a fine part of their range."""
    gaps = np.diff(np.unique(scores))
    multiples = gaps / gaps.min()
    even = np.allclose(multiples, np.rint(multiples), atol=1e-6) and multiples.sum() < FINE
    return float(gaps.min() if even else gaps.sum() / FINE) / 2


def compute_least_share(n: int, *, level: float = LEVEL, power: float = POWER) -> float:
    """The share of n items, moved by the copy alone, that the test of the odd answer out finds with the given power.

    It takes k items with 3^-k <= level, and the share p at which a binomial count reaches k so often.

    Examples
    --------
    >>> round(compute_least_share(60), 3)
    0.07
    """
    k = int(np.ceil(np.log(1 / level) / np.log(3)))
    if n < k:
        return np.nan
    return float(scipy.optimize.brentq(lambda p: scipy.stats.binom.sf(k - 1, n, p) - power, 0.0, 1.0))
