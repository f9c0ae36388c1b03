from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from core import row_counts
from judging.judges.models import Seat
from judging.runs.queries import judgments, runs, spending
from tests.support import factories
from tests.support.judging import dialogue_study, judged, pair_study, scripted
from tests.support.large import forget_counts

pytestmark = pytest.mark.django_db


def a_run(study, **options):
    run = factories.JudgeRunFactory(study=study, **options)
    factories.JudgeChunkFactory(run=run)
    return run


def test_a_run_that_has_not_begun():
    progress = runs.progress(a_run(dialogue_study(3), repeats=2))

    assert (progress.state, progress.expected, progress.judged) == ("running", 12, 0)
    assert progress.rate is None
    assert progress.seconds_left is None
    assert progress.needs_worker
    assert not progress.can_resume


def test_both_orders_count_for_pairs_only():
    assert runs.progress(a_run(pair_study(3), order_policy="both")).expected == 6
    assert runs.progress(a_run(dialogue_study(3), order_policy="both")).expected == 6


def test_scored_and_unscored_are_told_apart():
    study = dialogue_study(3)
    run = a_run(study)
    personalization = study.criteria.get(key="personalization")
    first, second, third = study.items.all()
    factories.JudgmentFactory(run=run, item=first, criterion=personalization, value="2")
    factories.JudgmentFactory(run=run, item=second, criterion=personalization, value="", unscored_reason="off_scale")
    factories.JudgmentFactory(run=run, item=third, criterion=personalization, value="", unscored_reason="off_scale")

    progress = runs.progress(run)

    assert (progress.scored, progress.n_unscored, progress.missing) == (1, 2, 3)
    assert [(reason.reason, reason.n) for reason in progress.unscored] == [("off_scale", 2)]
    assert progress.unscored[0].in_words == "a verdict that is not on the scale"
    assert progress.by_criterion[0] == (personalization.name, 1, 2)
    assert progress.share == 0.5
    # 3 judgments within the last moments; the span is taken as a second at least
    assert 0 < progress.rate <= 3
    assert progress.seconds_left == pytest.approx(3 / progress.rate)


def test_troubles_are_grouped_and_say_when_a_part_goes_on():
    run = factories.JudgeRunFactory(study=dialogue_study(1))
    later = timezone.now() + timedelta(minutes=1)
    factories.JudgeChunkFactory(run=run, error="429 Slow down.", queued_at=later)
    factories.JudgeChunkFactory(run=run, error="401 Wrong key.", finished_at=timezone.now())
    factories.JudgeChunkFactory(run=run, error="401 Wrong key.", finished_at=timezone.now())

    troubles = runs.progress(run).troubles

    assert [(trouble.message, trouble.parts, trouble.is_waiting, trouble.waits_until) for trouble in troubles] == [
        ("429 Slow down.", 1, True, later),
        ("401 Wrong key.", 2, False, None),
    ]


def test_a_finished_run_has_an_average_rate():
    study = dialogue_study(1)
    run = a_run(study, finished_at=timezone.now())
    for criterion in study.criteria.all():
        factories.JudgmentFactory(run=run, item=study.items.get(), criterion=criterion)
    type(run).objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(seconds=10))
    run.refresh_from_db()

    progress = runs.progress(run)

    assert progress.state == "finished"
    assert progress.rate == pytest.approx(0.2, rel=0.1)  # 2 judgments in 10 seconds
    assert not progress.can_resume


def test_a_run_is_helped_by_whoever_holds_a_part_or_serves_the_queue():
    run = factories.JudgeRunFactory(study=dialogue_study(1))
    chunk = factories.JudgeChunkFactory(run=run, worker=factories.WorkerFactory(slots=0))

    assert runs.progress(run).parts_held == 1
    assert not runs.progress(run).needs_worker

    chunk.worker.seen_at = timezone.now() - timedelta(minutes=5)
    chunk.worker.save()
    assert runs.progress(run).needs_worker

    factories.WorkerFactory(slots=2)
    assert runs.progress(run).workers == 1
    assert not runs.progress(run).needs_worker


def test_progress_takes_six_queries(django_assert_num_queries):
    study = dialogue_study(2)
    run = factories.JudgeRunFactory(study=study)
    factories.JudgmentFactory.create_batch(2, run=run)
    factories.JudgeChunkFactory.create_batch(3, run=run, n_units=2)

    with django_assert_num_queries(6):
        runs.progress(run)


def test_parts_that_do_not_tell_their_size_are_counted_by_their_items():
    run = factories.JudgeRunFactory(study=dialogue_study(3))
    factories.JudgeChunkFactory(run=run, item_ids=[1, 2], n_units=None)
    factories.JudgeChunkFactory(run=run, item_ids=[3], n_units=4, finished_at=timezone.now())
    factories.JudgeChunkFactory(run=run, item_ids=[], n_units=0)

    assert runs.count_batches(run) == {"n": 3, "left": 2, "held": 0, "units": 6}
    assert runs.progress(run).expected == 6 * run.criteria.count()


def test_progress_says_what_the_run_cost():
    study = dialogue_study(3)
    run = a_run(study)
    first, second, third = study.items.all()
    known = {"cost_usd": Decimal("0.25"), "input_tokens": 10, "output_tokens": 2}
    factories.JudgmentFactory(run=run, item=first, **known)
    factories.JudgmentFactory(run=run, item=second, details={"cached": True}, **{**known, "cost_usd": 0})
    factories.JudgmentFactory(run=run, item=third, value="", unscored_reason="refusal")

    assert runs.progress(run).spent == spending.load_run(run) == spending.Spending(Decimal("0.25"), 1, 20, 4, 1)
    assert runs.progress(a_run(study)).spent == spending.load_run(a_run(study)) == spending.Spending()


