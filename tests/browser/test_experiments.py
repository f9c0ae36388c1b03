"""Alice watches an experiment grow in a real Chromium, and reads what it found, at her desk and on her phone."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from core.accounts.models.projects import choose_project
from simulation.experiments.models import Experiment
from simulation.generation.models import Conflict, Making
from tests.browser.faults import faults_on_screens
from tests.db.simulation.test_known_tables import judged
from tests.support.factories import AgentFactory, ProfileFactory, ResearcherFactory, TurnFactory
from tests.support.simulation import begun, finished, people

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.long]
PATIENCE = 30_000  # milliseconds


@pytest.fixture
def alice(live_server, page: Page, transactional_db: None) -> Page:
    """Alice's browser, signed in."""
    client = Client()
    client.force_login(ResearcherFactory(username="alice"))
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
    return page


def test_a_dialogue_and_its_experiment_grow_while_one_looks(alice: Page, live_server) -> None:
    people(1, 1)
    experiment = begun()
    dialogue = experiment.dialogues.get()
    TurnFactory(simulated=dialogue, text="A table for two, please.")
    alice.goto(live_server.url + reverse("simulated_detail", args=[experiment.pk, 1]))
    expect(alice.get_by_text("A table for two, please.").locator("visible=true")).to_be_visible()

    TurnFactory(simulated=dialogue, text="At which hour?")
    expect(alice.get_by_text("At which hour?").locator("visible=true")).to_be_visible(timeout=PATIENCE)

    finish(experiment)
    expect(alice.get_by_text("the user said that the task is done")).to_be_visible(timeout=PATIENCE)
    expect(alice.get_by_role("heading", name="Turn by turn")).to_be_visible()


def finish(experiment: Experiment) -> None:
    finished(experiment)
    experiment.refresh_from_db()


@pytest.mark.long
def test_no_page_with_something_on_it_is_at_fault(alice: Page, live_server) -> None:
    people(2, 2)
    experiment = finished(begun(conditions=["base", "base+I-retrieved"]))
    judged(experiment, **{key: [1, 2, 3, 4] * 2 for key in KEYS}, task_completion=["yes", "no"] * 4)
    running = begun(name="Still going")
    order = ordered()
    addresses = [
        reverse("experiment_list"),
        reverse("experiment_detail", args=[experiment.pk]),
        reverse("experiment_detail", args=[running.pk]),
        reverse("simulated_detail", args=[experiment.pk, 2]),
        reverse("experiment_results", args=[experiment.pk]),
        reverse("material_measures"),
        reverse("making_list"),
        reverse("making_detail", args=[order.pk]),
        reverse("conflict_list"),
    ]
    wrong = {}
    for address in addresses:
        answer = alice.goto(live_server.url + address)
        assert answer
        assert answer.status == 200, address
        if found := faults_on_screens(alice):
            wrong[address] = found
    assert wrong == {}


@pytest.mark.parametrize(("width", "stand_beside"), [(1280, True), (390, False)])
def test_names_of_fields_stand_beside_them_where_there_is_room(alice: Page, live_server, width, stand_beside) -> None:
    alice.set_viewport_size({"width": width, "height": 900})
    alice.goto(live_server.url + reverse("experiment_create"))
    for name in ("Users", "Seed"):
        label = alice.get_by_text(name, exact=True).bounding_box()
        control = alice.get_by_label(name, exact=True).bounding_box()
        assert label
        assert control
        assert (control["x"] > label["x"] + 300) == stand_beside, name
        assert (abs(control["y"] - label["y"]) < 20) == stand_beside, name


def ordered() -> Making:
    """An order that failed, and one that found a conflict."""
    agent, profile = AgentFactory(), ProfileFactory()
    found = Making.objects.create(
        project=choose_project(None), kind="check", agent=agent, profile=profile, finished_at=timezone.now()
    )
    Conflict.objects.create(
        making=found, profile=profile, label="Odd", explanation="They cannot both be.", fields=["A: b", "A: c"]
    )
    reply = {"step": "tasks", "attempt": 1, "text": "{}", "field": "tasks", "problem": "is missing"}
    return Making.objects.create(
        project=choose_project(None),
        kind="tasks",
        agent=agent,
        replies=[reply],
        problem="tasks: is missing",
        finished_at=timezone.now(),
    )


KEYS = ("personalization", "naturalness_assistant", "coherence_assistant", "naturalness_user", "coherence_user")
