"""Runs in bulk: a part's requests are handed in as one batch, asked about now and then, and fetched once it has ended.

What must not be lost is written down before it is needed: the row of a batch before the provider hears of it, the
provider's name for it as soon as that is known. Where a process was killed in between, the next one asks the provider
what it has got since then, and takes a batch of as many requests that nobody else's row names for its own. Whether it
is tells the token in its keys; if it is not, the part is handed in again, and the row says so.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import accumulate
from typing import TypeVar

from django.db import IntegrityError, transaction
from django.utils import timezone

from core.batches import iterate_batches
from core.hashing import content_hash
from core.jobs.backoff import PermanentError, TransientError
from core.jobs.request_pool import BATCH_SIZE
from judging.judges.models import Judge, Worker
from judging.judges.providers.base import BatchProvider, Provider, Reply, TooLongError, UnknownBatchError, does_not_fit
from judging.judges.queries.prices import find_rate
from judging.judges.services import judges
from judging.runs.models.batches import JudgeBatch
from judging.runs.models.runs import JudgeChunk, JudgeRun
from judging.runs.queries.requests import list_pending
from judging.runs.services import budgets, cache, judgment_writer, runs
from judging.runs.services.leases import leases
from judging.runs.services.request_pool import Answer, Ask, build_example_answer
from judging.runs.services.worker_sessions import build_known_answer

logger = logging.getLogger(__name__)
T = TypeVar("T")

FIRST_LOOK, LAST_LOOK = 10.0, 300.0  # seconds between looks at a batch: a tenth of its age, within these
CLOCKS = timedelta(minutes=5)  # by which ours and the provider's may differ
NOT_OURS = "The provider's batch was another one, so these requests were handed in again."
NEVER_ARRIVED = "It had not arrived, so these requests were handed in again."


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What an ended batch brought: how many replies, and why requests will never be answered or were not."""

    kept: int
    permanent: str = ""
    passing: str = ""
    again: bool = False

    @property
    def dead_end(self) -> str:
        """Why the rest is not handed in again by itself: it would fail once more, or nothing came of it at all."""
        if self.permanent:
            return self.permanent
        return "" if self.kept or self.again else self.passing or "The batch brought no replies."


# one step with a part


def step(chunk: JudgeChunk, worker: Worker) -> None:
    """Hand in, look, or fetch; then hand the part back until it is time to look again, or finish it."""
    batch = JudgeBatch.objects.filter(chunk=chunk, closed_at__isnull=True).first()
    if batch is None or not is_known(batch, chunk.run):
        hand_in(chunk, worker)
        return
    try:
        ended = poll(batch, chunk.run)
        found = fetch(batch, chunk.run) if ended else None
    except TransientError as later:
        leases.put_off(chunk, worker, seconds=max(later.retry_after or 0.0, compute_next_poll(batch)), error=str(later))
        return
    if found is None:
        leases.put_off(chunk, worker, seconds=compute_next_poll(batch))
    elif found.dead_end:
        leases.finish(chunk, worker, error=found.dead_end)
    else:
        hand_in(chunk, worker)


def hand_in(chunk: JudgeChunk, worker: Worker) -> None:
    """Hand in what is still open of a part, as much of it as the budgets allow. Finish it if nothing is."""
    run, provider = chunk.run, bulk_provider(chunk.run.judge)
    open_asks = list_unanswered(run, list_asks(run, provider, chunk.item_ids))
    if not open_asks:
        leases.finish(chunk, worker)
        return
    batch = reserve_batch(chunk, provider, open_asks)
    if batch is None:
        wait_or_halt(chunk, worker)
        return
    requests = {build_key(batch, ask): ask.pending.request for ask in open_asks[: batch.n_requests]}
    try:
        name = run_in_loop(run.judge, lambda made: made.submit(requests))
    except PermanentError:
        batch.delete()
        raise
    mark_arrived(batch, run, name)
    leases.put_off(chunk, worker, seconds=FIRST_LOOK)


def mark_arrived(batch: JudgeBatch, run: JudgeRun, name: str) -> None:
    """Keep the provider's name for the batch. One that was given up meanwhile is taken back at once."""
    row = JudgeBatch.objects.filter(pk=batch.pk, external_id="", closed_at__isnull=True)
    if not row.update(external_id=name):
        logger.warning("%s of %s had been given up; taking %s back.", batch, run, name)
        run_in_loop(run.judge, lambda made: made.cancel(name))


