"""Requests and tokens per minute of a model, over all processes: who reserves a start moves the clock on."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from django.db import transaction
from django.db.models import F

from core.accounts.models.users import User
from core.audit.log import audited
from core.options.model import check_options
from judging.judges.models import Judge, Quota
from judging.judges.options import Limits
from judging.judges.providers.base import Usage

USUAL_REPLY = 150  # tokens of an explanation with its verdict
AHEAD = 2.0  # seconds: nothing is reserved for later than that, so that little is lost if it is not used


def reserve(judge: Judge, tokens: Sequence[int]) -> list[float]:
    """When requests of so many tokens may start (seconds since 1970): as many of the first as may do so soon.

    Starts lie 60 / limit seconds apart, so that no minute holds more than the limit, wherever it begins. An unused
    start is not made up for.
    """
    with transaction.atomic():
        quota = find_quota(judge.provider, judge.model, lock=True)
        now = time.time()
        if quota is None:
            return [now] * len(tokens)
        starts = list(reserve_starts(quota, tokens, now))
        if starts:
            quota.save(update_fields=["requests_at", "tokens_at"])
    return starts


def reserve_starts(quota: Quota, tokens: Sequence[int], now: float) -> list[float]:
    """The starts, and the quota's clocks moved on by them."""
    starts: list[float] = []
    for n in tokens:
        start = max(now, quota.requests_at, quota.tokens_at)
        if start > now + AHEAD:
            break
        starts.append(start)
        if quota.requests_per_minute:
            quota.requests_at = start + 60 / quota.requests_per_minute
        if quota.tokens_per_minute:
            quota.tokens_at = start + n * 60 / quota.tokens_per_minute
    return starts


def settle(judge: Judge, *, reserved: int, used: int) -> None:
    """Put right what was reserved, once it is known how many tokens it took."""
    per_minute = Quota.objects.filter(provider=judge.provider, model=judge.model, tokens_per_minute__gt=0)
    if used != reserved:
        per_minute.update(tokens_at=F("tokens_at") + (used - reserved) * 60.0 / F("tokens_per_minute"))


class ModelQuota:
    """A model's quota as one process keeps to it: where none is set, nothing is written down."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.look()

    def look(self) -> None:
        """Look whether there is one by now."""
        self.is_set = find_quota(self.judge.provider, self.judge.model) is not None

    def reserve(self, prompts: Sequence[int]) -> list[float]:
        """When the first of the requests, with prompts of so many tokens, may start: at once where there is none."""
        return reserve(self.judge, [n + USUAL_REPLY for n in prompts]) if self.is_set else [0.0] * len(prompts)

    def settle(self, told: Iterable[tuple[int, Usage | None]]) -> None:
        """Put right what was reserved for these prompts, where it is known what they and their replies took."""
        known = [(prompt + USUAL_REPLY, usage) for prompt, usage in told if usage]
        if self.is_set and known:
            used = sum(usage.input_tokens + usage.output_tokens for _, usage in known)
            settle(self.judge, reserved=sum(reserved for reserved, _ in known), used=used)


def find_quota(provider: str, model: str, *, lock: bool = False) -> Quota | None:
    rows = Quota.objects.select_for_update() if lock else Quota.objects.all()
    return rows.filter(provider=provider, model=model).first()


@check_options(Limits, but=("daily_budget_usd",))
@audited("quota.set", says=("provider", "model", "requests_per_minute", "tokens_per_minute"))
def set_limits(
    *,
    by: User | None,  # noqa: ARG001
    provider: str,
    model: str,
    requests_per_minute: int | None = None,
    tokens_per_minute: int | None = None,
) -> Quota | None:
    """Limit how fast the model may be asked. Neither given: no limit of ours."""
    if requests_per_minute is None and tokens_per_minute is None:
        Quota.objects.filter(provider=provider, model=model).delete()
        return None
    limits = {"requests_per_minute": requests_per_minute, "tokens_per_minute": tokens_per_minute}
    return Quota.objects.update_or_create(provider=provider, model=model, defaults=limits)[0]
