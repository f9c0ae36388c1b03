"""Difficulty of items by the model of people and items, beside the counted tiers: the document of every reader."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace

import numpy as np

from annotation.agreement.result_types import BothTiersDocument, DifficultyDocument, NoResultDocument
from annotation.agreement.services import stored_difficulty, tiers
from annotation.agreement.services.stored_difficulty import Fit
from annotation.agreement.services.tiers import TierOptions, describe_missing, parse_cuts
from annotation.stats.bands import TIERS, Cuts
from annotation.stats.difficulty.items import AGREEMENT_CUTS, Difficulty
from annotation.stats.model_tiers import compare_with_counted, count_intervals
from annotation.stats.table import FloatArray, IntArray, RatingTable
from annotation.studies.models.studies import Study
from annotation.studies.queries import items
from annotation.studies.queries.ratings import PeoplesRatings
from annotation.studies.queries.units import to_position, to_turn
from core.documents import Row, Rows, build_numbered_rows
from core.errors import InputError

Names = Callable[[Sequence[str]], list[Row]]
"""From the names of a table's rows to what a document says of their items."""

FIELD = "agreement_cuts"

COLUMNS = ("difficulty", "low", "high", *(f"p_{tier}" for tier in reversed(TIERS)), "model_tier", "clear")
"""What a table with an item a row says of each."""


def parse_model_cuts(text: str, field: str = FIELD) -> Cuts:
    """Cuts as they are typed, 0.6,0.75,0.9. Raises InputError where they are not three ascending shares."""
    try:
        return check_shares(parse_cuts(text), field)
    except InputError as error:
        raise InputError(error.message.replace("0.4,0.6,0.8", "0.6,0.75,0.9"), field=field) from error


def check_shares(cuts: Cuts, field: str = FIELD) -> Cuts:
    """The cuts. Raises InputError where they are no probabilities."""
    if not 0 < cuts[0] < cuts[2] < 1:
        raise InputError("the probabilities that two people agree must lie between 0 and 1", field=field)
    return cuts


def compute_table(
    table: RatingTable,
    *,
    cuts: Cuts = AGREEMENT_CUTS,
    counted: Sequence[str | None] | None = None,
    named: Names | None = None,
) -> DifficultyDocument:
    """The document of a table that belongs to no study, such as a file's. Raises InputError on cuts that are no shares.

    `counted` are the items' tiers by their own kappa.
    """
    return document(stored_difficulty.fit_and_describe(table, check_shares(cuts)), cuts, counted=counted, named=named)


def compute_criterion(
    study: Study,
    ratings: PeoplesRatings,
    *,
    cuts: Cuts = AGREEMENT_CUTS,
    counted: Sequence[str | None] | None = None,
    patient: bool = True,
) -> DifficultyDocument:
    """The document of a study's items on one criterion; they carry their position and their id in their source.

    Who is not patient is told where a worker has yet to fit the model.
    """
    (fit,) = stored_difficulty.load_or_fit_all([ratings], check_shares(cuts), patient=patient)
    return document(fit, cuts, counted=counted, named=lambda rows: list_item_names(study, rows))


def compute_both_tiers(
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
    by_model = compute_criterion(study, ratings, cuts=agreeing, counted=held, patient=patient)
    return {**counted, "difficulty": by_model}


def summaries(each: Sequence[PeoplesRatings], *, patient: bool) -> dict[str, DifficultyDocument]:
    """By key of each criterion that anybody rated, its document without items: what a report says."""
    rated = [one for one in each if one.table.n_ratings]
    fits = zip(rated, stored_difficulty.load_or_fit_all(rated, patient=patient), strict=True)
    return {one.criterion.key: {"name": one.criterion.name, **summary(fit, AGREEMENT_CUTS)} for one, fit in fits}


def summary(fit: Fit, cuts: Cuts) -> DifficultyDocument:
    """A fit without its items; where there is none, why."""
    if fit.found is None:
        return {"method": None, "cuts": list(cuts), "reason": fit.reason}
    found, head = fit.found, fit.found.to_head()
    return {
        "method": head["method"],
        "cuts": head["cuts"],
        "expected_counts": head["expected_counts"],
        "clear": head["clear"],
        "people": head["people"],
        "thresholds": head["thresholds"],
        "reasons": head["reasons"],
        "count_intervals": {tier: list(ends) for tier, ends in count_intervals(found.tiers).items()},
        "n_items": int(found.fitted.sum()),
        "reason": None,
    }


def list_item_names(study: Study, rows: Sequence[str]) -> list[Row]:
    """What a document calls the items of these rows of a table. One query."""
    ids = items.external_ids(study, [to_position(row) for row in rows])
    return [_named(row, ids[to_position(row)]) for row in rows]


def _named(row: str, name: str) -> Row:
    turn = to_turn(row)
    return {"item": name, "position": to_position(row), **({"turn": turn} if turn else {})}


def document(
    fit: Fit, cuts: Cuts, *, counted: Sequence[str | None] | None = None, named: Names | None = None
) -> DifficultyDocument:
    """A fit as JSON types. Where the model could not be fitted it says why, and the counted tiers stand alone."""
    found = fit.found
    if found is None:
        return {**summary(fit, cuts), "items": []}
    return {
        **summary(fit, cuts),
        "items": build_numbered_rows(
            len(found.items), lambda which: select_rows(found, which, named), build_sort_columns(found)
        ),
        "by_counted": [] if counted is None else compare_with_counted(found, counted),
    }


def _at(found: Difficulty, which: IntArray) -> Difficulty:
    """Of these items alone."""
    values = {field.name: getattr(found, field.name) for field in fields(found)}
    values |= {name: value[which] for name, value in values.items() if isinstance(value, np.ndarray)}
    return replace(found, **{**values, "items": tuple(found.items[k] for k in which.tolist())})


def select_rows(found: Difficulty, which: IntArray, named: Names | None = None) -> list[Row]:
    """Those of the items, new dicts."""
    rows = _at(found, which).rows()
    names: list[Row] = [{}] * len(rows) if named is None else named([row["item"] for row in rows])
    return [{**row, **name} for row, name in zip(rows, names, strict=True)]


def build_sort_columns(found: Difficulty) -> dict[str, FloatArray]:
    """By what items can be sorted: their order, difficulty, and the probability of the likeliest tier."""
    certain = np.where(found.fitted, np.nan_to_num(found.tiers).max(axis=1, initial=0.0), np.nan)
    return {"position": np.arange(len(found.items), dtype=float), "difficulty": found.value, "certain": certain}


def to_cells(row: Row) -> list[object]:
    """A row of the document in the order of `COLUMNS`."""
    of, tiers = row["difficulty"], row["tiers"]
    clear = None if row["tier"] is None else row["clear"]
    return [of["value"], of["low"], of["high"], *(tiers[tier] for tier in reversed(TIERS)), row["tier"], clear]


def join_model_tiers(rows: Rows, document: DifficultyDocument) -> Rows:
    """Rows of counted tiers with what the model says of the same items; both are in the order of the table."""
    by_model = document["items"]

    def made(which: IntArray) -> list[Row]:
        counted = rows.made(which)
        if not isinstance(by_model, Rows):
            return [{**row, **dict.fromkeys(COLUMNS)} for row in counted]
        told = [dict(zip(COLUMNS, to_cells(one), strict=True)) for one in by_model.made(which)]
        return [{**row, **one} for row, one in zip(counted, told, strict=True)]

    return Rows(rows.order, made, rows.columns)
