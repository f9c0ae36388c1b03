"""Audits of a judge on the criteria of a study, and of the data it is held to: from frozen columns to documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from annotation.models import Criterion
from annotation.stats.table import MISSING, FloatArray, RatingTable
from judging.services.trust.options import AuditOptions
from judging.stats import data_audits
from judging.stats.audits.annotators import (
    AGREEING,
    LEAST_PEOPLE,
    SCORED,
    agreement_differences,
    annotator_subgroups,
    scored_differences,
)
from judging.stats.audits.battery import Audit, correct, probe_nominal, probe_pairs, probe_scores
from judging.stats.audits.probe import Probe
from judging.stats.evidence import Evidence, own_kind
from judging.stats.observed import scored

MOST_DUPLICATES = 50
"""Groups of equal items that a document names; it counts all of them."""


def audit_criteria(
    evidence: Mapping[str, Evidence], criteria: Sequence[Criterion], model: str, options: AuditOptions
) -> dict[str, dict[str, Any]]:
    """By criterion, its probes and what the data say of themselves. All probes are corrected as one family."""
    mine = {criterion.key: _with_tiers(evidence[criterion.key]) for criterion in criteria}
    probes = {key: _probes(key, one, evidence, model) for key, one in mine.items()}
    audits = correct(probes, level=options.level, method=options.method)
    return {c.key: _document(c, mine[c.key], audits[c.key]) for c in criteria}


def _document(criterion: Criterion, mine: Evidence, audit: Audit) -> dict[str, Any]:
    return {
        "criterion": criterion.key,
        "name": criterion.name,
        **audit.as_json(),
        "polarity": data_audits.polarity(mine).as_json(),
        "baselines": [one.as_json() for one in data_audits.baselines(mine)],
        "labels": data_audits.label_noise(mine),
        "duplicates": _duplicates(mine),
        "annotator_groups": _groups_of_people(mine),
    }


def _probes(key: str, mine: Evidence, evidence: Mapping[str, Evidence], model: str) -> list[Probe]:
    own = own_kind(model, mine.material)
    if mine.is_preference:
        made = probe_pairs(mine.pair_columns(own))
    elif mine.table.level == "nominal" and mine.table.n_categories > 2:
        made = probe_nominal(mine.nominal_columns())
    else:
        made = probe_scores(mine.score_columns(_other_criteria(key, mine, evidence), own))
    return made + _of_annotators(mine)


def _of_annotators(evidence: Evidence) -> list[Probe]:
    """By each question about people: whether the judge errs otherwise against some of them."""
    ordered = evidence.table.level != "nominal" or (evidence.table.n_categories == 2 and not evidence.is_preference)
    asked = np.where(evidence.said.asked, evidence.said.codes, MISSING)
    if ordered:
        given = scored(evidence.table.codes, evidence.numbers)
        differences, unit = scored_differences(scored(asked, evidence.numbers), given), SCORED
    else:
        differences, unit = agreement_differences(asked, evidence.table.codes), AGREEING
    return [
        annotator_subgroups(differences, groups, name=f"subgroups:annotator {key}", unit=unit)
        for key, groups in evidence.people.demographics.items()
    ]


def _groups_of_people(evidence: Evidence) -> dict[str, Any]:
    """How many of the people answered each question, and how many of their answers too few gave to be looked at."""
    rated = (evidence.table.codes != MISSING).any(axis=0)
    found = {}
    for key, answers in evidence.people.demographics.items():
        sizes = Counter(answer for answer, here in zip(answers, rated, strict=True) if here and answer is not None)
        few = [n for n in sizes.values() if n < LEAST_PEOPLE]
        found[key] = {"people": int(rated.sum()), "answered": sizes.total(), "answers_left_out": len(few)}
    return {"least_people": LEAST_PEOPLE, "questions": found}


def _with_tiers(evidence: Evidence) -> Evidence:
    """The same with the tier of difficulty as one more grouping of its items."""
    if not evidence.table.pairable.any():
        return evidence
    names = tuple(tier or "none" for tier in evidence.people.tiers)
    if len(set(names)) < 2:
        return evidence
    groups = {**evidence.material.groups, "tier": names}
    return replace(evidence, material=replace(evidence.material, groups=groups))


def _other_criteria(key: str, mine: Evidence, evidence: Mapping[str, Evidence]) -> list[tuple[FloatArray, FloatArray]]:
    """Scores of the same people and of the judge on the other criteria with an order; for the halo.

    A criterion that other people rated is left out: scores of one person are compared.
    """
    found = []
    for name, other in evidence.items():
        table: RatingTable = other.table
        ordered = table.level != "nominal" or table.n_categories == 2
        if name == key or not ordered or other.is_preference or table.raters != mine.table.raters:
            continue
        found.append((scored(other.asked_codes, other.numbers), scored(other.said.codes, other.numbers)))
    return found


def _duplicates(evidence: Evidence) -> dict[str, Any]:
    material = evidence.material
    found = data_audits.duplicates(material.fingerprints, material.names, evidence.people.consensus).as_json()
    return {
        **found,
        "groups": found["groups"][:MOST_DUPLICATES],
        "contradictory": found["contradictory"][:MOST_DUPLICATES],
        "n_contradictory": len(found["contradictory"]),
    }
