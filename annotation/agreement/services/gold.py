"""The gold of a study's items on one criterion: adjudicated, or from people's answers, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from annotation.agreement.options import GoldOptions
from annotation.agreement.result_types import GoldDocument, NoResultDocument
from annotation.agreement.services import tiers
from annotation.agreement.services.tiers import describe_missing
from annotation.stats.by_level import explain_missing
from annotation.stats.difficulty.latent import NoConvergenceError
from annotation.stats.gold import Gold, gold, kinds_of_gold, list_methods
from annotation.stats.result_types import GoldItemDocument, GoldItems
from annotation.stats.table import MISSING, IntArray, RatingTable
from annotation.studies.models.studies import Study
from annotation.studies.queries.items import external_ids
from annotation.studies.queries.ratings import PeoplesRatings
from annotation.studies.queries.scales import to_label
from annotation.studies.queries.units import to_position, to_turn
from annotation.workbench.queries import adjudication
from core.documents import Row, build_numbered_rows
from core.errors import InputError


def compute_table(table: RatingTable, options: GoldOptions) -> GoldItems:
    """The gold of a table's items, without adjudications. Raises InputError where the method does not fit them."""
    return _gold(table, options).to_json()


def _gold(
    table: RatingTable,
    options: GoldOptions,
    adjudicated: IntArray | None = None,
    holding: Sequence[str | None] | None = None,
) -> Gold:
    """By the options; ``holding`` are the tiers that hold. Raises InputError where the method does not fit them."""
    check_method(options, table)
    try:
        return gold(
            table,
            method=options.method,
            adjudicated=adjudicated,
            tiers=holding,
            min_ratings=options.min_ratings,
            min_posterior=options.min_posterior,
        )
    except NoConvergenceError as why:
        raise InputError("the difficulty model does not fit these ratings: {why}", field="method", why=why) from why


def check_method(options: GoldOptions, table: RatingTable) -> None:
    """Raise InputError where the method does not fit the answers."""
    if options.method == "median" and table.level == "nominal":
        raise InputError("a nominal scale has no median: its categories have no order", field="method")
    if options.method and options.method not in (there := list_methods(table)):
        raise InputError(
            "{method} does not fit these answers; choose one of {there}",
            field="method",
            method=options.method,
            there=", ".join(there),
        )


def compute_criterion(
    study: Study, ratings: PeoplesRatings, options: GoldOptions, *, only: str = ""
) -> GoldDocument | NoResultDocument:
    """The gold of a study's items on one criterion; tiers that a person set decide on what is contested.

    An item that nobody rated and somebody decided is there too. `only` names a source, or a reason for no gold, that
    the items share. Two queries, and one for each two thousand items that are looked at.
    """
    if missing := describe_missing("gold", study, ratings.criterion):
        return missing
    decided = adjudication.decisions(ratings.criterion)
    has_tiers = explain_missing("tiers", ratings.table.level) is None
    held = tiers.load_tiers(ratings) if has_tiers else None
    found = _gold(ratings.table, options, _adjudicated(ratings, decided), held)
    unrated = sorted(set(decided) - set(found.names), key=lambda name: (to_position(name), to_turn(name)))
    kinds = np.concatenate([found.kinds, np.zeros(len(unrated), dtype=np.int64)])  # these are adjudicated

    def made(which: IntArray) -> list[Row]:
        rated = iter(found.rows(which[which < len(found.names)]))
        late = [unrated[row - len(found.names)] if row >= len(found.names) else "" for row in which.tolist()]
        return _placed(study, [_decided(name) if name else next(rated) for name in late], decided)

    items = build_numbered_rows(kinds.size, made)
    told = found.to_head()
    told["counts"]["adjudication"] += len(unrated)
    names = kinds_of_gold(found.method)
    chosen = items.take(np.flatnonzero(kinds == (names.index(only) if only in names else MISSING))) if only else items
    return {"study": study.name, "criterion": ratings.criterion.key, **told, "items": chosen}


def _adjudicated(ratings: PeoplesRatings, decided: Mapping[str, str]) -> IntArray:
    """(n_items,) positions on the scale that a person decided, -1 where none did."""
    place = {str(value): code for code, value in enumerate(ratings.table.categories)}
    codes = np.full(ratings.table.n_items, MISSING, dtype=np.int64)
    for row, name in enumerate(ratings.table.items if decided else ()):
        if name in decided:
            codes[row] = place[to_label(ratings.criterion, decided[name], None)]
    return codes


def _placed(study: Study, rows: Sequence[GoldItemDocument], decided: Mapping[str, str]) -> list[Row]:
    """The rows with their items' ids in their source, their positions, and the turn where it is of one.

    What was decided is given as it was entered, not as the label that it is compared by.
    """
    positions = [to_position(row["item"]) for row in rows]
    ids = external_ids(study, positions)
    return [
        {
            **row,
            "gold": decided[row["item"]] if row["source"] == "adjudication" else row["gold"],
            "item": ids[position],
            "position": position,
            **({"turn": turn} if (turn := to_turn(row["item"])) else {}),
        }
        for row, position in zip(rows, positions, strict=True)
    ]


def _decided(name: str) -> GoldItemDocument:
    return {
        "item": name,
        "gold": None,
        "source": "adjudication",
        "confidence": 1.0,
        "reason": None,
        "candidates": [],
    }
