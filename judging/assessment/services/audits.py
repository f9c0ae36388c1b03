"""Audits of a judge on the criteria of a study, and of the data it is held to: from frozen columns to documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.agreement.services.stored_difficulty import Fit
from annotation.stats.table import MISSING, FloatArray, RatingTable
from annotation.studies.models.studies import Criterion
from judging.assessment.options import AuditOptions
from judging.assessment.result_types import (
    AnsweredDocument,
    CountedDuplicatesDocument,
    CriterionAuditDocument,
    ItemTiersDocument,
    QuestionsDocument,
)
from judging.stats import data_audits
from judging.stats.assessment_data import AssessmentData, mark_own_family
from judging.stats.audits.annotators import (
    AGREEING,
    LEAST_PEOPLE,
    SCORED,
    agreement_differences,
    annotator_subgroups,
    compute_differences,
)
from judging.stats.audits.battery import Audit, correct, probe_nominal, probe_pairs, probe_scores
from judging.stats.audits.probe import Probe
from judging.stats.observed import to_scores

MOST_DUPLICATES = 50
"""Groups of equal items that a document names; it counts all of them."""


def audit_criteria(
    evidence: Mapping[str, AssessmentData],
    criteria: Sequence[Criterion],
    model: str,
    options: AuditOptions,
    fits: Mapping[str, Fit],
) -> dict[str, CriterionAuditDocument]:
    """By criterion, its probes and what the data say of themselves. All probes are corrected as one family.

    `fits` are the criteria's difficulty models, whose tiers are one grouping of the items.
    """
    grouped = {c.key: item_tiers(evidence[c.key], fits[c.key]) for c in criteria}
    mine = {key: _with_tiers(evidence[key], tiers) for key, tiers in grouped.items()}
    probes = {c.key: _probes(c, mine[c.key], evidence, model) for c in criteria}
    audits = correct(probes, level=options.level, method=options.method)
    return {c.key: _document(c, mine[c.key], audits[c.key], grouped[c.key]) for c in criteria}


def _document(
    criterion: Criterion, mine: AssessmentData, audit: Audit, tiers: ItemTiers | None
) -> CriterionAuditDocument:
    return {
        "criterion": criterion.key,
        "name": criterion.name,
        **audit.to_json(),
        "not_probed": explain_not_probed(criterion),
        "tiers": None if tiers is None else tiers.to_json(),
        "polarity": data_audits.polarity(mine).to_json(),
        "baselines": [one.to_json() for one in data_audits.baselines(mine)],
        "labels": data_audits.label_noise(mine),
        "duplicates": _duplicates(mine),
        "annotator_groups": _groups_of_people(mine),
    }


def explain_not_probed(criterion: Criterion) -> str:
    """One sentence on the probes that make no sense for what the criterion is asked of; empty where all do."""
    return "Each response is shown alone, so that it has no position." if criterion.of_responses else ""


def _probes(
    criterion: Criterion, mine: AssessmentData, evidence: Mapping[str, AssessmentData], model: str
) -> list[Probe]:
    own = mark_own_family(model, mine.material)
    if mine.is_preference:
        made = probe_pairs(mine.pair_columns(own))
    elif not mine.is_scored:
        made = probe_nominal(mine.nominal_columns())
    else:
        made = probe_scores(mine.score_columns(_other_criteria(criterion.key, mine, evidence), own))
    return made + _of_annotators(mine)


def _of_annotators(evidence: AssessmentData) -> list[Probe]:
    """By each question about people: whether the judge errs otherwise against some of them."""
    ordered = evidence.table.has_scores or (evidence.table.is_ordered and not evidence.is_preference)
    asked = np.where(evidence.said.asked, evidence.said.codes, MISSING)
    if ordered:
        given = to_scores(evidence.table.codes, evidence.numbers)
        differences, unit = compute_differences(to_scores(asked, evidence.numbers), given), SCORED
    else:
        differences, unit = agreement_differences(asked, evidence.table.codes), AGREEING
    return [
        annotator_subgroups(differences, groups, name=f"subgroups:annotator {key}", unit=unit)
        for key, groups in evidence.people.demographics.items()
    ]


def _groups_of_people(evidence: AssessmentData) -> QuestionsDocument:
    """How many of the people answered each question, and how many of their answers too few gave to be looked at."""
    rated = (evidence.table.codes != MISSING).any(axis=0)
    found: dict[str, AnsweredDocument] = {}
    for key, answers in evidence.people.demographics.items():
        sizes = Counter(answer for answer, here in zip(answers, rated, strict=True) if here and answer is not None)
        few = [n for n in sizes.values() if n < LEAST_PEOPLE]
        found[key] = {"people": int(rated.sum()), "answered": sizes.total(), "answers_left_out": len(few)}
    return {"least_people": LEAST_PEOPLE, "questions": found}


@dataclass(frozen=True)
class ItemTiers:
    """Tiers of difficulty as a grouping of items.

    Attributes
    ----------
    names
        (n,) the tier of each item; empty where it has none.
    made_by
        ``"model"``: the likeliest by the difficulty model; ``"counted"``: by the item's own kappa. Those set by hand
        stand above both.
    sure
        Mean probability of the likeliest tier; None where tiers are counted.
    reason
        Why there is no model.
    """

    names: tuple[str, ...]
    made_by: str
    sure: float | None = None
    reason: str | None = None

    def to_json(self) -> ItemTiersDocument:
        """Without names, with the number of items that have a tier."""
        n = sum(name != "" for name in self.names)
        return {"made_by": self.made_by, "n_items": n, "sure": self.sure, "reason": self.reason}


def item_tiers(evidence: AssessmentData, fit: Fit) -> ItemTiers | None:
    """The tiers that the judge's bias is looked for in; None where fewer than two occur, or none can play a part."""
    if not evidence.is_scored or not evidence.table.pairable.any():
        return None
    made = ItemTiers(evidence.people.tiers, "counted", reason=fit.reason)
    if fit.found is not None:
        likeliest = dict(zip(fit.found.items, fit.found.tier, strict=True))
        by_hand, names = evidence.people.by_hand, enumerate(evidence.material.names)
        tiers = tuple(by_hand.get(row) or likeliest.get(name) or "" for row, name in names)
        made = ItemTiers(tiers, "model", float(fit.found.tiers[fit.found.fitted].max(axis=1).mean()))
    return made if len({*made.names} - {""}) > 1 else None


