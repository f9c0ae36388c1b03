"""Is a new version of a judge closer to people than the old one, on the same items?

McNemar (1947), Psychometrika 12:153-157, in its exact form where closeness is right or wrong.
"""

import numpy as np
import numpy.typing as npt

from judging.stats.audits.design import SIMPLE, SamplingDesign
from judging.stats.audits.probe import ANY, SHARES, Probe, mean_probe


def drift(
    old: npt.ArrayLike,
    new: npt.ArrayLike,
    people: npt.ArrayLike,
    *,
    nominal: bool = True,
    design: SamplingDesign = SIMPLE,
) -> Probe:
    """Change of agreement with people from the old version to the new.

    Parameters
    ----------
    old, new
        (n,) codes or scores; NaN where missing.
    people
        (n, r) those of r people, or (n,) of one: closeness is the mean over them.
    nominal
        Whether closeness is "the same verdict" (the effect is then a difference of shares) or minus the absolute error.
    design
        As in `mean_probe`.

    Returns
    -------
    Probe
        Above 0 the new version is closer. ``details["changed"]``: share of items with another verdict than before,
        whether people agree or not.
    """
    before, after = (np.asarray(column, dtype=float) for column in (old, new))
    y = np.asarray(people, dtype=float)
    y = y[:, None] if y.ndim == 1 else y
    both = ~np.isnan(before) & ~np.isnan(after)
    changed = design.count_share(before != after, both, reason="no item scored by both versions")
    known = both[:, None] & ~np.isnan(y)
    first, last = before[:, None], after[:, None]
    closer = (last == y).astype(float) - (first == y) if nominal else np.abs(first - y) - np.abs(last - y)
    number = known.sum(axis=1)
    d = np.where(number > 0, np.where(known, closer, 0.0).sum(axis=1) / np.maximum(number, 1), np.nan)
    return mean_probe(
        "drift",
        d,
        unit="share of people whose verdict it is" if nominal else "absolute error in units of the scale",
        design=design,
        details={"changed": changed},
        why_few="items with a person's label and both versions",
        bounds=SHARES if nominal else ANY,
    )
