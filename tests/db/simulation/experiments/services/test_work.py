from __future__ import annotations

from collections import Counter
from datetime import date
from decimal import Decimal

import pytest
from django.db import OperationalError
from django.utils import timezone

from annotation.corpus.models import Dialogue
from core.jobs import worker_session
from judging.judges.models import Price, Worker
from judging.judges.services import quotas
from simulation.agents.parsing.endings import MESSAGES, Limits
from simulation.experiments.models import Turn
from simulation.experiments.services import experiments, turns, worker_sessions
from simulation.experiments.services.experiments import leases
from tests.support import factories
from tests.support.simulation import ASSISTANT_LINES, begun, finished, people, played, scripted, texts

pytestmark = pytest.mark.django_db


def test_every_cell_is_played_and_becomes_material():
    people(2, 2)

    experiment = played(conditions=["base", "base+D"])

    assert experiment.state == "finished"
    said = ["Book me a table.", "For when?", "At eight, please.", "Booked at eight.", "Thanks, that is all."]
    said += ["You are welcome."]
    assert texts(experiment) == [said] * 8
    made = Dialogue.objects.filter(source=f"experiment {experiment.pk}")
    assert Counter(made.values_list("condition", flat=True)) == {"base": 4, "base+D": 4}
    one = experiment.dialogues.get(index=1).dialogue
    assert [turn["role"] for turn in one.turns] == ["user", "assistant"] * 3
    assert (one.assistant_model, one.extra["ending"]) == ("scripted assistant", "done")
    assert one.scenario == experiment.dialogues.get(index=1).scenario
    assert not Worker.objects.exists(), "nobody is left who reports"


def test_a_turn_keeps_all_that_came_with_it():
    people(1, 1)

    turn = Turn.objects.get(simulated__experiment=played(), number=5)

    assert (turn.side, turn.ended, turn.raw_reply) == ("user", True, "Thanks, that is all. [END]")
    assert turn.latency_ms is not None
    assert turn.input_tokens > 0
    assert turn.cost_usd == 0
    assert len(turn.prompt) == 12


def test_playing_twice_changes_nothing():
    people(1, 1)
    experiment = begun()

    worker_sessions.play(experiment.pk)
    before = set(Turn.objects.values_list("pk", flat=True))
    worker_sessions.play(experiment.pk)

    assert set(Turn.objects.values_list("pk", flat=True)) == before


def test_limits_are_of_one_and_of_several_domains():
    people(1, 2)
    endless = scripted("user", lines=[])

    experiment = played(user=endless, limits=Limits(2, 3))

    assert sorted(len(said) for said in texts(experiment)) == [5, 7], "the user speaks last"
    assert set(experiment.dialogues.values_list("ending", flat=True)) == {"limit"}


def test_an_experiment_of_before_counts_messages_and_ends_with_the_mark():
    people(1, 2)

    experiment = played(limits=Limits(4, 6, MESSAGES))

    assert sorted(len(said) for said in texts(experiment)) == [4, 5]
    assert sorted(experiment.dialogues.values_list("ending", flat=True)) == ["done", "limit"]


def test_the_seed_of_a_turn_is_the_same_under_all_conditions():
    people(1, 1)

    experiment = played(conditions=["base", "base+D"], seed=3)

    seeds = [list(one.turns.order_by("number").values_list("seed", flat=True)) for one in experiment.dialogues.all()]
    assert seeds[0] == seeds[1]
    assert len(set(seeds[0])) == 6


class TestBadSides:
    @pytest.mark.parametrize(
        ("lines", "ending", "n"),
        [
            (["Thanks, that is all. [END]"], "at_once", 1),
            (["How can I help you today?"], "user_other_side", 1),
            (["Assistant: At eight?"], "user_other_side", 1),
            (["Book me a table tonight.", "Book me a table tonight!"], "repetition", 3),
            ([""], "user_empty", 1),
        ],
    )
    def test_a_user_that_falls_out_of_its_part_is_stopped_marked_and_kept_apart(self, lines, ending, n):
        people(1, 1)

        experiment = played(user=scripted("user", lines=lines))

        assert experiment.state == "finished"
        assert experiment.dialogues.get().ending == ending
        assert Turn.objects.count() == n
        assert not Dialogue.objects.exists(), "it is no material"

    def test_an_assistant_that_says_nothing(self):
        people(1, 1)

        experiment = played(assistant=scripted("assistant", lines=[" "]))

        assert experiment.dialogues.get().ending == "assistant_empty"

    @pytest.mark.parametrize("error", ["refusal", "too_long"])
    def test_an_assistant_that_refuses_or_cannot_hold_it(self, error):
        people(1, 1)

        experiment = played(assistant=scripted("assistant", trouble={"task0": {"turn": 4, "error": error}}))

        assert experiment.dialogues.get().ending == f"assistant_{error}"
        assert Turn.objects.count() == 4

    def test_what_is_said_for_the_other_side_is_cut_and_counted(self):
        people(1, 1)

        played(assistant=scripted("assistant", lines=["For when?\nUser: At eight.", "Booked."]))

        turn = Turn.objects.get(number=2)
        assert (turn.text, turn.cut) == ("For when?", True)
        assert "User: At eight." in turn.raw_reply


