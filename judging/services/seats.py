"""How many calls of a judge are in flight at once, over all processes: each holds seats, and there are so many."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from judging.models import Judge, Seat, Worker
from judging.queries.workers import alive, gone_before
from judging.services import chunks


@contextmanager
def taken(worker: Worker, judge: Judge, limit: int) -> Iterator[int]:
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


def left(judge: Judge, limit: int) -> bool:
    """Whether it is worth the while to reach for a seat."""
    held = Seat.objects.filter(judge=judge, worker__seen_at__gte=gone_before())
    return judge.is_baseline or (held.aggregate(total=Sum("n"))["total"] or 0) < limit


def take(worker: Worker, judge: Judge, limit: int) -> int:
    """The judge's row is the lock: of two processes that reach for its seats, one waits for the other."""
    with transaction.atomic():
        Judge.objects.select_for_update().get(pk=judge.pk)
        held = Seat.objects.filter(judge=judge, worker__seen_at__gte=gone_before()).exclude(worker=worker)
        n = limit - (held.aggregate(total=Sum("n"))["total"] or 0)
        if n > 0:
            Seat.objects.update_or_create(worker=worker, judge=judge, defaults={"n": n})
    return max(n, 0)


def give_back(worker: Worker, judge: Judge) -> None:
    Seat.objects.filter(worker=worker, judge=judge).delete()
    wake(judge)


def wake(judge: Judge) -> None:
    """Send for what the judge has left to do: messages that came meanwhile found no seat, or the shift made way."""
    left = chunks.unfinished().filter(run__judge=judge, worker__isnull=True, queued_at__lte=timezone.now())
    if found := list(left.order_by("queued_at", "pk").values_list("pk", flat=True)[: alive().count()]):
        chunks.queue(found)
