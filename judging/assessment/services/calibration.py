"""Calibration of a judge on one criterion of a study: from frozen columns to one document (no database)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotation.agreement.services.stored_difficulty import Fit
from annotation.stats.clustered_shares import estimate_clustered_share
from annotation.stats.dependence import drop_useless
from annotation.stats.estimate import Estimate
from annotation.stats.headline import choose_headline
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, RatingTable
from annotation.studies.models.studies import Criterion
from core import helper_process
from judging.assessment.options import AssessmentOptions
from judging.assessment.result_types import (
    CriterionFiguresDocument,
    DifficultyAccuracyDocument,
    GroupBoardsDocument,
    LabelsDocument,
    TierDocument,
    TierGuaranteeDocument,
    TiersDocument,
)
from judging.assessment.services import power
from judging.stats.agreement import JudgeAgreement, judge_agreement
from judging.stats.alt_test import SWEEP, alt_test
from judging.stats.assessment_data import AssessmentData
from judging.stats.calibrate import calibrate
from judging.stats.calibration import Recalibration, recalibrate
from judging.stats.calibration_types import BoardsDocument, RecalibrationDocument
from judging.stats.leaderboard import leaderboard
from judging.stats.observed import select_names, to_scores
from judging.stats.result_types import AltTestDocument
from judging.stats.second_opinion import recompute
from judging.stats.selective import Selection
from judging.stats.standings import boards, correct_by_group
from judging.stats.tier_accuracy import accuracy_by_tier, select_rows

GROUPED = ("assistant", "condition", "domain")
"""Groupings of dialogues for which corrected means are given."""

FEWER = 4
"""Within tiers there are this many times fewer resamples: only the verdict is read from them."""

YES = ("yes", "true", "1", "pass")
"""Values of a yes among two categories."""

NO_TIERS = "no item has two ratings, so that none has a tier"


def compute_criterion(
    evidence: AssessmentData, criterion: Criterion, name: str, options: AssessmentOptions, fit: Fit
) -> CriterionFiguresDocument:
    """The document of one criterion. What cannot be told says why; the rest stands.

    `fit` is the difficulty model of the criterion.
    """
    columns = evidence.columns()
    positive = _positive(criterion, options.positive) if columns.binary and columns.level == "nominal" else None
    has_scores = _tells_scores(evidence)
    headline = choose_headline(evidence.table.level, evidence.table.n_categories)
    held = _held(evidence, name, options, np.ones(evidence.material.n, dtype=bool), options.bootstrap)
    found = calibrate(
        columns,
        positive=positive,
        recalibrated=not has_scores,
        method=options.method,
        targets=options.targets,
        delta=options.delta,
        bootstrap=options.bootstrap,
        confidence=options.confidence,
        seed=options.seed,
    )
    scores = recalibrate_scores(evidence, options) if has_scores else found.scores
    opinion = helper_process.call(recompute, found, scores, held)
    agreement = held[2].to_json()
    return {
        "criterion": criterion.key,
        "name": criterion.name,
        "level": criterion.level,
        "categories": criterion.values,
        "seed": options.seed,
        "bootstrap": options.bootstrap,
        "confidence": options.confidence,
        "labels": _labels(evidence),
        "kappa": headline.kappa,
        "headline": headline.to_json(),
        "dependence": evidence.material.design.to_json(drop_useless(evidence.table)),
        "unscored_share": _unscored_share(evidence, evidence.said.asked).to_json(),
        "confidence_from": evidence.said.confidence_from,
        "agreement": agreement,
        "alt_test": _alt_test(held, options, SWEEP),
        **found.to_json(),
        "estimand": _name_response(evidence, criterion, positive or str(columns.categories[-1])) or found.estimand,
        "scores": None if scores is None else _advised(scores.to_json(), of="score" if has_scores else "verdict"),
        "groups": _groups(evidence, positive, options),
        "power": power.compute_criterion(evidence, agreement, options),
        "leaderboard": _leaderboard(evidence, options),
        "tiers": _tiers(evidence, name, options, fit),
        "second_opinion": opinion.to_json(),
    }


def _positive(criterion: Criterion, asked: str | None) -> str | None:
    """Of two categories the one whose rate is given: the one asked for, a yes, else the second."""
    if asked in criterion.values:
        return asked
    return next((value for value in criterion.values if value.lower() in YES), None)


def _name_response(evidence: AssessmentData, criterion: Criterion, positive: str) -> str:
    """What is estimated of two responses, whose values are numbers that say nothing to a reader; empty of all else."""
    return f"the rate of {criterion.label_of(positive)}" if evidence.is_choice and len(criterion.values) == 2 else ""


def _labels(evidence: AssessmentData) -> LabelsDocument:
    """What people's labels are made of."""
    people, said = evidence.people, evidence.said
    both = people.with_label & (said.codes != MISSING)
    return {
        "n_items": evidence.material.n,
        "n_raters": people.table.n_raters,
        "n_ratings": people.table.n_ratings,
        "adjudicated": int((people.gold != MISSING).sum()),
        "tied": int(people.tied.sum()) if people.counted else 0,
        "could_not_judge": int((people.without_label & ~people.tied).sum()),
        "clusters": evidence.n_clusters(both),
        "outside_commonest": evidence.outside_commonest(both),
        "constant": _is_constant(evidence, both),
        "asked": int(said.asked.sum()),
        "unscored": int(said.unscored.sum()),
        "not_judged": int((~said.asked).sum()),
    }


