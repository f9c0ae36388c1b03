"""Nobody asks a model before its retry-after is over."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from core.jobs import worker_session
from judging.judges.models import Pause
from judging.judges.queries import workers as queries
from judging.judges.services import provider_backoff
from judging.runs.queries.runs import progress
from judging.runs.services import runs, work
from judging.runs.services.leases import leases
from tests.support import factories
from tests.support.judging import dialogue_study, judged
from tests.support.model_server import KEY, MODEL, Answer, running

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(monkeypatch):
    with running() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        yield server


def claude(**parameters):
    return factories.JudgeFactory(provider="anthropic", model=MODEL, parameters={"cache": False, **parameters})


def test_the_longest_wait_holds():
    judge = factories.JudgeFactory()
    late, early = timezone.now() + timedelta(seconds=60), timezone.now() + timedelta(seconds=30)

    provider_backoff.extend_pause(judge=judge, until=late)
    provider_backoff.extend_pause(judge=judge, until=early)

    assert queries.find_pause(judge) == late
    assert queries.find_pause(factories.JudgeFactory(model="another")) is None
    Pause.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert queries.find_pause(judge) is None


@pytest.mark.long
def test_what_a_reply_says_is_told_to_all(server):
    """Whoever asks the same model sees it in the database, also for another judge."""
    server.answers.append(Answer(429, body={"error": {"message": "slow down"}}, headers={"retry-after": "1"}))
    before = timezone.now()

    run = judged(dialogue_study(2), claude(concurrency=1))

    assert run.judgments.count() == 4
    assert Pause.objects.get(provider="anthropic", model=MODEL).until >= before + timedelta(seconds=1)


@pytest.mark.long
def test_nothing_starts_while_another_process_was_told_to_wait(server):
    starts = []
    server.by_default = lambda request: starts.append(time.time()) or Answer()
    judge = claude(concurrency=4)
    until = timezone.now() + timedelta(seconds=0.8)
    provider_backoff.extend_pause(judge=judge, until=until)

    run = judged(dialogue_study(2), judge)

    assert run.judgments.count() == 4
    assert min(starts) >= until.timestamp()


@pytest.mark.long
def test_one_that_hears_of_it_on_its_way_starts_nothing_more(server, monkeypatch):
    monkeypatch.setattr(worker_session, "LOOK_EVERY", 0)
    judge, starts = claude(concurrency=1), []

    def answer(request):
        starts.append(time.time())
        return Answer()

    server.by_default = answer
    run = runs.make(by=None, plan=runs.plan(study=dialogue_study(5), judge=judge), queue=False)
    steps = work.work_through(run)
    next(steps)
    until = timezone.now() + timedelta(seconds=1)
    provider_backoff.extend_pause(judge=judge, until=until)
    for _ in steps:
        pass

    assert run.judgments.count() == 10
    told = [start for start in starts if start < until.timestamp()]
    assert len(told) < 10
    assert max(starts) >= until.timestamp()


def test_a_long_wait_puts_the_part_off_and_counts_as_no_attempt(server, monkeypatch):
    sent = []
    monkeypatch.setattr(leases, "send", lambda ids, wait=None: sent.append(wait))
    judge = claude()
    run = runs.make(by=None, plan=runs.plan(study=dialogue_study(2), judge=judge), queue=False)
    provider_backoff.extend_pause(judge=judge, until=timezone.now() + timedelta(seconds=300))

    work.judge_chunk(run.chunks.get().pk)

    part = run.chunks.get()
    assert (part.attempts, part.worker, part.finished_at) == (0, None, None)
    assert "allows no requests" in part.error
    assert 250 < sent[0] <= 300
    assert not server.asked
    assert progress(run).paused_until is not None
