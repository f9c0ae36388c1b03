"""Judgments of altered copies as columns, and the probe that reads them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.stats.table import FloatArray
from judging.stats.asymptotic import drop_interval, share
from judging.stats.audits.design import SIMPLE, SamplingDesign
from judging.stats.audits.injection import UNIT, injection
from judging.stats.audits.invariance import invariance
from judging.stats.audits.probe import Probe, not_made

NO_COPIES = "no altered copies were judged: run the probes"
NO_CLUSTERS = "no interval: the clusters and weights of items without anything to alter are not kept"
PREFERENCE_UNIT = "preference from 0 to 1, towards the altered response"
FAMILIES = ("injection", "invariance")


@dataclass(frozen=True, eq=False)
class AlteredReplies:
    """What a judge said of n items, of altered copies of them, and of the items once more.

    Attributes
    ----------
    name
        Of the alteration and its probe, ``family:what``.
    original, copy, repeated
        (n,) scores, preferences or codes; NaN where there is no verdict.
    wanted
        (n,) the score that the alteration is to bring about; None where it should change nothing.
    left_out
        Items in which there was nothing to alter.
    n_items
        Items that were drawn.
    nominal, paired
        Whether the numbers are codes without distances; whether they are preferences among two responses.
    design
        Clusters and weights of the items.
    """

    name: str
    original: FloatArray
    copy: FloatArray
    repeated: FloatArray
    wanted: FloatArray | None
    left_out: int = 0
    n_items: int = 0
    nominal: bool = False
    paired: bool = False
    design: SamplingDesign = SIMPLE


def probe_alteration(columns: AlteredReplies) -> Probe:
    """The probe of one alteration. Its details also say what could not be altered, and which copies got no verdict."""
    probe = _probe(columns)
    unread, judged = np.isnan(columns.copy), np.ones(len(columns.copy), dtype=bool)
    unscored = columns.design.count_share(unread, judged, reason="no copy was judged")
    left_out = share(columns.left_out, columns.n_items)
    if not columns.design.is_simple:
        left_out = drop_interval(left_out, NO_CLUSTERS)
    return replace(probe, details={**probe.details, "nothing_to_alter": left_out, "unscored": unscored})


def probe_alterations(all_columns: Sequence[AlteredReplies]) -> list[Probe]:
    """One probe for each alteration; where a family has none, that it was not made, and why."""
    made = [probe_alteration(columns) for columns in all_columns]
    families = {probe.name.partition(":")[0] for probe in made}
    return made + [not_made(family, "", NO_COPIES) for family in FAMILIES if family not in families]


def _probe(columns: AlteredReplies) -> Probe:
    said = (columns.original, columns.copy, columns.repeated)
    if columns.wanted is None:
        return invariance(*said, name=columns.name, nominal=columns.nominal, design=columns.design)
    unit = PREFERENCE_UNIT if columns.paired else UNIT
    middle = 0.5 if columns.paired else -np.inf
    return injection(*said, columns.wanted, middle=middle, name=columns.name, unit=unit, design=columns.design)