def is_known(batch: JudgeBatch, run: JudgeRun) -> bool:
    """Whether the provider has the batch. Where that is not known, it is asked; if it has not, the row is closed."""
    if batch.external_id:
        return True
    since = batch.created_at - CLOCKS
    there = run_in_loop(run.judge, lambda made: made.list_batches(since))
    taken = set(JudgeBatch.objects.filter(external_id__in=there).values_list("external_id", flat=True))
    for name, n in there.items():
        if name not in taken and n == batch.n_requests and adopt(batch, name):
            return True
    close(batch, error=NEVER_ARRIVED)
    return False


def adopt(batch: JudgeBatch, name: str) -> bool:
    try:
        with transaction.atomic():
            JudgeBatch.objects.filter(pk=batch.pk).update(external_id=name)
    except IntegrityError:  # another part was quicker
        return False
    batch.external_id = name
    return True


def poll(batch: JudgeBatch, run: JudgeRun) -> bool:
    """Ask how far the batch is. Returns whether it has ended."""
    try:
        state = run_in_loop(run.judge, lambda made: made.poll(batch.external_id))
    except UnknownBatchError as error:
        close(batch, error=str(error))
        raise
    JudgeBatch.objects.filter(pk=batch.pk).update(looked_at=timezone.now(), n_done=state.done)
    return state.ended


def compute_next_poll(batch: JudgeBatch) -> float:
    """Seconds until it is worth asking again: the older a batch, the longer."""
    age = (timezone.now() - batch.created_at).total_seconds()
    return min(max(FIRST_LOOK, age / 10), LAST_LOOK)


def close(batch: JudgeBatch, *, error: str = "") -> None:
    JudgeBatch.objects.filter(pk=batch.pk).update(closed_at=timezone.now(), error=error)


# fetching


def fetch(batch: JudgeBatch, run: JudgeRun) -> BatchResult:
    """Keep the replies of an ended batch, and close it. Twice does no harm: a judgment that is there stays as it is.

    A request whose item was edited meanwhile has another key by now: its reply is left, and it is asked again.
    """
    outcomes = dict(run_in_loop(run.judge, lambda made: list_results(made, batch.external_id)))
    if outcomes and not any(key.startswith(batch.token) for key in outcomes):
        logger.warning("%s of %s is not what was handed in.", batch, run)
        close(batch, error=NOT_OURS)
        return BatchResult(0, again=True)
    asks = {build_key(batch, ask): ask for ask in list_asks(run, bulk_provider(run.judge), batch.chunk.item_ids)}
    answers = [Answer(asks[key], told) for key, told in outcomes.items() if isinstance(told, Reply) and key in asks]
    rate = find_rate(run.judge)
    for some in iterate_batches(answers, BATCH_SIZE):
        judgment_writer.save(run, some, rate)
    faults = [told for told in outcomes.values() if not isinstance(told, Reply)]
    close(batch, error=to_words(faults))
    return BatchResult(
        len(answers),
        permanent=to_words([fault for fault in faults if isinstance(fault, PermanentError)]),
        passing=to_words(faults),
        again=batch.cancelled_at is not None or len(answers) + len(faults) < len(outcomes),
    )


async def list_results(provider: BatchProvider, name: str) -> list[tuple[str, Reply | TransientError | PermanentError]]:
    return [found async for found in provider.fetch(name)]


def to_words(faults: Sequence[Exception]) -> str:
    """What went wrong with how many requests: the most frequent fault first; empty if nothing did."""
    said = [str(fault) for fault in faults]
    counts = sorted(((said.count(one), one) for one in set(said)), key=lambda pair: (-pair[0], pair[1]))
    return " ".join(f"{n} of the batch: {one}" for n, one in counts[:3])


# what is asked


def list_asks(run: JudgeRun, provider: Provider, item_ids: Sequence[int]) -> list[Ask]:
    """The requests on these items without a judgment."""
    return [
        Ask(
            one,
            key=cache.build_key(run.judge, run.seed, provider, one),
            tokens=provider.estimate_tokens(one.request).tokens,
        )
        for one in list_pending(run, item_ids, with_prompt=True)
    ]


