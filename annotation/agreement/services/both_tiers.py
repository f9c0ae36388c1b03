"""Counted tiers and the difficulty model of one criterion side by side: what page, files, command and API share."""

from __future__ import annotations

from annotation.agreement.result_types import BothTiersDocument, NoResultDocument
from annotation.agreement.services import difficulty, tiers
from annotation.agreement.services.tiers import TierOptions, describe_missing
from annotation.stats.bands import Cuts
from annotation.stats.difficulty.items import AGREEMENT_CUTS
from annotation.studies.models.studies import Study
from annotation.studies.queries.ratings import PeoplesRatings


def compute_criterion(
    study: Study,
    ratings: PeoplesRatings,
    options: TierOptions,
    *,
    by: str | None = None,
    agreeing: Cuts = AGREEMENT_CUTS,
    patient: bool = True,
) -> BothTiersDocument | NoResultDocument:
    """What `tiers --study NAME --json` prints of one criterion. A tier that a person set counts as counted.

    Who is not patient is told where a worker has yet to fit the model.
    """
    if missing := describe_missing("tiers", study, ratings.criterion):
        return missing
    counted, held = tiers.compute_criterion(study, ratings, options, by=by), tiers.load_tiers(ratings, options)
    by_model = difficulty.compute_criterion(study, ratings, cuts=agreeing, counted=held, patient=patient)
    return {**counted, "difficulty": by_model}
