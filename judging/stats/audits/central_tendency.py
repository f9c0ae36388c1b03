"""Does the judge shun the ends of the scale (or flee to them)?

Saal, Downey and Lahey (1980), Psychological Bulletin 88:413-428. Judge and person score the same items, so that their
standard deviations are not independent; the variance of the log of their ratio comes from what each item adds to both.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from judging.stats.audits.probe import LEAST, Probe, influence_probe, not_made

UNIT = "standard deviation of the judge over a person's; below 1 the judge keeps to the middle"


def central_tendency(judge: npt.ArrayLike, person: npt.ArrayLike, *, clusters: Sequence[str] | None = None) -> Probe:
    """Ratio of the standard deviations of judge and person; the test is on its logarithm.

    ``judge`` and ``person`` are (n,) scores, NaN where missing. The minimum detectable effect is the ratio below 1
    that would be seen.
    """
    f, y = np.asarray(judge, dtype=float), np.asarray(person, dtype=float)
    known = ~np.isnan(f) & ~np.isnan(y)
    f, y, n = f[known], y[known], int(known.sum())
    if n < LEAST:
        return not_made("central_tendency", UNIT, f"{n} items with both scores; the probe needs {LEAST}", n)
    spread = f.var(), y.var()
    if min(spread) < 1e-12:
        who = "the judge" if spread[0] < 1e-12 else "the person"
        return not_made("central_tendency", UNIT, f"{who} always gives the same score", n)
    influence = ((f - f.mean()) ** 2 / spread[0] - (y - y.mean()) ** 2 / spread[1]) / (2 * n)
    names = None if clusters is None else tuple(np.asarray(clusters, dtype=object)[known])
    found = influence_probe(
        "central_tendency", float(np.log(spread[0] / spread[1]) / 2), influence, unit=UNIT, clusters=names
    )
    value, low, high = np.exp([found.effect.value, found.effect.low, found.effect.high]).tolist()
    return replace(
        found,
        effect=replace(found.effect, value=value, low=low, high=high),
        minimum_detectable=float(np.exp(-found.minimum_detectable)),
    )
