from __future__ import annotations

import json
from datetime import date
from io import StringIO
from types import SimpleNamespace

import pytest
from celery import current_app
from django.core.management import CommandError, call_command

from core.jobs.backoff import PermanentError
from judging.judges.models import Judge, Price
from judging.judges.providers.baseline import Baseline
from judging.management import long_work
from judging.runs.models.runs import JudgeRun, Judgment
from judging.runs.services import provider_batches, work
from judging.runs.services.leases import leases
from tests.support import factories
from tests.support.judging import dialogue_study, pair_study, response_study, scripted
from tests.support.model_server import KEY, MODEL, running

pytestmark = pytest.mark.django_db
ANSWERS = {"helpful": "3", "correct": "yes"}


@pytest.fixture
def study():
    return dialogue_study(3, name="First study", slug="first-study", shown=["preferences"])


def judge(*arguments: str) -> dict:
    out = StringIO()
    call_command("judge", *arguments, "--json", stdout=out, stderr=StringIO())
    return json.loads(out.getvalue())


def refused(*arguments: str) -> str:
    with pytest.raises(CommandError) as raised:
        judge(*arguments)
    assert raised.value.returncode == 2
    return str(raised.value)


def test_the_baseline_judges_a_study_without_a_worker(study):
    document = judge("first-study", "--judge", "baseline", "--now")

    run = JudgeRun.objects.get()
    assert document == {
        "run": run.pk,
        "study": "First study",
        "judge": "baseline",
        "state": "finished",
        "every_turn": False,
        "unit": "item",
        "counts": {"expected": 6, "judgments": 6, "scored": 6, "unscored": {}, "can_ask_again": 0},
        "in_bulk": False,
        "stop_reason": "",
        "cost_usd": {"known": 0.0, "unknown": 0, "cached": 0},
        "tokens": {"input": 0, "output": 0},
        "errors": [],
        "seed": 0,
        "input_hash": run.input_hash,
    }


def test_a_study_is_found_by_its_name_too(study):
    assert judge("First study", "--judge", "baseline", "--now")["state"] == "finished"


def test_unscored_replies_are_counted_by_reason(study):
    first = study.items.first().external_id
    parameters = json.dumps({"otherwise": "1", "trouble": {first: {"stop": "refusal"}}})

    document = judge(
        "first-study", "--judge", "shy", "--provider", "scripted", "--parameters", parameters, "--now",
        "--criteria", "personalization",
    )  # fmt: skip

    assert document["counts"] == {
        "expected": 3,
        "judgments": 3,
        "scored": 2,
        "unscored": {"refusal": 1},
        "can_ask_again": 1,
    }


def test_what_a_person_reads(study):
    out = StringIO()
    call_command("judge", "first-study", "--judge", "baseline", "--now", stdout=out, stderr=StringIO())

    assert "baseline on First study is finished: 6 of 6 judgments, 6 with a verdict." in out.getvalue()


def test_both_orders_and_repeats():
    pair_study(2, slug="pairs")

    document = judge("pairs", "--judge", "baseline", "--both-orders", "--repeats", "2", "--now")

    assert document["counts"]["judgments"] == 8
    assert set(Judgment.objects.values_list("order", flat=True)) == {"AB", "BA"}


def test_a_key_that_is_missing_is_said_before_anything_is_made(study, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    said = refused("first-study", "--judge", "claude", "--provider", "anthropic", "--model", "claude-test", "--now")

    assert "no API key: set ANTHROPIC_API_KEY" in said
    assert not JudgeRun.objects.exists()
    assert not Judge.objects.filter(name="claude").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "--judge", "baseline"], "no study called 'nowhere'"),
        (["first-study", "--judge", "unheard-of"], "no judge 'unheard-of'"),
        (["first-study", "--judge", "new", "--model", "m"], "needs --provider"),
        (["first-study", "--judge", "baseline", "--criteria", "charm"], "'charm' is not a criterion"),
        (
            ["first-study", "--judge", "baseline", "--criteria", "personalization", "charm"],
            "'charm' is not a criterion",
        ),
        (["first-study", "--judge", "baseline", "--criteria", "personalization,charm"], "'charm' is not a criterion"),
        (["first-study", "--judge", "baseline", "--criteria", ""], "at least one criterion"),
        (["first-study", "--judge", "baseline", "--repeats", "0"], "Repeats must be"),
        (["first-study", "--judge", "baseline", "--budget-usd", "0"], "above 0"),
        (["first-study", "--judge", "baseline", "--parameters", "{nonsense"], "not JSON"),
        (["first-study", "--judge", "baseline", "--parameters", "[1]"], "a JSON object"),
        (["first-study", "--judge", "baseline", "--parameters", '{"speed": 1}'], "speed"),
    ],
)
def test_bad_input_is_refused_and_leaves_nothing(study, arguments, message):
    assert message in refused(*arguments, "--now")
    assert not JudgeRun.objects.exists()


