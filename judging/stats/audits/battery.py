"""All probes that the material allows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from annotation.stats.table import BoolArray, FloatArray
from judging.stats.audits.altered import Altered, altered_probes
from judging.stats.audits.central_tendency import central_tendency
from judging.stats.audits.contradiction import contradiction
from judging.stats.audits.drift import drift
from judging.stats.audits.findings import Finding, findings
from judging.stats.audits.halo import halo
from judging.stats.audits.length import length
from judging.stats.audits.leniency import leniency
from judging.stats.audits.position import position_both_orders, position_one_order
from judging.stats.audits.probe import LEAST, LEVEL, Probe
from judging.stats.audits.repeats import repeats
from judging.stats.audits.self_preference import self_preference_pairs, self_preference_scores
from judging.stats.audits.subgroups import UNIT as SUBGROUP_UNIT
from judging.stats.audits.subgroups import subgroups
from judging.stats.multiplicity import Method

AGREEING = "agreement with a person, judge minus another person, in the group that stands out most, less elsewhere"


@dataclass(frozen=True, eq=False)
class PairColumns:
    """What was said of n response pairs; preferences for response A (1, 0, 0.5), NaN where missing.

    Attributes
    ----------
    person
        (n,) one person's preference.
    judge_ab, judge_ba
        (n,) the judge's, with A shown first, and second.
    length
        (n,) log of A's length over B's, or None.
    own
        (n,) 1 where A is of the judge's kind, -1 where B is, else 0, or None.
    clusters
        What is independent of each other, or None.
    shown_first
        (n,) 1 where the judge was shown A first, 0 where B, NaN where the order is unknown; None where all are unknown.
    judge_agrees, other_agrees
        (n,) whether the judge, and another person, say what the person says (1, 0); or None.
    repeated
        (n, r) codes of r independent calls, or None.
    previous_agrees
        (n,) whether an earlier version of the judge says what the person says, or None.
    groups
        By name (domain, tier, …) the (n,) group of each item.
    altered
        What the judge said of altered copies of some items.
    contradicts, explained
        As of `ScoreColumns`.
    """

    person: FloatArray
    judge_ab: FloatArray
    judge_ba: FloatArray
    length: FloatArray | None = None
    own: FloatArray | None = None
    clusters: tuple[str, ...] | None = None
    shown_first: FloatArray | None = None
    judge_agrees: FloatArray | None = None
    other_agrees: FloatArray | None = None
    repeated: FloatArray | None = None
    previous_agrees: FloatArray | None = None
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    altered: tuple[Altered, ...] = ()
    contradicts: FloatArray | None = None
    explained: BoolArray | None = None

    @property
    def judge(self) -> FloatArray:
        """(n,) the mean preference over both orders; that of one order where the other is missing."""
        both = np.column_stack([self.judge_ab, self.judge_ba])
        known = ~np.isnan(both)
        total = np.where(known, both, 0.0).sum(axis=1)
        return np.where(known.any(axis=1), total / np.maximum(known.sum(axis=1), 1), np.nan)


@dataclass(frozen=True, eq=False)
class ScoreColumns:
    """What was said of n single items on k criteria of ordered scales; NaN where missing.

    Attributes
    ----------
    person, judge
        (n, k) scores of one person and of the judge; the first criterion is the one that is audited.
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
    clusters
        What is independent of each other, or None.
    contradicts
        (n,) 1 where an explanation contradicts its verdict, 0 where not, NaN where nobody could tell; or None.
    explained
        (n,) whether there was an explanation to be read; None where only those that could be read are known.
    altered
        What the judge said of altered copies of some items.
    """

    person: FloatArray
    judge: FloatArray
    repeated: FloatArray | None = None
    previous: FloatArray | None = None
    length: FloatArray | None = None
    own: FloatArray | None = None
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    clusters: tuple[str, ...] | None = None
    contradicts: FloatArray | None = None
    explained: BoolArray | None = None
    altered: tuple[Altered, ...] = ()


@dataclass(frozen=True)
class Audit:
    """The findings of all probes, and how they were corrected for their number."""

    findings: tuple[Finding, ...]
    level: float
    method: Method

    @property
    def found(self) -> tuple[str, ...]:
        """Names of the biases found."""
        return tuple(one.probe.name for one in self.findings if one.found)

    def as_json(self) -> dict[str, Any]:
        """The audit as JSON types."""
        return {
            "level": self.level,
            "correction": self.method,
            "found": list(self.found),
            "probes": [one.as_json() for one in self.findings],
        }


def audit_pairs(
    pairs: PairColumns, *, level: float = LEVEL, method: Method = "holm", seed: int = 0, also: Sequence[Probe] = ()
) -> Audit:
    """Position, length and self-preference of a judge that compares two responses, and probes made elsewhere."""
    made: list[Probe] = [_position(pairs)]
    if pairs.length is not None:
        made.append(length(pairs.judge, pairs.person, pairs.length, paired=True, clusters=pairs.clusters))
    if pairs.own is not None:
        made.append(self_preference_pairs(pairs.judge, pairs.person, pairs.own, clusters=pairs.clusters))
    made += _of_categories(pairs, seed)
    made += [*altered_probes(pairs.altered), *also]
    return Audit(tuple(findings(made, level=level, method=method)), level, method)


def audit_nominal(
    columns: PairColumns, *, level: float = LEVEL, method: Method = "holm", seed: int = 0, also: Sequence[Probe] = ()
) -> Audit:
    """Repeats, drift and subgroups of a judge on a scale without order: whether it says what a person says."""
    made = [*_of_categories(columns, seed), *altered_probes(columns.altered), *also]
    return Audit(tuple(findings(made, level=level, method=method)), level, method)


def _position(pairs: PairColumns) -> Probe:
    """From both orders where there are enough; else from one order each, beside the person's preference."""
    both = int((~np.isnan(pairs.judge_ab) & ~np.isnan(pairs.judge_ba)).sum())
    if both >= LEAST or pairs.shown_first is None or np.isnan(pairs.shown_first).all():
        return position_both_orders(pairs.judge_ab, pairs.judge_ba, clusters=pairs.clusters)
    a_first = pairs.shown_first == 1
    by_judge, by_person = (np.where(a_first, column, 1 - column) for column in (pairs.judge, pairs.person))
    unknown = np.isnan(pairs.shown_first)
    return position_one_order(np.where(unknown, np.nan, by_judge), by_person, clusters=pairs.clusters)


