from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.studies.steps import study_steps
from tests import factories
from tests.labelled import people_say, with_items

pytestmark = pytest.mark.django_db


def the_step(study):
    return next(step for step in study_steps(study) if step.key == "judges")


def test_before_any_judge_there_is_one_thing_to_do():
    step = the_step(factories.StudyFactory(slug="pilot"))

    assert (step.count, step.state, step.action) == ("0", "todo", "Run")
    assert step.action_href == "/studies/pilot/judges/#new"


def test_judges_are_counted_once_and_runs_at_work_are_said():
    study, judge = factories.StudyFactory(), factories.JudgeFactory()
    factories.JudgeRunFactory(study=study, judge=judge, finished_at=timezone.now())
    factories.JudgeRunFactory(study=study, judge=judge, stopped_at=timezone.now())
    assert (the_step(study).count, the_step(study).state) == ("1", "done")

    factories.JudgeRunFactory(study=study)
    assert (the_step(study).count, the_step(study).state) == ("2 (1 running)", "running")


def result_states(study):
    return {step.key: (step.count, step.state) for step in study_steps(study) if step.key in ("agreement", "tiers")}


def test_agreement_waits_for_labels_and_then_for_a_look(client):
    criterion = factories.CriterionFactory(study=with_items(2, slug="suits"), yes_no=True)
    assert result_states(criterion.study) == {"agreement": ("no labels yet", "todo"), "tiers": ("", "todo")}
    people_say(criterion, {"bob": ["yes", "no"], "dana": ["yes", "yes"]})
    assert result_states(criterion.study) == {"agreement": ("", "active"), "tiers": ("", "done")}
    client.force_login(factories.ResearcherFactory())
    client.get(reverse("agreement", args=["suits"]))
    assert result_states(criterion.study)["agreement"] == ("", "done")
