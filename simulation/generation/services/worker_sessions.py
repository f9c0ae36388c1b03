"""One process's work on the orders of an agent: as many replies in flight as its model takes, each saved as it comes.

One process at a time works on an agent's orders, so that the model's limit holds over all processes. The calls are kept
in flight by the request pool of the judges.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from core.errors import InputError
from core.jobs.backoff import PermanentError, TransientError, compute_wait
from core.jobs.heartbeat import beating
from core.jobs.worker_session import WorkerSession, never
from judging.judges.models import Worker
from judging.judges.providers.base import Reply
from judging.judges.services.keys import load_keyring
from judging.judges.services.quotas import ModelQuota
from judging.runs.services import cache
from judging.runs.services.request_pool import Answer, Ask, JudgePool, RequestCoalescing
from simulation.agents import services as agents_services
from simulation.agents.models import Agent
from simulation.agents.parsing.generated import UnfitError
from simulation.generation.models import Making
from simulation.generation.services import generation
from simulation.generation.services.orders import (
    AT_ONCE,
    MOST_TRIES,
    REPLIED,
    Order,
    PostponedError,
    build_judge,
    build_pending,
    leases,
    reserve,
)

IN_HAND = 16  # orders for each call in flight: some wait for equal requests
MOST_ATTEMPTS = 10  # times that a model is not reached, after which an order has failed
TOLERATED_FAULTS = 3  # orders in a row that the other side turned down, after which no more are asked
PAUSE = 0.5  # seconds, while the quota allows no start or another process has the agent


def make(pk: int, *, leaving: Callable[[], bool] = never) -> None:
    """Work on an order and on the queued ones of its agent. Does nothing if it is not free, so it may be called twice.

    Once `leaving` says so, the orders are handed back with the replies that are saved.
    """
    found = leases.free(Q(pk=pk)).select_related("agent").first()
    if found is None or leaving():
        return
    with beating(Worker) as worker:
        wanted = Q(pk=pk) | Q(queued_at__isnull=False)
        with closing(OrderSession(found.agent, found.project_id, worker, wanted).work()) as going:
            for _ in going:
                if leaving():
                    break


def work_through(orders: Sequence[Making]) -> Iterator[int]:
    """Work through these orders in this process, yielding now and then how many are over. Others may help."""
    wanted = {one.pk for one in orders}
    while open_ones := list_unfinished(wanted):
        yield len(wanted) - len(open_ones)
        mine = Q(pk__in=open_ones[:AT_ONCE])
        found = leases.free(mine).select_related("agent").first()
        if found is None:
            time.sleep(PAUSE)
            continue
        with beating(Worker) as worker:
            before = time.monotonic()
            for _ in OrderSession(found.agent, found.project_id, worker, mine).work():
                if time.monotonic() - before > PAUSE:
                    yield len(wanted) - len(list_unfinished(wanted))
                    before = time.monotonic()
    yield len(wanted)


def list_unfinished(pks: set[int]) -> list[int]:
    """Of these orders, those that are not over."""
    open_ones = Making.objects.filter(finished_at__isnull=True).order_by("pk").values_list("pk", flat=True)
    return [pk for pk in open_ones if pk in pks]


class OrderSession(WorkerSession):
    """Works on an agent's orders until none is left that it may work on."""

    def __init__(self, agent: Agent, project: int, worker: Worker, wanted: Q) -> None:
        super().__init__()
        self.agent, self.project, self.worker, self.wanted = agent, project, worker, wanted
        self.orders: dict[int, Order] = {}
        self.ready: deque[Order] = deque()
        self.coalescing = RequestCoalescing(together=True)
        self.faults_in_a_row = 0

    def work(self) -> Generator[None]:
        """Ask and save, yielding after every batch. However it ends, what is in hand is handed back."""
        if not (first := leases.claim(self.agent, self.project, self.worker, self.wanted, 1)):
            return
        try:
            self.provider = agents_services.build_speaker(self.agent, load_keyring(self.project))
        except PermanentError as error:
            self.refuse_all(str(error))
            return
        self.judge = build_judge(self.agent)
        self.quota = ModelQuota(self.judge)
        try:
            with closing(JudgePool(self.provider, self.provider.concurrency)) as self.pool:
                self.take(first)
                while self.feed():
                    self.save(self.pool.batch())
                    self.look()
                    yield
            if self.fault:
                self.postpone(self.fault)
        finally:
            Making.objects.filter(worker=self.worker, finished_at__isnull=True).update(worker=None)

    # asking

    def feed(self) -> bool:
        """Claim orders and start requests. False when nothing is left to wait for."""
        calls = self.provider.concurrency
        while not self.over and len(self.ready) + self.pool.outstanding < 2 * calls:
            room = min(2 * calls, IN_HAND * calls - len(self.orders))
            found = leases.claim(self.agent, self.project, self.worker, self.wanted, room) if room > 0 else []
            if not found:
                break
            self.take(found)
        self.start()
        return bool(self.pool.outstanding or (self.ready and not self.over))

    def take(self, found: Sequence[Making]) -> None:
        """Take claimed orders in hand."""
        for one in found:
            try:
                order = Order(one)
            except InputError as error:
                generation.finish(one, problem=str(error))
            else:
                self.orders[one.pk] = order
                self.put_back(order)

    def put_back(self, order: Order) -> None:
        """Let an order ask its next step, or store what it was for where none is left."""
        if order.step is not None:
            self.ready.append(order)
            return
        del self.orders[order.making.pk]
        try:
            generation.store(order.making)
        except InputError as error:
            generation.finish(order.making, problem=str(error))

    def start(self) -> None:
        """Start what pool, budgets and quota allow; a request that equals one on its way waits for that reply."""
        while self.ready and not self.over and self.pool.outstanding < 2 * self.provider.concurrency:
            order = self.ready.popleft()
            pending = build_pending(order)
            ask = Ask(pending, order.making.pk, order.key(self.provider, pending))
            if known := cache.load_known([ask.key]):
                self.save([Answer(ask, known[ask.key], cached=True)])
            elif ask.key in self.coalescing.behind:
                self.coalescing.join(ask)
            elif not self.send(order, ask):
                break

    def send(self, order: Order, ask: Ask) -> bool:
        """Start a request. False where it, and those after it, have to wait."""
        tokens = self.provider.estimate_tokens(ask.pending.request).tokens
        try:
            reserve(order.making, ask.pending.request)
        except PostponedError:
            self.ready.appendleft(order)
            self.over |= not self.pool.outstanding  # replies are on their way elsewhere: the recovery sends it again
            return False
        except InputError as error:
            self.close(order, str(error))
            return True
        starts = self.quota.reserve([tokens])
        if not starts:
            self.ready.appendleft(order)
            time.sleep(0 if self.pool.outstanding else PAUSE)
            return False
        self.coalescing.join(ask)
        self.pool.send([replace(ask, tokens=tokens, starts=starts[0])])
        return True

    # keeping

    def save(self, batch: Sequence[Answer]) -> None:
        """Save replies, and see to the orders that they belong to."""
        mine = [answer for answer in batch if answer.ask.part in self.orders]
        with transaction.atomic():
            for answer in mine:
                self.settle(answer)
        self.pool.mark_saved(batch)
        equal, next_ones = self.coalescing.release(batch)
        self.ready.extendleft(self.orders[ask.part] for ask in next_ones if ask.part in self.orders)
        if equal:
            self.save(equal)

    def settle(self, answer: Answer) -> None:
        order = self.orders[answer.ask.part]
        if answer.reply:
            self.faults_in_a_row = 0
            self.keep(order, answer.reply, answer)
        elif isinstance(answer.fault, TransientError):
            self.fault = answer.fault
            self.put_down()
            order.making.attempts += 1
            if order.making.attempts >= MOST_ATTEMPTS:
                self.close(order, f"{answer.fault} (tried {MOST_ATTEMPTS} times)", is_fault=True)
            else:
                Making.objects.filter(pk=order.making.pk).update(attempts=order.making.attempts, reserved_usd=0)
        elif isinstance(answer.fault, PermanentError):
            self.close(order, str(answer.fault), is_fault=not answer.cached)
        elif answer.fault:
            raise answer.fault

    def keep(self, order: Order, reply: Reply, answer: Answer) -> None:
        """Save a reply with what it is good for, unless another process has the order by now."""
        one, problem, fits = order.making, "", False
        try:
            fits = order.take(reply, cached=answer.cached, latency_ms=answer.latency_ms)
        except UnfitError as error:
            problem = f"{error} (asked {MOST_TRIES} times)"
        except InputError as error:
            problem = str(error)
        held = Making.objects.filter(pk=one.pk, worker=self.worker, finished_at__isnull=True)
        if not held.update(**{name: getattr(one, name) for name in REPLIED}):
            del self.orders[one.pk]
            return
        if fits and answer.ask.key and not answer.cached:
            row = cache.row(self.judge, answer.ask.key, reply)
            cache.keep([row], anew=False)
        if not answer.cached:
            self.quota.settle([(answer.ask.tokens, reply.usage)])
        if problem:
            self.close(order, problem)
        else:
            self.put_back(order)

    def close(self, order: Order, problem: str, *, is_fault: bool = False) -> None:
        """The order has failed. After some in a row that the other side turned down, no more are asked."""
        self.orders.pop(order.making.pk, None)
        generation.finish(order.making, problem=problem)
        self.faults_in_a_row += is_fault
        if is_fault and self.faults_in_a_row == TOLERATED_FAULTS:
            self.put_down()
            self.refuse_all(f"Not asked: {TOLERATED_FAULTS} orders in a row could not be worked on: {problem}")

    def refuse_all(self, problem: str) -> None:
        """Let all orders fail that are not in flight."""
        waiting = [order.making.pk for order in self.ready]
        rest = self.filter_left().filter(Q(pk__in=leases.free(self.wanted).values("pk")) | Q(pk__in=waiting))
        rest.update(problem=problem, finished_at=timezone.now())
        self.orders = {pk: order for pk, order in self.orders.items() if pk not in waiting}
        self.ready.clear()

    def filter_left(self) -> QuerySet[Making]:
        """The agent's orders that are not over."""
        return Making.objects.filter(agent=self.agent, project=self.project, finished_at__isnull=True)

    def put_down(self) -> None:
        """Start nothing more. What is in flight still lands, for it is paid for."""
        self.over = True
        for ask in self.pool.drop():
            if ask.part in self.orders:
                self.ready.append(self.orders[ask.part])

    def postpone(self, fault: TransientError) -> None:
        """Go on with the agent's orders later: after the time asked for, or twice as long each time."""
        tried = max((one.making.attempts for one in self.orders.values()), default=1)
        wait = compute_wait(tried, fault.retry_after)
        due = timezone.now() + timedelta(seconds=wait)
        mine = Q(worker=self.worker) | Q(pk__in=leases.free(self.wanted).values("pk"))
        left = self.filter_left().filter(mine)
        pks = list(left.order_by("pk").values_list("pk", flat=True))
        was_queued = left.filter(queued_at__isnull=False).exists()
        Making.objects.filter(pk__in=pks).update(worker=None, queued_at=due)
        if pks and was_queued:
            leases.send(pks[:1], wait=wait)

    # looking up

    def look(self) -> None:
        """Forget orders that another process has taken, and make way for other work after a while."""
        if not self.is_time_to_look():
            return
        held = Making.objects.filter(worker=self.worker, finished_at__isnull=True)
        mine = set(held.values_list("pk", flat=True))
        self.orders = {pk: order for pk, order in self.orders.items() if pk in mine}
        self.ready = deque(order for order in self.ready if order.making.pk in mine)
        if self.has_had_its_turn(leases, Q(agent=self.agent)):
            self.put_down()
            rest = leases.free(self.wanted).filter(agent=self.agent)
            leases.queue(list(rest.values_list("pk", flat=True)))
