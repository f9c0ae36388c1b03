"""Does the judge prefer responses of its own kind, beyond what people prefer?

Panickssery, Bowman and Feng (2024), "LLM Evaluators Recognize and Favor Their Own Generations", arXiv 2404.13076. A
preference that people share is quality, not bias: the probe compares with a person's verdict on the same pair.
"""

import numpy as np
import numpy.typing as npt

from annotation.stats.resampling import SumStatistic
from annotation.stats.table import FloatArray
from judging.stats.audits.design import SIMPLE, SamplingDesign, compute_ratio
from judging.stats.audits.probe import LEAST, SHARES, Probe, influence_probe, mean_probe, not_made


def self_preference_pairs(
    judge: npt.ArrayLike, person: npt.ArrayLike, own: npt.ArrayLike, *, design: SamplingDesign = SIMPLE
) -> Probe:
    """Share of pairs that the judge gives to its own kind minus the share that a person gives to it.

    Parameters
    ----------
    judge, person
        (n,) preference for response A: 1, 0, 0.5; NaN where missing.
    own
        (n,) 1 where response A is of the judge's kind (model or family), -1 where B is, 0 where neither or both.
    design
        As in `mean_probe`.
    """
    side = np.asarray(own, dtype=float)
    d = (np.asarray(judge, dtype=float) - np.asarray(person, dtype=float)) * side
    return mean_probe(
        "self_preference",
        np.where(side == 0, np.nan, d),
        unit="share of pairs with one response of the judge's own kind",
        design=design,
        why_few="pairs with one response of the judge's own kind",
        bounds=SHARES,
    )


def self_preference_scores(
    judge: npt.ArrayLike, person: npt.ArrayLike, own: npt.ArrayLike, *, design: SamplingDesign = SIMPLE
) -> Probe:
    """Judge minus person on items of its own kind, less the same on all others, in units of the scale.

    Parameters
    ----------
    judge, person
        (n,) scores; NaN where missing.
    own
        (n,) whether the item is of the judge's kind.
    design
        As in `mean_probe`.
    """
    unit = "units of the scale"
    d, mine = np.asarray(judge, dtype=float) - np.asarray(person, dtype=float), np.asarray(own, dtype=bool)
    known = ~np.isnan(d)
    d, mine = d[known], mine[known]
    n_own = int(mine.sum())
    if min(n_own, len(d) - n_own) < LEAST:
        reason = f"{n_own} items of the judge's own kind and {len(d) - n_own} others; the probe needs {LEAST} of each"
        return not_made("self_preference", unit, reason, len(d))
    inside, outside = float(d[mine].mean()), float(d[~mine].mean())
    influence = np.where(mine, (d - inside) / n_own, -(d - outside) / (len(d) - n_own))
    statistic = SumStatistic(np.column_stack([mine * d, mine, ~mine * d, ~mine]).astype(float), _difference)
    return influence_probe(
        "self_preference", inside - outside, influence, statistic, unit=unit, design=design.select(known)
    )


def _difference(sums: FloatArray) -> FloatArray:
    """(…, 1) one mean minus another from two sums, each before its number."""
    return compute_ratio(sums[..., :2]) - compute_ratio(sums[..., 2:])
