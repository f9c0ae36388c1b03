"""Where researchers begin: what runs, what waits for them, what changed, and their studies."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.studies.models.labels import Draft
from annotation.studies.models.messages import ItemMessage
from annotation.studies.services import studies
from config.pages.dashboard import build_dashboard
from config.pages.phrases import PHRASES, describe_verb
from core.accounts.models.users import User
from core.audit.log import VERBS
from judging.assessment.models.assessment import CalibrationRun
from tests.support import factories
from tests.support.labelled import people_say, with_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice() -> User:
    return factories.ResearcherFactory(username="alice")


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def text_of(response) -> str:
    return re.sub(r"\s+", " ", unescape(response.content.decode()))


def rated(name: str = "Pilot", **given):
    """A study of two items that two people rate differently on one."""
    study = with_items(2, name=name, slug=name.lower(), **given)
    criterion = factories.CriterionFactory(study=study, yes_no=True)
    people_say(criterion, {"bob": ["yes", "no"], "dana": ["yes", "yes"]})
    return study


def waiting_of(user: User) -> list[tuple[str, str, str]]:
    return [(one.text, one.where, one.action) for one in build_dashboard(user)["waiting"]]


def root() -> User:
    found = User.objects.filter(username="root").first()
    return found or factories.UserFactory(username="root", is_superuser=True)


def test_annotators_begin_at_their_work(client):
    client.force_login(factories.UserFactory(username="bob"))
    assert client.get("/").url == "/work/"


def test_an_empty_site_says_where_to_begin(alice: User) -> None:
    page = text_of(client_of(alice).get("/"))
    assert "This site is empty" in page
    assert "/material/import/" in page


def test_data_without_a_study_lead_to_a_study(alice: User) -> None:
    factories.DialogueFactory()
    page = text_of(client_of(alice).get("/"))
    assert "No study yet" in page
    assert "/studies/new/" in page


def test_what_waits_in_a_study(client) -> None:
    study = rated()
    item, (bob, dana) = study.items.first(), User.objects.filter(username__in=["bob", "dana"]).order_by("username")
    slot = study.assignments.filter(annotator=bob).first()
    for kind, annotator, text in (("message", bob, "Which?"), ("flag", dana, "")):
        ItemMessage.objects.create(study=study, item=item, annotator=annotator, author=annotator, kind=kind, text=text)
    Draft.objects.create(
        assignment=slot, annotator=bob, state=Draft.State.LATE, late_reason="closed", saved_at=timezone.now()
    )
    run = factories.JudgeRunFactory(study=study, finished_at=timezone.now())
    assert waiting_of(root()) == [
        ("1 question of annotators", "Pilot", "Answer"),
        ("1 flagged item", "Pilot", "Look"),
        ("1 late answer", "Pilot", "Decide"),
        ("1 disputed answer", "Pilot", "Decide"),
        ("1 finished run not compared with people", "Pilot", "Assess"),
    ]
    CalibrationRun.objects.create(
        study=study, judge=run.judge, parameters={}, input_hash="0" * 64, code_version="test", result={}
    )
    assert "1 finished run not compared with people" not in [text for text, *_ in waiting_of(root())]


def test_runs_with_items_unscored_and_runs_that_stopped_themselves() -> None:
    run = factories.JudgeRunFactory(finished_at=timezone.now())
    factories.JudgmentFactory(run=run, value="", unscored_reason="refusal")
    factories.JudgmentFactory(run=run)
    stopped = factories.JudgeRunFactory(stopped_at=timezone.now(), stop_reason="The budget is spent.")
    assert waiting_of(root()) == [("Run stopped", str(stopped), "See why"), ("1 item unscored", str(run), "Ask again")]


def test_what_is_under_way_shows_its_progress() -> None:
    study = rated(state="open", overlap=3)
    for item in study.items.all():
        factories.AssignmentFactory(item=item)
    run = factories.JudgeRunFactory(study=study)
    factories.JudgeChunkFactory(run=run, n_units=2)
    factories.JudgmentFactory(run=run, item=study.items.first())
    found = build_dashboard(root())
    assert [(one.name, one.done, one.total, one.unit) for one in found["running"]] == [
        ("Pilot", 4, 6, "ratings"),
        (str(run), 1, 2, "judgments"),
    ]
    assert found["needs_worker"]
    assert (found["ratings"], found["judgments"]) == (4, 1)


def test_changes_of_a_day_are_counted_together(alice: User) -> None:
    for name in ("First", "Second"):
        studies.create(by=alice, name=name, kind="dialogue", criteria=["task_completion"])
    study = studies.create(by=alice, name="Third", kind="dialogue", criteria=["task_completion"])
    for clustering in ("none", "none"):
        studies.name_clustering(by=alice, study=with_items_of(study), clustering=clustering)
    changes = build_dashboard(alice)["changes"]
    assert [(one.what, one.n) for one in changes] == [
        ("Clustered study", 2),
        ("Created study", 1),
        ("Created study", 1),
        ("Created study", 1),
    ]
    client = client_of(alice)
    client.post("/logout/")
    page = client_of(alice).get("/")
    assert "Clustered study" in text_of(page)
    assert [one.what for one in page.context["changes"]] == [one.what for one in changes], "not who signed in and out"


def test_changes_name_the_study_and_link_it(alice: User) -> None:
    studies.create(by=alice, name="First of all", kind="dialogue", criteria=["task_completion"])
    page = text_of(client_of(alice).get("/"))
    row = page[page.index("Created study") :].split("</tr>")[0]
    assert '<a href="/studies/first-of-all/">First of all</a>' in row
    assert "first-of-all" not in re.sub("<[^>]*>", "", row)


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        ("study.add_annotators", "Added annotators"),
        ("sample.draw", "Drew sample"),
        ("judge.define", "Defined judge"),
        ("material.import", "Imported datasets"),
        ("study.hold_out", "Held items out"),
        ("rules.set", "Set rules"),
        ("project.leave", "Left project"),
        ("retention.delete", "Deleted what was past its time"),
        ("export.labels", "Exported labels"),
        ("second_factor.reset", "Reset second factor"),
    ],
)
def test_verbs_of_the_log_are_said_in_words(verb: str, said: str) -> None:
    assert describe_verb(verb) == said


def test_every_verb_has_its_words() -> None:
    assert set(PHRASES) >= VERBS


def with_items_of(study):
    factories.ItemFactory(study=study)
    return study


def test_only_what_is_of_their_projects(alice: User) -> None:
    rated("Elsewhere", project=factories.ProjectFactory())
    found = build_dashboard(alice)
    assert (found["waiting"], found["running"], found["lines"]) == ([], [], [])


@pytest.mark.any_database
def test_the_number_of_queries_does_not_grow() -> None:
    user = root()
    rated("First")
    factories.JudgeRunFactory(study=rated("Second"), finished_at=timezone.now())
    client = client_of(user)
    client.get("/")
    with CaptureQueriesContext(connection) as few:
        client.get("/")
    for name in ("Third", "Fourth", "Fifth"):
        run = factories.JudgeRunFactory(study=rated(name, state="open"), finished_at=timezone.now())
        factories.JudgmentFactory(run=run, value="", unscored_reason="refusal")
    with CaptureQueriesContext(connection) as many:
        page = client.get("/")
    assert text_of(page).count("Steps of") == 5
    assert len(many) <= len(few) + 1  # runs with unscored items are named by one statement more
    assert len(many) <= 40
