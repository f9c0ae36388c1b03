"""Setting an item's tier by hand. Rows are only added: who, when, why and the tier before stay on record."""

from __future__ import annotations

from django.db import transaction

from annotation.agreement import queries as agreement_queries
from annotation.agreement.models import TierOverride
from annotation.stats.by_level import explain_missing
from annotation.studies.models.studies import Criterion, Item
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError

LONGEST_REASON = 10_000


@audited("item.set_tier", on="item", says=("criterion", "tier"))
def set_tier(*, by: User, item: Item, criterion: Criterion, tier: str, reason: str) -> TierOverride:
    """Put an item into a tier on a criterion, whatever its own kappa says; no tier takes that back."""
    if criterion.study_id != item.study_id:
        raise InputError("This study has no such criterion.", field="criterion")
    if criterion.unit != Criterion.Unit.ITEM:
        raise InputError(
            f"{criterion.name} is asked of {criterion.part_noun}s: their tiers are not set by hand.", field="criterion"
        )
    if reason_against := explain_missing("tiers", criterion.level):
        raise InputError(reason_against, field="criterion")
    if tier and tier not in TierOverride.Tier.values:
        raise InputError(f"{tier!r} is no tier; there are {', '.join(TierOverride.Tier.values)}.", field="tier")
    if not reason.strip() or "\0" in reason or len(reason) > LONGEST_REASON:
        raise InputError(f"Say why, in at most {LONGEST_REASON:,} characters.", field="reason")
    with transaction.atomic():
        before = tier_that_holds(item, criterion)
        newest = item.tier_overrides.filter(criterion=criterion).order_by("-created_at", "-pk").first()
        if tier == (newest.tier if newest else ""):
            raise InputError("This is how it is already.", field="tier")
        return TierOverride.objects.create(
            item=item, criterion=criterion, tier=tier, before=before, reason=reason.strip(), decided_by=by
        )


def tier_that_holds(item: Item, criterion: Criterion) -> str:
    """What a person set last, else what the item's own ratings say; empty where there is neither."""
    newest = item.tier_overrides.filter(criterion=criterion).order_by("-created_at", "-pk").first()
    return (
        newest.tier
        if newest and newest.tier
        else agreement_queries.compute_tier(criterion, agreement_queries.values_on(item, criterion))
    )
