"""Is a new version of a judge closer to people than the old one, on the same items?

McNemar (1947), Psychometrika 12:153-157, in its exact form where closeness is right or wrong.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from judging.stats.asymptotic import share
from judging.stats.audits.probe import Probe, mean_probe


def drift(
    old: npt.ArrayLike,
    new: npt.ArrayLike,
    person: npt.ArrayLike,
    *,
    nominal: bool = True,
    clusters: Sequence[str] | None = None,
) -> Probe:
    """Change of agreement with people from the old version to the new.

    Parameters
    ----------
    old, new, person
        (n,) codes or scores; NaN where missing.
    nominal
        Whether closeness is "the same verdict" (the effect is then a difference of shares) or minus the absolute error.
    clusters
        As in `mean_probe`.

    Returns
    -------
    Probe
        Above 0 the new version is closer. ``details["changed"]``: share of items with another verdict than before,
        whether people agree or not.
    """
    before, after, y = (np.asarray(column, dtype=float) for column in (old, new, person))
    both = ~np.isnan(before) & ~np.isnan(after)
    changed = share(int((before != after)[both].sum()), int(both.sum()), reason="no item scored by both versions")
    known = both & ~np.isnan(y)
    same = (after == y).astype(float) - (before == y)
    d = same if nominal else np.abs(before - y) - np.abs(after - y)
    return mean_probe(
        "drift",
        np.where(known, d, np.nan),
        unit="share of items with the person's verdict" if nominal else "absolute error in units of the scale",
        clusters=clusters,
        details={"changed": changed},
        why_few="items with a person's label and both versions",
    )
