"""Difficulty of items that nobody rated, with what judges say of them among the features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext as _

from annotation.agreement.result_types import FeaturesDocument, PredictionHead
from annotation.agreement.services import predicted_difficulty
from annotation.agreement.services.predicted_difficulty import STUDY, Prediction, PredictionOptions
from annotation.stats.difficulty.features import FeatureTable, Opinions, judge_columns
from annotation.stats.result_types import EstimateDocument
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries import ratings
from judging.assessment.agreement_types import JudgeByTierDocument, PredictionDocument
from judging.assessment.queries.assessment_data import JudgeData, StudyData
from judging.assessment.wording import write_number
from judging.stats.observed import JudgeVerdicts
from judging.stats.tier_accuracy import accuracy_by_tier, accuracy_on_new, select_rows


@dataclass(frozen=True, eq=False)
class PredictionData:
    """What is read of a study for one criterion: the judges beside people.

    Of held-out items nothing is read: there a judge is looked at on record only.
    """

    criterion: Criterion
    evidence: StudyData
    judges: tuple[JudgeData, ...]

    @classmethod
    def load(cls, study: Study, criterion: Criterion) -> PredictionData:
        """Read the judges of a study that have judged it on the criterion."""
        evidence = StudyData.load(study)
        judges = evidence.load_judges(evidence.judges())
        return cls(criterion, evidence, tuple(one for one in judges if criterion.key in one.evidence))

    def build_features(self) -> FeatureTable:
        """What all judges say of the items, or of their turns or responses, as features."""
        columns = judge_columns([self._opinions(one) for one in self.judges], self.criterion.values)
        return FeatureTable.from_columns(self.evidence.rows[self.criterion.unit].names, columns)

    def _opinions(self, judge: JudgeData) -> Opinions:
        """Its calls are the repeats, else the two orders of a pair."""
        said: JudgeVerdicts = judge.evidence[self.criterion.key].said
        calls = said.repeated if said.repeated.shape[1] > 1 else np.column_stack([said.first, said.second])
        return Opinions(said.codes, said.asked, calls, said.confidence)


def name_page(criterion: Criterion, scope: str = STUDY) -> str:
    """The name under which the page of a criterion is stored."""
    return f"predicted-{criterion.pk}-{scope}"


def compute_criterion(
    study: Study, criterion: Criterion, options: PredictionOptions | None = None, *, patient: bool = True
) -> PredictionDocument:
    """The document of one criterion, with the judges by tier. A constant number of queries.

    Who is not patient is told where a worker has yet to fit the difficulty model. Raises InputError on an unknown
    scope.
    """
    chosen, read = options or PredictionOptions(), PredictionData.load(study, criterion)
    judged = read.build_features() if chosen.scope == STUDY else None
    found = predicted_difficulty.predict(
        study, ratings.load_criterion(criterion), chosen, judged=judged, patient=patient
    )
    return {
        **found.to_head(study, criterion.key),
        "judges": [_by_tier(one, read, found) for one in read.judges],
        "items": found.rows(),
    }


def _by_tier(judge: JudgeData, read: PredictionData, found: Prediction) -> JudgeByTierDocument:
    """A judge within tiers as fitted and as predicted out of fold, and what to expect of it on the predicted items."""
    evidence, name = judge.evidence[read.criterion.key], str(judge.judge)
    if found.found is None or found.fitted is None:
        return {"judge": name, "fitted": None, "predicted": None, "on_predicted_items": None}
    agreement = np.where(evidence.usable, evidence.agreement, np.nan)
    weights, clusters = evidence.material.weights, evidence.material.dependent
    names = evidence.material.names
    fitted = select_rows(names, found.fitted.items, found.fitted.tiers)
    out_of_fold = select_rows(names, found.found.rated, found.found.rated_tiers)
    return {
        "judge": name,
        "fitted": accuracy_by_tier(agreement, fitted, weights=weights, clusters=clusters).to_json(),
        "predicted": accuracy_by_tier(agreement, out_of_fold, weights=weights, clusters=clusters).to_json(),
        "on_predicted_items": accuracy_on_new(
            agreement, out_of_fold, found.found.tiers, weights=weights, clusters=clusters
        ).to_json(),
    }


def summarise(found: PredictionHead) -> str:
    """Whether difficulty can be predicted here, from a document."""
    if found["error"] is None:
        return _("Difficulty cannot be predicted here: {reason}.").format(reason=found["reason"])
    error = found["error"]
    answer = _("Difficulty can be predicted here.") if found["predicts"] else _("Difficulty cannot be predicted here.")
    why = _(
        "Out of sample, on {n} rated items, {gain} of the squared error of guessing the mean is explained, rank "
        "correlation with fitted difficulty {correlation}."
    ).format(
        n=found["n_rated"],
        gain=_in_words(error["gain"], lambda share: f"{write_number(100 * share, 1)} %"),
        correlation=_in_words(error["rank_correlation"], lambda value: write_number(value, 2)),
    )
    return f"{answer} {why}"


def features_in_words(features: FeaturesDocument) -> str:
    """Which features were used, and why there are none by word vectors."""
    used = ", ".join(features["used"]) or "none"
    return f"Features: {used}." + (f" None by word vectors: {features['reason']}." if features["reason"] else "")


def _in_words(estimate: EstimateDocument, write: Callable[[float], str]) -> str:
    if estimate["value"] is None:
        return _("an unknown amount")
    if estimate["low"] is None or estimate["high"] is None:
        return write(estimate["value"])
    return f"{write(estimate['value'])} [{write(estimate['low'])}, {write(estimate['high'])}]"
