"""Does the judge's explanation say otherwise than its score?"""

import numpy as np
import numpy.typing as npt
from scipy import stats

from judging.stats.asymptotic import share
from judging.stats.audits.probe import LEAST, Probe, detectable, not_made

UNIT = "share of replies whose explanation contradicts the verdict"
TOLERATED = 0.02


def contradiction(flags: npt.ArrayLike, *, tolerated: float = TOLERATED) -> Probe:
    """Share of contradicting replies, tested one-sidedly and exactly against a tolerated share.

    ``flags`` (n,) is 1 where the explanation contradicts the verdict, 0 where not, NaN where nobody could tell.
    """
    known = np.asarray(flags, dtype=float)
    known = known[~np.isnan(known)]
    n, count = len(known), int(known.sum())
    if n < LEAST:
        return not_made("contradiction", UNIT, f"{n} explanations; the probe needs {LEAST}", n)
    p = stats.binomtest(count, n, tolerated, alternative="greater").pvalue
    least = tolerated + detectable(float(np.sqrt(tolerated * (1 - tolerated) / n)), sides=1)
    return Probe("contradiction", share(count, n), UNIT, f"exact binomial test, above {tolerated:g}", float(p), least)
