"""How contested each item is, and each group of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.errors import InputError
from annotation.models import Study
from annotation.queries import items
from annotation.queries.ratings import PeoplesRatings
from annotation.stats.bands import DEFAULT_CUTS, Cuts, check_cuts
from annotation.stats.table import RatingTable
from annotation.stats.tiers import Chance, group_tiers, tiers


@dataclass(frozen=True)
class TierOptions:
    """How tiers are made.

    Attributes
    ----------
    cuts
        Upper ends of contested, hard and medium.
    chance
        Where chance agreement comes from: uniform or margins.
    draws
        Redraws of an item's raters for its stability; 0 for none.
    bootstrap
        Resamples for the intervals of groups; 0 for none.
    seed
        Of both.
    """

    cuts: Cuts = DEFAULT_CUTS
    chance: Chance = "uniform"
    draws: int = 1000
    bootstrap: int = 2000
    seed: int = 0


def cuts_from(text: str) -> Cuts:
    """Cuts as they are typed, 0.4,0.6,0.8. Raises InputError where they are not three ascending numbers."""
    try:
        numbers = [float(part) for part in text.split(",")]
        check_cuts(numbers)
    except ValueError as error:
        raise InputError(f"{text!r} is not three ascending numbers such as 0.4,0.6,0.8", field="cuts") from error
    return numbers[0], numbers[1], numbers[2]


def chance_from(text: str) -> Chance:
    """Uniform or margins. Raises InputError for anything else."""
    if text == "uniform":
        return "uniform"
    if text == "margins":
        return "margins"
    raise InputError(f"{text!r} is neither uniform nor margins", field="chance")


def of_table(table: RatingTable, options: TierOptions, *, by: Sequence[str] | None = None) -> dict[str, Any]:
    """Tiers of a table's items, and of its groups where `by` names the group of each item."""
    found = tiers(table, cuts=options.cuts, chance=options.chance, draws=options.draws, seed=options.seed).as_json()
    if by is None:
        return found
    grouped = group_tiers(table, by, cuts=options.cuts, bootstrap=options.bootstrap, seed=options.seed)
    return {**found, "groups": [_with_counts(group.as_json(), found, by) for group in grouped]}


def _with_counts(group: dict[str, Any], found: Mapping[str, Any], by: Sequence[str]) -> dict[str, Any]:
    """The group with the number of its items in each tier."""
    members = [item for item, name in zip(found["items"], by, strict=True) if name == group["group"]]
    counts = {tier: sum((item["tier"] or "none") == tier for item in members) for tier in found["counts"]}
    return {**group, "counts": counts}


def of_criterion(
    study: Study, ratings: PeoplesRatings, options: TierOptions, *, by: str | None = None
) -> dict[str, Any]:
    """Tiers of a study's items on one criterion; items also carry their position and their id in their source."""
    named = items.groups(study, by) if by else {}
    names = [named[position] for position in ratings.positions] if by else None
    found = of_table(ratings.table, options, by=names)
    ids = items.external_ids(study)
    return {
        "study": study.name,
        "criterion": ratings.criterion.key,
        **found,
        "items": [_named(item, ids) for item in found["items"]],
    }


def _named(item: dict[str, Any], ids: Mapping[int, str]) -> dict[str, Any]:
    position = int(item["item"])
    return {**item, "item": ids[position], "position": position}