class TestFaults:
    def test_a_permanent_error_ends_its_dialogue_and_can_be_tried_again(self):
        people(1, 2)
        assistant = scripted("assistant", trouble={"task0": {"turn": 4, "error": "permanent"}})

        experiment = played(assistant=assistant)

        one = experiment.dialogues.get(ending="assistant_failed")
        assert "Scripted to fail on user0/task0" in one.error
        assert one.turns.count() == 3, "what was said stays"
        assert experiments.resume(by=None, experiment=experiment, queue=False) == 1
        one.refresh_from_db()
        assert (one.ending, one.error) == ("", "")

    def test_errors_in_a_row_stop_the_experiment_with_the_reason(self):
        people(4, 1)

        experiment = played(assistant=scripted("assistant", trouble={"task0": {"error": "permanent"}}))

        assert experiment.state == "stopped"
        assert "could not go on: Scripted to fail" in experiment.stop_reason

    def test_a_transient_error_puts_the_rest_off(self, monkeypatch):
        sent = []
        monkeypatch.setattr(leases, "send", lambda ids, wait=None: sent.append((ids, wait)))
        people(1, 1)
        experiment = begun(assistant=scripted("assistant", trouble={"task0": {"turn": 2, "error": "transient"}}))

        worker_sessions.play(experiment.pk)

        experiment.refresh_from_db()
        assert Turn.objects.count() == 1, "what came before is kept"
        assert (experiment.worker, experiment.state) == (None, "running")
        assert "Scripted to fail for now" in experiment.error
        assert experiment.queued_at > timezone.now()
        assert [ids for ids, _ in sent] == [[experiment.pk]]
        assert leases.free(experiment.pk) is None, "not before it is due"

    def test_one_that_is_put_off_too_often_is_given_up(self):
        people(1, 1)
        experiment = begun()
        type(experiment).objects.update(attempts=leases.MOST_ATTEMPTS, error="429 Slow down.")

        worker_sessions.play(experiment.pk)

        experiment.refresh_from_db()
        assert experiment.stop_reason == "Given up after 10 attempts. 429 Slow down."

    def test_a_crash_is_said_and_not_hidden(self):
        people(1, 1)
        experiment = begun(assistant=scripted("assistant", trouble={"task0": {"error": "crash"}}))

        with pytest.raises(RuntimeError, match="Scripted to crash"):
            worker_sessions.play(experiment.pk)

        experiment.refresh_from_db()
        assert experiment.stop_reason.startswith("RuntimeError: Scripted to crash")

    def test_when_the_database_fails_it_is_left_for_later(self, monkeypatch):
        def locked(*arguments):
            raise OperationalError("database is locked")

        monkeypatch.setattr(turns, "save", locked)
        people(1, 1)
        experiment = begun()

        with pytest.raises(OperationalError):
            worker_sessions.play(experiment.pk)

        experiment.refresh_from_db()
        assert (experiment.state, experiment.worker) == ("running", None)


