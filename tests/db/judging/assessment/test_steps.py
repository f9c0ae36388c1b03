from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.studies.steps import study_steps
from annotation.workbench.services import adjudications, exclusions
from core.accounts.models.users import User
from tests.support import factories
from tests.support.labelled import people_say, with_items

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


def step_states(study, *keys: str):
    return {step.key: (step.count, step.state, step.action) for step in study_steps(study) if step.key in keys}


def test_results_wait_for_labels_and_then_for_a_look(client):
    criterion = factories.CriterionFactory(study=with_items(2, slug="suits"), yes_no=True)
    assert step_states(criterion.study, "results", "report") == {
        "results": ("no labels yet", "todo", ""),
        "report": ("no labels yet", "todo", ""),
    }
    people_say(criterion, {"bob": ["yes", "no"], "dana": ["yes", "yes"]})
    assert step_states(criterion.study, "results")["results"] == ("not computed", "active", "Compute")
    client.force_login(factories.ResearcherFactory())
    client.get(reverse("agreement", args=["suits"]))
    assert step_states(criterion.study, "results", "report") == {
        "results": ("people", "done", ""),
        "report": ("", "active", ""),
    }
    factories.JudgeRunFactory(study=criterion.study, finished_at=timezone.now())
    assert step_states(criterion.study, "results")["results"] == ("judges not assessed", "active", "Assess")


def test_gold_counts_answers_that_differ_until_somebody_decides():
    criterion = factories.CriterionFactory(study=with_items(3, slug="suits"), yes_no=True)
    assert step_states(criterion.study, "gold") == {"gold": ("no labels yet", "todo", "")}
    people_say(criterion, {"bob": ["yes", "no", "no"], "dana": ["yes", "yes", "yes"]})
    assert step_states(criterion.study, "gold") == {"gold": ("2 disputed", "active", "Decide")}
    alice = factories.ResearcherFactory()
    for item in criterion.study.items.order_by("position")[1:]:
        adjudications.decide(by=alice, item=item, criterion=criterion, value="yes", reason="Read again.")
    assert step_states(criterion.study, "gold") == {"gold": ("none disputed", "done", "")}


def test_who_is_left_out_disputes_nothing():
    criterion = factories.CriterionFactory(study=with_items(2, slug="suits"), yes_no=True)
    people_say(criterion, {"bob": ["yes", "no"], "dana": ["yes", "yes"]})
    alice, bob = factories.ResearcherFactory(), User.objects.get(username="bob")
    criterion.study.annotators.add(bob)
    exclusions.exclude(by=alice, study=criterion.study, annotator=bob, reason="Clicked at random.")
    assert step_states(criterion.study, "gold") == {"gold": ("none disputed", "done", "")}


@pytest.mark.parametrize(
    ("page", "step", "labels"),
    [
        ("progress", "people", ["Progress", "Quality", "Queue", "Recruitment", "Questions"]),
        ("coming_in", "people", ["Progress", "Quality", "Queue", "Recruitment", "Questions"]),
        ("adjudication", "gold", ["Tiers", "Gold labels", "Adjudication"]),
        ("report", "report", []),
    ],
)
def test_a_page_marks_its_step_and_its_tab(client, page, step, labels):
    with_items(2, slug="suits")
    client.force_login(factories.ResearcherFactory())
    here = reverse(page, args=["suits"])
    answer = client.get(here)
    assert answer.status_code == 200
    current = next(one for one in answer.context["steps"] if one.current)
    assert (current.key, [tab.label for tab in current.tabs]) == (step, labels)
    assert [tab.href for tab in current.tabs if tab.current] == ([here] if labels else [])
    assert answer.content.decode().count('aria-current="page"') >= bool(labels)
