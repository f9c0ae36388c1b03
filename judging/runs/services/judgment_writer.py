"""Answers become judgments: the verdict is read, the cost reckoned, and the reply kept for an equal request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal

from django.conf import settings
from django.db import transaction

from annotation.stats.orders import spell_order
from annotation.studies.parsing.answers import parse_answer
from core.errors import InputError
from judging.judges import answer_parsing, parsing as judges_parsing, pricing
from judging.judges.models import Judge
from judging.judges.pricing import Rate
from judging.judges.prompts.answers import build_format
from judging.judges.providers.base import OWN_EXAMPLE, Reply
from judging.judges.providers.requests import JudgeRequest, PairContent, to_stored_value
from judging.judges.queries.contents import to_numbers
from judging.judges.services import judges
from judging.runs.models.runs import JudgeRun, Judgment
from judging.runs.queries.requests import Pending
from judging.runs.services import cache, earlier_replies
from judging.runs.services.request_pool import Answer, Ask
from judging.stats.weighted_scores import normalise_to_scale

NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class SaveResult:
    """What each new reply cost, and the answers that were not read and are asked for again."""

    costs: list[Decimal | None]
    again: list[Answer]


def save(run: JudgeRun, batch: Sequence[Answer], rate: Rate | None) -> SaveResult:
    """Keep the judgments, and the replies with a verdict for equal requests.

    A judgment that is there already, from a process thought to be gone, stays as it is, unless it is asked for again.
    """
    told = [(answer, answer.reply) for answer in batch if answer.reply]
    if not told:
        return SaveResult([], [])
    costs = [NOTHING if answer.cached else pricing.cost(reply.usage, rate) for answer, reply in told]
    rows = [judgment(run, *one, cost) for one, cost in zip(told, costs, strict=True)]
    unread = [row for row in rows if row.unscored_reason in judges_parsing.UNREAD and not row.is_cached]
    retries = count_retries(run.judge) if unread else 0
    for row in unread:
        row.tries_left = retries
    kept = {
        answer.ask.key: cache.row(run.judge, answer.ask.key, reply)
        for (answer, reply), row in zip(told, rows, strict=True)
        if answer.ask.key and not answer.cached and row.value
    }
    with transaction.atomic():
        Judgment.objects.bulk_create(earlier_replies.replace_judgments(run, rows), ignore_conflicts=True)
        cache.keep(kept.values(), anew=run.use_cache)
    again = [answer for (answer, _), row in zip(told, rows, strict=True) if row.tries_left]
    return SaveResult([cost for (answer, _), cost in zip(told, costs, strict=True) if not answer.cached], again)


def count_retries(judge: Judge) -> int:
    """How often a reply of the judge's that was not read is asked for again."""
    return int(getattr(judges.build_provider(judge).parameters, "max_retries", 0))


def load_known(asks: Iterable[Ask]) -> dict[str, Reply]:
    """By key, the replies with a verdict that equal requests got earlier."""
    there = {ask.key: ask for ask in asks if ask.key}
    found = cache.load_known(there)
    return {key: reply for key, reply in found.items() if holds_verdict(there[key].pending, reply)}


def holds_verdict(asked: Pending, reply: Reply) -> bool:
    return isinstance(parse_reply(asked, reply), judges_parsing.Verdict)


def judgment(run: JudgeRun, answer: Answer, reply: Reply, cost: Decimal | None) -> Judgment:
    asked, usage = answer.ask.pending, None if answer.cached else reply.usage
    row = Judgment(
        run=run,
        item_id=asked.item_id,
        criterion_id=asked.criterion_id,
        repeat=asked.repeat,
        order=asked.order,
        turn=asked.turn,
        alteration=asked.alteration,
        raw_reply=storable(reply.text[: settings.MAX_REPLY_CHARACTERS]),
        details=details(asked, reply, cached=answer.cached and reply != OWN_EXAMPLE),
        latency_ms=None if answer.cached or is_batched(reply) else answer.latency_ms,
        item_hash=asked.item_hash,
        input_tokens=usage.input_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        cost_usd=cost,
        score=score(asked, reply),
    )
    verdict = parse_reply(asked, reply)
    row.explanation = storable(verdict.explanation)
    if isinstance(verdict, judges_parsing.Verdict):
        row.value, row.content = to_stored(asked, verdict)
        row.confidence = reply.distribution.get(verdict.value)
    else:
        row.unscored_reason = verdict.reason
    return row


