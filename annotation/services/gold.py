"""The gold of a study's items on one criterion: adjudicated, or from people's answers, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from annotation.errors import InputError
from annotation.models import Study
from annotation.queries import adjudication, items
from annotation.queries.ratings import PeoplesRatings
from annotation.queries.units import position_of, turn_of
from annotation.services import tiers
from annotation.stats.gold import GoldMethod, gold
from annotation.stats.table import MISSING, RatingTable


@dataclass(frozen=True)
class GoldOptions:
    """How gold is made.

    Attributes
    ----------
    method
        majority or dawid_skene; what a person adjudicated stands above both.
    min_ratings
        Items with fewer ratings have none.
    min_posterior
        Below this probability the answer of Dawid and Skene is too uncertain.
    """

    method: GoldMethod = "majority"
    min_ratings: int = 2
    min_posterior: float = 0.5

    def __post_init__(self) -> None:
        if self.method not in get_args(GoldMethod):
            raise InputError(f"{self.method!r} is not one of {', '.join(get_args(GoldMethod))}", field="method")
        if self.min_ratings < 1:
            raise InputError("must be 1 or more", field="min-ratings")
        if not 0 <= self.min_posterior <= 1:
            raise InputError("must be between 0 and 1", field="min-posterior")


def of_table(table: RatingTable, options: GoldOptions) -> dict[str, Any]:
    """The gold of a table's items, without adjudications."""
    return gold(
        table, method=options.method, min_ratings=options.min_ratings, min_posterior=options.min_posterior
    ).as_json()


def of_criterion(study: Study, ratings: PeoplesRatings, options: GoldOptions) -> dict[str, Any]:
    """The gold of a study's items on one criterion; tiers that a person set decide on what is contested.

    An item that nobody rated and somebody decided is there too. Four queries.
    """
    decided, ids = adjudication.decisions(ratings.criterion), items.external_ids(study)
    table = ratings.table
    place = {value: code for code, value in enumerate(ratings.criterion.values)}
    codes = np.array([place[decided[name]] if name in decided else MISSING for name in table.items], dtype=np.int64)
    found = gold(
        table,
        method=options.method,
        adjudicated=codes,
        tiers=tiers.holding(ratings),
        min_ratings=options.min_ratings,
        min_posterior=options.min_posterior,
    ).as_json()
    rows = [_placed(item, item["item"], ids) for item in found["items"]]
    unrated = sorted(set(decided) - set(table.items), key=lambda name: (position_of(name), turn_of(name)))
    rows += [_placed(_decided(decided[name]), name, ids) for name in unrated]
    found["counts"]["adjudication"] += len(unrated)
    return {"study": study.name, "criterion": ratings.criterion.key, **found, "items": rows}


def _placed(row: dict[str, Any], name: str, ids: Mapping[int, str]) -> dict[str, Any]:
    """The row with its item's id in its source, its position, and the turn where it is of one."""
    turn, position = turn_of(name), position_of(name)
    return {**row, "item": ids[position], "position": position, **({"turn": turn} if turn else {})}


def _decided(value: str) -> dict[str, Any]:
    return {
        "item": "",
        "gold": value,
        "source": "adjudication",
        "confidence": 1.0,
        "reason": None,
        "candidates": [],
    }
