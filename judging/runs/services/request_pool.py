"""The pool of requests to one judge's provider: equal ones are asked once, and so many are under way at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from django.db import transaction
from django.db.models import Q, QuerySet, Sum

from core.jobs.backoff import PermanentError
from core.jobs.heartbeat import is_held
from core.jobs.request_pool import GAP, PoolAnswer, RequestPool
from judging.judges.models import IN_TURN, Judge, Seat, Worker
from judging.judges.providers.base import OWN_EXAMPLE, Provider, Reply
from judging.judges.queries.workers import alive
from judging.runs.queries.requests import Pending
from judging.runs.services.leases import leases


@dataclass(frozen=True, slots=True)
class Ask:
    """A request of a part of a run. It starts no earlier than `starts` (seconds since 1970)."""

    pending: Pending
    part: int = 0
    key: str = ""
    tokens: int = 0
    starts: float = 0.0


Answer = PoolAnswer[Ask, Reply]


def error_of(answer: Answer) -> str:
    """Why a request will never be answered; empty if it is, or may be later."""
    return str(answer.fault) if isinstance(answer.fault, PermanentError) else ""


def build_example_answer(ask: Ask) -> Answer:
    """What is kept of an item that is one of the judge's examples, without asking. It answers no other request."""
    return Answer(replace(ask, key=""), OWN_EXAMPLE, cached=True)


class JudgePool(RequestPool[Ask, Reply]):
    """Keeps as many calls of a provider in flight as this process may."""

    def __init__(self, provider: Provider, seats: int, *, careful: bool = True) -> None:
        self.provider = provider
        provider.on_wait = partial(self.pause, provider)
        gap = GAP if provider.is_asked else 0.0
        super().__init__("requests", {provider: seats}, [provider], careful=careful, gap=gap)

    def model_of(self, ask: Ask) -> Provider:  # noqa: ARG002 — there is one
        return self.provider

    async def call(self, ask: Ask) -> Reply:
        return await self.provider.judge(ask.pending.request)


class RequestCoalescing:
    """Which requests are on their way, by key, and which ones wait for them. A request without a key is on its own."""

    def __init__(self, *, together: bool) -> None:
        self.together = together
        self.behind: dict[str, list[Ask]] = {}

    def join(self, ask: Ask) -> bool:
        """Whether the request waits for an equal one. Otherwise it goes, and later ones wait for it."""
        if not self.together or not ask.key:
            return False
        if ask.key in self.behind:
            self.behind[ask.key].append(ask)
            return True
        self.behind[ask.key] = []
        return False

    def release(self, answers: Iterable[Answer]) -> tuple[list[Answer], list[Ask]]:
        """What the answers mean for the requests behind them: an equal answer, or that the first of them goes next.

        A fault that would come again is theirs too; one that may pass is not.
        """
        equal: list[Answer] = []
        next_ones: list[Ask] = []
        for answer in answers:
            waiting = self.behind.pop(answer.ask.key, [])
            if answer.reply or isinstance(answer.fault, PermanentError):
                equal += [replace(answer, ask=ask, cached=True, latency_ms=0) for ask in waiting]
            else:
                next_ones += [ask for ask in waiting if not self.join(ask)]
        return equal, next_ones

    def drop(self, asks: Iterable[Ask], unwanted: Callable[[Ask], bool]) -> tuple[int, list[Ask]]:
        """The requests `asks` will not be made, and no other that is `unwanted`.

        Returns how many that waited are gone with them, and those that go next in the place of one that they waited
        for.
        """
        before = sum(map(len, self.behind.values()))
        for key, waiting in self.behind.items():
            self.behind[key] = [ask for ask in waiting if not unwanted(ask)]
        gone = before - sum(map(len, self.behind.values()))
        next_ones = [ask for one in asks for ask in self.behind.pop(one.key, []) if not self.join(ask)]
        return gone, next_ones


@contextmanager
def take_slots(worker: Worker, judge: Judge, limit: int) -> Iterator[int]:
    """As many of the judge's seats as are free; 0 if others hold them all. Given back at the end.

    A rule that is computed here waits for nobody, so every process may run it.
    """
    if judge.is_baseline:
        yield limit
        wake(judge)
        return
    n = take(worker, judge, limit)
    try:
        yield n
    finally:
        if n:
            give_back(worker, judge)


def has_free_slot(judge: Judge, limit: int) -> bool:
    """Whether it is worth the while to reach for a seat."""
    held = Seat.objects.filter(is_held(), filter_sharing_judges(judge, "judge"))
    return judge.is_baseline or unheld(judge, limit, held) > 0


def take(worker: Worker, judge: Judge, limit: int) -> int:
    """The rows of the judges are the lock: of two processes that reach for its seats, one waits for the other."""
    with transaction.atomic():
        list(Judge.objects.select_for_update().filter(filter_sharing_judges(judge)).order_by("pk").values_list("pk"))
        held = Seat.objects.filter(is_held(), filter_sharing_judges(judge, "judge")).exclude(worker=worker)
        n = unheld(judge, limit, held)
        if n:
            Seat.objects.update_or_create(worker=worker, judge=judge, defaults={"n": n})
    return n


def unheld(judge: Judge, limit: int, held: QuerySet[Seat]) -> int:
    """How many seats are left beside those held; none on this machine while one of its models is at work."""
    n: int = held.aggregate(total=Sum("n"))["total"] or 0
    return 0 if n and judge.provider in IN_TURN else max(limit - n, 0)


def filter_sharing_judges(judge: Judge, path: str = "") -> Q:
    """The judges that share their seats, found under `path`: this one alone, or all that work on this machine."""
    way = f"{path}__" if path else ""
    return Q(**{f"{way}provider": judge.provider}) if judge.provider in IN_TURN else Q(**{f"{way}pk": judge.pk})


def give_back(worker: Worker, judge: Judge) -> None:
    Seat.objects.filter(worker=worker, judge=judge).delete()
    wake(judge)


def wake(judge: Judge) -> None:
    """Send for what is left to do with these seats: messages that came meanwhile found none, or the shift made way.

    Runs get ahead part by part: of two, the one that has done less goes on.
    """
    left = leases.waiting().filter(filter_sharing_judges(judge, "run__judge"))
    if found := list(left.order_by("index", "queued_at", "pk").values_list("pk", flat=True)[: alive().count()]):
        leases.queue(found)