class TestOfAnOlderText:
    def edited(self, run, **more):
        dialogue = run.study.items.first().dialogue
        type(dialogue).objects.filter(pk=dialogue.pk).update(content_hash="f" * 64, **more)

    def test_a_text_that_was_written_since(self, django_assert_num_queries):
        run = judged(dialogue_study(2), scripted())
        n = run.judgments.count()
        assert runs.stale(run, n) == 0

        self.edited(run, updated_at=timezone.now())

        stale, kind = run.judgments.stale().count(), run.study.kind
        assert (stale, kind) == (2, "dialogue")
        with django_assert_num_queries(2):
            assert runs.stale(run, n) == stale

    def test_clocks_may_differ_a_little(self):
        run = judged(dialogue_study(2), scripted())
        self.edited(run, updated_at=run.created_at - timedelta(minutes=1))

        assert runs.stale(run, run.judgments.count()) == run.judgments.stale().count() > 0

    def test_of_a_run_that_was_not_asked_here_every_text_is_looked_at(self):
        run = judged(dialogue_study(2), scripted())
        run.chunks.all().delete()
        self.edited(run, updated_at=run.created_at - timedelta(days=9))

        assert runs.stale(run, run.judgments.count()) == run.judgments.stale().count() > 0


class TestMoreThanIsCountedForEveryPage:
    @pytest.fixture(autouse=True)
    def small_limit(self, monkeypatch):
        monkeypatch.setattr(row_counts, "LARGE", 2)
        forget_counts()
        yield
        forget_counts()

    def test_counts_are_kept_for_a_moment_and_made_anew_when_the_run_is_over(self):
        study = dialogue_study(3)
        run = a_run(study)
        for item in study.items.all()[:2]:
            factories.JudgmentFactory(run=run, item=item)
        assert runs.progress(run).judged == 2
        factories.JudgmentFactory(run=run, item=study.items.last())

        assert runs.progress(run).judged == 2
        run.finished_at = timezone.now()
        assert runs.progress(run).judged == 3


def test_runs_with_what_they_have_and_should_have(django_assert_num_queries):
    study = dialogue_study(3)
    whole, old, probe = (factories.JudgeRunFactory(study=study, repeats=2) for _ in range(3))
    type(probe).objects.filter(pk=probe.pk).update(kind="probe", repeats=1)
    factories.JudgeChunkFactory(run=whole, n_units=3)
    factories.JudgeChunkFactory(run=old, item_ids=[1, 2], n_units=None)
    factories.JudgeChunkFactory(run=probe, n_units=5)
    factories.JudgmentFactory(run=whole, item=study.items.first())

    with django_assert_num_queries(3):
        found = list(runs.add_counts(study.judge_runs.select_related("study").order_by("pk")))

    numbers = {run.pk: (n, asked) for run, n, asked in found}
    assert numbers == {run.pk: (p.judged, p.expected) for run in study.judge_runs.all() if (p := runs.progress(run))}
    assert numbers[whole.pk] == (1, 3 * whole.criteria.count() * 2)
    assert numbers[probe.pk] == (0, 5)


def test_judges_are_listed_with_their_runs():
    judge = factories.JudgeFactory(name="a")
    factories.JudgeRunFactory.create_batch(2, judge=judge)
    factories.JudgeFactory(name="b")

    assert [(found.name, found.n_runs, found.n_studies) for found in runs.judges()] == [("a", 2, 2), ("b", 0, 0)]


def test_runs_are_listed_with_their_counts(django_assert_num_queries):
    study = dialogue_study(2)
    older, newer = a_run(study), a_run(study)
    factories.JudgmentFactory(run=older, item=study.items.first())
    factories.JudgmentFactory(run=older, item=study.items.last(), value="", unscored_reason="refusal")
    factories.JudgeChunkFactory(run=older, finished_at=timezone.now())

    with django_assert_num_queries(1):
        listed = runs.list_runs(study.judge_runs.all())
        counts = [(run.pk, run.n_judged, run.n_unscored, run.n_parts_done, run.n_parts) for run in listed]
        assert str(listed[0]).endswith(study.name)

    assert counts == [(newer.pk, 0, 0, 0, 1), (older.pk, 2, 1, 1, 2)]


def test_the_latest_judgments_in_words(django_assert_num_queries):
    study = pair_study(1)
    run = a_run(study)
    factories.JudgmentFactory(run=run, item=study.items.get(), order="AB", explanation="It knows her.")
    factories.JudgmentFactory(
        run=run, item=study.items.get(), order="BA", value="", unscored_reason="off_scale", raw_reply="eleven"
    )

    with django_assert_num_queries(1):
        second, first = judgments.latest(run)

    assert (first.label, first.text, first.order) == ("Response 1", "It knows her.", "AB")
    assert (second.label, second.reason, second.text) == ("", "a verdict that is not on the scale", "eleven")


def test_a_model_on_this_machine_waits_while_another_is_at_work():
    first, second = (
        factories.JudgeRunFactory(study=dialogue_study(1), judge=factories.JudgeFactory(provider="local"))
        for _ in range(2)
    )
    worker = factories.WorkerFactory()
    factories.JudgeChunkFactory(run=first, worker=worker)
    factories.JudgeChunkFactory(run=second)
    assert not runs.progress(second).waits_its_turn

    Seat.objects.create(judge=first.judge, worker=worker, n=1)

    assert runs.progress(second).waits_its_turn
    assert not runs.progress(first).waits_its_turn, "it is the one at work"
