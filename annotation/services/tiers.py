"""How contested each item is, and each group of items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.errors import InputError
from annotation.models import Study, TierOverride
from annotation.queries import items, overrides
from annotation.queries.ratings import PeoplesRatings
from annotation.queries.units import position_of, turn_of
from annotation.stats.bands import DEFAULT_CUTS, Cuts, check_cuts, tier_of
from annotation.stats.table import RatingTable
from annotation.stats.tiers import Chance, chance_agreement, group_tiers, item_kappas, tiers


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


def of_table(
    table: RatingTable,
    options: TierOptions,
    *,
    by: Sequence[str] | None = None,
    set_by_hand: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Tiers of a table's items, and of its groups where `by` names the group of each item.

    `set_by_hand` names by item the tier that a person put it into.
    """
    found = tiers(table, cuts=options.cuts, chance=options.chance, draws=options.draws, seed=options.seed).as_json()
    found = _with_overrides(found, set_by_hand or {})
    if by is None:
        return found
    grouped = group_tiers(table, by, cuts=options.cuts, bootstrap=options.bootstrap, seed=options.seed)
    return {**found, "groups": [_with_counts(group.as_json(), found, by) for group in grouped]}


def _with_overrides(found: dict[str, Any], by_hand: Mapping[str, str]) -> dict[str, Any]:
    """The document with the tiers that people set, and the computed one of each item and the computed counts."""
    rows = [
        {**item, "tier": by_hand.get(item["item"], item["tier"]), "computed_tier": item["tier"]}
        for item in found["items"]
    ]
    counts = Counter(item["tier"] or "none" for item in rows)
    return {
        **found,
        "items": rows,
        "counts": {tier: counts[tier] for tier in found["counts"]},
        "computed_counts": found["counts"],
        "overridden": sum(item["item"] in by_hand for item in rows),
    }


def _with_counts(group: dict[str, Any], found: Mapping[str, Any], by: Sequence[str]) -> dict[str, Any]:
    """The group with the number of its items in each tier."""
    members = [item for item, name in zip(found["items"], by, strict=True) if name == group["group"]]
    counts = {tier: sum((item["tier"] or "none") == tier for item in members) for tier in found["counts"]}
    return {**group, "counts": counts}


def computed(table: RatingTable, options: TierOptions | None = None) -> list[str | None]:
    """The tier of each item of a table by its own kappa; None where it has none."""
    chosen = options or TierOptions()
    if not table.n_items:
        return []
    kappas = item_kappas(table, chance_agreement(table, chosen.chance))
    return [tier_of(kappa, chosen.cuts) for kappa in kappas.tolist()]


def holding(ratings: PeoplesRatings, options: TierOptions | None = None) -> list[str | None]:
    """The tier of each item of a criterion's table: what a person set, else what is computed. One query."""
    by_hand = overrides.holding(ratings.criterion)
    found = zip(ratings.positions, computed(ratings.table, options), strict=True)
    return [by_hand[position].tier if position in by_hand else tier for position, tier in found]


def of_criterion(
    study: Study, ratings: PeoplesRatings, options: TierOptions, *, by: str | None = None
) -> dict[str, Any]:
    """Tiers of a study's items on one criterion; items also carry their position and their id in their source.

    What a person set stands above what is computed, in the items, the counts and the groups' counts; both are told.
    """
    named = items.groups(study, by) if by else {}
    names = [named[position] for position in ratings.positions] if by else None
    by_hand, ids = overrides.holding(ratings.criterion), items.external_ids(study)
    found = of_table(ratings.table, options, by=names, set_by_hand={str(p): one.tier for p, one in by_hand.items()})
    return {
        "study": study.name,
        "criterion": ratings.criterion.key,
        **found,
        "items": [_named(item, ids, by_hand) for item in found["items"]],
    }


def _named(item: dict[str, Any], ids: Mapping[int, str], by_hand: Mapping[int, TierOverride]) -> dict[str, Any]:
    position, turn = position_of(item["item"]), turn_of(item["item"])
    one = by_hand.get(position)
    of_turn = {"turn": turn} if turn else {}
    return {**item, "item": ids[position], "position": position, **of_turn, "override": one and _override(one)}


def _override(one: TierOverride) -> dict[str, Any]:
    return {
        "tier": one.tier,
        "before": one.before or None,
        "reason": one.reason,
        "by": str(one.decided_by),
        "at": one.created_at.isoformat(),
    }
