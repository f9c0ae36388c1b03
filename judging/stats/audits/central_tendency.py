"""Does the judge draw its verdicts to the middle of the scale (or push them to the ends)?

Saal, Downey and Lahey (1980), Psychological Bulletin 88:413-428. Noise widens a spread of scores, which therefore says
nothing of compression. This counted figure compares covariances only, which noise leaves alone. It stands in where the
fitted model (`fitted`) does not converge.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from annotation.stats.resampling import SumStatistic
from judging.stats.audits.design import SIMPLE, SamplingDesign, compute_ratio
from judging.stats.audits.probe import LEAST, Probe, influence_probe, not_made

UNIT = "points of the judge for one point of what people share; below 1 the judge keeps to the middle"


def central_tendency(judge: npt.ArrayLike, people: npt.ArrayLike, *, design: SamplingDesign = SIMPLE) -> Probe:
    """Covariance of the judge's score with a person's over that of two people's, less 1 in the test.

    ``judge`` (n,) and ``people`` (n, r) are scores, NaN where missing. The minimum detectable effect is the ratio
    below 1 that would be seen.
    """
    f, y = np.asarray(judge, dtype=float), np.asarray(people, dtype=float)
    known = ~np.isnan(y) & ~np.isnan(f)[:, None]
    number = known.sum(axis=1)
    two = number >= 2
    n = int(two.sum())
    if n < LEAST:
        return not_made("central_tendency", UNIT, f"{n} items scored by the judge and two people; it needs {LEAST}", n)
    w = design.weigh(len(f))
    mean = w @ np.where(known, y, 0.0).sum(axis=1) / (w @ number)
    centre = np.average(f[two], weights=w[two])
    y, f, number = np.where(known, y - mean, 0.0)[two], (f - centre)[two], number[two]
    with_judge = f * y.sum(axis=1) / number
    between = (y.sum(axis=1) ** 2 - (y**2).sum(axis=1)) / (number * (number - 1))
    if np.average(between, weights=w[two]) <= 1e-12:
        return not_made("central_tendency", UNIT, "two people's scores of an item have nothing in common", n)
    ratio = float(with_judge.mean() / between.mean())
    influence = (with_judge - ratio * between) / (n * between.mean())
    statistic = SumStatistic(np.column_stack([with_judge, between]), compute_ratio)
    found = influence_probe("central_tendency", ratio - 1, influence, statistic, unit=UNIT, design=design.select(two))
    return shift_by_one(found)


def shift_by_one(probe: Probe) -> Probe:
    """The probe of a ratio less 1, as one of the ratio."""
    effect = probe.effect
    moved = replace(effect, value=effect.value + 1, low=effect.low + 1, high=effect.high + 1)
    return replace(probe, effect=moved, minimum_detectable=1 - probe.minimum_detectable)