def _is_constant(evidence: AssessmentData, items: BoolArray) -> bool:
    """Whether the judge gave all of these items (n,) the same verdict."""
    return len(np.unique(evidence.said.codes[items])) == 1


def _unscored_share(evidence: AssessmentData, asked: BoolArray) -> Estimate:
    """Share of the items (n,) that the judge was asked about without a verdict."""
    return estimate_clustered_share(
        evidence.said.unscored[asked].astype(float),
        clusters=None if evidence.material.dependent is None else select_names(evidence.material.dependent, asked),
        reason="the judge was asked nothing",
    )


def _held(
    evidence: AssessmentData, name: str, options: AssessmentOptions, kept: BoolArray, bootstrap: int
) -> tuple[RatingTable, IntArray, JudgeAgreement]:
    """People's ratings, the judge's codes on the same items, and how far they agree.

    On the items that somebody answered, in the study's order: the table of the page on agreement, so that the same
    figure has the same interval there and here.
    """
    rated = kept & _answered(evidence)
    table, codes = drop_useless(evidence.table.subset_items(rated)), evidence.said.codes[rated]
    agreement = judge_agreement(
        table,
        codes,
        judge_name=name,
        unscored=evidence.said.unscored[rated],
        bootstrap=bootstrap,
        confidence=options.confidence,
        seed=options.seed,
    )
    return table, codes, agreement


def _answered(evidence: AssessmentData) -> BoolArray:
    """(n,) items that somebody rated, or looked at and could not judge."""
    return np.asarray((evidence.table.ratings_per_item > 0) | (evidence.people.declined > 0))


def _alt_test(
    held: tuple[RatingTable, IntArray, JudgeAgreement], options: AssessmentOptions, sweep: Sequence[float]
) -> AltTestDocument | None:
    """Whether the judge may stand in for a person; None where nobody can be left out."""
    table, codes, _ = held
    if table.n_raters < 2:
        return None
    return alt_test(table, codes, epsilon=options.epsilon, sweep=sweep, confidence=options.confidence).to_json()


def _tells_scores(evidence: AssessmentData) -> bool:
    """Whether the judge tells scores of its own on a scale on which they are averaged."""
    return bool(np.isfinite(evidence.said.score).any()) and not evidence.people.counted


def _advised(scores: RecalibrationDocument, *, of: str) -> RecalibrationDocument:
    """With a word on whether the map makes them better: one that raises the error is offered to nobody."""
    before, after = scores["before"]["mae"], scores["after"]["mae"]
    if before is None or after is None:
        return {**scores, "of": of, "improves": None, "advice": None}
    did, end = ("raises", " Keep the scores as they are.") if after > before else ("does not raise", "")
    said = f"Out of sample the map {did} the mean absolute error: {before:.3f} before, {after:.3f} after.{end}"
    return {**scores, "of": of, "improves": after <= before, "advice": said}


def recalibrate_scores(evidence: AssessmentData, options: AssessmentOptions) -> Recalibration:
    """Fit a map from the judge's own scores to people's, scored out of sample."""
    human, own = evidence.scores()
    return recalibrate(
        own,
        human,
        np.sort(evidence.numbers),
        method=options.method,
        clusters=evidence.material.dependent,
        weights=evidence.material.weights,
        bootstrap=options.bootstrap,
        confidence=options.confidence,
        seed=options.seed,
    )


def _groups(
    evidence: AssessmentData, positive: str | None, options: AssessmentOptions
) -> dict[str, GroupBoardsDocument]:
    """Corrected means (or rates) of assistants, conditions and domains, with ranks; none on a scale without a mean."""
    if evidence.people.counted and evidence.table.n_categories > 2:
        return {}
    human, judge, mask = *_numbers(evidence, positive), evidence.usable
    material, scale = evidence.material, evidence.numbers
    found: dict[str, GroupBoardsDocument] = {}
    for name in (name for name in GROUPED if name in material.groups):
        corrected = correct_by_group(
            human[mask],
            judge[mask],
            [group for group, kept in zip(material.groups[name], mask, strict=True) if kept],
            weights=None if material.weights is None else material.weights[mask],
            clusters=None
            if material.dependent is None
            else [cluster for cluster, kept in zip(material.dependent, mask, strict=True) if kept],
            confidence=options.confidence,
            bounds=(float(scale.min()), float(scale.max())),
        )
        places = boards(corrected)
        found[name] = {
            "corrected": {group: one.to_json() for group, one in corrected.items()},
            "boards": {board: [place.to_json() for place in listed] for board, listed in places.items()},
        }
    return found


