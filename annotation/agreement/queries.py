"""Tiers that people set by hand: those that hold, and how they came about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from annotation.agreement.models import TierOverride
from annotation.stats.bands import find_tier
from annotation.stats.by_level import explain_missing
from annotation.stats.table import Level, RatingTable
from annotation.stats.tiers import chance_agreement, item_kappas
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion, Item
from annotation.studies.queries.scales import has_open_scale, load_scales, to_label
from annotation.studies.queries.units import unit


def load_overrides(criterion: Criterion) -> dict[str, TierOverride]:
    """By name of the item, turn or response, the override that holds; those that went back to what is computed are left
    out. One query."""
    oldest_first = TierOverride.objects.filter(criterion=criterion).order_by("created_at", "pk")
    newest = {unit(one.item.position, one.turn): one for one in oldest_first.select_related("item", "decided_by")}
    return {name: one for name, one in newest.items() if one.tier}


def history(item: Item) -> list[TierOverride]:
    """Every decision on the item's tiers, newest first. One query."""
    return list(item.tier_overrides.select_related("criterion", "decided_by").order_by("-created_at", "-pk"))


def values_on(item: Item, criterion: Criterion, turn: int) -> list[str]:
    """People's submitted answers to a criterion on one item, or on one turn or response of it. One query."""
    submitted = Annotation.objects.only_counting().filter(assignment__item=item, criterion=criterion, turn=turn)
    return [value for value in submitted.values_list("value", flat=True) if value]


def compute_tier(criterion: Criterion, values: Sequence[str]) -> str:
    """The tier of an item with these answers, at the default cuts against uniform chance; empty below two answers."""
    if len(values) < 2 or explain_missing("tiers", criterion.level):
        return ""
    level, is_open = cast(Level, criterion.level), has_open_scale(criterion)
    scale = load_scales([criterion])[criterion.pk]
    labels = [to_label(criterion, value, None) for value in values]
    table = RatingTable.from_wide([labels], categories=scale, level=level, is_open=is_open)
    (kappa,) = item_kappas(table, chance_agreement(table, "uniform")).tolist()
    return find_tier(kappa) or ""
