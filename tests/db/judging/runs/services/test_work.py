from __future__ import annotations

import pytest
from django.db import OperationalError
from django.utils import timezone

from core.jobs import request_pool as pool, worker_session
from judging.judges.models import Worker
from judging.judges.providers.base import Reply
from judging.runs.models.runs import JudgeChunk, JudgeRun, Judgment
from judging.runs.queries.requests import list_pending
from judging.runs.services import (
    batches,
    judgment_writer,
    request_pool,
    runs,
    work,
    worker_sessions,
)
from judging.runs.services.leases import leases
from tests.support import factories
from tests.support.judging import dialogue_study, judged, pair_study, scripted
from tests.support.model_server import KEY, MODEL, Answer, running, verdict
from tests.support.paid import NAME as PAID

pytestmark = pytest.mark.django_db


def begun(study, judge, **options) -> JudgeRun:
    return runs.make(by=None, plan=runs.plan(study=study, judge=judge, **options), queue=False)


def test_every_item_and_criterion_gets_one_judgment():
    study = dialogue_study(3)

    run = judged(study, scripted(answers={"task_completion": "yes"}))

    assert run.finished_at
    assert Judgment.objects.filter(run=run).count() == 6
    assert set(run.judgments.filter(criterion__key="task_completion").values_list("value", flat=True)) == {"yes"}
    judgment = run.judgments.first()
    assert judgment.explanation == "Said as scripted."
    assert judgment.latency_ms is not None
    assert not Worker.objects.exists(), "nobody is left who reports"


def test_judging_a_part_twice_changes_nothing():
    run = begun(dialogue_study(2), scripted())
    part = run.chunks.get()

    work.judge_chunk(part.pk)
    before = list(run.judgments.order_by("pk").values_list("pk", flat=True))
    work.judge_chunk(part.pk)

    assert list(run.judgments.order_by("pk").values_list("pk", flat=True)) == before
    part.refresh_from_db()
    assert (part.attempts, part.worker) == (1, None)


def test_repeats_are_separate_judgments():
    run = judged(dialogue_study(1), scripted(), criteria=["personalization"], repeats=3)

    assert sorted(run.judgments.values_list("repeat", flat=True)) == [1, 2, 3]
    assert len({judgment.details["seed"] for judgment in run.judgments.all()}) == 3


class TestPairs:
    def test_a_judge_that_always_says_a_prefers_whatever_stands_first(self):
        run = judged(pair_study(2), scripted(otherwise="A"), order_policy="both")

        assert set(run.judgments.values_list("order", "value")) == {("AB", "1"), ("BA", "2")}

    def test_a_judge_that_means_a_response_is_stored_alike_in_both_orders(self):
        run = judged(pair_study(2), scripted(otherwise="2"), order_policy="both")

        assert set(run.judgments.values_list("order", "value")) == {("AB", "2"), ("BA", "2")}

    def test_a_tie_stays_a_tie(self):
        run = judged(pair_study(1), scripted(otherwise="tie"), order_policy="BA")

        assert run.judgments.get().value == "tie"


