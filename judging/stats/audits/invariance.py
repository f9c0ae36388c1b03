"""Does the verdict change with what should not matter: names, formatting, the order of a profile's fields?"""

import numpy as np
import numpy.typing as npt

from annotation.stats.estimate import Estimate
from annotation.stats.table import FloatArray
from judging.stats.asymptotic import normal
from judging.stats.audits.design import SIMPLE, SamplingDesign
from judging.stats.audits.exchange import ODD, exchange_probe, odd_one_out
from judging.stats.audits.probe import SHARES, Probe

UNIT = "share of items whose verdict changes, beyond that by asking again"


def invariance(
    original: npt.ArrayLike,
    altered: npt.ArrayLike,
    repeated: npt.ArrayLike,
    *,
    name: str = "invariance",
    nominal: bool = False,
    design: SamplingDesign = SIMPLE,
) -> Probe:
    """How much more often an irrelevant change alters the verdict than asking again does.

    Parameters
    ----------
    original, altered, repeated
        (n,) verdicts on the item, on the altered item, and on the item asked again; NaN where missing. Without the
        repeat a judge's own noise would be taken for sensitivity.
    name
        Of the probe, for example ``"invariance:names"``.
    nominal
        Whether the numbers are codes without distances.
    design
        As in `mean_probe`.

    Returns
    -------
    Probe
        ``details``: ``changed`` by the alteration, ``changed_by_repeat``; with distances also ``mean_change``, the mean
        absolute change beyond that by asking again, and ``shift``, the mean of the copy's score minus the others'.
    """
    columns = np.array([original, altered, repeated], dtype=float)
    known = ~np.isnan(columns).any(axis=0)
    first, copy, again = columns[:, known]
    by_copy, by_repeat = ((copy != first) + 0.0 + (copy != again)) / 2, (first != again) + 0.0
    d = np.full(len(known), np.nan)
    d[known] = by_copy - by_repeat
    return exchange_probe(
        name,
        d,
        odd_one_out(first, again, copy),
        test=ODD,
        unit=UNIT,
        design=design,
        details={
            "changed": design.count_share(columns[1] != columns[0], known),
            "changed_by_repeat": design.count_share(columns[2] != columns[0], known),
            **({} if nominal or known.sum() < 2 else _distances(first, copy, again, design.select(known))),
        },
        why_few="items with a verdict on original, copy and repeat",
        bounds=SHARES,
    )


def _distances(first: FloatArray, copy: FloatArray, again: FloatArray, design: SamplingDesign) -> dict[str, Estimate]:
    by_copy = (np.abs(copy - first) + np.abs(copy - again)) / 2
    return {
        "mean_change": _mean(by_copy - np.abs(again - first), design),
        "shift": _mean(copy - (first + again) / 2, design),
    }


def _mean(d: FloatArray, design: SamplingDesign) -> Estimate:
    value, se, df, _ = design.estimate_mean(d)
    return normal(value, se, n_items=len(d), df=df)
