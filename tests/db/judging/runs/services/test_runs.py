from __future__ import annotations

import json
from dataclasses import replace

import pytest
from celery import current_app
from django.utils import timezone
from kombu.exceptions import OperationalError

from annotation.corpus.models import Dialogue
from core.audit.models import Act
from core.errors import InputError
from judging.runs.models.runs import JudgeRun
from judging.runs.services import batches, runs
from tests.support import factories
from tests.support.judging import dialogue_study, judged, pair_study, scripted
from tests.support.labelled import with_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch):
    """The messages that would have gone to the broker."""
    messages = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, countdown=None: messages.append((name, *args)))
    return messages


def test_a_run_is_its_parts_and_a_message_for_each(sent, django_capture_on_commit_callbacks, monkeypatch):
    monkeypatch.setattr(batches, "ITEMS_PER_PART", 2)
    alice, study = factories.ResearcherFactory(), dialogue_study(5)

    with django_capture_on_commit_callbacks(execute=True):
        run = runs.make(by=alice, plan=runs.plan(study=study, judge=scripted(), seed=7), queue=True)
        assert sent == [], "nothing is sent before it is committed"

    made = list(run.chunks.all())
    assert [len(part.item_ids) for part in made] == [2, 2, 1]
    assert [pk for part in made for pk in part.item_ids] == [item.pk for item in study.items.all()]
    assert sent == [("judging.judge_chunk", part.pk) for part in made]
    assert all(part.queued_at for part in made)
    assert (run.created_by, run.seed, len(run.input_hash)) == (alice, 7, 64)
    assert set(run.criteria.all()) == set(study.criteria.all())


def test_the_log_keeps_what_a_run_was_asked(django_capture_on_commit_callbacks):
    study, judge = dialogue_study(1), scripted()
    asked = {"criteria": ["task_completion"], "unit": "turn", "use_cache": False, "seed": 7, "repeats": 2}
    runs.make(by=None, plan=runs.plan(study=study, judge=judge, **asked), queue=False)
    kept = json.loads(Act.objects.get(verb="run.start").arguments)
    assert {name: kept[name] for name in ("unit", "use_cache", "in_bulk", "seed", "repeats")} == {
        "unit": "turn", "use_cache": False, "in_bulk": False, "seed": 7, "repeats": 2,
    }  # fmt: skip
    assert [one["name"] for one in kept["criteria"]] == [study.criteria.get(key="task_completion").name]
    assert kept["judge"]["name"] == judge.name


def test_chosen_criteria():
    run = judged(dialogue_study(1), scripted(), criteria=["task_completion"])

    assert [criterion.key for criterion in run.criteria.all()] == ["task_completion"]


def test_the_input_hash_knows_what_the_result_depends_on():
    study, judge = dialogue_study(2), scripted()

    def hashed(**options):
        return runs.plan(**{"study": study, "judge": judge, **options}).input_hash

    first = hashed()
    assert hashed(seed=5, repeats=3) == first, "seed and repeats have columns of their own"
    assert hashed(criteria=["personalization"]) != first
    assert hashed(judge=scripted(otherwise="2")) != first
    dialogue = study.items.first().dialogue
    dialogue.content_hash = "f" * 64
    dialogue.save()
    assert hashed() != first


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"repeats": 0}, "repeats"),
        ({"repeats": 101}, "repeats"),
        ({"seed": -1}, "seed"),
        ({"order_policy": "sideways"}, "order_policy"),
        ({"criteria": ["charm"]}, "criteria"),
        ({"criteria": []}, "criteria"),
    ],
)
def test_bad_input_makes_no_run(options, field):
    with pytest.raises(InputError) as raised:
        runs.make(by=None, plan=runs.plan(study=dialogue_study(1), judge=scripted(), **options), queue=True)

    assert raised.value.field == field
    assert not JudgeRun.objects.exists()


def test_a_judge_that_cannot_run_makes_no_run():
    with pytest.raises(InputError, match="the cable is out"):
        runs.make(
            by=None, plan=runs.plan(study=dialogue_study(1), judge=scripted(problem="the cable is out")), queue=True
        )
    assert not JudgeRun.objects.exists()


def test_a_study_without_items_or_criteria_makes_no_run():
    with pytest.raises(InputError, match="no items"):
        runs.make(by=None, plan=runs.plan(study=dialogue_study(0), judge=scripted()), queue=True)
    with pytest.raises(InputError, match="no criteria"):
        runs.make(by=None, plan=runs.plan(study=factories.StudyFactory(), judge=scripted()), queue=True)


