"""How contested each item is, and each group of items; and an item's tier set by hand.

Rows of tiers set by hand are only added: who, when, why and the tier before stay on record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from django.db import transaction
from django.utils.translation import gettext_noop

from annotation.agreement import queries as agreement_queries
from annotation.agreement.models import TierOverride
from annotation.agreement.result_types import CountedTiersDocument, NoResultDocument
from annotation.stats.bands import DEFAULT_CUTS, NAMES, TIERS, Cuts, check_cuts, count_tiers, tier_places
from annotation.stats.by_level import Result, explain_missing
from annotation.stats.estimate import number_or_none
from annotation.stats.table import FloatArray, IntArray, RatingTable
from annotation.stats.tiers import Chance, TierResult, chance_agreement, group_tiers, item_kappas, tiers
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.queries import items
from annotation.studies.queries.ratings import PeoplesRatings
from annotation.studies.queries.units import to_position, to_turn
from core.accounts.models.users import User
from core.audit.log import audited
from core.documents import Row, Rows, build_numbered_rows
from core.errors import InputError


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


def parse_cuts(text: str) -> Cuts:
    """Cuts as they are typed, 0.4,0.6,0.8. Raises InputError where they are not three ascending numbers."""
    try:
        numbers = [float(part) for part in text.split(",")]
        check_cuts(numbers)
    except ValueError as error:
        raise InputError(
            "{text!r} is not three ascending numbers such as 0.4,0.6,0.8", field="cuts", text=text
        ) from error
    return numbers[0], numbers[1], numbers[2]


def parse_chance(text: str) -> Chance:
    """Uniform or margins. Raises InputError for anything else."""
    if text == "uniform":
        return "uniform"
    if text == "margins":
        return "margins"
    raise InputError("{text!r} is neither uniform nor margins", field="chance", text=text)


def compute_table(
    table: RatingTable,
    options: TierOptions,
    *,
    by: Sequence[str] | None = None,
    set_by_hand: Mapping[str, str] | None = None,
) -> CountedTiersDocument:
    """Tiers of a table's items, and of its groups where `by` names the group of each item.

    `set_by_hand` names by item the tier that a person put it into.
    """
    computed = tiers(table, cuts=options.cuts, chance=options.chance, draws=options.draws, seed=options.seed)
    holding, overridden = _by_hand(computed, set_by_hand or {})
    found: CountedTiersDocument = {
        "cuts": list(computed.cuts),
        "chance": computed.chance,
        "chance_agreement": number_or_none(computed.chance_agreement),
        "counts": count_tiers(holding),
        "items": build_numbered_rows(table.n_items, partial(_rows, computed, holding), _columns(computed)),
        "plans": [plan.to_json() for plan in computed.plans],
        "sensitivity": list(computed.sensitivity),
        "seed": computed.seed,
        "draws": computed.draws,
        "warnings": [warning.to_json() for warning in computed.warnings],
        "computed_counts": computed.counts,
        "overridden": overridden,
    }
    if by is not None:
        grouped = group_tiers(table, by, cuts=options.cuts, bootstrap=options.bootstrap, seed=options.seed)
        counts = _counts_of_groups(holding, by)
        found["groups"] = [{**group.to_json(), "counts": counts[group.group]} for group in grouped]
    return found


def _by_hand(computed: TierResult, by_hand: Mapping[str, str]) -> tuple[IntArray, int]:
    """The position in `TIERS` that holds for each item, and how many of them a person set."""
    holding = computed.places.copy()
    rows = [row for row, name in enumerate(computed.names) if name in by_hand] if by_hand else []
    for row in rows:
        holding[row] = TIERS.index(by_hand[computed.names[row]])
    return holding, len(rows)


def _rows(computed: TierResult, holding: IntArray, which: IntArray) -> list[Row]:
    """Items with the tier that holds and the computed one."""
    rows = computed.rows(which)
    for row, place in zip(rows, holding[which].tolist(), strict=True):
        row["computed_tier"], row["tier"] = row["tier"], NAMES[place]
    return rows


def _columns(computed: TierResult) -> dict[str, FloatArray]:
    """By what items can be sorted; they are in the order of their positions."""
    positions = np.arange(len(computed.names), dtype=float)
    return {"position": positions, "kappa": computed.kappas, "stability": computed.stabilities}


def _counts_of_groups(holding: IntArray, by: Sequence[str]) -> dict[str, dict[str, int]]:
    """By group, the number of its items in each tier."""
    names, group = np.unique(np.array([str(name) for name in by], dtype=object), return_inverse=True)
    return {name: count_tiers(holding[group == place]) for place, name in enumerate(names.tolist())}


def compute_tiers(table: RatingTable, options: TierOptions | None = None) -> list[str | None]:
    """The tier of each item of a table by its own kappa; None where it has none."""
    chosen = options or TierOptions()
    if not table.n_items:
        return []
    kappas = item_kappas(table, chance_agreement(table, chosen.chance))
    return [NAMES[place] for place in tier_places(kappas, chosen.cuts).tolist()]


def load_tiers(ratings: PeoplesRatings, options: TierOptions | None = None) -> list[str | None]:
    """The tier of each item of a criterion's table: what a person set, else what is computed. One query."""
    if explain_missing("tiers", ratings.table.level):
        return [None] * ratings.table.n_items
    by_hand, of_items = agreement_queries.load_overrides(ratings.criterion), compute_tiers(ratings.table, options)
    if not by_hand:
        return of_items
    found = zip(ratings.table.items, of_items, strict=True)
    return [by_hand[name].tier if name in by_hand else tier for name, tier in found]


