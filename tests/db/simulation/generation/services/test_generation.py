from __future__ import annotations

import json

import pytest

from annotation.corpus.models import Profile, Scenario, Task
from core.errors import InputError
from judging.judges.services import keys
from simulation.agents import services as agents_services
from simulation.agents.parsing.generated import UnfitError, mask as read_mask
from simulation.experiments.models import PreferenceType
from simulation.generation.models import Conflict, Making
from simulation.generation.services import generation, worker_sessions
from tests.support import factories
from tests.support.model_server import KEY, MODEL, Answer, running

pytestmark = pytest.mark.django_db

CUISINE = {"Cuisine": ["Thai"]}
GENRE = {"Genre": "history"}
SUMMARY = {"summary": "She asks for Thai food again and again, and never after eight."}
PERSON = {"age": "35-44", "country": "Norway"}


@pytest.fixture(autouse=True)
def _schema():
    for domain, name, several, values in (
        ("Restaurants", "Cuisine", True, ["Thai", "Greek"]),
        ("Books", "Genre", False, ["history", "poetry"]),
    ):
        PreferenceType.objects.create(
            source="test", domain=domain, name=name, has_multiple_values=several, possible_values=values
        )


@pytest.fixture
def model(monkeypatch):
    with running() as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        yield server


def made(model, kind, *replies, **options) -> Making:
    """An order worked through, with these replies in order."""
    model.answers.extend(Answer(text=one if isinstance(one, str) else json.dumps(one)) for one in replies)
    agent = agents_services.build_agent(side="assistant", provider="openai_compatible", model=MODEL)
    order = generation.order(by=None, kind=kind, agent=agent, source="test", queue=False, **options)
    worker_sessions.make(order.pk)
    order.refresh_from_db()
    return order


