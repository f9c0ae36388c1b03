"""Replies without a verdict are asked for again: by themselves within a run, and of a run that is over by request."""

from __future__ import annotations

import json
from datetime import date, timedelta
from decimal import Decimal
from itertools import count
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from config.archives import members
from core.errors import InputError
from judging.evaluations.queries import evaluations
from judging.judges import parsing as judges_parsing
from judging.judges.models import CachedReply, Price
from judging.runs.models.evaluations import Evaluation
from judging.runs.models.runs import EarlierReply, Judgment
from judging.runs.queries import judgments, runs as queries, spending
from judging.runs.services import cache, runs, work
from judging.runs.services.leases import leases
from tests.support import factories
from tests.support.judging import dialogue_study, judged, scripted
from tests.support.model_server import KEY, MODEL, Answer, running, verdict

pytestmark = pytest.mark.django_db

ONE = Decimal("0.000470")  # 130 tokens read and 34 written, at 1 and 10 dollars a million
NONSENSE = Answer(text="I would rather talk about the weather.")
GOOD = Answer(text=verdict("2"))
ASKED = {"criteria": ["personalization"]}


@pytest.fixture(autouse=True)
def server(monkeypatch):
    monkeypatch.setattr(leases, "send", lambda ids, wait=None: None)
    with running() as server:
        server.models = [MODEL]
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        yield server


def a_judge(provider="anthropic", **parameters):
    prices = {"valid_from": date(2026, 1, 1), "input": 1, "output": 10}
    Price.objects.get_or_create(provider=provider, model=MODEL, defaults=prices)
    return factories.JudgeFactory(provider=provider, model=MODEL, parameters={"concurrency": 1, **parameters})


def saying(server, *answers):
    """These in turn, and then verdicts."""
    number = count()
    server.by_default = lambda _: answers[n] if (n := next(number)) < len(answers) else GOOD


class TestWithinARun:
    def test_a_reply_that_is_not_read_is_asked_for_again(self, server):
        saying(server, NONSENSE, Answer(text=verdict("9")))

        run = judged(dialogue_study(1), a_judge(), **ASKED)

        judgment = run.judgments.get()
        assert (judgment.value, judgment.unscored_reason, judgment.tries_left) == ("2", "", 0)
        assert [one.unscored_reason for one in judgment.earlier.all()] == ["unparsable", "off_scale"]
        assert judgment.earlier.first().raw_reply == NONSENSE.text
        assert len(server.asked) == 3
        assert queries.progress(run).judged == queries.progress(run).expected == 1

    def test_every_reply_is_paid_for_once_in_all_sums(self, server):
        saying(server, NONSENSE)

        run = judged(dialogue_study(2), a_judge(), **ASKED)

        assert spending.load_run(run).usd == spending.today(run.judge.name) == 3 * ONE
        assert spending.load_run(run).output_tokens == 3 * 34
        assert EarlierReply.objects.get().cost_usd == ONE

    def test_it_ends_after_max_retries(self, server):
        server.by_default = lambda _: NONSENSE

        run = judged(dialogue_study(1), a_judge(max_retries=1), **ASKED)

        assert run.finished_at
        assert len(server.asked) == 2
        assert (run.judgments.get().unscored_reason, run.judgments.get().tries_left) == ("unparsable", 0)

    @pytest.mark.parametrize(
        ("answer", "reason", "calls"),
        [
            (Answer(text='{"explanation": "cut off in', stop="max_tokens"), "truncated", 3),
            (Answer(text="", stop="refusal"), "refusal", 1),
            (Answer(text="x" * 2_000), "oversized", 3),
        ],
    )
    def test_what_was_cut_is_told_from_what_cannot_be_read_and_a_refusal_is_an_answer(
        self, server, settings, answer, reason, calls
    ):
        settings.MAX_REPLY_CHARACTERS = 1_000
        server.by_default = lambda _: answer

        judgment = judged(dialogue_study(1), a_judge(), **ASKED).judgments.get()

        assert judgment.unscored_reason == reason
        assert len(judgment.raw_reply) <= 1_000
        assert len(server.asked) == calls

    def test_the_words_stay_and_the_seed_changes(self, server):
        saying(server, NONSENSE, NONSENSE)

        judged(dialogue_study(1), a_judge("openai_compatible", logprobs=False), **ASKED)

        bodies = [request.body for request in server.asked if "messages" in request.body]
        assert len({body["seed"] for body in bodies}) == 3
        assert len({str(body["messages"]) for body in bodies}) == 1

    def test_a_killed_process_leaves_the_next_one_to_ask_again(self, server):
        """The first reply was saved when the process ended: it is neither lost nor asked for more often than it may."""
        saying(server, NONSENSE, NONSENSE)
        run = runs.make(by=None, plan=runs.plan(study=dialogue_study(1), judge=a_judge(), **ASKED), queue=False)
        steps = work.work_through(run)
        while not run.judgments.exists():  # a slow server: the steps before it answers have nothing to save
            next(steps)
        steps.close()
        assert run.judgments.get().tries_left == 2

        for _ in work.work_through(run):
            pass

        assert len(server.asked) == 3
        assert run.judgments.get().value == "2"

    def test_equal_requests_wait_for_the_last_answer(self, server):
        saying(server, NONSENSE)
        study, dialogue = dialogue_study(0), factories.DialogueFactory()
        for name in ("a", "b"):
            same = factories.DialogueFactory(turns=dialogue.turns, scenario=dialogue.scenario, external_id=name)
            factories.ItemFactory(study=study, dialogue=same)

        run = judged(study, a_judge(), **ASKED)

        assert len(server.asked) == 2
        assert set(run.judgments.values_list("value", flat=True)) == {"2"}