def list_unanswered(run: JudgeRun, asks: Sequence[Ask]) -> list[Ask]:
    """Those that nobody has answered and that fit the model. What is known of the others is kept at once.

    Of equal requests one is enough: its answer is known when the others' turn comes.
    """
    examples = [ask for ask in asks if ask.pending.request.is_example]
    asks = [ask for ask in asks if not ask.pending.request.is_example]
    known = judgment_writer.load_known(asks) if run.use_cache else {}
    told = [build_example_answer(ask) for ask in examples]
    told += [build_known_answer(ask, known[ask.key]) for ask in asks if ask.key in known]
    rest = [ask for ask in asks if ask.key not in known]
    too_long = run_in_loop(run.judge, lambda made: find_too_long(made, rest))
    told += [Answer(ask, reply) for ask, reply in zip(rest, too_long, strict=True) if reply]
    judgment_writer.save(run, told, find_rate(run.judge))
    left = [ask for ask, reply in zip(rest, too_long, strict=True) if reply is None]
    return list({ask.key: ask for ask in reversed(left)}.values())[::-1] if run.use_cache else left


async def find_too_long(provider: Provider, asks: Iterable[Ask]) -> list[Reply | None]:
    """For each request the reply that says so, or None."""
    found: list[Reply | None] = []
    for ask in asks:
        try:
            found.append(await provider.refuse_too_long(ask.pending.request))
        except TooLongError as error:
            found.append(does_not_fit(said=str(error)))
    return found


def build_key(batch: JudgeBatch, ask: Ask) -> str:
    """A request's key in the batch: 57 of the 64 characters that there may be. Hashes its place and all it asks."""
    one = ask.pending
    place = [one.item_id, one.criterion_id, one.repeat, one.order, one.turn, one.alteration, ask.key]
    return f"{batch.token}-{content_hash(place)[:40]}"


# what it may cost


def reserve_batch(chunk: JudgeChunk, provider: Provider, asks: Sequence[Ask]) -> JudgeBatch | None:
    """The row of a batch of as many of the requests as the budgets allow, even if every reply is as long as may be.

    None if they allow none. The judge's rows are the lock, so that two processes do not reserve the same money.
    """
    rate = find_rate(chunk.run.judge)
    costs = [budgets.compute_most_cost(ask.tokens, provider.reply_tokens, rate) for ask in asks]
    with transaction.atomic():
        list(Judge.objects.select_for_update().filter(name=chunk.run.judge.name).order_by("pk").values_list("pk"))
        left = min((limit.left for limit in budgets.limits(chunk.run)), default=None)
        sums = list(accumulate(cost or Decimal(0) for cost in costs))
        n = len(asks) if left is None else sum(total <= left for total in sums)
        if not n:
            return None
        cost = None if costs[0] is None else sums[n - 1]
        return JudgeBatch.objects.create(chunk=chunk, n_requests=n, reserved_usd=cost)


def wait_or_halt(chunk: JudgeChunk, worker: Worker) -> None:
    """The budgets leave no room: wait while batches are out that may cost less than they might, else stop the run."""
    limit = min(budgets.limits(chunk.run), key=lambda limit: limit.left)
    if limit.reserved:
        leases.put_off(chunk, worker, seconds=FIRST_LOOK)
        return
    runs.halt(
        run=chunk.run,
        reason=f"{limit.name} leaves no room for another request, which may cost more than it usually does: lower "
        "max_tokens, or raise the budget.",
    )
    leases.release(chunk, worker)


# stopping


def cancel(batch_id: int) -> None:
    """Take back a batch of a stopped run, and keep what it answered until then, which is paid for."""
    batch = (
        runs.load_batches_to_cancel()
        .select_related("chunk__run__judge", "chunk__run__study")
        .filter(pk=batch_id)
        .first()
    )
    if batch is None or not is_known(batch, batch.chunk.run):
        return
    run = batch.chunk.run
    if poll(batch, run):
        fetch(batch, run)
    elif batch.cancelled_at is None:
        run_in_loop(run.judge, lambda made: made.cancel(batch.external_id))
        JudgeBatch.objects.filter(pk=batch.pk).update(cancelled_at=timezone.now())


# the provider


def bulk_provider(judge: Judge) -> BatchProvider:
    """The judge's provider. PermanentError if it takes no batches."""
    provider = judges.build_provider(judge)
    if not isinstance(provider, BatchProvider):
        raise PermanentError(judges.NO_BATCHES.format(provider=judge.provider))
    return provider


def run_in_loop(judge: Judge, act: Callable[[BatchProvider], Coroutine[object, object, T]]) -> T:
    """What the calls return, made in a loop of their own: the caller may be in one itself."""

    provider = bulk_provider(judge)

    async def whole() -> T:
        try:
            return await act(provider)
        finally:
            await provider.aclose()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, whole()).result()