class TestMoney:
    def paid(self, study, *arguments: str) -> dict:
        return judge("first-study", "--judge", "costly", "--provider", "paid", "--model", "m", *arguments)

    def test_an_estimate_starts_nothing(self, study, paid):
        Price.objects.create(provider="paid", model="m", valid_from=date(2026, 1, 1), input=5, output=50)

        found = self.paid(study, "--estimate", "--repeats", "2")["estimate"]

        assert (found["requests"], found["cached"], found["output_tokens"]) == (12, 0, 12 * 150)
        assert found["input_tokens"] > 12 * 50
        assert found["usd"] == pytest.approx((found["input_tokens"] * 5 + 1800 * 50) / 1e6)
        assert found["seconds"] is None
        assert found["why"] == ["How long a reply takes is not known until there are some."]
        assert not paid
        assert not JudgeRun.objects.exists()
        assert not Judge.objects.exists()

    def test_an_unknown_price_is_no_price(self, study, paid):
        found = self.paid(study, "--estimate")["estimate"]

        assert found["usd"] is None
        assert "price of this model is not known" in found["why"][0]

    def test_what_is_answered_already_costs_nothing_again(self, study, paid):
        Price.objects.create(provider="paid", model="m", valid_from=date(2026, 1, 1), input=5, output=50)
        self.paid(study, "--now")

        found = self.paid(study, "--estimate")["estimate"]

        assert (found["requests"], found["cached"], found["usd"]) == (6, 6, 0)

    def test_a_run_within_a_budget(self, study, paid):
        Price.objects.create(provider="paid", model="m", valid_from=date(2026, 1, 1), input=5, output=50)

        document = self.paid(study, "--now", "--budget-usd", "0.025")

        assert document["state"] == "stopped"
        assert document["cost_usd"] == {"known": 0.02, "unknown": 0, "cached": 0}
        assert "budget of $0.0250 is reached" in document["stop_reason"]

    def test_an_amount_that_is_none(self, study):
        with pytest.raises(CommandError, match="not an amount of dollars"):
            judge("first-study", "--judge", "baseline", "--budget-usd", "much")

    def test_an_amount_that_no_database_keeps(self, study):
        with pytest.raises(CommandError, match="no more than 12 digits"):
            judge("first-study", "--judge", "baseline", "--budget-usd", "1e400")
        assert not JudgeRun.objects.exists()

    def test_an_objection_of_the_other_side_is_said_before_anything_is_spent(self, study, paid):
        said = refused(
            "first-study",
            "--judge",
            "j",
            "--provider",
            "paid",
            "--parameters",
            '{"objection": "401 wrong key"}',
            "--now",
        )

        assert "401 wrong key" in said
        assert not paid
        assert not JudgeRun.objects.exists()


class TestWhichJudge:
    def test_a_known_judge_is_used_as_it_is(self, study):
        known = scripted(otherwise="2")

        assert judge("first-study", "--judge", known.name, "--now", "--criteria", "personalization")["run"]
        assert set(Judgment.objects.values_list("value", flat=True)) == {"2"}
        assert Judge.objects.count() == 1

    def test_other_parameters_make_a_new_version_with_the_rest_as_it_was(self, study):
        judge("first-study", "--judge", "j", "--provider", "scripted", "--parameters", '{"otherwise": "1"}', "--now")
        document = judge("first-study", "--judge", "j", "--model", "imagined", "--now")

        assert document["judge"] == "j v2"
        second = Judge.objects.get(version=2)
        assert (second.provider, second.model, second.parameters) == ("scripted", "imagined", {"otherwise": "1"})

    def test_an_imported_judge_says_that_it_cannot_run(self, study):
        factories.JudgeFactory(name="pandalm", provider="imported")

        assert "imported; it cannot be run" in refused("first-study", "--judge", "pandalm", "--now")


class TestGoingOn:
    def test_after_an_interruption_the_same_command_goes_on(self, study, monkeypatch):
        def interrupted(run):
            raise KeyboardInterrupt
            yield

        with monkeypatch.context() as patched:
            patched.setattr(work, "work_through", interrupted)
            with pytest.raises(CommandError, match="the same command goes on") as raised:
                judge("first-study", "--judge", "baseline", "--now")
            assert raised.value.returncode == 130

        document = judge("first-study", "--judge", "baseline", "--now")

        assert JudgeRun.objects.count() == 1
        assert document["counts"]["judgments"] == 6

    def test_after_the_end_it_is_a_new_run(self, study):
        first = judge("first-study", "--judge", "baseline", "--now")
        second = judge("first-study", "--judge", "baseline", "--now")

        assert first["run"] != second["run"]
        assert Judgment.objects.count() == 12

    def test_parts_that_ended_early_are_no_success_and_the_same_command_goes_on(self, study, monkeypatch):
        async def refuse(self, request):
            raise PermanentError("401 wrong key")

        out = StringIO()
        with monkeypatch.context() as patched:
            patched.setattr(Baseline, "judge", refuse)
            with pytest.raises(CommandError, match=r"1 part ended early \(401 .*same command goes on") as raised:
                call_command("judge", "first-study", "--judge", "baseline", "--now", "--json", stdout=out)
        assert raised.value.returncode == 1
        document = json.loads(out.getvalue())
        assert (document["counts"]["judgments"], len(document["errors"])) == (0, 1)

        again = judge("first-study", "--judge", "baseline", "--now")

        assert again["run"] == document["run"]
        assert (again["counts"]["judgments"], again["errors"]) == (6, [])

    def test_another_question_is_another_run(self, study):
        factories.JudgeRunFactory(study=study, judge=factories.JudgeFactory(name="baseline"))

        judge("first-study", "--judge", "baseline", "--now")

        assert JudgeRun.objects.count() == 2


