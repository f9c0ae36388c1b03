from __future__ import annotations

import time
from datetime import timedelta
from itertools import pairwise

import pytest
from django.utils import timezone

from core.errors import InputError
from judging.judges.models import Quota, Seat
from judging.judges.services import quotas
from judging.runs.services import request_pool, work
from judging.runs.services.leases import leases
from tests.support import factories
from tests.support.judging import dialogue_study, judged, scripted

pytestmark = pytest.mark.django_db


def limit(judge, requests: int | None = None, tokens: int | None = None):
    return quotas.set_limits(
        by=None, provider=judge.provider, model=judge.model, requests_per_minute=requests, tokens_per_minute=tokens
    )


class TestReserving:
    def test_starts_lie_apart_by_the_limit(self):
        judge = factories.JudgeFactory()
        limit(judge, requests=120)

        starts = quotas.reserve(judge, [10] * 100)

        assert [b - a for a, b in pairwise(starts)] == pytest.approx([0.5] * (len(starts) - 1))
        assert 4 <= len(starts) <= 5, "two seconds' worth"

    def test_who_comes_next_starts_after_that(self):
        judge = factories.JudgeFactory()
        limit(judge, requests=60)
        first = quotas.reserve(judge, [10])

        second = quotas.reserve(judge, [10])

        assert second[0] == pytest.approx(first[0] + 1)

    def test_tokens_count_too(self):
        judge = factories.JudgeFactory()
        limit(judge, tokens=6000)  # 100 a second

        starts = quotas.reserve(judge, [100, 50, 100])

        assert [start - starts[0] for start in starts] == pytest.approx([0, 1, 1.5])

    def test_what_was_reserved_is_put_right(self):
        judge = factories.JudgeFactory()
        limit(judge, tokens=6000)
        quotas.reserve(judge, [100])
        before = Quota.objects.get().tokens_at

        quotas.settle(judge, reserved=100, used=300)

        assert Quota.objects.get().tokens_at - before == pytest.approx(2)

    def test_without_a_limit_all_may_start(self):
        judge = factories.JudgeFactory()

        assert max(quotas.reserve(judge, [10] * 50)) <= time.time()

    def test_a_limit_can_be_taken_back(self):
        judge = factories.JudgeFactory()
        limit(judge, requests=60)

        assert limit(judge) is None
        assert not Quota.objects.exists()

    def test_a_limit_of_nothing_is_refused(self):
        with pytest.raises(InputError, match="at least 1"):
            limit(factories.JudgeFactory(), requests=0)


@pytest.mark.long
def test_a_run_keeps_to_the_limit(paid):
    judge = factories.JudgeFactory(provider="paid", model="m", parameters={"concurrency": 8})
    limit(judge, requests=1200)  # 20 a second
    started = time.monotonic()

    run = judged(dialogue_study(5), judge)

    assert run.judgments.count() == 10
    assert time.monotonic() - started >= 9 / 20


class TestSeats:
    def test_one_takes_all_that_are_free_and_the_next_gets_none(self):
        judge, bob, charlie = factories.JudgeFactory(), factories.WorkerFactory(), factories.WorkerFactory()

        assert request_pool.take(bob, judge, 4) == 4
        assert request_pool.take(charlie, judge, 4) == 0
        request_pool.give_back(bob, judge)
        assert request_pool.take(charlie, judge, 4) == 4

    def test_the_seats_of_who_is_gone_are_free(self):
        judge = factories.JudgeFactory()
        gone = factories.WorkerFactory(seen_at=timezone.now() - timedelta(minutes=5))
        Seat.objects.create(judge=judge, worker=gone, n=4)

        assert request_pool.take(factories.WorkerFactory(), judge, 4) == 4

    def test_every_judge_has_its_own(self):
        bob = factories.WorkerFactory()

        assert request_pool.take(bob, factories.JudgeFactory(), 2) == 2
        assert request_pool.take(bob, factories.JudgeFactory(), 2) == 2

    def test_models_on_this_machine_take_turns(self):
        """So that they leave a worker's other process to the judges that wait for nothing."""
        bob, charlie = factories.WorkerFactory(), factories.WorkerFactory()
        small, large = factories.JudgeFactory.create_batch(2, provider="local")

        assert request_pool.take(bob, small, 1) == 1
        assert request_pool.take(charlie, large, 4) == 0
        assert not request_pool.has_free_slot(large, 4)
        assert request_pool.take(charlie, factories.JudgeFactory(), 2) == 2
        request_pool.give_back(bob, small)
        assert request_pool.take(charlie, large, 4) == 4

    def test_a_part_that_found_no_seat_stays_free(self):
        run = factories.JudgeRunFactory(study=dialogue_study(1), judge=scripted(concurrency=1))
        part = factories.JudgeChunkFactory(run=run)
        Seat.objects.create(judge=run.judge, worker=factories.WorkerFactory(), n=1)

        work.judge_chunk(part.pk)

        part.refresh_from_db()
        assert (part.worker, part.attempts) == (None, 0)
        assert not run.judgments.exists()

    def test_who_gives_seats_back_wakes_a_worker_for_what_is_left(self, monkeypatch):
        sent = []
        monkeypatch.setattr(leases, "queue", sent.extend)
        run = factories.JudgeRunFactory(study=dialogue_study(1), judge=scripted())
        left = factories.JudgeChunkFactory(run=run, queued_at=timezone.now())
        factories.JudgeChunkFactory(run=run, queued_at=timezone.now() + timedelta(minutes=5))
        bob = factories.WorkerFactory(slots=2)
        request_pool.take(bob, run.judge, 1)

        request_pool.give_back(bob, run.judge)

        assert sent == [left.pk]

    def test_a_rule_needs_none(self):
        judge = factories.JudgeFactory(provider="baseline")
        with (
            request_pool.take_slots(factories.WorkerFactory(), judge, 1) as first,
            request_pool.take_slots(factories.WorkerFactory(), judge, 1) as second,
        ):
            assert (first, second) == (1, 1)