def _numbers(evidence: AssessmentData, positive: str | None) -> tuple[FloatArray, FloatArray]:
    """(n,) people's label and the judge's verdict as numbers; of two categories 1 is the positive one."""
    human, judge = evidence.scores()[0], to_scores(evidence.said.codes, evidence.numbers)
    if positive is not None and str(evidence.table.categories[0]) == positive:
        return 1 - human, 1 - judge
    return human, judge


def _leaderboard(evidence: AssessmentData, options: AssessmentOptions) -> BoardsDocument | None:
    """Assistants by the pairs they met in; None where the items are no pairs of named assistants."""
    pairs = evidence.comparisons()
    return None if pairs is None else leaderboard(pairs, confidence=options.confidence).to_json()


def _tiers(evidence: AssessmentData, name: str, options: AssessmentOptions, fit: Fit) -> TiersDocument:
    """What the verdict asks, within each tier of difficulty."""
    by_difficulty = _by_difficulty(evidence, options, fit)
    if not evidence.table.pairable.any():
        return {"reason": NO_TIERS, "by_tier": {}, "by_difficulty": by_difficulty}
    of_item = np.array(evidence.people.tiers)
    names = [tier for tier in ("easy", "medium", "hard", "contested") if (of_item == tier).any()]
    by_tier = {tier: _tier(evidence, name, options, of_item == tier) for tier in names}
    return {"reason": None, "by_tier": by_tier, "by_difficulty": by_difficulty}


def _by_difficulty(evidence: AssessmentData, options: AssessmentOptions, fit: Fit) -> DifficultyAccuracyDocument:
    """Agreement with people's label by tier of the difficulty model; every item by the probability of each tier."""
    found = fit.found
    if found is None:
        return {"reason": fit.reason, "sure": None, "by_tier": {}}
    made = accuracy_by_tier(
        np.where(evidence.usable, evidence.agreement, np.nan),
        select_rows(evidence.material.names, found.items, found.tiers),
        weights=evidence.material.weights,
        clusters=evidence.material.dependent,
        confidence=options.confidence,
    )
    return {"reason": None, "method": found.method, **made.to_json()}


def _tier(evidence: AssessmentData, name: str, options: AssessmentOptions, kept: BoolArray) -> TierDocument:
    part = calibrate(
        evidence.columns(kept),
        recalibrated=False,
        targets=options.targets,
        delta=options.delta,
        bootstrap=0,
        confidence=options.confidence,
        seed=options.seed,
    )
    asked = kept & evidence.said.asked
    both = kept & evidence.labelled & (evidence.said.codes != MISSING)
    held = _held(evidence, name, options, kept, options.bootstrap // FEWER)
    tested, agreement = _alt_test(held, options, sweep=()), held[2].to_json()
    return {
        "n_items": int(kept.sum()),
        "labels": {
            "clusters": evidence.n_clusters(both),
            "outside_commonest": evidence.outside_commonest(both),
            "constant": _is_constant(evidence, both),
            "asked": int(asked.sum()),
            "unscored": int((asked & evidence.said.unscored).sum()),
        },
        "unscored_share": _unscored_share(evidence, asked).to_json(),
        "agreement": {
            "mean_cohen_kappa": agreement["mean_cohen_kappa"],
            "mean_weighted_cohen_kappa": agreement["mean_weighted_cohen_kappa"],
            "human_ceiling": agreement["human_ceiling"],
            "human_ceiling_weighted": agreement["human_ceiling_weighted"],
            "below_ceiling": agreement["below_ceiling"],
            "below_ceiling_weighted": agreement["below_ceiling_weighted"],
            "accuracy": agreement["accuracy"],
            "scored": agreement["scored"],
        },
        "alt_test": tested
        and {"passes": tested["passes"], "winning_rate": tested["winning_rate"], "reason": tested["reason"]},
        "selective": [_short(one) for one in part.selective],
        "gained": part.gained.to_json(),
    }


def _short(one: Selection) -> TierGuaranteeDocument:
    coverage = one.coverage.to_json()
    return {
        "target_agreement": one.target,
        "guaranteed": one.guaranteed,
        "ruled_out": one.ruled_out,
        "coverage": coverage["value"],
        "intervals": {"coverage": coverage},
        "reason": one.reason,
    }