class TestCache:
    def test_a_reply_without_a_verdict_is_not_kept_for_equal_requests(self, server):
        server.by_default = lambda _: NONSENSE
        study, judge = dialogue_study(1), a_judge(max_retries=0)
        judged(study, judge, **ASKED)
        assert not CachedReply.objects.exists()
        server.by_default = lambda _: GOOD

        assert judged(study, judge, **ASKED).judgments.get().value == "2"

    def test_one_that_was_kept_before_gives_way(self, server):
        study, judge = dialogue_study(1), a_judge(max_retries=0)
        judged(study, judge, **ASKED)
        CachedReply.objects.update(reply={"text": NONSENSE.text})

        again = judged(study, judge, **ASKED).judgments.get()

        assert (again.value, again.is_cached, len(server.asked)) == ("2", False, 2)
        assert cache.build_reply(CachedReply.objects.get().reply).text == GOOD.text


def half_read(server, n=4, **options):
    """A run that is over, in which one reply of two held no verdict."""
    server.by_default = lambda request: GOOD if len(server.asked) % 2 else NONSENSE
    run = judged(dialogue_study(n), a_judge(max_retries=0), **ASKED, **options)
    assert run.judgments.filter(value="").count() == n // 2
    server.by_default = lambda _: GOOD
    return run


def worked_through(run):
    for _ in work.work_through(run):
        pass
    run.refresh_from_db()


class TestARunThatIsOver:
    def test_its_unscored_items_alone_are_asked_for_again(self, server):
        run = half_read(server)
        before = set(run.judgments.exclude(value="").values_list("pk", "created_at"))
        asked = len(server.asked)

        assert runs.ask_again(by=None, run=run, queue=False) == 2
        worked_through(run)

        assert len(server.asked) == asked + 2
        assert run.finished_at
        assert run.judgments.filter(value="2").count() == run.judgments.count() == 4
        assert before < set(run.judgments.values_list("pk", "created_at")), "the others stay as they were"
        assert EarlierReply.objects.count() == 2
        assert spending.load_run(run).usd == 6 * ONE

    @pytest.mark.any_database
    def test_what_holds_no_verdict_again_stays_and_both_replies_are_on_record(self, server):
        run = half_read(server, 2)
        server.by_default = lambda _: Answer(text="", stop="refusal")
        runs.ask_again(by=None, run=run, queue=False)
        worked_through(run)

        judgment = run.judgments.get(value="")
        assert (judgment.unscored_reason, judgment.tries_left) == ("refusal", 0)
        assert [one.unscored_reason for one in judgment.earlier.all()] == ["unparsable"]
        runs.ask_again(by=None, run=run, queue=False)
        worked_through(run)
        assert [(one.number, one.cost_usd) for one in judgment.earlier.all()] == [(1, ONE), (2, ONE)]

    @pytest.mark.any_database
    def test_results_of_an_evaluation_know_that_an_answer_came_anew(self, server):
        run = half_read(server, 2)
        evaluation = Evaluation.objects.create(benchmark=factories.BenchmarkFactory(), number=1, study=run.study)
        asked = [SimpleNamespace(run=run)]
        before = evaluations.fingerprint(evaluation, asked)
        runs.ask_again(by=None, run=run, queue=False)
        worked_through(run)

        assert evaluations.fingerprint(evaluation, asked) != before

    def test_what_was_paid_yesterday_is_not_paid_today(self, server):
        run = half_read(server, 2)
        Judgment.objects.update(created_at=timezone.now() - timedelta(days=1))
        runs.ask_again(by=None, run=run, queue=False)
        worked_through(run)

        assert spending.today(run.judge.name) == ONE
        assert spending.load_run(run).usd == 3 * ONE

    def test_a_budget_that_is_spent_is_said_first(self, server):
        run = half_read(server, 2, budget_usd=Decimal(1))

        with pytest.raises(InputError, match="give it a higher budget"):
            runs.ask_again(by=None, run=run, budget_usd=ONE)

        assert not run.judgments.filter(tries_left__gt=0).exists()

    def test_one_that_goes_on_is_left_alone(self, server):
        run = runs.make(by=None, plan=runs.plan(study=dialogue_study(1), judge=scripted()), queue=False)

        with pytest.raises(InputError, match="still goes on"):
            runs.ask_again(by=None, run=run)

    def test_one_with_a_verdict_everywhere_says_so(self):
        run = judged(dialogue_study(1), scripted(), **ASKED)

        with pytest.raises(InputError, match="no reply without a verdict"):
            runs.ask_again(by=None, run=run)

    def test_the_judge_s_own_examples_are_not_asked_about(self):
        run = judged(dialogue_study(1), scripted())
        run.judgments.update(value="", unscored_reason="own_example")

        assert queries.progress(run).can_ask_again == 0
        with pytest.raises(InputError):
            runs.ask_again(by=None, run=run)


