"""What a run will take, before it starts: requests, tokens, dollars, time. Reckoned from some of its requests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext as _

from annotation.studies.models.studies import Study
from core.jobs.backoff import PermanentError, TransientError
from judging.judges.models import Quota
from judging.judges.pricing import Rate
from judging.judges.providers.base import Provider, TokenCount
from judging.judges.queries.prices import find_rate
from judging.judges.services import judges, quotas
from judging.runs.models.runs import JudgeRun
from judging.runs.queries import spending
from judging.runs.queries.probing import ProbeSettings
from judging.runs.queries.requests import Frame, Pending, build_requests
from judging.runs.services import budgets, cache, judgment_writer
from judging.runs.services.request_pool import Ask
from judging.runs.services.runs import Plan

SAMPLED_ITEMS = 50
SAMPLED_REQUESTS = 200
COUNTED = 20
PATIENCE = 10.0  # seconds for the other side to count


@dataclass(frozen=True, slots=True)
class Estimate:
    """A run, reckoned. What cannot be known is None, and `why` says so.

    Attributes
    ----------
    requests
        Questions, those answered already included.
    cached
        How many of them equal requests have answered already.
    input_tokens, output_tokens
        Of the others.
    too_long
        How many will not fit the model.
    usd, seconds
        What they will cost, and how long they will take.
    basis
        How tokens were counted and replies guessed, in words.
    why
        Why there is no price or no time, in words.
    """

    requests: int
    cached: int
    input_tokens: int
    output_tokens: int
    too_long: int
    usd: Decimal | None
    seconds: float | None
    basis: tuple[str, ...]
    why: tuple[str, ...]


def estimate(plan: Plan) -> Estimate:
    """Look at up to 200 requests, evenly from all items, and take the others to be like them."""
    provider = judges.build_provider(plan.judge)
    looked_at = sample(plan, provider)
    counts, exact = token_counts(provider, looked_at)
    n = total(plan)
    cached = round(n * share_cached(plan, provider, looked_at))
    to_ask = n - cached
    written, ms = spending.habits(plan.judge)
    reply = written or (quotas.USUAL_REPLY if provider.needs_prompt else 0)
    input_tokens, output_tokens = round(to_ask * mean(counts)), round(to_ask * reply)
    rate = find_rate(plan.judge)
    quota = quotas.find_quota(plan.judge.provider, plan.judge.model)
    return Estimate(
        requests=n,
        cached=cached,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        too_long=round(n * mean([does_not_fit(provider, count) for count in counts])),
        usd=dollars(to_ask, counts, round(reply), rate, in_bulk=plan.in_bulk),
        seconds=None
        if plan.in_bulk
        else seconds(to_ask, ms, provider.concurrency, input_tokens + output_tokens, quota),
        basis=tuple(basis(exact, len(counts), written)) if provider.needs_prompt else (),
        why=tuple(
            said
            for said, missing in (
                (_("The price of this model is not known: enter it on the page Prices."), rate is None),
                (_("A batch is answered within a day, and often sooner."), plan.in_bulk),
                (
                    _("How long a reply takes is not known until there are some."),
                    ms is None and to_ask > 0 and not plan.in_bulk,
                ),
            )
            if missing
        ),
    )


def total(plan: Plan) -> int:
    """How many requests the run makes."""
    if plan.probe:
        return plan.n_units
    both = plan.order_policy == JudgeRun.OrderPolicy.BOTH and plan.study.kind == Study.Kind.PAIR
    return plan.n_units * len(plan.criteria) * plan.repeats * (2 if both else 1)


def sample(plan: Plan, provider: Provider) -> list[Pending]:
    """The requests of some items, which stand evenly apart in the study's order."""
    per_item = max(1, total(plan) // len(plan.item_ids))
    n = max(1, min(SAMPLED_ITEMS, SAMPLED_REQUESTS // per_item, len(plan.item_ids)))
    step = len(plan.item_ids) / n
    chosen = [plan.item_ids[int(place * step)] for place in range(n)]
    frame = Frame(
        plan.judge,
        plan.study.shown,
        plan.criteria,
        plan.repeats,
        plan.order_policy,
        plan.seed,
        unit=plan.unit,
        probing=ProbeSettings.from_stored(plan.probe, plan.seed) if plan.probe else None,
    )
    return build_requests(frame, chosen, with_prompt=provider.needs_prompt)


def share_cached(plan: Plan, provider: Provider, looked_at: Sequence[Pending]) -> float:
    if not plan.use_cache:
        return 0.0
    asks = [Ask(one, key=cache.build_key(plan.judge, plan.seed, provider, one)) for one in looked_at]
    known = judgment_writer.load_known(asks)
    return mean([ask.key in known for ask in asks])


def token_counts(provider: Provider, looked_at: Sequence[Pending]) -> tuple[list[int], bool]:
    """Of each prompt, and whether the model's own tokenizer counted. A few where the other side has to be asked."""
    if not provider.needs_prompt:
        return [0], True
    step = max(1, len(looked_at) // COUNTED)
    with ThreadPoolExecutor(1) as thread:  # the caller may be in a loop itself
        counted = thread.submit(asyncio.run, count_tokens(provider, looked_at[::step])).result()
    if counted is None:
        return [provider.estimate_tokens(one.request).tokens for one in looked_at], False
    return [count.tokens for count in counted], all(count.exact for count in counted)


async def count_tokens(provider: Provider, some: Sequence[Pending]) -> list[TokenCount] | None:
    """None where the other side does not answer."""
    try:
        async with asyncio.timeout(PATIENCE):
            return [await provider.count_tokens(one.request) for one in some]
    except (TransientError, PermanentError, TimeoutError):
        return None
    finally:
        await provider.aclose()


def dollars(n: int, counts: Sequence[int], reply: int, rate: Rate | None, *, in_bulk: bool) -> Decimal | None:
    """What so many requests cost with prompts as long as these. Each counts by itself: long ones may cost more."""
    costs = [budgets.compute_expected_cost(count, reply, rate, in_bulk=in_bulk) for count in counts]
    known = [cost for cost in costs if cost is not None]
    return None if len(known) < len(costs) else n * sum(known, Decimal(0)) / max(len(known), 1)


def does_not_fit(provider: Provider, tokens: int) -> bool:
    window = provider.context_window
    return window is not None and tokens + provider.reply_tokens > window


def seconds(n: int, ms: float | None, concurrency: int, tokens: int, quota: Quota | None) -> float | None:
    """How long the requests take, by their own pace or by the quota, whichever is slower."""
    if n == 0:
        return 0.0
    paces = [] if ms is None else [n * ms / 1000 / concurrency]
    if quota and quota.requests_per_minute:
        paces.append(n * 60 / quota.requests_per_minute)
    if quota and quota.tokens_per_minute:
        paces.append(tokens * 60 / quota.tokens_per_minute)
    return max(paces, default=None)


def basis(exact: bool, n: int, known_replies: float | None) -> Sequence[str]:
    if exact:
        counted = _("Tokens of {n} prompts were counted by the model's tokenizer.")
    else:
        counted = _("Tokens of {n} prompts were estimated from the length of the text.")
    if known_replies:
        replies = _("Replies are taken to be as long as this model's were lately.")
    else:
        replies = _("Replies are taken to have {n} tokens, since none are known of this model.")
    return counted.format(n=n), replies.format(n=quotas.USUAL_REPLY)


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