def is_batched(reply: Reply) -> bool:
    """Whether it came in bulk, so that nobody knows how long it took."""
    return bool(reply.usage and reply.usage.batched)


def parse_reply(asked: Pending, reply: Reply) -> judges_parsing.Verdict | judges_parsing.Unscored:
    """The verdict that the provider computed, or the one in its text."""
    if reply.unscored:
        return judges_parsing.Unscored(reply.unscored, reply.explanation)
    criterion = asked.request.criterion
    if not criterion.is_choice:
        return parse_open_reply(asked.request, reply)
    if reply.value is None:
        scale = {category.value: category.label for category in criterion.categories}
        longest = settings.MAX_REPLY_CHARACTERS
        return judges_parsing.parse(reply.text, scale=scale, stop=reply.stop, longest=longest)
    if reply.value not in criterion.values:
        return judges_parsing.Unscored("off_scale", reply.explanation)
    return judges_parsing.Verdict(reply.value, reply.explanation)


def parse_open_reply(request: JudgeRequest, reply: Reply) -> judges_parsing.Verdict | judges_parsing.Unscored:
    """The same of an answer that is not a choice."""
    asked = build_format(request.criterion, request.content)
    if reply.value is None:
        return answer_parsing.read_reply(asked, reply.text, stop=reply.stop, longest=settings.MAX_REPLY_CHARACTERS)
    try:
        given = parse_answer(asked, reply.value)
    except InputError as error:
        return judges_parsing.Unscored("off_scale", error.message)
    return judges_parsing.Verdict(given.value, reply.explanation, given.content)


def to_stored(asked: Pending, verdict: judges_parsing.Verdict) -> tuple[str, object]:
    """Value and content as they are stored: responses by their numbers."""
    if asked.criterion.is_choice:
        return to_stored_value(verdict.value, asked.criterion, asked.order), None
    is_response = bool(asked.turn) and isinstance(asked.request.content, PairContent)
    order = spell_order([asked.turn]) if is_response else asked.order
    stored = answer_parsing.to_stored(verdict.value, verdict.content, asked.criterion, order)
    about = {"response" if is_response else "turn": asked.turn} if asked.criterion.type == "rewrite" else {}
    return stored.value, cache.storable({**stored.content, **about} if about else stored.content)


def details(asked: Pending, reply: Reply, *, cached: bool) -> dict[str, object]:
    """What the provider measured, with the tokens used and the version of the prompt."""
    found: dict[str, object] = dict(reply.details)
    if cached:
        found["cached"] = True
    elif reply.usage:
        found["usage"] = asdict(reply.usage)
    if asked.request.prompt:
        found["prompt"] = asked.request.prompt.version
    if reply.distribution:
        found["distribution"] = distribution(asked, reply)
    return {name: cache.storable(value) for name, value in found.items()}


def distribution(asked: Pending, reply: Reply) -> Mapping[str, float]:
    """How probable each value was, by the values as they are stored."""
    return {to_stored_value(value, asked.criterion, asked.order): p for value, p in reply.distribution.items()}


def score(asked: Pending, reply: Reply) -> float | None:
    """The mean over the scale, each value weighted by its probability; None where the model tells none."""
    numbers = to_numbers(asked.criterion)
    given = normalise_to_scale(reply.distribution, numbers)
    return sum(p * numbers[value] for value, p in given.items()) if given else None


def storable(text: str) -> str:
    return str(cache.storable(text))
