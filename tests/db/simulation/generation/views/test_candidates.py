"""What alice sees of candidates: a run with its progress, what came by level, failures with reasons, and pairs."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from annotation.corpus.models import ResponsePair
from judging.judges.models import Price, Worker
from simulation.agents import services as agents_services
from simulation.agents.speakers import build_request
from simulation.generation import queries
from simulation.generation.models import Candidate, CandidateRun, Making
from simulation.generation.services import candidates, orders, seed_generators, worker_sessions
from simulation.generation.services.candidates import Question
from tests.support.factories import ProfileFactory, ResearcherFactory, UserFactory

pytestmark = pytest.mark.django_db

TEXTS = {
    "candidate none": ["Cook what you like."],
    "candidate generic": ["People of your age often cook pasta."],
    "candidate full": ["Make the green curry that you like so much."],
    "candidate over": ["Make the green curry that you like so very much."],
}


@pytest.fixture(autouse=True)
def no_broker(monkeypatch):
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda *args, **kwargs: None)


@pytest.fixture
def alice(client):
    client.force_login(ResearcherFactory(username="alice"))
    return client


@pytest.fixture
def profile():
    return ProfileFactory(external_id="mei", name="Mei")


def scripted(**more):
    return agents_services.build_agent(
        side="assistant", provider="scripted", model="s", parameters={"by_dialogue": TEXTS, "otherwise": "", **more}
    )


def begun(profile, *questions, **more) -> CandidateRun:
    asked = [Question(profile, text) for text in questions or ("What to cook?",)]
    more.setdefault("agent", scripted())
    return candidates.begin(by=None, name="Meals", questions=asked, queue=False, **more)


def worked(run: CandidateRun) -> None:
    for pk in run.makings.order_by("pk").values_list("pk", flat=True):
        worker_sessions.make(pk)


def page(client, name, *arguments, **query) -> str:
    answer = client.get(reverse(name, args=arguments), query)
    assert answer.status_code == 200
    return answer.content.decode()


FORM = {
    "name": "Meals",
    "agent": "local",
    "profiles": "all",
    "questions": "What to cook?\nWhere to eat?\nWhat to cook?",
    "kind": "specific",
    "levels": ["none", "full"],
    "seed": "3",
}


def test_a_run_is_ordered_from_the_page_and_shows_its_progress(alice, profile):
    answer = alice.post(reverse("candidate_create"), FORM)
    run = CandidateRun.objects.get()
    assert answer.headers["Location"] == reverse("candidate_run", args=[run.pk])
    assert (run.levels, run.seed, run.created_by.username) == (["none", "full"], 3, "alice")
    asked = sorted((one.asked["question"], one.asked["kind"]) for one in run.makings.all())
    assert asked == [("What to cook?", "specific"), ("Where to eat?", "specific")]  # the line given twice is one
    shown = page(alice, "candidate_run", run.pk)
    assert "0 of 2" in " ".join(shown.split())
    assert 'hx-trigger="every 2s"' in shown
    assert "No worker is running" in shown
    assert reverse("candidate_run", args=[run.pk]) in page(alice, "candidate_list")


def test_questions_of_a_file_are_of_their_own_persona(alice, profile):
    ProfileFactory(external_id="other")
    lines = [{"question": "What to wear?", "profile_id": "mei", "kind": "specific"}]
    file = SimpleUploadedFile("asked.jsonl", "\n".join(map(json.dumps, lines)).encode())
    alice.post(reverse("candidate_create"), {**FORM, "questions": "", "file": file})
    (one,) = CandidateRun.objects.get().makings.all()
    assert (one.profile, one.asked["question"]) == (profile, "What to wear?")
    bad = SimpleUploadedFile("asked.jsonl", b'{"question": "x", "profile_id": "nobody"}')
    refused = alice.post(reverse("candidate_create"), {**FORM, "questions": "", "file": bad}).content.decode()
    assert "asked.jsonl" in refused
    assert "nobody" in refused


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": " "}, "This field is required"),
        ({"agent": "nobody:x"}, "nobody"),
        ({"profiles": "nobody"}, "There is no profile &#x27;nobody&#x27;."),
        ({"questions": " "}, "Write at least one question"),
        ({"levels": []}, "This field is required"),
        ({"agent": "openai_compatible:mystery", "budget_usd": "1"}, "is not known, so that a budget"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_ordered(alice, profile, change, said, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    answer = alice.post(reverse("candidate_create"), {**FORM, **change})
    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert not CandidateRun.objects.exists()
    assert not Making.objects.exists()


@pytest.mark.any_database
def test_what_came_back_by_level_and_what_failed_with_its_reason(alice, profile):
    run = begun(profile)
    worked(run)
    texts = {key: lines for key, lines in TEXTS.items() if key != "candidate full"}
    broken = begun(profile, "Else?", agent=scripted(by_dialogue=texts))
    worked(broken)
    shown = " ".join(page(alice, "candidate_run", run.pk).split())
    assert "Make the green curry that you like so much." in shown
    assert 'hx-trigger="every 2s"' not in shown
    (failure,) = queries.failures(broken)
    assert (failure.level, failure.n) == ("full", 1)
    assert "asked 3 times" in failure.reason
    failed = page(alice, "candidate_run", broken.pk)
    assert "What failed" in failed
    assert "Try again what failed" in failed
    assert queries.group_by_level(queries.list_left(run)) == {"none": 1, "generic": 1, "full": 1, "over": 1}
    assert queries.list_left(broken) == []


def test_pairs_of_a_run_with_near_duplicates_counted(alice, profile):
    run = begun(profile)
    worked(run)
    Candidate.objects.create(
        key="x", profile=profile, question="What to cook?", level="none", provider="imported", text="Of no run."
    )
    here = f"{reverse('candidate_pairs')}?run={run.pk}"
    given = {"against": ["full-none", "over-full"], "length": "0", "near": "90", "each": "1", "seed": "1"}
    shown = " ".join(alice.post(here, given).content.decode().split())
    assert "1 pair, 1 of them new" in shown
    assert "left out: nearly the same" in shown  # "so much" against "so very much"
    pair = ResponsePair.objects.get(source="candidates")
    assert {pair.response_1, pair.response_2} == {TEXTS["candidate none"][0], TEXTS["candidate full"][0]}
    again = " ".join(alice.post(here, given).content.decode().split())
    assert "1 pair, 0 of them new" in again
    assert "This field is required" in alice.post(here, {**given, "against": []}).content.decode()


@pytest.mark.parametrize("empty", ["length", "near", "each", "seed"])
def test_a_number_that_is_left_empty_is_as_the_rule_has_it(alice, profile, empty):
    run = begun(profile)
    worked(run)
    given = {"against": ["full-none"], "length": "0", "near": "90", "each": "1", "seed": "0", empty: ""}
    shown = " ".join(alice.post(f"{reverse('candidate_pairs')}?run={run.pk}", given).content.decode().split())
    assert "1 pair, 1 of them new" in shown


def test_a_stopped_run_asks_for_no_more_and_goes_on_later(alice, profile):
    run = begun(profile, "One?", "Two?")
    first, second = run.makings.order_by("pk")
    worker_sessions.make(first.pk)
    alice.post(reverse("candidate_stop", args=[run.pk]))
    worker_sessions.make(second.pk)
    second.refresh_from_db()
    assert (second.state, second.problem, second.replies) == ("failed", queries.STOPPED, [])
    alice.post(reverse("candidate_again", args=[run.pk]))
    worker_sessions.make(second.pk)
    assert queries.progress(CandidateRun.objects.get()).done == 2


def test_what_another_run_wants_is_not_stopped(profile):
    one, other = begun(profile), begun(profile)
    assert list(one.makings.all()) == list(other.makings.all())
    assert candidates.stop(by=None, run=one) == 0
    worked(other)
    assert queries.progress(other).done == 1


def priced(profile, monkeypatch, *, budget: str, most: str) -> CandidateRun:
    """A run whose replies cost $0.30 each, and of which each may cost `most`."""
    Price.objects.create(
        provider="scripted", model="s", valid_from="2020-01-01", input=Decimal(0), output=Decimal(1_000_000)
    )
    run = begun(profile, "One?", "Two?", budget_usd=Decimal(budget))
    paid = orders.build_cost
    monkeypatch.setattr(orders, "build_cost", lambda *args: paid(*args) | {"cost_usd": 0.3})
    monkeypatch.setattr(orders, "compute_most_cost", lambda *args: Decimal(most))
    return run


def test_a_reply_is_asked_for_only_if_the_budget_has_room_for_the_most_it_may_cost(profile, monkeypatch):
    run = priced(profile, monkeypatch, budget="0.8", most="0.4")
    worked(run)
    first, second = run.makings.order_by("pk")
    # after two replies of 0.30 a third, which may cost 0.40, does not fit into 0.80
    assert (len(first.replies), len(second.replies)) == (2, 0)
    assert "budget of $0.8000 is reached: $0.6000 are spent, and another reply may cost $0.4000" in first.problem
    assert queries.progress(run).spent == Decimal("0.6")


def test_a_spent_budget_has_to_be_raised(profile, monkeypatch):
    run = priced(profile, monkeypatch, budget="0.6", most="0.3")
    worked(run)
    assert queries.progress(run).spent == Decimal("0.6")
    with pytest.raises(Exception, match="higher budget"):
        candidates.resume(by=None, run=run)
    assert candidates.resume(by=None, run=run, budget_usd=Decimal(10)) == 2
    worked(run)
    assert [len(one.replies) for one in run.makings.order_by("pk")] == [4, 4]


def test_replies_on_their_way_count_against_the_budget(profile, monkeypatch):
    run = priced(profile, monkeypatch, budget="0.5", most="0.3")
    first, second = run.makings.order_by("pk")
    elsewhere = Worker.objects.create(name="elsewhere", seen_at=timezone.now())
    Making.objects.filter(pk=first.pk).update(worker=elsewhere, reserved_usd=Decimal("0.3"))
    worker_sessions.make(second.pk)
    second.refresh_from_db()
    # 0.30 are on their way: it waits, unasked and free, since that reply may cost less
    assert (second.state, second.worker, second.replies) == ("running", None, [])
    Making.objects.filter(pk=first.pk).update(worker=None, reserved_usd=0, cost_usd=Decimal("0.1"))
    worker_sessions.make(second.pk)
    second.refresh_from_db()
    assert len(second.replies) == 1
    assert queries.progress(run).spent == Decimal("0.4")


def test_the_most_that_a_reply_costs_is_its_longest_text(profile, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    Price.objects.create(
        provider="openai_compatible", model="m", valid_from="2020-01-01", input=Decimal(1), output=Decimal(1000)
    )
    agent = agents_services.build_agent(
        side="assistant", provider="openai_compatible", model="m", parameters={"max_tokens": 700}
    )
    (order,) = begun(profile, agent=agent, budget_usd=Decimal(1)).makings.all()
    cue = next(seed_generators.steps(order)).cue
    asked = build_request(cue, item="x", number=1, seed=1)
    tokens = agents_services.build_speaker(order.agent).estimate_tokens(asked).tokens
    assert orders.compute_most_cost(order, asked) == Decimal("0.7") + Decimal(tokens) / 1_000_000


def test_a_file_of_candidates_is_imported(alice, profile):
    line = {"profile_id": "mei", "question": "What?", "level": "over", "text": "As Mei, you…"}
    for n in (1, 0):
        file = SimpleUploadedFile("c.jsonl", json.dumps(line).encode())
        shown = alice.post(reverse("candidate_import"), {"file": file}, follow=True).content.decode()
        assert f"{n} new candidates" in shown
    bad = SimpleUploadedFile("c.jsonl", json.dumps({**line, "level": "much"}).encode())
    refused = alice.post(reverse("candidate_import"), {"file": bad}).content.decode()
    assert "c.jsonl" in refused
    assert "level" in refused
    assert Candidate.objects.count() == 1


def test_with_nothing_there_it_says_what_to_do(alice):
    assert "No candidates yet" in page(alice, "candidate_list")
    assert "No personas yet" in page(alice, "candidate_create")
    assert "No candidates to pair" in page(alice, "candidate_pairs")


def test_a_list_costs_the_same_for_more_runs(alice, profile, django_assert_num_queries):
    begun(profile)
    reply = alice.get(reverse("candidate_list"))
    assert reply.status_code == 200
    begun(profile, "Two?")
    begun(profile, "Three?", "Four?")
    with django_assert_num_queries(6):  # session, user, how many runs, runs, a worker, candidates
        alice.get(reverse("candidate_list"))


def test_charlie_sees_no_candidates(client):
    client.force_login(UserFactory(username="charlie"))
    assert client.get(reverse("candidate_list")).status_code == 403