def _with_tiers(evidence: AssessmentData, tiers: ItemTiers | None) -> AssessmentData:
    """The same with the tier of difficulty as one more grouping of its items."""
    if tiers is None:
        return evidence
    groups = {**evidence.material.groups, "tier": tiers.names}
    return replace(evidence, material=replace(evidence.material, groups=groups))


def _other_criteria(
    key: str, mine: AssessmentData, evidence: Mapping[str, AssessmentData]
) -> list[tuple[FloatArray, FloatArray]]:
    """Scores of the same people and of the judge on the other criteria with an order; for the halo.

    A criterion that other people rated, or of another unit, is left out: scores of one person on one row are compared.
    """
    found = []
    for name, other in evidence.items():
        table: RatingTable = other.table
        ordered = table.is_ordered
        if name == key or not ordered or other.is_preference or table.raters != mine.table.raters:
            continue
        if other.material.names != mine.material.names:
            continue
        found.append((to_scores(other.asked_codes, other.numbers), to_scores(other.said.codes, other.numbers)))
    return found


def _duplicates(evidence: AssessmentData) -> CountedDuplicatesDocument:
    material = evidence.material
    found = data_audits.duplicates(material.fingerprints, material.names, evidence.people.consensus).to_json()
    return {
        **found,
        "groups": found["groups"][:MOST_DUPLICATES],
        "contradictory": found["contradictory"][:MOST_DUPLICATES],
        "n_contradictory": len(found["contradictory"]),
    }