def compute_criterion(
    study: Study, ratings: PeoplesRatings, options: TierOptions, *, by: str | None = None
) -> CountedTiersDocument:
    """Tiers of a study's items on one criterion; items also carry their position and their id in their source.

    What a person set stands above what is computed, in the items, the counts and the groups' counts; both are told.
    """
    named = items.groups(study, by) if by else {}
    names = [named[position] for position in ratings.positions] if by else None
    by_hand = agreement_queries.load_overrides(ratings.criterion)
    found = compute_table(
        ratings.table, options, by=names, set_by_hand={name: one.tier for name, one in by_hand.items()}
    )
    told = found["items"]
    return {
        "study": study.name,
        "criterion": ratings.criterion.key,
        **found,
        "items": Rows(told.order, lambda which: _named(study, told.made(which), by_hand), told.columns),
    }


def _named(study: Study, rows: list[Row], by_hand: Mapping[str, TierOverride]) -> list[Row]:
    """The rows with their items' ids in their source, their positions, and what a person said of their tiers."""
    positions = [to_position(row["item"]) for row in rows]
    ids = items.external_ids(study, positions)
    for row, position in zip(rows, positions, strict=True):
        turn, one = to_turn(row["item"]), by_hand.get(row["item"])
        of_turn = {"turn": turn} if turn else {}
        row |= {"item": ids[position], "position": position, **of_turn, "override": one and _override(one)}
    return rows


def _override(one: TierOverride) -> dict[str, str | None]:
    return {
        "tier": one.tier,
        "before": one.before or None,
        "reason": one.reason,
        "by": str(one.decided_by),
        "at": one.created_at.isoformat(),
    }


def describe_missing(result: Result, study: Study, criterion: Criterion) -> NoResultDocument | None:
    """Why there is none; None where there is."""
    reason = explain_missing(result, criterion.level)
    if reason is None:
        return None
    return {"study": study.name, "criterion": criterion.key, "level": criterion.level, "reason": reason}


LONGEST_REASON = 10_000


@audited("item.set_tier", on="item", says=("criterion", "tier", "turn"))
def set_tier(*, by: User, item: Item, criterion: Criterion, tier: str, reason: str, turn: int = 0) -> TierOverride:
    """Put an item, or one turn or response of it, into a tier on a criterion, whatever its own kappa says.

    No tier takes that back.
    """
    if criterion.study_id != item.study_id:
        raise InputError("This study has no such criterion.", field="criterion")
    if turn not in criterion.turns_of(item):
        says = gettext_noop("{name} is asked of {noun}s: name one of it.")
        if criterion.unit == Criterion.Unit.ITEM:
            says = gettext_noop("{name} is asked of the whole item.")
        raise InputError(says, field="turn", name=criterion.name, noun=criterion.part_noun)
    if reason_against := explain_missing("tiers", criterion.level):
        raise InputError(reason_against, field="criterion")
    if tier and tier not in TierOverride.Tier.values:
        raise InputError(
            "{tier!r} is not a tier; there are {values}.",
            field="tier",
            tier=tier,
            values=", ".join(TierOverride.Tier.values),
        )
    if not reason.strip() or "\0" in reason or len(reason) > LONGEST_REASON:
        raise InputError(
            "Say why, in at most {longest_reason:,} characters.", field="reason", longest_reason=LONGEST_REASON
        )
    with transaction.atomic():
        newest = item.tier_overrides.filter(criterion=criterion, turn=turn).order_by("-created_at", "-pk").first()
        said = agreement_queries.values_on(item, criterion, turn)
        before = newest.tier if newest and newest.tier else agreement_queries.compute_tier(criterion, said)
        if tier == (newest.tier if newest else ""):
            raise InputError("This is how it is already.", field="tier")
        return TierOverride.objects.create(
            item=item, criterion=criterion, turn=turn, tier=tier, before=before, reason=reason.strip(), decided_by=by
        )
