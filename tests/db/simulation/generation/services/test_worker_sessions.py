"""Many orders of an agent at once: as many replies in flight as allowed, equal requests once, faults within a bound."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from core.jobs import backoff
from judging.judges.models import CachedReply, Quota, Worker
from simulation.agents import services as agents_services
from simulation.generation.models import Candidate, Making
from simulation.generation.services import candidates, generation, worker_sessions
from simulation.generation.services.candidates import Question
from simulation.generation.services.orders import leases
from tests.support.factories import ProfileFactory
from tests.support.model_server import KEY, MODEL, Answer, error, running

pytestmark = pytest.mark.django_db

CALLS = 8


@pytest.fixture
def model(monkeypatch):
    with running() as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        server.by_default = lambda request: Answer(text=f"Answer {len(server.asked)}.", delay=0.05)
        yield server


def ordered(n_people=6, n_questions=2, *, levels=("none", "full"), queue=False, **parameters) -> list[Making]:
    agent = agents_services.build_agent(
        side="assistant",
        provider="openai_compatible",
        model=MODEL,
        parameters={"concurrency": CALLS, "max_retries": 0, **parameters},
    )
    people = [ProfileFactory(external_id=f"p{k}", name=f"Person {k}") for k in range(n_people)]
    asked = [Question(one, f"Question {k}?") for one in people for k in range(n_questions)]
    return candidates.order(by=None, agent=agent, questions=asked, levels=levels, queue=queue)


def worked(orders) -> list[Making]:
    for _ in worker_sessions.work_through(orders):
        pass
    return list(Making.objects.filter(pk__in=[one.pk for one in orders]).order_by("pk"))


def test_as_many_replies_are_in_flight_as_the_model_takes(model):
    model.replies_from = CALLS
    found = worked(ordered(12, 1, levels=["full"]))
    assert {one.state for one in found} == {"done"}
    assert len(model.asked) == Candidate.objects.count() == 12
    assert model.most_flying == CALLS


def test_an_equal_request_is_asked_once_also_by_a_later_run(model):
    found = worked(ordered(6, 2, levels=["none"]))
    assert len(model.asked) == 2, "one for each question, whoever asks it"
    assert Candidate.objects.count() == 12
    assert Candidate.objects.values("text").distinct().count() == 2
    assert sum(reply.get("cached", False) for one in found for reply in one.replies) == 10
    assert CachedReply.objects.count() == 2
    Making.objects.all().delete()
    Candidate.objects.all().delete()
    worked(
        candidates.order(
            by=None,
            agent=found[0].agent,
            levels=["none"],
            queue=False,
            questions=[Question(found[0].profile, "Question 0?")],
        )
    )
    assert len(model.asked) == 2


@pytest.mark.long
def test_a_model_that_is_away_is_asked_again_later_within_a_bound(model, monkeypatch):
    monkeypatch.setattr(backoff, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(backoff, "LONGEST_WAIT", 0.01)
    monkeypatch.setattr(worker_sessions, "PAUSE", 0.01)
    orders = ordered(20, 1, levels=["full"])
    model.answers.extend([Answer(text="Fine.")] * 5)
    model.by_default = lambda request: error(529, "overloaded_error", "Overloaded")
    found = worked(orders)
    done = [one for one in found if one.state == "done"]
    failed = [one.problem for one in found if one.state == "failed"]
    assert (len(done), len(failed)) == (5, 15)
    tried = [problem for problem in failed if problem.endswith(f"(tried {worker_sessions.MOST_ATTEMPTS} times)")]
    assert tried, "those that were asked say how often"
    assert all(problem.startswith("Not asked: 3 orders in a row") for problem in set(failed) - set(tried))
    assert len(model.asked) <= 5 + worker_sessions.MOST_ATTEMPTS * CALLS
    model.by_default = lambda request: Answer(text="Back.")
    assert generation.retry_all(Making.objects.all()) == 15
    assert {one.state for one in worked(orders)} == {"done"}
    assert Candidate.objects.count() == 20


def test_a_quota_spaces_the_starts(model):
    Quota.objects.create(provider="openai_compatible", model=MODEL, requests_per_minute=1200)
    began = time.monotonic()
    found = worked(ordered(10, 1, levels=["full"]))
    assert {one.state for one in found} == {"done"}
    assert time.monotonic() - began >= 9 * 60 / 1200, "ten starts, 50 ms apart"


def test_a_wrong_key_is_not_shown_for_every_order(model):
    model.key = "another"
    found = worked(ordered(40, 1, levels=["full"]))
    assert {one.state for one in found} == {"failed"}
    assert len(model.asked) <= 2 * CALLS
    assert sum(one.problem.startswith("Not asked") for one in found) >= 40 - 2 * CALLS


def test_a_refusal_and_a_reply_that_was_cut_do_not_fit(model):
    model.answers.extend([Answer(refusal="I cannot help."), Answer(text="Half a sen", stop="length")])
    (found,) = worked(ordered(1, 1, levels=["full"]))
    assert [one["problem"].split(";")[0] for one in found.replies] == [
        "is a refusal",
        "was cut at the most tokens that the model may write",
        "",
    ]
    assert found.state == "done"


def test_one_process_at_a_time_has_an_agents_orders(model):
    first, second = ordered(2, 1, levels=["full"], queue=True)
    elsewhere = Worker.objects.create(name="elsewhere", seen_at=timezone.now())
    Making.objects.filter(pk=first.pk).update(worker=elsewhere)
    worker_sessions.make(second.pk)
    assert not model.asked
    assert leases.lost(timezone.now() + timedelta(hours=1)) == [], "who has the agent's orders goes on with them"
    Worker.objects.update(seen_at=timezone.now() - timedelta(hours=1))
    worker_sessions.make(second.pk)
    assert len(model.asked) == 2
    assert not Making.objects.filter(finished_at__isnull=True).exists()


def test_a_message_goes_out_for_an_agent_and_not_for_each_order(model, sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        orders = ordered(5, 2, queue=True)
    assert sent == [orders[0].pk]
    worker_sessions.make(orders[0].pk)
    assert {one.state for one in Making.objects.all()} == {"done"}