class TestTrouble:
    def test_a_reply_without_a_verdict_is_unscored_and_the_run_goes_on(self):
        study = dialogue_study(4)
        ids = [item.external_id for item in study.items.all()]
        trouble = {
            ids[0]: {"text": "I will not."},
            ids[1]: {"text": "", "stop": "refusal"},
            ids[2]: {"text": '{"verdict": "9"}'},
        }

        run = judged(study, scripted(trouble=trouble), criteria=["personalization"])

        reasons = dict(run.judgments.values_list("item__dialogue__external_id", "unscored_reason"))
        assert reasons == {ids[0]: "unparsable", ids[1]: "refusal", ids[2]: "off_scale", ids[3]: ""}
        assert run.judgments.get(unscored_reason="unparsable").raw_reply == "I will not."
        assert run.finished_at

    def test_a_value_that_is_not_on_the_scale_is_unscored(self):
        run = judged(dialogue_study(1), scripted(otherwise="eleven"), criteria=["personalization"])

        assert run.judgments.get().unscored_reason == "off_scale"

    def test_a_permanent_error_is_kept_with_the_part_and_the_others_are_judged(self):
        study = dialogue_study(3)
        broken = study.items.first().external_id

        run = judged(study, scripted(trouble={broken: {"error": "permanent"}}), criteria=["personalization"])

        assert run.finished_at
        assert run.judgments.count() == 2
        assert run.chunks.get().error == f"Scripted to fail on {broken}."

    def test_after_some_permanent_errors_the_rest_of_the_part_is_not_tried(self):
        study = dialogue_study(6)
        ids = [item.external_id for item in study.items.all()]
        judge = scripted(
            concurrency=1, trouble={pk: {"error": "permanent"} for pk in ids[: worker_sessions.TOLERATED_ERRORS]}
        )

        run = judged(study, judge, criteria=["personalization"])

        assert run.judgments.count() == 0

    def test_a_transient_error_puts_the_rest_off(self, monkeypatch):
        sent = []
        monkeypatch.setattr(leases, "send", lambda ids, wait=None: sent.append((ids, wait)))
        study = dialogue_study(3)
        ids = [item.external_id for item in study.items.all()]
        judge = scripted(concurrency=1, trouble={ids[1]: {"error": "transient", "retry_after": 60}})
        run = begun(study, judge, criteria=["personalization"])

        work.judge_chunk(run.chunks.get().pk)

        part = run.chunks.get()
        assert run.judgments.count() == 1, "what came before is kept"
        assert (part.finished_at, part.worker, part.attempts) == (None, None, 1)
        assert "Scripted to fail for now" in part.error
        assert 55 < (part.queued_at - timezone.now()).total_seconds() <= 60
        assert sent == [([part.pk], 60)]
        assert leases.free(part.pk) is None, "not before it is due"

    def test_a_part_that_is_put_off_too_often_is_given_up(self):
        study = dialogue_study(1)
        judge = scripted(trouble={study.items.get().external_id: {"error": "transient"}})
        run = begun(study, judge)
        run.chunks.update(attempts=leases.MOST_ATTEMPTS, error="429 Slow down.")

        work.judge_chunk(run.chunks.get().pk)

        run.refresh_from_db()
        assert run.chunks.get().error == "Given up after 10 attempts. 429 Slow down."
        assert run.finished_at

    def test_a_crash_closes_the_part_and_is_not_hidden(self):
        study = dialogue_study(1)
        run = begun(study, scripted(trouble={study.items.get().external_id: {"error": "crash"}}))

        with pytest.raises(RuntimeError, match="Scripted to crash"):
            work.judge_chunk(run.chunks.get().pk)

        assert run.chunks.get().error.startswith("RuntimeError: Scripted to crash")

    def test_when_the_database_fails_the_part_is_left_for_later(self, monkeypatch):
        def locked(*arguments):
            raise OperationalError("database is locked")

        monkeypatch.setattr(judgment_writer, "save", locked)
        run = begun(dialogue_study(1), scripted())

        with pytest.raises(OperationalError):
            work.judge_chunk(run.chunks.get().pk)

        part = run.chunks.get()
        assert (part.finished_at, part.worker) == (None, None)


