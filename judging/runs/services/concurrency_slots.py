"""How many calls of a judge are in flight at once, over all processes: each holds seats, and there are so many.

Models on this machine have theirs in common, so that they leave a worker's process free for other judges.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction
from django.db.models import Q, QuerySet, Sum

from core.jobs.heartbeat import is_held
from judging.judges.models.judges import IN_TURN, Judge
from judging.judges.models.limits import Seat
from judging.judges.models.workers import Worker
from judging.judges.queries.workers import alive
from judging.runs.services.leases import leases


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
