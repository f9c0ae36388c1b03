"""Does the verdict change with what should not matter: names, formatting, the order of a profile's fields?"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from judging.stats.asymptotic import share
from judging.stats.audits.probe import Probe, mean_probe


def invariance(
    original: npt.ArrayLike,
    altered: npt.ArrayLike,
    repeated: npt.ArrayLike,
    *,
    name: str = "invariance",
    clusters: Sequence[str] | None = None,
) -> Probe:
    """How much more often an irrelevant change alters the verdict than asking again does.

    Parameters
    ----------
    original, altered, repeated
        (n,) verdicts on the item, on the altered item, and on the item asked again; NaN where missing. Without the
        repeat a judge's own noise would be taken for sensitivity.
    name
        Of the probe, for example ``"invariance:names"``.
    clusters
        As in `mean_probe`.

    Returns
    -------
    Probe
        ``details``: ``changed`` by the alteration, ``changed_by_repeat``.
    """
    first, other, again = (np.asarray(column, dtype=float) for column in (original, altered, repeated))
    known = ~np.isnan(first) & ~np.isnan(other) & ~np.isnan(again)
    moved, noisy = (first != other) & known, (first != again) & known
    return mean_probe(
        name,
        np.where(known, moved.astype(float) - noisy, np.nan),
        unit="share of items whose verdict changes, beyond that by asking again",
        clusters=clusters,
        details={
            "changed": share(int(moved.sum()), int(known.sum())),
            "changed_by_repeat": share(int(noisy.sum()), int(known.sum())),
        },
        why_few="items judged three times",
    )
