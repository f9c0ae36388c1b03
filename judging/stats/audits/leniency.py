"""Is the judge kinder or harsher than people? Saal, Downey and Lahey (1980), Psychological Bulletin 88:413-428."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from judging.stats.audits.probe import Probe, mean_probe


def leniency(judge: npt.ArrayLike, person: npt.ArrayLike, *, clusters: Sequence[str] | None = None) -> Probe:
    """Mean of judge − person in units of the scale; above 0 the judge is kinder.

    ``judge`` and ``person`` are (n,) scores, NaN where missing.
    """
    d = np.asarray(judge, dtype=float) - np.asarray(person, dtype=float)
    return mean_probe("leniency", d, unit="units of the scale", clusters=clusters, why_few="items with both scores")
