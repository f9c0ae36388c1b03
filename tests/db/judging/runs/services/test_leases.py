from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from judging.runs.models.runs import JudgeChunk
from judging.runs.services.leases import leases
from tests.support import factories

pytestmark = pytest.mark.django_db


def long_ago():
    return timezone.now() - timedelta(minutes=5)


def a_part(**options) -> JudgeChunk:
    return factories.JudgeChunkFactory(item_ids=[], **options)


def test_a_free_part_is_claimed_once():
    part, bob, charlie = a_part(), factories.WorkerFactory(), factories.WorkerFactory()

    claimed = leases.claim(part.pk, bob)

    assert claimed.worker == bob
    assert claimed.attempts == 1
    assert leases.claim(part.pk, charlie) is None
    part.refresh_from_db()
    assert (part.worker, part.attempts) == (bob, 1)


def test_of_two_that_saw_it_free_one_gets_it(monkeypatch):
    part, bob, charlie = a_part(), factories.WorkerFactory(), factories.WorkerFactory()
    seen = [leases.free(part.pk), leases.free(part.pk)]
    monkeypatch.setattr(leases, "free", lambda pk: seen.pop())

    assert leases.claim(part.pk, bob)
    assert leases.claim(part.pk, charlie) is None


@pytest.mark.parametrize(
    "options",
    [
        {"finished_at": timezone.now()},
        {"run__stopped_at": timezone.now()},
        {"run__finished_at": timezone.now()},
        {"queued_at": timezone.now() + timedelta(hours=1)},
    ],
)
def test_what_is_over_or_not_due_is_not_claimed(options):
    assert leases.claim(a_part(**options).pk, factories.WorkerFactory()) is None


def test_a_part_of_a_process_that_is_gone_can_be_claimed():
    part = a_part(worker=factories.WorkerFactory(seen_at=long_ago()), attempts=1)
    bob = factories.WorkerFactory()

    assert leases.claim(part.pk, bob).worker == bob


def test_a_process_that_stood_still_does_not_claim_its_own_part_again():
    """Each claim counts as an attempt: after ten, in a moment, the run would be given up."""
    slow = factories.WorkerFactory(seen_at=long_ago())
    part = a_part(worker=slow, attempts=1)

    assert leases.claim(part.pk, slow) is None
    assert leases.claim_next(part.run, slow) is None
    part.refresh_from_db()
    assert (part.attempts, part.worker) == (1, slow)
    assert leases.claim_next(part.run, factories.WorkerFactory()) == part


def test_a_part_that_ended_every_process_is_given_up_and_the_run_is_over():
    part = a_part(attempts=leases.MOST_ATTEMPTS)

    assert leases.claim(part.pk, factories.WorkerFactory()) is None

    part.refresh_from_db()
    part.run.refresh_from_db()
    assert "Given up after 10 attempts. The process that worked on it ended each time." in part.error
    assert part.run.finished_at


def test_only_the_holder_finishes_a_part():
    bob = factories.WorkerFactory()
    part = a_part(worker=bob)

    leases.finish(part, factories.WorkerFactory())
    part.refresh_from_db()
    assert part.finished_at is None

    leases.finish(part, bob, error="2 requests failed.")
    part.refresh_from_db()
    assert part.finished_at
    assert part.error == "2 requests failed."


def test_the_last_part_finishes_the_run():
    bob = factories.WorkerFactory()
    first = a_part(worker=bob)
    second = a_part(run=first.run, worker=bob)

    leases.finish(first, bob)
    first.run.refresh_from_db()
    assert first.run.finished_at is None

    leases.finish(second, bob)
    first.run.refresh_from_db()
    assert first.run.finished_at
    assert not leases.finish_run(first.run_id), "only once"


def test_a_stopped_run_is_not_finished():
    part = a_part(run__stopped_at=timezone.now(), worker=factories.WorkerFactory())

    leases.finish(part, part.worker)

    part.run.refresh_from_db()
    assert part.run.finished_at is None


@pytest.mark.parametrize(
    ("attempts", "retry_after", "wait"), [(1, None, 5), (2, None, 10), (3, 120.0, 120), (9, None, 300), (9, 600.0, 600)]
)
def test_the_wait_doubles_up_to_a_limit_unless_a_longer_one_is_asked_for(monkeypatch, attempts, retry_after, wait):
    sent = []
    monkeypatch.setattr(leases, "send", lambda ids, wait=None: sent.append(wait))
    part = a_part(worker=factories.WorkerFactory(), attempts=attempts)

    leases.postpone(part, part.worker, error="429", retry_after=retry_after)

    assert sent == [wait]