class TestWithWorkers:
    @pytest.fixture(autouse=True)
    def sent(self, monkeypatch):
        self.messages = []
        monkeypatch.setattr(current_app, "send_task", lambda name, args, countdown=None: self.messages.append(args))

    def test_it_says_that_nobody_is_there(self, study, django_capture_on_commit_callbacks):
        err = StringIO()
        with django_capture_on_commit_callbacks(execute=True):
            call_command("judge", "first-study", "--judge", "baseline", "--no-wait", stdout=StringIO(), stderr=err)

        assert "No worker is running" in err.getvalue()
        assert "make worker" in err.getvalue()
        assert len(self.messages) == 1

    def test_with_a_worker_it_says_nothing_and_waits(self, study, monkeypatch):
        factories.WorkerFactory(slots=2)
        looks = []

        def look(seconds):
            looks.append(seconds)
            if len(looks) == 3:
                work.judge_chunk(JudgeRun.objects.get().chunks.get().pk)

        monkeypatch.setattr(long_work, "time", SimpleNamespace(sleep=look, monotonic=lambda: 0.0))
        err, out = StringIO(), StringIO()
        call_command("judge", "first-study", "--judge", "baseline", "--json", stdout=out, stderr=err)

        assert err.getvalue() == ""
        assert len(looks) == 3
        assert json.loads(out.getvalue())["state"] == "finished"


def test_every_turn_of_the_assistant(study):
    document = judge("first-study", "--judge", "baseline", "--turns", "--now")

    run = JudgeRun.objects.get()
    assert (document["every_turn"], document["counts"]["judgments"]) == (True, run.judgments.count())
    assert set(run.judgments.values_list("turn", flat=True)) == {2}


class TestEveryResponse:
    @pytest.fixture(autouse=True)
    def study(self, db):
        answers = {**ANSWERS, "preference": "1"}
        factories.JudgeFactory(name="robot", provider="scripted", parameters={"answers": answers})
        return response_study(2, name="Responses", slug="responses")

    def test_a_study_of_responses_needs_no_option(self, study):
        document = judge("responses", "--judge", "robot", "--now")

        assert (document["unit"], document["every_turn"], document["counts"]["scored"]) == ("response", False, 12)

    def test_the_unit_is_an_option(self, study):
        factories.CriterionFactory(study=study, key="preference", preference=True)

        document = judge("responses", "--judge", "robot", "--unit", "response", "--now")

        assert document["counts"]["judgments"] == 12
        assert set(JudgeRun.objects.get().judgments.values_list("turn", flat=True)) == {1, 2, 3}
        assert judge("responses", "--judge", "robot", "--now")["unit"] == "item"

    def test_it_is_reckoned_first(self):
        assert judge("responses", "--judge", "robot", "--estimate")["estimate"]["requests"] == 12

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (["--both-orders"], "Each response is shown alone, so there are no two orders."),
            (["--turns"], "holds response pairs, which have no turns."),
            (["--turns", "--unit", "response"], "A run rates every turn or every response: choose one of them."),
            (["--unit", "item"], "is asked of each response: let the judge rate every response, in a run of its own."),
        ],
    )
    def test_what_does_not_fit_is_refused(self, options, said):
        assert said in refused("responses", "--judge", "robot", *options)


class TestBatches:
    @pytest.fixture(autouse=True)
    def server(self, monkeypatch):
        monkeypatch.setattr(leases, "send", lambda ids, wait=None: None)
        with running() as server:
            monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
            yield server

    @pytest.mark.long
    def test_a_run_in_bulk_waits_for_its_batch(self, study, server, monkeypatch):
        monkeypatch.setattr(provider_batches, "FIRST_LOOK", 0.0)
        arrived = provider_batches.mark_arrived
        monkeypatch.setattr(
            provider_batches, "mark_arrived", lambda *given: (arrived(*given), server.finish(given[-1], {}))
        )

        document = judge("first-study", *A_CLAUDE, "--batch", "--now")

        assert (document["in_bulk"], document["state"]) == (True, "finished")
        assert document["counts"]["judgments"] == 6
        assert not server.asked

    def test_whether_a_judge_would_answer(self, study, server):
        assert "knows the model" in judge("first-study", *A_CLAUDE, "--test")["answers"]
        server.key = "another"
        assert "401 invalid x-api-key" in refused("first-study", *A_CLAUDE, "--test")
        assert not Judge.objects.exists()

    def test_a_judge_that_takes_none_is_refused(self, study):
        assert "baseline takes no batches" in refused("first-study", "--judge", "baseline", "--batch")


A_CLAUDE = ("--judge", "claude", "--provider", "anthropic", "--model", MODEL)
