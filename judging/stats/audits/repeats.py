"""Does the judge say the same when it is asked again?"""

import numpy as np
import numpy.typing as npt
import scipy

from annotation.stats.estimate import Estimate
from judging.stats.asymptotic import normal
from judging.stats.audits.design import SIMPLE, SamplingDesign
from judging.stats.audits.probe import LEAST, Probe, detectable, explain_clusters, not_made

UNIT = "chance that two calls on one item give different verdicts"
TOLERATED = 0.1


def repeats(
    verdicts: npt.ArrayLike,
    *,
    tolerated: float = TOLERATED,
    nominal: bool = False,
    design: SamplingDesign = SIMPLE,
) -> Probe:
    """How often two calls on one item differ, tested against a tolerated rate.

    Parameters
    ----------
    verdicts
        (n, r) scores or codes of r independent calls; NaN where a call gave none. Items with two or more count.
    tolerated
        The rate that is accepted; the test is one-sided: is the judge's higher?
    nominal
        Whether the numbers are codes without distances.
    design
        As in `mean_probe`.

    Returns
    -------
    Probe
        ``details``: ``unanimous`` (share of items with one verdict throughout), and on a scale with distances
        ``within_item_sd`` and ``minimum_detectable_difference``: two single scores have to differ by more than
        1.96 sqrt(2) times that deviation before the difference is more than the judge's own noise (Bland and Altman
        1996, BMJ 313:744).
    """
    said = np.asarray(verdicts, dtype=float)
    twice = (~np.isnan(said)).sum(axis=1) >= 2 if said.size else np.zeros(0, dtype=bool)
    said = said[twice] if said.size else np.empty((0, 2))
    n = len(said)
    if n < LEAST:
        return not_made("repeats", UNIT, f"{n} items with two verdicts or more; the probe needs {LEAST}", n)
    size = (~np.isnan(said)).sum(axis=1)
    differs = (said[:, :, None] != said[:, None, :]) & ~np.isnan(said)[:, :, None] & ~np.isnan(said)[:, None, :]
    rate = differs.sum(axis=(1, 2)) / (size * (size - 1))
    design = design.select(twice)
    if why := explain_clusters(design):
        return not_made("repeats", UNIT, why, n)
    value, se, df, _ = design.estimate_mean(rate)
    details = {"unanimous": design.count_share(rate == 0, np.ones(n, dtype=bool))}
    if not nominal:
        variance = np.nanvar(said, axis=1, ddof=1)
        details |= _deviation(variance, design)
    flat = se < 1e-12
    n_units = n if design.clusters is None else len(set(design.clusters))
    p = _same_everywhere(value, n_units, tolerated) if flat else _above(value, se, tolerated, df)
    return Probe(
        "repeats",
        normal(value, se, n_items=n, bounds=(0.0, 1.0), df=df),
        UNIT,
        f"one-sided, above {tolerated:g}",
        p,
        np.nan if flat else tolerated + detectable(se, sides=1),
        details,
    )


def _same_everywhere(value: float, n: int, tolerated: float) -> float:
    """Where every item (or cluster) has the same rate there is no spread to test with: n coins instead."""
    return float(scipy.stats.binomtest(round(value * n), n, tolerated, alternative="greater").pvalue)


def _above(value: float, se: float, tolerated: float, df: float) -> float:
    return float(scipy.special.stdtr(df, -((value - tolerated) / se)))


def _deviation(variance: npt.NDArray[np.float64], design: SamplingDesign) -> dict[str, Estimate]:
    mean, error, df, _ = design.estimate_mean(variance)
    deviation = float(np.sqrt(mean))
    se = error / (2 * deviation) if deviation > 0 else 0.0
    factors = {"within_item_sd": 1.0, "minimum_detectable_difference": 1.96 * np.sqrt(2)}
    return {
        name: normal(factor * deviation, factor * se, n_items=len(variance), bounds=(0.0, np.inf), df=df)
        for name, factor in factors.items()
    }