class TestLettingGo:
    @pytest.fixture(autouse=True)
    def _looking_at_once(self, monkeypatch):
        monkeypatch.setattr(worker_session, "LOOK_EVERY", 0)

    def test_stopped_and_resumed_without_a_turn_said_twice(self):
        people(3, 1)
        experiment = begun()
        worker = factories.WorkerFactory()
        steps = worker_sessions.steps(leases.claim(experiment.pk, worker), worker)

        next(steps)
        experiments.stop(by=None, experiment=experiment)
        for _ in steps:
            pass
        before = dict(Turn.objects.values_list("pk", "created_at"))
        assert 1 <= len(before) < 18
        assert experiments.resume(by=None, experiment=experiment, queue=False) == 3
        finished(experiment)

        assert Turn.objects.count() == 18
        assert dict(Turn.objects.filter(pk__in=before).values_list("pk", "created_at")) == before

    def test_one_taken_away_is_not_touched_any_more(self):
        people(3, 1)
        experiment = begun()
        bob, charlie = factories.WorkerFactory(), factories.WorkerFactory()
        steps = worker_sessions.steps(leases.claim(experiment.pk, bob), bob)

        next(steps)
        type(experiment).objects.update(worker=charlie)
        for _ in steps:
            pass

        experiment.refresh_from_db()
        assert (experiment.worker, experiment.state) == (charlie, "running")

    def test_a_turn_that_somebody_else_has_written_is_left_to_them(self):
        people(1, 1)
        experiment = begun()
        worker = factories.WorkerFactory()
        steps = worker_sessions.steps(leases.claim(experiment.pk, worker), worker)
        next(steps)
        factories.TurnFactory(simulated=experiment.dialogues.get(), text="Said by another process.")

        for _ in steps:
            pass

        assert experiment.dialogues.get().turns.order_by("number").last().text == "Said by another process."

    def test_leaving_early_hands_it_back(self):
        people(2, 1)
        experiment = begun()

        through = worker_sessions.work_through(experiment)
        next(through)
        through.close()

        experiment.refresh_from_db()
        assert (experiment.worker, experiment.attempts, experiment.state) == (None, 0, "running")

    def test_who_is_told_to_end_hands_it_back_and_takes_up_nothing(self):
        people(2, 2)
        experiment = begun()

        worker_sessions.play(experiment.pk, leaving=lambda: Turn.objects.exists())
        said = Turn.objects.count()
        worker_sessions.play(experiment.pk, leaving=lambda: True)

        experiment.refresh_from_db()
        assert (experiment.worker, experiment.attempts, experiment.state) == (None, 0, "running")
        assert Turn.objects.count() == said > 0
        worker_sessions.play(experiment.pk)
        experiment.refresh_from_db()
        assert experiment.state == "finished"

    def test_it_makes_way_for_work_that_waits(self, monkeypatch):
        monkeypatch.setattr(worker_session, "LONGEST", -1)
        sent = []
        monkeypatch.setattr(leases, "queue", sent.extend)
        people(3, 1)
        experiment = begun()
        factories.ExperimentFactory(queued_at=timezone.now())

        worker_sessions.play(experiment.pk)

        experiment.refresh_from_db()
        assert (experiment.worker, experiment.state) == (None, "running")
        assert sent == [experiment.pk]


class TestBudget:
    @pytest.fixture(autouse=True)
    def _price(self):
        Price.objects.create(
            provider="scripted", model="scripted assistant", valid_from=date(2026, 1, 2), input=0, output=1_000_000
        )

    def test_it_stops_itself_before_it_costs_more(self):
        people(3, 1)
        # a dollar a token: "For when?" has 3, "Booked at eight." 4, so that the first dialogue costs 7
        lines = [*ASSISTANT_LINES]
        experiment = played(assistant=scripted("assistant", lines=lines), budget_usd=Decimal(8))

        assert experiment.state == "stopped"
        assert "budget of $8.00 is reached" in experiment.stop_reason
        spent = sum(turn.cost_usd for turn in Turn.objects.all())
        assert spent <= 8 + 4, "a turn's tokens are known when it has come"

    def test_a_resumed_one_needs_a_higher_budget(self):
        people(3, 1)
        experiment = played(budget_usd=Decimal(6))

        with pytest.raises(ValueError, match="give it a higher budget"):
            experiments.resume(by=None, experiment=experiment, queue=False, budget_usd=Decimal(1))
        assert experiments.resume(by=None, experiment=experiment, queue=False, budget_usd=Decimal(100)) > 0
        assert finished(experiment).state == "finished"


def test_a_quota_is_kept(monkeypatch):
    asked = []
    reserve = quotas.reserve
    monkeypatch.setattr(quotas, "reserve", lambda judge, tokens: asked.append(judge.model) or reserve(judge, tokens))
    quotas.set_limits(
        by=None, provider="scripted", model="scripted assistant", requests_per_minute=60_000, tokens_per_minute=None
    )
    people(1, 1)

    played()

    assert asked == ["scripted assistant"] * 3


def test_what_was_retrieved_is_kept_with_the_turn():
    people(1, 1)

    played(conditions=["base+I-retrieved"], passages=1)

    found = Turn.objects.get(number=4).retrieved
    assert [one["domain"] for one in found] == ["Restaurants"]
    assert "eight" in found[0]["passage"]
    assert Turn.objects.get(number=3).retrieved == []
