"""Does the judge's explanation say otherwise than its score?"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import scipy

from judging.stats.audits.design import SIMPLE, SamplingDesign
from judging.stats.audits.probe import LEAST, Probe, detectable, mean_probe, not_made
from judging.stats.stated_verdicts import LANGUAGES

UNIT = "share of replies whose explanation contradicts the verdict"
TOLERATED = 0.02
KNOWN = f"rules for {' and '.join(LANGUAGES)}"


def contradiction(
    flags: npt.ArrayLike,
    explained: npt.ArrayLike | None = None,
    *,
    tolerated: float = TOLERATED,
    design: SamplingDesign = SIMPLE,
) -> Probe:
    """Share of contradicting replies, tested one-sidedly and exactly against a tolerated share.

    ``flags`` (n,) is 1 where the explanation contradicts the verdict, 0 where not, NaN where nobody could tell;
    ``explained`` (n,) where there was an explanation to be read. The share that could be read stands beside the effect.
    With clusters or weights the p-value is the larger one of the exact test, for which items are independent and equal,
    and of a t-test.
    """
    column = np.asarray(flags, dtype=float)
    known = column[~np.isnan(column)]
    there = ~np.isnan(column) if explained is None else np.asarray(explained, dtype=bool)
    n, count, n_there = len(known), int(known.sum()), int(there.sum())
    readable = design.count_share(~np.isnan(column), there, reason="there is no explanation")
    if n < LEAST:
        why = f"{n} of {n_there} explanations state a verdict that can be read ({KNOWN}); the probe needs {LEAST}"
        return replace(not_made("contradiction", UNIT, why, n), details={"readable": readable})
    p = scipy.stats.binomtest(count, n, tolerated, alternative="greater").pvalue
    least = tolerated + detectable(float(np.sqrt(tolerated * (1 - tolerated) / n)), sides=1)
    test = f"exact binomial test, above {tolerated:g}"
    if not design.is_simple:
        p = max(p, _by_design(column, design, tolerated))
        test += f", or t over {'items' if design.clusters is None else 'clusters'} where that is less sure"
    effect = design.count_share(column == 1, ~np.isnan(column))
    return Probe("contradiction", effect, UNIT, test, float(p), least, {"readable": readable})


def _by_design(column: npt.NDArray[np.float64], design: SamplingDesign, tolerated: float) -> float:
    """One-sided p-value of the weighted share by sums over clusters; 1 where there are too few."""
    known = ~np.isnan(column)
    found = mean_probe("", column - tolerated, unit="", design=design)
    if np.isnan(found.p_value):
        return 0.0 if found.effect.defined and np.ptp(column[known]) == 0 else 1.0
    return found.p_value / 2 if found.effect.value > 0 else 1 - found.p_value / 2