class TestLettingGo:
    @pytest.fixture(autouse=True)
    def _looking_at_once(self, monkeypatch):
        monkeypatch.setattr(worker_session, "LOOK_EVERY", 0)

    def test_who_is_told_to_end_keeps_what_has_come_back_and_hands_back_the_rest(self):
        run = begun(dialogue_study(4), scripted(concurrency=1, delay=0.05), criteria=["personalization"])

        work.judge_chunk(run.chunks.get().pk, leaving=lambda: run.judgments.exists())

        part = run.chunks.get()
        assert (part.finished_at, part.worker, part.attempts) == (None, None, 0)
        assert 1 <= run.judgments.count() < 4
        for _ in work.work_through(run):
            pass
        assert run.judgments.count() == 4

    def test_who_was_told_to_end_takes_up_nothing(self):
        run = begun(dialogue_study(1), scripted())

        work.judge_chunk(run.chunks.get().pk, leaving=lambda: True)

        assert (run.chunks.get().attempts, run.judgments.count()) == (0, 0)

    def test_a_reply_that_is_paid_for_has_time_to_land(self, paid, monkeypatch):
        monkeypatch.setattr(worker_sessions, "LANDING", 60.0)
        judge = factories.JudgeFactory(provider=PAID, parameters={"delay": 0.2})
        run = begun(dialogue_study(4), judge, criteria=["personalization"])

        work.judge_chunk(run.chunks.get().pk, leaving=lambda: len(paid) > 0)

        assert run.judgments.count() == len(paid) < 4

    def test_a_stopped_run_is_put_down_and_what_is_on_its_way_still_saved(self):
        run = begun(dialogue_study(5), scripted(), criteria=["personalization"])
        worker = factories.WorkerFactory()
        steps = work.steps(leases.claim(run.chunks.get().pk, worker), worker)

        next(steps)
        runs.stop(by=None, run=run)
        list(steps)

        part = run.chunks.get()
        assert 1 <= run.judgments.count() <= 3
        assert (part.worker, part.finished_at, part.attempts) == (None, None, 0)

    def test_a_part_taken_away_is_not_touched_any_more(self):
        run = begun(dialogue_study(4), scripted(), criteria=["personalization"])
        bob, charlie = factories.WorkerFactory(), factories.WorkerFactory()
        steps = work.steps(leases.claim(run.chunks.get().pk, bob), bob)

        next(steps)
        run.chunks.update(worker=charlie)
        list(steps)

        part = run.chunks.get()
        assert (part.worker, part.finished_at, part.attempts) == (charlie, None, 1)

    def test_after_a_while_it_makes_way_for_runs_that_wait(self, monkeypatch):
        monkeypatch.setattr(worker_session, "LONGEST", -1)
        monkeypatch.setattr(batches, "ITEMS_PER_PART", 5)
        sent = []
        monkeypatch.setattr(leases, "queue", sent.extend)
        run = begun(dialogue_study(15), scripted(concurrency=1), criteria=["personalization"])
        run.chunks.update(queued_at=timezone.now())
        factories.WorkerFactory(slots=1)
        factories.JudgeChunkFactory(run=factories.JudgeRunFactory(), queued_at=timezone.now())

        work.judge_chunk(run.chunks.first().pk)

        done = run.chunks.filter(finished_at__isnull=False).count()
        assert 1 <= done < 3
        assert sent == [run.chunks.get(index=done).pk], "the rest is sent for again, behind the others"

    def test_leaving_early_hands_the_part_back(self, monkeypatch):
        monkeypatch.setattr(pool, "BATCH_SIZE", 1)
        run = begun(dialogue_study(3), scripted(), criteria=["personalization"])

        through = work.work_through(run)
        next(through)
        through.close()

        part = run.chunks.get()
        assert run.judgments.count() == 1
        assert (part.worker, part.attempts) == (None, 0)
        assert not Worker.objects.exists()

    def test_two_that_worked_on_the_same_part_leave_one_judgment_each(self):
        run = begun(dialogue_study(2), scripted(), criteria=["personalization"])
        item, criterion = run.study.items.first(), run.criteria.get()
        part = run.chunks.get()
        asked = list_pending(run, part.item_ids, with_prompt=False)
        factories.JudgmentFactory(run=run, item=item, criterion=criterion, value="4")

        judgment_writer.save(run, [request_pool.Answer(request_pool.Ask(ask), Reply(value="1")) for ask in asked], None)

        assert sorted(run.judgments.values_list("value", flat=True)) == ["1", "4"]


class TestWithAModel:
    @pytest.fixture
    def server(self, monkeypatch):
        with running() as server:
            monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
            yield server

    def judge(self, **parameters):
        return factories.JudgeFactory(provider="anthropic", model=MODEL, parameters={"max_retries": 0, **parameters})

    def test_the_verdict_the_reply_and_the_tokens_are_kept(self, server):
        run = judged(dialogue_study(1), self.judge(), criteria=["personalization"])

        judgment = run.judgments.get()
        assert (judgment.value, judgment.explanation) == ("2", "It asks for what it should know.")
        assert judgment.raw_reply == verdict("2")
        usage = judgment.details["usage"]
        assert (usage["input_tokens"], usage["output_tokens"], usage["cached_tokens"]) == (130, 34, 8)
        assert len(judgment.details["prompt"]) == 12

    def test_a_pair_is_asked_by_side_and_stored_by_response(self, server):
        server.answers.append(Answer(text=verdict("B", "B knows her.")))

        run = judged(pair_study(1), self.judge(), order_policy="BA")

        assert run.judgments.get().value == "1"

    def test_a_wrong_key_is_shown_and_nothing_is_judged(self, server):
        server.key = "another"

        run = judged(dialogue_study(1), self.judge())

        assert run.finished_at
        assert run.chunks.get().error == "401 invalid x-api-key"
        assert not run.judgments.exists()

    def test_what_no_database_can_hold_is_replaced(self, server):
        server.answers.append(Answer(text='{"explanation": "a\\u0000b \\ud800 c", "verdict": "2"}'))

        run = judged(dialogue_study(1), self.judge(), criteria=["personalization"])

        assert run.judgments.get().explanation == "a\ufffdb ? c"


def test_the_parts_of_a_run_are_judged_until_none_is_left(monkeypatch):
    monkeypatch.setattr(batches, "ITEMS_PER_PART", 2)

    run = judged(dialogue_study(5), scripted(), criteria=["personalization"])

    assert JudgeChunk.objects.filter(run=run, finished_at__isnull=False).count() == 3
    assert run.judgments.count() == 5
