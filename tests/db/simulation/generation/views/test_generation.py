"""alice researches, bob annotates, charlie is not signed in."""

from __future__ import annotations

import pytest
from django.urls import reverse

from core.accounts.models.projects import choose_project
from simulation.agents.models import Agent
from simulation.experiments.models import PreferenceType
from simulation.generation.models import Conflict, Making
from tests.support import factories

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]

FORM = {"kind": "tasks", "agent": "callable:mine", "source": "test", "domains": "Books", "n": "2"}


@pytest.fixture
def _books(monkeypatch):
    monkeypatch.setenv("CONCORD_ASSISTANTS", "mine=tests.db.simulation.experiments.test_views:reply")
    PreferenceType.objects.create(source="test", domain="Books", name="Genre", possible_values=["history"])


def text_of(response) -> str:
    return " ".join(response.content.decode().split())


@pytest.fixture
def order():
    agent = Agent.objects.create(provider="scripted", model="maker", settings_hash="m")
    profile = factories.ProfileFactory()
    return Making.objects.create(project=choose_project(None), kind="check", agent=agent, profile=profile)


@pytest.fixture
def conflict(order):
    return Conflict.objects.create(
        making=order, profile=order.profile, label="Odd", explanation="Both at once.", fields=["A: b", "A: c"]
    )


def addresses(order, conflict) -> list[str]:
    return [
        reverse("making_list"),
        reverse("conflict_list"),
        reverse("making_detail", args=[order.pk]),
        reverse("making_again", args=[order.pk]),
        reverse("conflict_decide", args=[conflict.pk]),
    ]


def test_bob_the_annotator_may_not_look(client, order, conflict):
    client.force_login(factories.UserFactory(username="bob"))

    assert {client.get(address).status_code for address in addresses(order, conflict)} == {403}


def test_charlie_is_asked_to_sign_in(client, order, conflict):
    for address in addresses(order, conflict):
        assert client.get(address).url.startswith(reverse("login"))


@pytest.mark.usefixtures("_books")
def test_an_order_goes_to_the_workers(client, alice, sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        response = client.post(reverse("making_list"), FORM)

    order = Making.objects.get()
    assert response.url == reverse("making_detail", args=[order.pk])
    assert sent == [order.pk]
    assert (order.asked["domains"], order.asked["n"], order.created_by) == (["Books"], 2, alice)


@pytest.mark.usefixtures("_books")
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"agent": "mystery"}, "say where it speaks"),
        ({"domains": "Cooking"}, "No preference types of &#x27;Cooking&#x27; are known"),
        ({"kind": "check"}, "Name the profile"),
        ({"kind": "check", "profile": "nobody"}, "There is no profile &#x27;nobody&#x27;"),
        ({"demographics": "[]"}, "in braces"),
        ({"n": "99"}, "less than or equal to 20"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(client, alice, given, message):
    assert message in text_of(client.post(reverse("making_list"), FORM | given))
    assert not Making.objects.exists()


def test_a_failed_order_shows_field_and_reply_and_can_be_tried_again(client, alice, order):
    order.problem, order.finished_at = "Books: Genre: takes text (asked 3 times)", order.created_at
    order.replies = [
        {"step": "preferences Books", "attempt": 1, "field": "Books: Genre", "problem": "takes text", "text": "{}"}
    ]
    order.save()

    text = text_of(client.get(reverse("making_detail", args=[order.pk])))
    assert "Nothing was stored" in text
    assert "Books: Genre" in text
    client.post(reverse("making_again", args=[order.pk]))
    order.refresh_from_db()
    assert order.state == "running"


def test_what_was_asked_for_is_told_in_words(client, alice, order):
    order.kind, order.asked = "candidates", {"question": "Tea?", "levels": ["none", "full"], "n": 1, "key": "9ce593"}
    order.finished_at, order.made = order.created_at, [["candidate", 1], ["candidate", 2]]
    order.save()

    text = text_of(client.get(reverse("making_detail", args=[order.pk])))
    assert "none, full" in text
    assert "9ce593" not in text
    assert "2 candidates" in text
    assert "It found nothing" not in text


def test_the_list_says_what_waits(client, alice, order, conflict):
    text = text_of(client.get(reverse("making_list")))

    assert "No worker is running" in text
    assert "Conflicts to review (1)" in text


def test_a_decision_is_kept_and_shown(client, alice, conflict):
    text = text_of(
        client.post(reverse("conflict_decide", args=[conflict.pk]), {"decision": "none", "note": "Fine."}, follow=True)
    )

    assert "alice on" in text
    assert "it is none (Fine.)" in text
    assert "0 wait for a decision" in text


def test_a_decision_that_is_none_is_refused(client, alice, conflict):
    client.post(reverse("conflict_decide", args=[conflict.pk]), {"decision": "maybe"})

    assert not conflict.reviews.exists()


def test_no_conflicts_yet(client, alice):
    assert "Conflicts will be here" in text_of(client.get(reverse("conflict_list")))