def test_a_broker_that_is_away_does_not_undo_the_run(monkeypatch, caplog, django_capture_on_commit_callbacks):
    def away(*arguments, **options):
        raise OperationalError("connection refused")

    monkeypatch.setattr(current_app, "send_task", away)
    with django_capture_on_commit_callbacks(execute=True):
        run = runs.make(by=None, plan=runs.plan(study=dialogue_study(1), judge=scripted()), queue=True)

    assert run.chunks.get().queued_at
    assert "goes on by itself" in caplog.text


class TestStopAndResume:
    def test_a_running_run_stops_once(self):
        run = factories.JudgeRunFactory()

        assert runs.stop(by=None, run=run)
        assert not runs.stop(by=None, run=run)
        run.refresh_from_db()
        assert run.stopped_at

    def test_a_finished_run_does_not_stop(self):
        assert not runs.stop(by=None, run=factories.JudgeRunFactory(finished_at=timezone.now()))

    def test_what_is_left_of_a_stopped_run_goes_on(self, sent, django_capture_on_commit_callbacks):
        run = factories.JudgeRunFactory(study=dialogue_study(2), judge=scripted(), stopped_at=timezone.now())
        factories.JudgeChunkFactory(run=run, finished_at=timezone.now())
        left = factories.JudgeChunkFactory(run=run)

        with django_capture_on_commit_callbacks(execute=True):
            assert runs.resume(by=None, run=run) == 1

        run.refresh_from_db()
        assert run.stopped_at is None
        assert sent == [("judging.judge_chunk", left.pk)]

    def test_parts_that_ended_early_are_tried_again(self, sent, django_capture_on_commit_callbacks):
        study = dialogue_study(1)
        trouble = {study.items.get().external_id: {"error": "permanent"}}
        run = judged(study, scripted(trouble=trouble))
        assert run.finished_at
        assert run.chunks.get().error

        with django_capture_on_commit_callbacks(execute=True):
            assert runs.resume(by=None, run=run) == 1

        run.refresh_from_db()
        part = run.chunks.get()
        assert (run.finished_at, part.finished_at, part.error, part.attempts) == (None, None, "", 0)
        assert len(sent) == 1

    def test_nothing_left_is_nothing_to_resume(self):
        run = judged(pair_study(1), scripted())

        assert runs.resume(by=None, run=run) == 0
        run.refresh_from_db()
        assert run.finished_at

    def test_a_judge_that_lost_its_key_says_so_instead(self, monkeypatch):
        monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
        judge = factories.JudgeFactory(provider="anthropic", model="claude-test")
        run = factories.JudgeRunFactory(study=dialogue_study(1), judge=judge, stopped_at=timezone.now())

        with pytest.raises(InputError, match="no API key"):
            runs.resume(by=None, run=run)


def parted(study) -> list[batches.ItemBatch]:
    return list(batches.split_into_batches(study, {item.pk: 1 for item in study.items.order_by("position")}))


def test_a_part_has_25_items():
    assert [part.n_units for part in parted(with_items(60))] == [25, 25, 10]


@pytest.mark.parametrize(
    ("kind", "same"),
    [
        ("dialogue", {"turns": [{"role": "user", "content": "Hello."}]}),
        ("pair", {"question": "What?", "response_1": "This.", "response_2": "That."}),
    ],
)
def test_items_of_the_same_text_are_in_the_same_part(kind, same):
    study = with_items(60, kind=kind)
    alike = list(study.items.filter(position__in=(1, 21, 60)))
    for item in alike:
        type(item.subject).objects.filter(pk=item.subject.pk).update(**same)

    first, *_ = parted(study)

    assert {item.pk for item in alike} <= set(first.item_ids)
    assert sum(part.n_units for part in parted(study)) == 60


def test_however_many_they_are():
    study = with_items(60)
    Dialogue.objects.update(turns=[])

    assert [len(part.item_ids) for part in parted(study)] == [60]


def test_a_part_in_bulk_is_a_batch_of_a_thousand_requests():
    plan = runs.plan(study=dialogue_study(1), judge=scripted(), repeats=5)

    assert runs.count_items_per_batch(plan) == 25
    assert runs.count_items_per_batch(replace(plan, in_bulk=True)) == 100, "two criteria, five times"