def _of_categories(columns: PairColumns, seed: int) -> list[Probe]:
    """The probes that need no order of the categories."""
    made: list[Probe] = []
    if columns.repeated is not None:
        made.append(repeats(columns.repeated, nominal=True))
    if columns.previous_agrees is not None and columns.judge_agrees is not None:
        agreed = np.ones(len(columns.judge_agrees))
        made.append(drift(columns.previous_agrees, columns.judge_agrees, agreed, clusters=columns.clusters))
    if columns.judge_agrees is not None and columns.other_agrees is not None:
        for name, groups in columns.groups.items():
            probe = subgroups(columns.judge_agrees, columns.other_agrees, groups, name=f"subgroups:{name}", seed=seed)
            made.append(replace(probe, unit=AGREEING + probe.unit.removeprefix(SUBGROUP_UNIT)))
    if _told(columns.contradicts, columns.explained):
        made.append(contradiction(_given(columns.contradicts), columns.explained))
    return made


def audit_scores(
    scores: ScoreColumns, *, level: float = LEVEL, method: Method = "holm", seed: int = 0, also: Sequence[Probe] = ()
) -> Audit:
    """Every probe of a judge that scores single items, as far as the columns are there."""
    judge, person, by = scores.judge[:, 0], scores.person[:, 0], scores.clusters
    asked: list[tuple[object, Callable[[], Probe]]] = [
        (True, lambda: leniency(judge, person, clusters=by)),
        (True, lambda: central_tendency(judge, person, clusters=by)),
        (scores.length, lambda: length(judge, person, _given(scores.length), clusters=by)),
        (scores.own, lambda: self_preference_scores(judge, person, _given(scores.own), clusters=by)),
        (scores.repeated, lambda: repeats(_given(scores.repeated))),
        (True if scores.judge.shape[1] > 1 else None, lambda: halo(scores.judge, scores.person, clusters=by)),
        (
            _told(scores.contradicts, scores.explained) or None,
            lambda: contradiction(_given(scores.contradicts), scores.explained),
        ),
        (scores.previous, lambda: drift(_given(scores.previous), judge, person, nominal=False, clusters=by)),
    ]
    made = [probe() for there, probe in asked if there is not None]
    made += [
        subgroups(judge, person, groups, name=f"subgroups:{name}", seed=seed) for name, groups in scores.groups.items()
    ]
    made += [*altered_probes(scores.altered), *also]
    return Audit(tuple(findings(made, level=level, method=method)), level, method)


def _told(flags: FloatArray | None, explained: BoolArray | None) -> bool:
    """Whether there is any explanation, read or not."""
    return flags is not None and bool((~np.isnan(flags)).any() or (explained is not None and explained.any()))


def _given(column: FloatArray | None) -> FloatArray:
    assert column is not None
    return column
