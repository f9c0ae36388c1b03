"""Difficulty of items that nobody rated: of a study's own, or of those of its dataset that are not in it.

Where a criterion is asked of turns or responses, it is that of each of them; those of one item are in one fold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from annotation.agreement.result_types import FeaturesDocument, PredictionHead
from annotation.agreement.services import stored_difficulty
from annotation.agreement.services.stored_difficulty import AT_ONCE
from annotation.stats.bands import Cuts
from annotation.stats.difficulty.features import FeatureTable, ItemFacts, build_features, vector_columns
from annotation.stats.difficulty.items import AGREEMENT_CUTS, Difficulty
from annotation.stats.difficulty.predicted import PredictedDifficulty, TooFewItemsError, predict_difficulty
from annotation.stats.table import FloatArray, RatingTable
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries import item_features, items, ratings as read_ratings
from annotation.studies.queries.preferences import preferences
from annotation.studies.queries.ratings import PeoplesRatings
from annotation.studies.queries.units import to_position
from core import vectors
from core.documents import Row
from core.errors import InputError
from core.hashing import content_hash, digest
from core.jobs.waiting import load_or_make

STUDY, DATASET = "study", "dataset"
SCOPES = (STUDY, DATASET)
"""What is predicted: items of the study without ratings, or everything in its dataset that nobody rated in it."""

FEW = 400
"""Resamples where only the interval of the gain is looked at."""

OUTSIDE = "dataset "
"""Stands before the id of what is not in the study."""


@dataclass(frozen=True)
class PredictionOptions:
    """How difficulty is predicted.

    Attributes
    ----------
    scope
        `STUDY` or `DATASET`.
    cuts
        Of the difficulty model: upper ends of contested, hard and medium, as the probability that two people agree.
    bootstrap, seed
        Of the errors' intervals; the seed also deals clusters to folds.
    """

    scope: str = STUDY
    cuts: Cuts = AGREEMENT_CUTS
    bootstrap: int = 2000
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Prediction:
    """What is predicted of one criterion; `found` is None where there is too little to learn from, see `reason`.

    `names` are ids in the source, by the names of the predicted items; `fitted` the difficulties that were learnt from.
    """

    scope: str
    found: PredictedDifficulty | None
    fitted: Difficulty | None
    reason: str | None
    names: Mapping[str, str]

    def to_head(self, study: Study, criterion: str) -> PredictionHead:
        """The document without the items: the error out of sample, and what to expect."""
        found, missing = self.found, vectors.explain_missing()
        features: FeaturesDocument = {
            "used": [] if found is None else list(found.slopes),
            "word_vectors": None if missing else vectors.NAME,
            "reason": missing or None,
        }
        if found is None:
            return {
                "study": study.name,
                "criterion": criterion,
                "of": self.scope,
                "predicts": False,
                "reason": self.reason,
                "error": None,
                "features": features,
                "n_items": 0,
            }
        return {
            "study": study.name,
            "criterion": criterion,
            "of": self.scope,
            "predicts": found.error.predicts,
            "reason": self.reason,
            "features": features,
            "n_items": len(found.items),
            **found.to_head(),
        }

    def rows(self) -> list[Row]:
        """The items of the document."""
        return [{**row, **self._named(row["item"])} for row in self.found.rows()] if self.found else []

    def _named(self, name: str) -> Row:
        item, _, turn = name.partition(".")
        position = None if name.startswith(OUTSIDE) else int(item)
        return {"item": self.names[item], "position": position, **({"turn": int(turn)} if turn else {})}


def predict(
    study: Study,
    ratings: PeoplesRatings,
    options: PredictionOptions | None = None,
    *,
    judged: FeatureTable | None = None,
    patient: bool = True,
) -> Prediction:
    """Learn from the rated items of one criterion. Two queries to eight.

    `judged` are further features of the study's items, such as what judges say of them. Who is not patient is told
    where a worker has yet to fit the difficulty model. Raises InputError on an unknown scope.
    """
    chosen = options or PredictionOptions()
    if chosen.scope not in SCOPES:
        raise InputError("{scope!r} is neither study nor dataset", field="predict", scope=chosen.scope)
    facts, names = _load_facts(study, chosen.scope, ratings.criterion.unit)
    table, shown = preferences(ratings)
    fit = stored_difficulty.load_or_fit(table, chosen.cuts, shown=shown, at_once=None if patient else AT_ONCE)
    if (fitted := fit.found) is None:
        return Prediction(chosen.scope, None, None, fit.reason, names)
    further = _spread(judged, [one.name for one in facts]) if judged and judged.names and chosen.scope == STUDY else {}
    columns = {name: digest(column.tobytes()) for name, column in further.items()}
    asked = [stored_difficulty.hash_input(table, shown), table.items, digest(repr(facts).encode()), columns]
    key = f"predicted-{content_hash([*asked, asdict(chosen), vectors.explain_missing()])}"
    found, reason = load_or_make(key, lambda: _predict(fitted, table, facts, further, chosen))
    return Prediction(chosen.scope, found, fitted if found else None, reason, names)


def _predict(
    fitted: Difficulty,
    table: RatingTable,
    facts: Sequence[ItemFacts],
    further: Mapping[str, FloatArray],
    options: PredictionOptions,
) -> tuple[PredictedDifficulty | None, str | None]:
    """What is predicted, or nothing and why."""
    features = build_features(facts, {**_by_vectors(facts), **further})
    try:
        found = predict_difficulty(fitted, table, features, bootstrap=options.bootstrap, seed=options.seed)
    except TooFewItemsError as why:
        return None, str(why)
    return found, found.reason


def _spread(features: FeatureTable, names: Sequence[str]) -> dict[str, FloatArray]:
    """By feature, its values on the items of these names; NaN where there is none."""
    place = {name: row for row, name in enumerate(features.items)}
    rows = np.array([place.get(name, -1) for name in names], dtype=np.int64)
    values = np.where((rows >= 0)[:, None], features.values[rows], np.nan)
    return dict(zip(features.names, values.T, strict=True))


def _load_facts(study: Study, scope: str, of: str) -> tuple[list[ItemFacts], dict[str, str]]:
    """Of the rated items and of those to be predicted; and the ids of the items that these are, or are parts of."""
    own = item_features.load_items(study, of=of)
    named = items.external_ids(study, list(dict.fromkeys(to_position(one.name) for one in own)))
    ids = {str(position): name for position, name in named.items()}
    if scope == STUDY:
        return list(own), ids
    outside, further = item_features.load_dataset(study, prefix=OUTSIDE, of=of)
    return [*own, *outside], ids | further


def _by_vectors(facts: Sequence[ItemFacts]) -> dict[str, FloatArray]:
    """Similarities by word vectors, where these are installed."""
    return {} if vectors.explain_missing() else vector_columns(facts, vectors.embed)


def load_predicted_tiers(criterion: Criterion) -> dict[int, str]:
    """By the id of a dialogue or pair of the dataset, its tier: the likeliest one, fitted where people rated it.

    Raises InputError where difficulty cannot be predicted: strata would tell nothing apart; and where it is that of
    turns or responses.
    """
    if criterion.unit != Criterion.Unit.ITEM:
        raise InputError(
            "a draw takes whole items, and {name} is asked of {noun}s: an item has no one tier on it",
            field="predicted-from",
            name=criterion.name,
            noun=criterion.part_noun,
        )
    study, fitted = criterion.study, read_ratings.load_criterion(criterion)
    made = predict(study, fitted, PredictionOptions(scope=DATASET, bootstrap=FEW))
    if made.found is None or made.fitted is None or made.reason:
        raise InputError(
            "difficulty cannot be predicted from {study}: {reason}",
            field="predicted-from",
            study=study,
            reason=made.reason,
        )
    pairs = (
        *zip(made.fitted.items, made.fitted.tier, strict=True),
        *zip(made.found.items, made.found.tier, strict=True),
    )
    of_position = dict(study.items.order_by().values_list("position", f"{study.kind}_id"))
    tiers = {name: tier for name, tier in pairs if tier}
    return {
        int(name.removeprefix(OUTSIDE)) if name.startswith(OUTSIDE) else of_position[int(name)]: tier
        for name, tier in tiers.items()
    }
