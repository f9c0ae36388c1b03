"""Does the judge's explanation say otherwise than its score?"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import scipy

from judging.stats.asymptotic import share
from judging.stats.audits.probe import LEAST, Probe, detectable, not_made
from judging.stats.stated_verdicts import LANGUAGES

UNIT = "share of replies whose explanation contradicts the verdict"
TOLERATED = 0.02
KNOWN = f"rules for {' and '.join(LANGUAGES)}"


def contradiction(
    flags: npt.ArrayLike, explained: npt.ArrayLike | None = None, *, tolerated: float = TOLERATED
) -> Probe:
    """Share of contradicting replies, tested one-sidedly and exactly against a tolerated share.

    ``flags`` (n,) is 1 where the explanation contradicts the verdict, 0 where not, NaN where nobody could tell;
    ``explained`` (n,) where there was an explanation to be read. The share that could be read stands beside the effect.
    """
    column = np.asarray(flags, dtype=float)
    known = column[~np.isnan(column)]
    there = known if explained is None else np.flatnonzero(np.asarray(explained, dtype=bool))
    n, count, n_there = len(known), int(known.sum()), len(there)
    readable = share(n, n_there, reason="there is no explanation")
    if n < LEAST:
        why = f"{n} of {n_there} explanations state a verdict that can be read ({KNOWN}); the probe needs {LEAST}"
        return replace(not_made("contradiction", UNIT, why, n), details={"readable": readable})
    p = scipy.stats.binomtest(count, n, tolerated, alternative="greater").pvalue
    least = tolerated + detectable(float(np.sqrt(tolerated * (1 - tolerated) / n)), sides=1)
    test = f"exact binomial test, above {tolerated:g}"
    return Probe("contradiction", share(count, n), UNIT, test, float(p), least, {"readable": readable})
