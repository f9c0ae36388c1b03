"""One process's work on a run: it holds some parts at a time and keeps as many requests in flight as it has seats.

A part is fetched when the ones in hand run short, so that the seats stay full from one part to the next.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from django.db.models import Q

from core.jobs.backoff import PermanentError, TransientError
from core.jobs.request_pool import BATCH_SIZE
from core.jobs.worker_session import LetGo, WorkerSession, never
from judging.judges.models import Worker
from judging.judges.providers.base import Provider, Reply
from judging.judges.services.provider_backoff import ProviderBackoff
from judging.judges.services.quotas import ModelQuota
from judging.runs.models.runs import JudgeChunk
from judging.runs.queries.requests import Pending, list_pending
from judging.runs.services import budgets, cache, evaluated_judge, judgment_writer, runs
from judging.runs.services.leases import leases
from judging.runs.services.request_pool import Answer, Ask, JudgePool, RequestCoalescing, build_example_answer, error_of

TOLERATED_ERRORS = 3
PAUSE = 0.5  # seconds, while the quota allows no start
PARTS_AT_ONCE = 4
LANDING = 6.0  # seconds that replies on their way have to come back in, when the process is told to end


@dataclass(slots=True)
class SessionBatch:
    """A part in hand: how many of its requests are still open, and what could not be asked."""

    chunk: JudgeChunk
    left: int
    errors: list[str] = field(default_factory=list)


class RunSession(WorkerSession):
    """Works on a part and then on what else of its run is free, until nothing is left that it may do."""

    def __init__(self, chunk: JudgeChunk, worker: Worker, seats: int, leaving: Callable[[], bool] = never) -> None:
        """`leaving` tells when the process is to end: what is on its way then has some seconds to land."""
        super().__init__()
        self.run, self.worker, self.seats, self.leaving = chunk.run, worker, seats, leaving
        self.ends = math.inf
        self.is_rule = chunk.run.judge.is_baseline
        self.ahead = 2 * (BATCH_SIZE if self.is_rule else seats)  # requests in hand, so that no seat waits for one
        self.parts: dict[int, SessionBatch] = {chunk.pk: SessionBatch(chunk, 0)}
        self.fresh: JudgeChunk | None = chunk
        self.stock: deque[Ask] = deque()
        self.coalescing = RequestCoalescing(together=self.run.use_cache)
        self.culprit: int | None = None
        self.quota = ModelQuota(self.run.judge)

    def work(self) -> Iterator[None]:
        """Ask and save, yielding after every batch. Raises what keeps the parts in hand from being finished."""
        self.provider: Provider = evaluated_judge.build_provider(self.run)
        self.budget = budgets.BudgetTracker(self.run)
        self.pool = JudgePool(self.provider, self.seats, careful=not self.is_rule)
        self.backoff = ProviderBackoff(self.run.judge, self.pool, self.provider)
        with closing(self.pool):
            self.keep_quiet()
            while self.feed() and time.monotonic() < self.ends:
                self.keep(self.pool.batch())
                self.backoff.tell()
                self.look()
                yield
        if self.fault:
            raise self.fault
        if self.parts:
            raise LetGo

    def list_in_hand(self) -> list[JudgeChunk]:
        """The parts that this process holds and has not finished."""
        return [part.chunk for part in self.parts.values()]

    def is_culprit(self, chunk: JudgeChunk) -> bool:
        """Whether a fault came of this part, or nobody knows of which."""
        return self.culprit in (chunk.pk, None)

    # asking

    def feed(self) -> bool:
        """Fetch parts and start requests. False when nothing is left to wait for."""
        fetched = sum(1 for _ in self.parts_fetched())
        self.start()
        return bool(fetched or self.stock or self.pool.outstanding)

    def parts_fetched(self) -> Iterator[None]:
        """Take some parts, while those in hand leave seats empty."""
        for _ in range(PARTS_AT_ONCE):
            if self.over or self.makes_way or len(self.stock) + self.pool.outstanding >= self.ahead:
                return
            chunk = self.fresh or leases.claim_next(self.run, self.worker)
            self.fresh = None
            if chunk is None:
                return
            self.take(chunk)
            yield

    def take(self, chunk: JudgeChunk) -> None:
        """The part's open requests: those whose answer is known are saved, the others wait to be asked."""
        asked = list_pending(self.run, chunk.item_ids, with_prompt=self.provider.needs_prompt)
        self.parts[chunk.pk] = SessionBatch(chunk, len(asked))
        examples = [Ask(one, chunk.pk) for one in asked if one.request.is_example]
        self.keep([build_example_answer(ask) for ask in examples])
        asks = [self.ask(one, chunk) for one in asked if not one.request.is_example]
        known = judgment_writer.load_known(asks) if self.run.use_cache else {}
        self.stock.extend(ask for ask in asks if ask.key not in known and not self.coalescing.join(ask))
        self.keep([build_known_answer(ask, known[ask.key]) for ask in asks if ask.key in known])
        self.finish_if_done(chunk.pk)

    def ask(self, one: Pending, chunk: JudgeChunk) -> Ask:
        tokens = self.provider.estimate_tokens(one.request).tokens
        self.budget.guess(tokens)
        return Ask(one, chunk.pk, cache.build_key(self.run.judge, self.run.seed, self.provider, one), tokens)

    def start(self) -> None:
        """Start what seats, budget and quota allow."""
        wanted = min(len(self.stock), self.ahead - self.pool.outstanding)
        allowed = self.budget.allows(wanted, on_the_way=self.pool.outstanding)
        if wanted and not allowed and not self.pool.outstanding:
            self.budget.refresh(force=True)
            allowed = self.budget.allows(wanted, on_the_way=0)
            if not allowed:
                self.halt(self.budget.find_reached())
        if allowed <= 0:
            return
        first = [self.stock.popleft() for _ in range(allowed)]
        starts = self.quota.reserve([ask.tokens for ask in first])
        self.pool.send(replace(ask, starts=start) for ask, start in zip(first, starts, strict=False))
        self.stock.extendleft(reversed(first[len(starts) :]))
        if not self.pool.outstanding:
            time.sleep(PAUSE)

    def halt(self, reason: str) -> None:
        """Stop the run, for all that work on it."""
        runs.halt(run=self.run, reason=reason)
        self.put_down(lambda _: True)
        self.over = True

    # keeping

    def keep(self, batch: Sequence[Answer]) -> None:
        """Save the answers, and see to the parts that they belong to."""
        if not batch:
            return
        saved = judgment_writer.save(self.run, batch, self.budget.rate)
        self.budget.pay(saved.costs)
        self.quota.settle((a.ask.tokens, a.reply.usage) for a in batch if a.reply and not a.cached)
        unread = set(map(id, saved.again))
        over = [answer for answer in batch if id(answer) not in unread]
        for answer in over:
            self.note(answer)
        self.ask_again(saved.again)
        self.pool.mark_saved(batch)
        equal, next_ones = self.coalescing.release(over)
        self.stock.extendleft(next_ones)
        self.keep(equal)

    def ask_again(self, unread: Sequence[Answer]) -> None:
        """What was not read goes back to the others; to the next process where this one puts its work down."""
        if not self.over:
            self.stock.extend(replace(one.ask, pending=one.ask.pending.ask_again()) for one in unread)

    def note(self, answer: Answer) -> None:
        """Count an answer for its part. A fault that may pass ends the shift; one that no call survives is raised."""
        part = self.parts.get(answer.ask.part)
        if isinstance(answer.fault, TransientError):
            self.fault, self.over = answer.fault, True
            self.put_down(lambda _: True)
        elif answer.fault and not isinstance(answer.fault, PermanentError):
            self.culprit = answer.ask.part
            raise answer.fault
        elif part:
            part.left -= 1
            if answer.reply and not answer.cached:
                leases.progressed(part.chunk, self.worker)
            if error := error_of(answer):
                part.errors.append(error)
                self.spare(part)
            self.finish_if_done(answer.ask.part)

    def spare(self, part: SessionBatch) -> None:
        """After some errors that will come again, the rest of a part is not tried."""
        if len(part.errors) >= TOLERATED_ERRORS:
            part.left -= self.put_down(lambda ask: ask.part == part.chunk.pk)

    def finish_if_done(self, pk: int) -> None:
        part = self.parts.get(pk)
        if part and not part.left:
            leases.finish(part.chunk, self.worker, error=part.errors[0] if part.errors else "")
            del self.parts[pk]

    # looking up

    def look(self) -> None:
        """Put down what is no longer this process's to work on. What is on its way still lands, for it is paid for."""
        if not self.is_time_to_look():
            return
        self.budget.refresh()
        self.quota.look()
        self.makes_way = self.has_had_its_turn(leases, Q(run=self.run))
        if self.leaving() and self.ends == math.inf:
            self.ends, self.over = time.monotonic() + (0 if self.budget.is_free else LANDING), True
            self.put_down(lambda _: True)
        self.keep_quiet()
        held = leases.still_held(self.worker, self.run)
        lost = self.parts.keys() - held
        if lost:
            self.over = True
            self.put_down(lambda ask: ask.part in lost)

    def keep_quiet(self) -> None:
        """Leave the model alone where it wants that. A long wait is no reason to hold parts in hand."""
        pause = self.backoff.keep()
        if pause and not self.over:
            self.fault, self.over = pause, True
            self.put_down(lambda _: True)

    def put_down(self, unwanted: Callable[[Ask], bool]) -> int:
        """Forget requests that have not started. Returns how many."""
        dropped = [ask for ask in self.stock if unwanted(ask)]
        self.stock = deque(ask for ask in self.stock if not unwanted(ask))
        dropped += self.pool.drop(unwanted)
        behind, next_ones = self.coalescing.drop(dropped, unwanted)
        self.stock.extendleft(next_ones)
        return len(dropped) + behind


def build_known_answer(ask: Ask, reply: Reply) -> Answer:
    return Answer(ask, reply, cached=True)