def test_the_agent_shows_the_key_of_the_project_that_asks(model, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    project = factories.ProjectFactory()
    keys.keep(by=None, project=project, address=model.url, key=KEY)
    told = {"domains": ["Restaurants", "Books"], "demographics": PERSON, "project": project}
    order = made(model, "profile", CUISINE, SUMMARY, GENRE, SUMMARY, **told)

    assert (order.project, order.state) == (project, "done")
    assert {asked.headers["authorization"] for asked in model.asked} == {f"Bearer {KEY}"}


class TestProfile:
    def test_a_whole_profile_from_demographics(self, model):
        order = made(
            model, "profile", CUISINE, SUMMARY, GENRE, SUMMARY, domains=["Restaurants", "Books"], demographics=PERSON
        )

        assert order.state == "done"
        profile = Profile.objects.get()
        assert (profile.source, profile.demographics) == ("made", PERSON)
        assert profile.preferences == {"Restaurants": CUISINE, "Books": GENRE}
        assert profile.interactions["Books"] == SUMMARY["summary"]
        assert profile.interests == {"Restaurants": 1, "Books": 1}
        assert order.made == [["profile", profile.pk]]

    def test_what_does_not_fit_is_asked_for_again_with_the_field(self, model):
        order = made(
            model, "profile", {"Cuisine": ["Martian"]}, CUISINE, SUMMARY, domains=["Restaurants"], demographics=PERSON
        )

        assert order.state == "done"
        assert [(one["field"], one["attempt"]) for one in order.replies] == [
            ("Restaurants: Cuisine", 1),
            ("", 2),
            ("", 1),
        ]
        said = model.asked[1].body["messages"]
        assert [message["role"] for message in said] == ["user", "assistant", "user"]
        assert "Restaurants: Cuisine: 'Martian' is not one of Thai; Greek" in said[-1]["content"]

    def test_after_two_more_tries_nothing_is_stored(self, model):
        bad = {"Cuisine": ["Martian"]}

        order = made(model, "profile", bad, bad, bad, CUISINE, domains=["Restaurants"], demographics=PERSON)

        assert order.state == "failed"
        assert order.problem == "Restaurants: Cuisine: 'Martian' is not one of Thai; Greek (asked 3 times)"
        assert len(model.asked) == 3
        assert len(order.replies) == 3, "every reply is kept, with the field"
        assert not Profile.objects.exists()

    def test_tried_again_it_goes_on_after_what_fits(self, model, django_capture_on_commit_callbacks, sent):
        order = made(model, "profile", CUISINE, "no", "no", "no", domains=["Restaurants"], demographics=PERSON)
        assert order.parts == {"preferences Restaurants": CUISINE}

        with django_capture_on_commit_callbacks(execute=True):
            generation.retry(by=None, making=order)
        assert sent == [order.pk]
        model.answers.append(Answer(text=json.dumps(SUMMARY)))
        worker_sessions.make(order.pk)

        order.refresh_from_db()
        assert order.state == "done"
        assert len(model.asked) == 5, "the preferences were not asked for again"

    def test_made_twice_it_is_made_once(self, model):
        order = made(model, "profile", CUISINE, SUMMARY, domains=["Restaurants"], demographics=PERSON)

        worker_sessions.make(order.pk)

        assert len(model.asked) == 2
        assert Profile.objects.count() == 1

    def test_an_error_of_the_other_side_is_kept(self, model):
        model.key = "another"

        order = made(model, "profile", domains=["Restaurants"], demographics=PERSON)

        assert order.problem.startswith("401")


def test_preferences_and_summaries_for_a_profile_add_what_it_lacks(model):
    profile = factories.ProfileFactory(preferences={"Restaurants": CUISINE}, interactions={}, demographics=PERSON)

    made(model, "preferences", GENRE, profile=profile, domains=["Books"])
    profile.refresh_from_db()
    made(model, "interactions", SUMMARY, profile=profile, domains=["Books"])

    profile.refresh_from_db()
    assert profile.preferences == {"Restaurants": CUISINE, "Books": GENRE}
    assert profile.interactions == {"Books": SUMMARY["summary"]}
    assert "Thai" in model.asked[0].prompt, "new preferences are to go with those that are there"


class TestMask:
    """Which domains a person cares for."""

    def test_it_is_made_from_demographics_for_every_domain(self, model):
        profile = factories.ProfileFactory(demographics=PERSON, interests={}, preferences={"Books": GENRE})

        made(model, "mask", {"Books": 0, "Restaurants": 1}, profile=profile)

        profile.refresh_from_db()
        assert profile.interests == {"Books": 0, "Restaurants": 1}
        asked = model.asked[0].prompt
        assert all(part in asked for part in ("35-44", "Norway", "- Books", "- Restaurants"))
        assert "history" not in asked, "the paper gives it demographics alone"

    def test_what_is_there_is_not_replaced(self, model):
        profile = factories.ProfileFactory(interests={"Books": 1})

        made(model, "mask", {"Restaurants": 1}, profile=profile)

        profile.refresh_from_db()
        assert profile.interests == {"Books": 1, "Restaurants": 1}
        assert made(model, "mask", profile=profile).problem.endswith("it is not replaced.")

    def test_a_profile_without_named_domains_gets_those_of_its_mask(self, model):
        order = made(model, "profile", {"Books": 1, "Restaurants": 0}, GENRE, SUMMARY, demographics=PERSON)

        profile = Profile.objects.get()
        assert order.state == "done"
        assert profile.interests == {"Books": 1, "Restaurants": 0}
        assert profile.preferences == {"Books": GENRE}
        assert len(model.asked) == 3

    @pytest.mark.parametrize(
        ("reply", "field"),
        [
            ({"Books": 1}, "Restaurants"),
            ({"Books": 1, "Restaurants": "yes"}, "Restaurants"),
            ({"Books": 1, "Restaurants": 0, "Cooking": 1}, "Cooking"),
            ({"Books": 0, "Restaurants": 0}, "mask"),
        ],
    )
    def test_what_does_not_fit_is_named(self, reply, field):
        with pytest.raises(UnfitError) as error:
            read_mask(json.dumps(reply), ["Books", "Restaurants"])
        assert error.value.field == field


class TestTasksOfSeveralDomains:
    """Without named domains the model sees the types of all domains and chooses."""

    one = {"domains": ["Books", "Restaurants"], "description": "d", "intent": "i", "goal": "g"}

    def test_each_has_its_domains(self, model):
        made(model, "tasks", {"tasks": [{**self.one, "preference_types": ["Genre", "Cuisine"]}]})

        task = Task.objects.get()
        assert (task.domains, task.is_multi_domain) == (["Books", "Restaurants"], True)
        asked = model.asked[0].prompt
        assert "Books:\n- Genre" in asked
        assert "Restaurants:\n- Cuisine" in asked

    @pytest.mark.parametrize(
        ("changed", "field"),
        [
            ({"preference_types": ["Genre"]}, "tasks.0.preference_types"),
            ({"domains": ["Books"]}, "tasks.0.domains"),
            ({"domains": ["Books", "Cooking"]}, "tasks.0.domains"),
        ],
    )
    def test_what_does_not_fit_is_named(self, model, changed, field):
        reply = {"tasks": [{**self.one, "preference_types": ["Genre", "Cuisine"], **changed}]}

        assert made(model, "tasks", reply, reply, reply).replies[0]["field"] == field


def test_a_text_of_ones_own_is_asked_and_kept(model):
    profile = factories.ProfileFactory(demographics=PERSON, interests={})
    own = {"mask": "Who? $demographics Which of $domains?"}

    order = made(model, "mask", {"Books": 1, "Restaurants": 1}, profile=profile, replaced=own)

    assert model.asked[0].prompt.startswith("Who? - age: 35-44")
    assert order.asked["prompts"] == own
    with pytest.raises(InputError, match=r"mask: \$\{mood\} is not a placeholder for this prompt; there are"):
        made(model, "mask", profile=profile, replaced={"mask": "$mood"})


def test_tasks_of_several_domains(model):
    one = {"description": "d", "intent": "i", "goal": "g", "preference_types": ["Genre"]}

    made(model, "tasks", {"tasks": [one, one]}, domains=["Restaurants", "Books"], n=2)

    assert Task.objects.filter(source="made", is_multi_domain=True).count() == 2
    assert set(Task.objects.values_list("goal", flat=True)) == {"g"}


def test_a_situation_is_a_scenario_of_its_own(model):
    profile = factories.ProfileFactory(
        demographics=PERSON, preferences={"Restaurants": {"Cuisine": ["Thai"]}, "Books": GENRE}
    )
    task = factories.TaskFactory(description="The user wants a table.", intent="Book me one.", goal="It is booked.")
    names = ("Location", "Device", "Time of Day", "Day of the Week", "Environment")
    where = {name: {"value": f"at {name}", "justification": f"It suits {name}."} for name in names}

    order = made(model, "situation", {**where, "Device": "phone"}, where, profile=profile, task=task)

    scenario = Scenario.objects.get()
    assert (scenario.profile, scenario.task) == (profile, task)
    assert scenario.variables == {name: f"at {name}" for name in names}
    assert scenario.provenance == {
        "making": order.pk,
        "agent": str(order.agent),
        "prompt": order.replies[-1]["prompt"],
        "seed": order.seed,
        "justifications": {name: f"It suits {name}." for name in names},
    }
    assert order.replies[0]["field"] == "Device", "one that is not justified is asked for again"
    asked = model.asked[0].prompt
    assert all(part in asked for part in ("The user wants a table.", "35-44", "Thai"))
    assert not any(part in asked for part in ("Book me one.", "It is booked.", "history")), "PersonaLens gives no more"


class TestCheck:
    @pytest.fixture
    def conflict(self, model) -> Conflict:
        profile = factories.ProfileFactory(demographics=PERSON, preferences={"Restaurants": CUISINE, "Books": GENRE})
        found = [
            {"label": "Odd", "explanation": "They cannot both be.", "fields": ["Restaurants: Cuisine", "Books: Genre"]}
        ]
        made(model, "check", {"conflicts": found}, profile=profile)
        return Conflict.objects.get()

    def test_a_conflict_waits_for_people(self, conflict):
        assert conflict.is_between_domains
        assert not conflict.reviews.exists()

    def test_decisions_are_kept_and_the_newest_counts(self, conflict):
        alice = factories.ResearcherFactory(username="alice")

        generation.decide(by=alice, conflict=conflict, decision="conflict")
        generation.decide(by=alice, conflict=conflict, decision="none", note="Why not?")

        assert [review.decision for review in conflict.reviews.all()] == ["none", "conflict"]
        assert conflict.reviews.first().note == "Why not?"

    def test_an_unknown_decision(self, conflict):
        with pytest.raises(InputError, match="'maybe' is not one of conflict, none, unsure"):
            generation.decide(by=None, conflict=conflict, decision="maybe")

    def test_none_found(self, model):
        order = made(model, "check", {"conflicts": []}, profile=factories.ProfileFactory())

        assert (order.state, order.made) == ("done", [])


@pytest.mark.parametrize(
    ("kind", "options", "field"),
    [
        ("poem", {}, "kind"),
        ("profile", {"domains": ["Books"]}, "demographics"),
        ("mask", {}, "profile"),
        ("preferences", {}, "domains"),
        ("profile", {"demographics": PERSON, "domains": ["Cooking"]}, "domains"),
        ("preferences", {"domains": ["Books"]}, "profile"),
        ("situation", {}, "profile"),
        ("check", {}, "profile"),
        ("tasks", {"domains": ["Books"], "n": 21}, "n"),
    ],
)
def test_what_an_order_lacks_is_said_at_its_field(kind, options, field):
    agent = agents_services.build_agent(side="assistant", provider="scripted")

    with pytest.raises(InputError) as error:
        generation.order(by=None, kind=kind, agent=agent, source="test", queue=False, **options)
    assert error.value.field == field
    assert not Making.objects.exists()


def test_what_a_profile_has_is_not_replaced():
    profile = factories.ProfileFactory(preferences={"Books": GENRE})
    agent = agents_services.build_agent(side="assistant", provider="scripted")

    with pytest.raises(InputError, match="has preferences for Books already"):
        generation.order(
            by=None, kind="preferences", agent=agent, source="test", domains=["Books"], profile=profile, queue=False
        )
