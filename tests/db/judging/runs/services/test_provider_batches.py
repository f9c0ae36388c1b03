"""Runs in bulk against a server that speaks the wire format of Message Batches."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.corpus.models import Dialogue
from core.errors import InputError
from judging.judges.models import Price
from judging.runs.models.batches import JudgeBatch
from judging.runs.models.runs import JudgeRun
from judging.runs.queries import runs as queries, spending
from judging.runs.services import estimates, provider_batches, runs, work
from judging.runs.services.leases import leases
from tests.support import factories
from tests.support.judging import dialogue_study, response_study, scripted
from tests.support.model_server import KEY, MODEL, Answer, running, verdict

pytestmark = pytest.mark.django_db

# The server's replies read 130 tokens, 8 of them from its cache and 2 into it, and write 34.
FULL, HALF = Decimal("0.000470"), Decimal("0.000235")
PRICE = {"input": 1, "output": 10, "batch_input": Decimal("0.5"), "batch_output": 5}


@pytest.fixture(autouse=True)
def server(monkeypatch):
    monkeypatch.setattr(leases, "send", lambda ids, wait=None: None)
    monkeypatch.setattr(runs, "send_cancellations", lambda keys: None)
    with running() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        yield server


@pytest.fixture
def judge():
    Price.objects.create(provider="anthropic", model=MODEL, valid_from=date(2026, 1, 1), **PRICE)
    return factories.JudgeFactory(
        provider="anthropic", model=MODEL, parameters={"max_tokens": 100, "max_retries": 0, "cache": False}
    )


def begun(judge, n_items=3, study=None, **options) -> JudgeRun:
    study = study or different_dialogues(n_items)
    return runs.make(by=None, plan=runs.plan(study=study, judge=judge, in_bulk=True, **options), queue=False)


def different_dialogues(n_items):
    study = dialogue_study(0)
    for n in range(n_items):
        turns = [{"role": "user", "content": f"Book table {n}."}, {"role": "assistant", "content": "Done."}]
        factories.ItemFactory(study=study, dialogue=factories.DialogueFactory(turns=turns))
    return study


def go_on(run) -> None:
    """Each unfinished part gets its next step, as if its time had come."""
    for part in leases.unfinished().filter(run=run).order_by("index"):
        type(part).objects.filter(pk=part.pk).update(queued_at=timezone.now())
        work.judge_chunk(part.pk)
    run.refresh_from_db()


def said(server, name, *outcomes, otherwise=None):
    """End the batch with these outcomes of its first requests; the others get the default answer."""
    keys = [line["custom_id"] for line in server.batches[name]["requests"]]
    told = dict.fromkeys(keys, otherwise or Answer(text=verdict("1")))
    server.finish(name, told | dict(zip(keys, outcomes, strict=False)))


def submitted(server) -> int:
    return sum(request.method == "POST" and request.path.endswith("/batches") for request in server.requests)


def a_run_handed_in(judge, **options):
    run = begun(judge, **options)
    go_on(run)
    return run, JudgeBatch.objects.get(closed_at__isnull=True)


def test_a_part_is_handed_in_as_a_whole_looked_at_and_fetched_at_half_the_price(server, judge):
    run, batch = a_run_handed_in(judge, criteria=["personalization"])

    assert (batch.external_id, batch.n_requests) == ("msgbatch_1", 3)
    assert not run.judgments.exists()
    part = run.chunks.get()
    assert (part.worker, part.attempts, part.finished_at, part.error) == (None, 0, None, "")
    assert part.queued_at > timezone.now()
    go_on(run)
    assert run.state == "running", "it has not ended"
    said(server, "msgbatch_1")
    go_on(run)

    assert run.state == "finished"
    assert set(run.judgments.values_list("value", "latency_ms")) == {("1", None)}
    assert spending.load_run(run).usd == 3 * HALF
    assert submitted(server) == 1
    assert not server.asked, "nothing was asked one by one"


def test_the_same_requests_are_known_afterwards_and_handed_in_no_more(server, judge):
    run, _ = a_run_handed_in(judge, criteria=["personalization"])
    said(server, "msgbatch_1")
    go_on(run)

    again = begun(judge, study=run.study, criteria=["personalization"])
    go_on(again)

    assert again.state == "finished"
    assert spending.load_run(again).cached == 3
    assert submitted(server) == 1


def test_of_equal_requests_one_is_handed_in(server, judge):
    study, said_once = dialogue_study(0), [{"role": "user", "content": "Book a table."}]
    for _ in range(3):
        factories.ItemFactory(study=study, dialogue=factories.DialogueFactory(turns=said_once))
    run, batch = a_run_handed_in(judge, study=study, criteria=["personalization"])
    assert batch.n_requests == 1
    said(server, "msgbatch_1")
    go_on(run)

    assert (run.state, run.judgments.count()) == ("finished", 3)
    assert spending.load_run(run).usd == HALF


def test_every_turn_of_the_assistant_is_a_request_of_the_batch(server, judge):
    study = dialogue_study(0)
    said_twice = [{"role": role, "content": f"{role} {n}"} for n in range(2) for role in ("user", "assistant")]
    factories.ItemFactory(study=study, dialogue=factories.DialogueFactory(turns=said_twice))
    run, batch = a_run_handed_in(judge, study=study, criteria=["personalization"], every_turn=True)
    assert batch.n_requests == 2
    said(server, "msgbatch_1", Answer(text=verdict("3")))
    go_on(run)

    assert run.state == "finished"
    assert dict(run.judgments.values_list("turn", "value")) == {2: "3", 4: "1"}


def test_every_response_is_a_request_of_the_batch(server, judge):
    run, batch = a_run_handed_in(judge, study=response_study(1), criteria=["helpful"])
    assert batch.n_requests == 3
    said(server, "msgbatch_1", Answer(text=verdict("3")))
    go_on(run)

    assert run.state == "finished"
    assert dict(run.judgments.values_list("turn", "value")) == {1: "3", 2: "1", 3: "1"}


class TestKilledBetween:
    def test_a_batch_whose_name_was_not_kept_is_found_again(self, server, judge, monkeypatch):
        """The process ends after the provider took the batch and before its name is in the database."""
        run = begun(judge, criteria=["personalization"])
        with monkeypatch.context() as killed:
            killed.setattr(provider_batches, "mark_arrived", kill)
            with pytest.raises(KeyboardInterrupt):
                go_on(run)
        run.chunks.update(worker=None)
        assert JudgeBatch.objects.get().external_id == ""

        go_on(run)

        assert JudgeBatch.objects.get().external_id == "msgbatch_1"
        assert submitted(server) == 1
        said(server, "msgbatch_1")
        go_on(run)
        assert run.judgments.count() == 3

    def test_one_that_never_arrived_is_handed_in_and_the_row_says_so(self, server, judge):
        run = begun(judge, criteria=["personalization"])
        JudgeBatch.objects.create(chunk=run.chunks.get(), n_requests=3)

        go_on(run)

        assert submitted(server) == 1
        assert list(JudgeBatch.objects.order_by("pk").values_list("external_id", "error")) == [
            ("", provider_batches.NEVER_ARRIVED),
            ("msgbatch_1", ""),
        ]

    def test_somebody_else_s_batch_is_told_by_its_keys_and_the_part_handed_in_again(self, server, judge):
        other, _ = a_run_handed_in(judge, criteria=["personalization"])
        said(server, "msgbatch_1")
        other.study.delete()  # the same account, another installation
        run = begun(judge, criteria=["personalization"], use_cache=False)
        JudgeBatch.objects.create(chunk=run.chunks.get(), n_requests=3)

        go_on(run)

        assert not run.judgments.exists()
        assert submitted(server) == 2
        assert list(JudgeBatch.objects.order_by("pk").values_list("external_id", "error")) == [
            ("msgbatch_1", provider_batches.NOT_OURS),
            ("msgbatch_2", ""),
        ]

    def test_a_part_has_one_open_batch_whoever_hands_it_in(self, judge):
        _, batch = a_run_handed_in(judge)

        with pytest.raises(IntegrityError), transaction.atomic():
            JudgeBatch.objects.create(chunk=batch.chunk, n_requests=1)

    def test_one_given_up_while_it_was_on_its_way_is_taken_back(self, server, judge):
        run, batch = a_run_handed_in(judge)
        provider_batches.close(batch, error="given up")

        provider_batches.mark_arrived(batch, run, "msgbatch_1")

        assert server.batches["msgbatch_1"]["state"] == "canceling"


class TestEndings:
    @pytest.mark.long
    def test_what_expired_is_handed_in_again(self, server, judge):
        run, _ = a_run_handed_in(judge, criteria=["personalization"])
        said(server, "msgbatch_1", {"type": "expired"})
        go_on(run)

        assert run.judgments.count() == 2
        assert len(server.batches["msgbatch_2"]["requests"]) == 1
        said(server, "msgbatch_2")
        go_on(run)
        assert (run.state, run.judgments.count()) == ("finished", 3)
        assert JudgeBatch.objects.filter(error="1 of the batch: The request was expired.").count() == 1

    def test_a_batch_that_brought_nothing_ends_the_part_and_says_why(self, server, judge):
        run, _ = a_run_handed_in(judge, criteria=["personalization"])
        said(server, "msgbatch_1", otherwise={"type": "expired"})
        go_on(run)

        assert run.state == "finished"
        assert run.chunks.get().error == "3 of the batch: The request was expired."
        assert submitted(server) == 1

    def test_an_error_that_would_come_again_ends_the_part_and_the_others_are_kept(self, server, judge):
        run, _ = a_run_handed_in(judge, criteria=["personalization"])
        wrong = {"type": "error", "error": {"type": "invalid_request_error", "message": "no such field"}}
        said(server, "msgbatch_1", {"type": "errored", "error": wrong})
        go_on(run)

        assert run.judgments.count() == 2
        assert run.chunks.get().error == "1 of the batch: 400 no such field"

    def test_a_refusal_and_what_cannot_be_read_are_unscored(self, server, judge):
        run, _ = a_run_handed_in(judge, criteria=["personalization"])
        said(server, "msgbatch_1", Answer(stop="refusal"), Answer(text="Well."), Answer(text=verdict("9")))
        go_on(run)

        assert set(run.judgments.values_list("unscored_reason", flat=True)) == {"refusal", "unparsable", "off_scale"}

    @pytest.mark.long
    def test_an_item_edited_meanwhile_is_asked_about_again(self, server, judge):
        run, _ = a_run_handed_in(judge, criteria=["personalization"])
        edited = run.study.items.order_by("position").first().dialogue
        Dialogue.objects.filter(pk=edited.pk).update(
            turns=[{"role": "user", "content": "Something else."}], content_hash="f" * 64
        )
        said(server, "msgbatch_1")
        go_on(run)

        assert run.judgments.count() == 2
        said(server, "msgbatch_2")
        go_on(run)
        assert not run.judgments.stale().exists()

    def test_where_every_item_was_edited_all_are_handed_in_again(self, server, judge):
        run, _ = a_run_handed_in(judge, n_items=1, criteria=["personalization"])
        Dialogue.objects.update(turns=[{"role": "user", "content": "Something else."}], content_hash="f" * 64)
        said(server, "msgbatch_1")
        go_on(run)

        assert (run.state, run.judgments.count(), submitted(server)) == ("running", 0, 2)

    def test_a_batch_that_is_gone_ends_the_part_and_a_resumed_run_hands_in_anew(self, server, judge):
        run, _ = a_run_handed_in(judge, criteria=["personalization"])
        server.batches["another"] = server.batches.pop("msgbatch_1")
        go_on(run)
        assert "no batch msgbatch_1 any more" in run.chunks.get().error

        runs.resume(by=None, run=run, queue=False)
        go_on(run)

        assert submitted(server) == 2

    def test_while_the_provider_is_away_the_part_waits_and_no_attempt_is_counted(self, server, judge, monkeypatch):
        run, _ = a_run_handed_in(judge)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
        go_on(run)

        part = run.chunks.get()
        assert (part.attempts, part.finished_at) == (0, None)
        assert "No connection" in part.error

    def test_what_does_not_fit_is_unscored_and_not_handed_in(self, server, judge):
        server.tokens_per_prompt = 5000
        judge.parameters["context_window"] = 1000
        judge.save()
        run = begun(judge, criteria=["personalization"])
        go_on(run)

        assert set(run.judgments.values_list("unscored_reason", flat=True)) == {"too_long"}
        assert (run.state, submitted(server)) == ("finished", 0)


class TestBudget:
    def test_no_more_is_handed_in_than_the_budget_holds_at_the_worst(self, server, judge):
        most = provider_batches.budgets.compute_most_cost(0, 100, provider_batches.find_rate(judge))
        run, batch = a_run_handed_in(judge, criteria=["personalization"], budget_usd=3 * most)

        assert 1 <= batch.n_requests < 3, "the prompts cost something too"
        assert batch.reserved_usd <= run.budget_usd
        assert spending.sum_reserved(run=run) == batch.reserved_usd

    def test_the_run_goes_on_with_what_is_left_and_stops_itself(self, server, judge):
        most = provider_batches.budgets.compute_most_cost(0, 100, provider_batches.find_rate(judge))
        run = begun(judge, n_items=6, criteria=["personalization"], budget_usd=Decimal("2.2") * most)
        rounds = 0
        while run.state == "running":
            go_on(run)
            for name, batch in server.batches.items():
                if batch["state"] == "in_progress":
                    said(server, name)
            rounds += 1
            assert rounds < 20

        spent = spending.load_run(run).usd
        assert 0 < spent <= run.budget_usd
        assert "leaves no room for another request" in run.stop_reason
        assert 0 < run.judgments.count() < 6
        assert spent == run.judgments.count() * HALF

    def test_the_estimate_is_at_the_price_in_bulk(self, judge):
        study = dialogue_study(2)
        plain = estimates.estimate(runs.plan(study=study, judge=judge))
        bulk = estimates.estimate(runs.plan(study=study, judge=judge, in_bulk=True))

        assert bulk.usd == plain.usd / 2
        assert bulk.seconds is None
        assert "A batch is answered within a day, and often sooner." in bulk.why


class TestStopping:
    def test_the_batch_is_taken_back_and_what_was_answered_until_then_is_kept(self, server, judge):
        run, batch = a_run_handed_in(judge, criteria=["personalization"])
        assert runs.stop(by=None, run=run)
        assert list(runs.load_batches_to_cancel()) == [batch]

        work.cancel_batch(batch.pk)
        assert server.batches["msgbatch_1"]["state"] == "canceling"
        said(server, "msgbatch_1", Answer(text=verdict("1")), otherwise={"type": "canceled"})
        work.cancel_batch(batch.pk)

        assert run.judgments.count() == 1
        assert not runs.load_batches_to_cancel().exists()
        cancels = [request for request in server.requests if request.path.endswith("/cancel")]
        assert len(cancels) == 1
        runs.resume(by=None, run=run, queue=False)
        go_on(run)
        assert len(server.batches["msgbatch_2"]["requests"]) == 2

    @pytest.mark.long
    def test_a_run_resumed_before_its_batch_has_ended_waits_for_it_and_hands_in_the_rest(self, server, judge):
        run, batch = a_run_handed_in(judge, criteria=["personalization"])
        runs.stop(by=None, run=run)
        work.cancel_batch(batch.pk)
        run.refresh_from_db()
        runs.resume(by=None, run=run, queue=False)
        go_on(run)
        assert submitted(server) == 1

        said(server, "msgbatch_1", otherwise={"type": "canceled"})
        go_on(run)

        assert (run.state, submitted(server)) == ("running", 2)

    def test_one_that_had_ended_by_then_is_fetched(self, server, judge):
        run, batch = a_run_handed_in(judge, criteria=["personalization"])
        said(server, "msgbatch_1")
        runs.stop(by=None, run=run)

        work.cancel_batch(batch.pk)

        assert run.judgments.count() == 3
        assert not [request for request in server.requests if request.path.endswith("/cancel")]

    def test_a_message_that_is_lost_is_sent_again_after_a_while(self, judge):
        run, _ = a_run_handed_in(judge)
        runs.stop(by=None, run=run)

        assert runs.call_back_batches() == 1
        assert runs.call_back_batches() == 0, "somebody sees to it"
        JudgeBatch.objects.update(looked_at=timezone.now() - 2 * runs.UNATTENDED)
        assert runs.call_back_batches() == 1

    def test_the_batch_of_a_part_in_living_hands_is_left_to_them(self, judge):
        run, _ = a_run_handed_in(judge)
        runs.stop(by=None, run=run)
        run.chunks.update(worker=factories.WorkerFactory())

        assert not runs.load_batches_to_cancel().exists()


class TestWhoTakesBatches:
    def test_a_judge_that_takes_none_is_refused(self):
        with pytest.raises(InputError, match="provider scripted takes no batches") as caught:
            runs.plan(study=dialogue_study(1), judge=scripted(), in_bulk=True)
        assert caught.value.field == "in_bulk"

    def test_bedrock_is_refused(self, monkeypatch):
        monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "key")
        judge = factories.JudgeFactory(
            provider="anthropic", model=MODEL, parameters={"through": "bedrock", "region": "eu-central-1"}
        )
        with pytest.raises(InputError, match="Bedrock takes no Message Batches"):
            runs.plan(study=dialogue_study(1), judge=judge, in_bulk=True)


def test_the_page_is_told_what_is_out(server, judge):
    run, batch = a_run_handed_in(judge)
    found = queries.progress(run).bulk

    assert (found.batches, found.requests, found.since, found.notes) == (1, 6, batch.created_at, ())
    said(server, "msgbatch_1", {"type": "expired"})
    go_on(run)
    found = queries.progress(run).bulk
    assert (found.batches, found.requests) == (1, 1)
    assert found.notes == (("1 of the batch: The request was expired.", 1),)


def kill(*arguments):
    raise KeyboardInterrupt


@pytest.mark.long
def test_replies_that_were_not_read_are_handed_in_once_more(server, judge):
    """In a batch of their own, as often as `max_retries` allows; and of a run that is over by request."""
    type(judge).objects.update(parameters={**judge.parameters, "max_retries": 1})
    judge.refresh_from_db()
    run = begun(judge, criteria=["personalization"])
    go_on(run)
    said(server, next(iter(server.batches)), Answer(text="No."), otherwise=Answer(text=verdict("2")))
    go_on(run)
    assert [len(batch["requests"]) for batch in server.batches.values()] == [3, 1]
    said(server, list(server.batches)[1], Answer(text="Still no."))
    go_on(run)

    assert run.finished_at
    assert run.judgments.get(value="").earlier.count() == 1
    assert spending.load_run(run).usd == 4 * HALF

    runs.ask_again(by=None, run=run, queue=False)
    go_on(run)
    assert [len(batch["requests"]) for batch in server.batches.values()] == [3, 1, 1]
    said(server, list(server.batches)[2], Answer(text=verdict("2")))
    go_on(run)
    assert run.finished_at
    assert run.judgments.filter(value="2").count() == 3
    assert spending.load_run(run).usd == 5 * HALF
