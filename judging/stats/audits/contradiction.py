"""Does the judge's explanation say otherwise than its score?"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import scipy

from judging.stats.audits.probe import LEAST, Probe, detectable, mean_probe, not_made
from judging.stats.clustered_shares import count_clustered_share
from judging.stats.stated_verdicts import LANGUAGES

UNIT = "share of replies whose explanation contradicts the verdict"
TOLERATED = 0.02
KNOWN = f"rules for {' and '.join(LANGUAGES)}"


def contradiction(
    flags: npt.ArrayLike,
    explained: npt.ArrayLike | None = None,
    *,
    tolerated: float = TOLERATED,
    clusters: Sequence[str] | None = None,
) -> Probe:
    """Share of contradicting replies, tested one-sidedly and exactly against a tolerated share.

    ``flags`` (n,) is 1 where the explanation contradicts the verdict, 0 where not, NaN where nobody could tell;
    ``explained`` (n,) where there was an explanation to be read. The share that could be read stands beside the effect.
    With ``clusters`` the p-value is the larger one of the exact test, for which items are independent, and of a t-test
    over clusters.
    """
    column = np.asarray(flags, dtype=float)
    known = column[~np.isnan(column)]
    there = ~np.isnan(column) if explained is None else np.asarray(explained, dtype=bool)
    n, count, n_there = len(known), int(known.sum()), int(there.sum())
    readable = count_clustered_share(~np.isnan(column), there, clusters, reason="there is no explanation")
    if n < LEAST:
        why = f"{n} of {n_there} explanations state a verdict that can be read ({KNOWN}); the probe needs {LEAST}"
        return replace(not_made("contradiction", UNIT, why, n), details={"readable": readable})
    p = scipy.stats.binomtest(count, n, tolerated, alternative="greater").pvalue
    least = tolerated + detectable(float(np.sqrt(tolerated * (1 - tolerated) / n)), sides=1)
    test = f"exact binomial test, above {tolerated:g}"
    if clusters is not None:
        p = max(p, _clustered(column, clusters, tolerated))
        test += ", or t over clusters where that is less sure"
    effect = count_clustered_share(column == 1, ~np.isnan(column), clusters)
    return Probe("contradiction", effect, UNIT, test, float(p), least, {"readable": readable})


def _clustered(column: npt.NDArray[np.float64], clusters: Sequence[str], tolerated: float) -> float:
    """One-sided p-value of the share by sums over clusters; 1 where there are too few."""
    known = ~np.isnan(column)
    found = mean_probe("", column - tolerated, unit="", clusters=clusters)
    if np.isnan(found.p_value):
        return 0.0 if found.effect.defined and np.ptp(column[known]) == 0 else 1.0
    return found.p_value / 2 if found.effect.value > 0 else 1 - found.p_value / 2