class TestConstraints:
    def test_a_verdict_is_never_asked_for_again(self):
        judgment = factories.JudgmentFactory()

        with pytest.raises(IntegrityError), transaction.atomic():
            Judgment.objects.filter(pk=judgment.pk).update(tries_left=1)

    def test_an_earlier_reply_has_a_reason_and_a_place_of_its_own(self):
        judgment = factories.JudgmentFactory(value="", unscored_reason="unparsable")
        given = {"judgment": judgment, "number": 1, "created_at": timezone.now()}
        EarlierReply.objects.create(**given, unscored_reason="unparsable")

        for wrong in ({"unscored_reason": "unparsable"}, {"number": 2, "unscored_reason": ""}):
            with pytest.raises(IntegrityError), transaction.atomic():
                EarlierReply.objects.create(**{**given, **wrong})


class TestOnThePage:
    @pytest.mark.any_database
    @pytest.mark.long
    def test_the_button_says_how_many_and_what_they_cost(self, server, client):
        run = half_read(server)
        client.force_login(factories.ResearcherFactory())

        page = client.get(reverse("run_detail", args=[run.pk])).content.decode()
        assert "Ask again for 2 without a verdict (about $0.0009)" in page
        told = client.post(reverse("run_ask_again", args=[run.pk]), follow=True).content.decode()
        assert "Asking again for 2 replies without a verdict." in told

        worked_through(run)
        assert "Ask again" not in client.get(reverse("run_detail", args=[run.pk])).content.decode()
        judgment = EarlierReply.objects.first().judgment
        shown = client.get(reverse("judgment_detail", args=[judgment.pk])).content.decode()
        assert "Earlier reply 1" in shown
        assert NONSENSE.text in shown


class TestElsewhere:
    def test_the_command_asks_again_and_tells_what_is_left(self, server, capsys):
        run = half_read(server)
        asked = ["judge", run.study.slug, "--judge", run.judge.name, "--unscored", "--now", "--json"]

        call_command(*asked)

        found = json.loads(capsys.readouterr().out)
        assert found["run"] == run.pk
        assert found["counts"]["unscored"] == {}
        assert found["counts"]["can_ask_again"] == 0
        assert found["cost_usd"]["known"] == pytest.approx(float(6 * ONE))
        with pytest.raises(CommandError, match="no reply without a verdict"):
            call_command(*asked)

    def test_the_api_asks_again_and_shows_what_was_said_before(self, server, client):
        run = half_read(server)
        client.force_login(factories.ResearcherFactory())
        progress = client.get(f"/api/v1/runs/{run.pk}/progress").json()
        assert (progress["can_ask_again"], float(progress["again_usd"])) == (2, float(2 * ONE))

        said = client.post(f"/api/v1/runs/{run.pk}/ask-again", {}, content_type="application/json")

        assert (said.status_code, said.json()["state"]) == (200, "running")
        worked_through(run)
        judgment = EarlierReply.objects.first().judgment
        [earlier] = client.get(f"/api/v1/judgments/{judgment.pk}").json()["earlier"]
        assert (earlier["number"], earlier["unscored_reason"]) == (1, "unparsable")
        again = client.post(f"/api/v1/runs/{run.pk}/ask-again", {}, content_type="application/json")
        assert again.status_code == 400

    def test_a_backup_and_an_archive_hold_what_was_said_before(self):
        assert EarlierReply in members.list_own_tables()


def test_unread_reasons_have_words():
    assert set(judges_parsing.UNREAD) <= set(judgments.REASONS)
