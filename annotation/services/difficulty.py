"""Difficulty of items by the model of people and items, beside the counted tiers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from annotation.errors import InputError
from annotation.models import Study
from annotation.queries import items
from annotation.queries.preferences import preferences
from annotation.queries.ratings import PeoplesRatings
from annotation.queries.units import position_of, turn_of
from annotation.stats.bands import Cuts
from annotation.stats.difficulty.items import AGREEMENT_CUTS, difficulty
from annotation.stats.difficulty.latent import NoConvergenceError
from annotation.stats.difficulty.preferences import Shown
from annotation.stats.table import RatingTable

Names = Callable[[Sequence[str]], list[dict[str, Any]]]
"""From the names of a table's rows to what a document says of their items."""


def of_table(
    table: RatingTable, *, cuts: Cuts = AGREEMENT_CUTS, named: Names | None = None, shown: Shown | None = None
) -> dict[str, Any]:
    """The document of a table; ``shown`` says how preferences were.

    Where the model cannot be fitted it says why, and the counted tiers stand alone.
    Raises InputError where the cuts are no shares.
    """
    if not 0 < cuts[0] < cuts[2] < 1:
        raise InputError("the probabilities that two people agree must lie between 0 and 1", field="agreement-cuts")
    try:
        found = difficulty(table, cuts=cuts, shown=shown).as_json()
    except NoConvergenceError as why:
        return {"method": None, "cuts": list(cuts), "reason": str(why), "items": []}
    if named is not None:
        names = named([row["item"] for row in found["items"]])
        found["items"] = [{**row, **name} for row, name in zip(found["items"], names, strict=True)]
    return {**found, "reason": None}


def of_criterion(study: Study, ratings: PeoplesRatings, *, cuts: Cuts = AGREEMENT_CUTS) -> dict[str, Any]:
    """The document of a study's items on one criterion; they carry their position and their id in their source."""

    def named(rows: Sequence[str]) -> list[dict[str, Any]]:
        ids = items.external_ids(study, [position_of(row) for row in rows])
        return [_named(row, ids[position_of(row)]) for row in rows]

    table, shown = preferences(ratings)
    return of_table(table, cuts=cuts, named=named, shown=shown)


def _named(row: str, name: str) -> dict[str, Any]:
    turn = turn_of(row)
    return {"item": name, "position": position_of(row), **({"turn": turn} if turn else {})}
