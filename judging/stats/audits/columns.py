"""Columns that the probes of a judge are made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray
from judging.stats.audits.altered import AlteredReplies
from judging.stats.audits.design import SIMPLE, SamplingDesign


@dataclass(frozen=True, eq=False)
class PairColumns:
    """What was said of n response pairs; preferences for response A (1, 0, 0.5), NaN where missing.

    Attributes
    ----------
    people
        (n, r) the preferences of r people.
    judge_ab, judge_ba
        (n,) the judge's, with A shown first, and second.
    length
        (n,) log of A's length over B's, or None.
    own
        (n,) 1 where A is of the judge's kind, -1 where B is, else 0, or None.
    design
        Clusters and weights of the items.
    shown_first
        (n,) 1 where the judge was shown A first, 0 where B, NaN where the order is unknown; None where all are unknown.
    judge_codes, people_codes
        (n,) and (n, r) categories, -1 where missing; or None.
    previous_codes
        (n,) those of an earlier version of the judge, or None.
    repeated
        (n, r) codes of r independent calls, or None.
    groups
        By name (domain, tier, …) the (n,) group of each item.
    altered
        What the judge said of altered copies of some items.
    contradicts, explained
        As of `ScoreColumns`.
    """

    people: FloatArray
    judge_ab: FloatArray
    judge_ba: FloatArray
    length: FloatArray | None = None
    own: FloatArray | None = None
    design: SamplingDesign = SIMPLE
    shown_first: FloatArray | None = None
    judge_codes: IntArray | None = None
    people_codes: IntArray | None = None
    previous_codes: IntArray | None = None
    repeated: FloatArray | None = None
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    altered: tuple[AlteredReplies, ...] = ()
    contradicts: FloatArray | None = None
    explained: BoolArray | None = None

    @property
    def judge(self) -> FloatArray:
        """(n,) the mean preference over both orders; that of one order where the other is missing."""
        return row_means(np.column_stack([self.judge_ab, self.judge_ba]))


@dataclass(frozen=True, eq=False)
class ScoreColumns:
    """What was said of n single items on k criteria of ordered scales; NaN where missing.

    Attributes
    ----------
    people
        (n, r, k) scores of r people; the first criterion is the one that is audited.
    judge
        (n, k) scores of the judge.
    repeated
        (n, r) scores of r independent calls on the first criterion, or None.
    previous
        (n,) scores of an earlier version of the judge on the first criterion, or None.
    length
        (n,) log length, or None.
    own
        (n,) whether the item is of the judge's kind, or None.
    groups
        By name (domain, tier, …) the (n,) group of each item.
    design
        Clusters and weights of the items.
    contradicts
        (n,) 1 where an explanation contradicts its verdict, 0 where not, NaN where nobody could tell; or None.
    explained
        (n,) whether there was an explanation to be read; None where only those that could be read are known.
    altered
        What the judge said of altered copies of some items.
    """

    people: FloatArray
    judge: FloatArray
    repeated: FloatArray | None = None
    previous: FloatArray | None = None
    length: FloatArray | None = None
    own: FloatArray | None = None
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    design: SamplingDesign = SIMPLE
    contradicts: FloatArray | None = None
    explained: BoolArray | None = None
    altered: tuple[AlteredReplies, ...] = ()


def row_means(columns: FloatArray) -> FloatArray:
    """(n,) means of the known values of (n, r); NaN where a row has none."""
    known = ~np.isnan(columns)
    total = np.where(known, columns, 0.0).sum(axis=1)
    return np.where(known.any(axis=1), total / np.maximum(known.sum(axis=1), 1), np.nan)


def codes_or_nan(codes: IntArray) -> FloatArray:
    """Codes as numbers, NaN where missing."""
    return np.where(codes == MISSING, np.nan, codes.astype(float))
