"""All probes that the material allows, and what is found after correcting for having looked in many places."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.stats.estimate import number_or_none
from annotation.stats.table import BoolArray, FloatArray
from judging.stats.audits.altered import probe_alterations
from judging.stats.audits.annotators import agreement_differences
from judging.stats.audits.columns import PairColumns, ScoreColumns, codes_or_nan, row_means
from judging.stats.audits.contradiction import contradiction
from judging.stats.audits.design import SamplingDesign
from judging.stats.audits.drift import drift
from judging.stats.audits.halo import halo
from judging.stats.audits.probe import LEVEL, Probe
from judging.stats.audits.repeats import repeats
from judging.stats.audits.scale import probe_preference, probe_scale
from judging.stats.audits.subgroups import subgroups
from judging.stats.multiplicity import Method, adjust_p_values
from judging.stats.result_types import FindingDocument, ProbesDocument


@dataclass(frozen=True)
class Finding:
    """A probe with its adjusted p-value; ``found`` is None where the probe could not be made."""

    probe: Probe
    adjusted_p_value: float
    found: bool | None

    def to_json(self) -> FindingDocument:
        """The finding as JSON types."""
        return {
            **self.probe.to_json(),
            "adjusted_p_value": number_or_none(self.adjusted_p_value),
            "found": self.found,
        }


def findings(probes: Sequence[Probe], *, level: float = LEVEL, method: Method = "holm") -> list[Finding]:
    """The probes with what each finds at ``level`` for all of them together.

    ``"holm"`` holds the chance that a judge without any bias is accused of one; ``"benjamini-hochberg"`` the expected
    share of false accusations among all.
    """
    together = adjust_p_values([probe.p_value for probe in probes], method)
    return [
        Finding(probe, float(p), None if np.isnan(p) else bool(p <= level))
        for probe, p in zip(probes, together, strict=True)
    ]


AGREEING = "agreement with a person, judge − another person, in the group that stands out most, less elsewhere"


@dataclass(frozen=True)
class Audit:
    """The findings of the probes of one criterion, corrected for the number of probes of all criteria of the judge."""

    findings: tuple[Finding, ...]
    level: float
    method: Method

    @property
    def found(self) -> tuple[str, ...]:
        """Names of the biases found."""
        return tuple(one.probe.name for one in self.findings if one.found)

    def to_json(self) -> ProbesDocument:
        """The audit as JSON types."""
        return {
            "level": self.level,
            "correction": self.method,
            "found": list(self.found),
            "probes": [one.to_json() for one in self.findings],
        }


def correct(
    probes: Mapping[str, Sequence[Probe]], *, level: float = LEVEL, method: Method = "holm"
) -> dict[str, Audit]:
    """By criterion, what its probes find; all probes of all criteria are one family of tests."""
    together = findings([one for made in probes.values() for one in made], level=level, method=method)
    ends = np.cumsum([len(made) for made in probes.values()])
    parts = zip(probes, ends - [len(made) for made in probes.values()], ends, strict=True)
    return {key: Audit(tuple(together[start:end]), level, method) for key, start, end in parts}


def probe_pairs(pairs: PairColumns) -> list[Probe]:
    """Every probe of a judge that compares two responses, as far as the columns are there."""
    return [*probe_preference(pairs), *_of_categories(pairs), *probe_alterations(pairs.altered)]


def probe_nominal(columns: PairColumns) -> list[Probe]:
    """Repeats, drift and subgroups of a judge on a scale without order: whether it says what people say."""
    return [*_of_categories(columns), *probe_alterations(columns.altered)]


def probe_scores(scores: ScoreColumns) -> list[Probe]:
    """Every probe of a judge that scores single items, as far as the columns are there."""
    made, differences = probe_scale(scores)
    by = scores.design
    if scores.repeated is not None:
        made.append(repeats(scores.repeated, design=by))
    if scores.judge.shape[1] > 1:
        made.append(halo(scores.judge, scores.people, design=by))
    made += _contradiction(scores.contradicts, scores.explained, by)
    if scores.previous is not None:
        made.append(drift(scores.previous, scores.judge[:, 0], scores.people[:, :, 0], nominal=False, design=by))
    made += [
        subgroups(differences, groups, design=by, name=f"subgroups:{name}") for name, groups in scores.groups.items()
    ]
    return made + probe_alterations(scores.altered)


def _of_categories(columns: PairColumns) -> list[Probe]:
    """The probes that need no order of the categories."""
    by, judge, people = columns.design, columns.judge_codes, columns.people_codes
    made: list[Probe] = []
    if columns.repeated is not None:
        made.append(repeats(columns.repeated, nominal=True, design=by))
    if judge is not None and people is not None:
        if columns.previous_codes is not None:
            verdicts = (codes_or_nan(codes) for codes in (columns.previous_codes, judge, people))
            made.append(drift(*verdicts, design=by))
        differences = row_means(agreement_differences(judge, people))
        made += [
            subgroups(differences, groups, design=by, name=f"subgroups:{name}", unit=AGREEING)
            for name, groups in columns.groups.items()
        ]
    return made + _contradiction(columns.contradicts, columns.explained, by)


def _contradiction(flags: FloatArray | None, explained: BoolArray | None, design: SamplingDesign) -> list[Probe]:
    """The probe of explanations, where there is any, read or not."""
    if flags is None or not ((~np.isnan(flags)).any() or (explained is not None and explained.any())):
        return []
    return [contradiction(flags, explained, design=design)]
