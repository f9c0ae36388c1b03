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


@audited("item.set_tier", on="item", says=("criterion", "tier", "turn"))
def set_tier(*, by: User, item: Item, criterion: Criterion, tier: str, reason: str, turn: int = 0) -> TierOverride:
    """Put an item, or one turn or response of it, into a tier on a criterion, whatever its own kappa says.

    No tier takes that back.
    """
    if criterion.study_id != item.study_id:
        raise InputError("This study has no such criterion.", field="criterion")
    if turn not in criterion.turns_of(item):
        noun = "the whole item" if criterion.unit == Criterion.Unit.ITEM else f"{criterion.part_noun}s: name one of it"
        raise InputError(f"{criterion.name} is asked of {noun}.", field="turn")
    if reason_against := explain_missing("tiers", criterion.level):
        raise InputError(reason_against, field="criterion")
    if tier and tier not in TierOverride.Tier.values:
        raise InputError(f"{tier!r} is no tier; there are {', '.join(TierOverride.Tier.values)}.", field="tier")
    if not reason.strip() or "\0" in reason or len(reason) > LONGEST_REASON:
        raise InputError(f"Say why, in at most {LONGEST_REASON:,} characters.", field="reason")
    with transaction.atomic():
        newest = item.tier_overrides.filter(criterion=criterion, turn=turn).order_by("-created_at", "-pk").first()
        said = agreement_queries.values_on(item, criterion, turn)
        before = newest.tier if newest and newest.tier else agreement_queries.compute_tier(criterion, said)
        if tier == (newest.tier if newest else ""):
            raise InputError("This is how it is already.", field="tier")
        return TierOverride.objects.create(
            item=item, criterion=criterion, turn=turn, tier=tier, before=before, reason=reason.strip(), decided_by=by
        )
