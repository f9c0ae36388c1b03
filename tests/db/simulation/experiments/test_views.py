"""alice researches, bob annotates, charlie is not signed in."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from annotation.corpus.models import PROVENANCE, Scenario
from annotation.studies.models.studies import Study
from core.jobs import waiting
from simulation.experiments.models import Experiment
from simulation.results.services import measures
from tests.support import factories
from tests.support.factories import CriterionFactory, ProfileFactory
from tests.support.labelled import people_say, with_items
from tests.support.simulation import begun, people, played, scripted

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sent")]

FORM = {
    "name": "First",
    "user_provider": "local",
    "user_model": "",
    "user_parameters": "",
    "strategy": "vanilla",
    "assistants": "local",
    "conditions": ["base", "base+I"],
    "users": "all",
    "tasks": "all",
    "single_exchanges": "4",
    "multi_exchanges": "4",
    "passages": "3",
    "seed": "0",
    "budget_usd": "",
}
SCRIPTED = {"user_provider": "callable", "user_model": "mine", "assistants": "callable:mine"}


def reply(messages, system=""):
    """A person's own system, as CONCORD_ASSISTANTS names it."""
    return f"{len(messages)} things were said."


@pytest.fixture
def own(monkeypatch):
    monkeypatch.setenv("CONCORD_ASSISTANTS", "mine=tests.db.simulation.experiments.test_views:reply")


def text_of(response) -> str:
    return " ".join(response.content.decode().split())


class TestAccess:
    def addresses(self) -> list[str]:
        one = factories.SimulatedDialogueFactory()
        names = ["detail", "progress", "stop", "resume", "people", "judge", "results"]
        return [
            reverse("experiment_list"),
            reverse("experiment_create"),
            reverse("material_measures"),
            *(reverse(f"experiment_{name}", args=[one.experiment.pk]) for name in names),
            reverse("simulated_detail", args=[one.experiment.pk, one.index]),
            reverse("simulated_turns", args=[one.experiment.pk, one.index]),
            reverse("results_download", args=[one.experiment.pk, "csv"]),
            reverse("measures_download", args=["csv"]),
        ]

    def test_bob_the_annotator_may_not_look(self, client):
        client.force_login(factories.UserFactory(username="bob"))

        assert {client.get(address).status_code for address in self.addresses()} == {403}

    def test_charlie_is_asked_to_sign_in(self, client):
        for address in self.addresses():
            assert client.get(address).url.startswith(reverse("login"))

    @pytest.mark.parametrize("name", ["stop", "resume", "people", "judge"])
    def test_nothing_changes_by_following_a_link(self, client, alice, name):
        experiment = factories.ExperimentFactory()

        assert client.get(reverse(f"experiment_{name}", args=[experiment.pk])).status_code == 405


class TestList:
    def test_an_empty_list_says_what_will_be_here(self, client, alice):
        assert "Experiments will be listed here" in text_of(client.get(reverse("experiment_list")))

    def test_experiments_with_their_counts(self, client, alice):
        people(2, 1)
        experiment = played()

        text = text_of(client.get(reverse("experiment_list")))

        assert reverse("experiment_detail", args=[experiment.pk]) in text
        assert "scripted assistant" in text
        assert "No worker" not in text

    def test_one_that_waits_without_a_worker_is_pointed_out(self, client, alice):
        factories.ExperimentFactory()

        assert "No worker is running" in text_of(client.get(reverse("experiment_list")))

    def test_as_many_queries_for_many(self, client, alice, django_assert_max_num_queries):
        factories.ExperimentFactory.create_batch(5)

        with django_assert_max_num_queries(7):
            client.get(reverse("experiment_list"))


class TestCreate:
    def test_the_form_has_what_is_published(self, client, alice):
        text = text_of(client.get(reverse("experiment_create")))

        assert 'value="20"' in text
        assert 'value="30"' in text

    def test_an_estimate_starts_nothing(self, client, alice, own):
        people(2, 2)

        text = text_of(client.post(reverse("experiment_create"), FORM | SCRIPTED | {"estimate": "1"}))

        assert "What it would take" in text
        assert '<dd dir="auto"> 8 </dd>' in text
        assert not Experiment.objects.exists()

    def test_it_is_made_and_sent_to_the_workers(self, client, alice, own, sent, django_capture_on_commit_callbacks):
        people(2, 2)

        with django_capture_on_commit_callbacks(execute=True):
            response = client.post(reverse("experiment_create"), FORM | SCRIPTED)

        experiment = Experiment.objects.get()
        assert response.url == reverse("experiment_detail", args=[experiment.pk])
        assert sent == [experiment.pk]
        assert experiment.dialogues.count() == 8
        assert experiment.created_by == alice

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"users": "user9"}, "&#x27;user9&#x27; is not there"),
            ({"tasks": "nothing"}, "&#x27;nothing&#x27; is not there"),
            ({"assistants": "mystery"}, "say where it speaks"),
            ({"assistants": "callable:other"}, "names no &#x27;other&#x27;"),
            ({"user_model": "other"}, "names no &#x27;other&#x27;"),
            ({"assistants": "callable:mine\ncallable:mine"}, "An assistant is named twice"),
            ({"user_parameters": "[]"}, "in braces"),
            ({"user_parameters": '{"colour": 1}'}, "colour"),
            ({"budget_usd": "-1"}, "A budget is above 0"),
            ({"budget_usd": "5"}, "The price of mine is not known"),
            ({"single_exchanges": "0"}, "greater than or equal to 1"),
            ({"conditions": []}, "This field is required"),
        ],
    )
    def test_what_is_wrong_is_said_at_its_field(self, client, alice, own, given, message):
        people(2, 2)

        text = text_of(client.post(reverse("experiment_create"), FORM | SCRIPTED | given))

        assert message in text
        assert not Experiment.objects.exists()

    def test_a_masked_domain_is_said(self, client, alice, own):
        people(2, 2, Books=0)

        text = text_of(client.post(reverse("experiment_create"), FORM | SCRIPTED | {"tasks": "task1"}))

        assert "task1 is about Books, which none of these users cares for" in text


class TestDetail:
    def test_a_finished_one_says_how_dialogues_ended_and_what_comes_next(self, client, alice):
        people(2, 1)
        experiment = played(user=scripted("user", by_dialogue={"user1": ["How can I help you?"]}))

        text = text_of(client.get(reverse("experiment_detail", args=[experiment.pk])))

        assert "the user said that the task is done" in text
        assert "the user spoke as the assistant" in text
        assert "Let a judge rate all" in text
        assert "hx-get" not in text, "what is over does not move"

    def test_dialogues_of_one_ending(self, client, alice):
        people(2, 1)
        experiment = played(user=scripted("user", by_dialogue={"user1": ["How can I help you?"]}))

        text = text_of(client.get(reverse("experiment_detail", args=[experiment.pk]) + "?ending=user_other_side"))

        assert reverse("simulated_detail", args=[experiment.pk, 2]) in text
        assert reverse("simulated_detail", args=[experiment.pk, 1]) not in text

    def test_a_running_one_moves(self, client, alice):
        people(1, 1)
        experiment = begun()
        factories.TurnFactory(simulated=experiment.dialogues.get())

        detail = text_of(client.get(reverse("experiment_detail", args=[experiment.pk])))
        fragment = client.get(reverse("experiment_progress", args=[experiment.pk]), headers={"HX-Request": "true"})

        assert "every 2s" in detail
        assert "Said last in" in text_of(fragment)
        assert "<html" not in text_of(fragment)

    def test_the_fragment_by_itself_is_the_page(self, client, alice):
        experiment = factories.ExperimentFactory()

        response = client.get(reverse("experiment_progress", args=[experiment.pk]))
        assert response.url == reverse("experiment_detail", args=[experiment.pk])

    def test_when_it_is_over_the_page_is_loaded_again(self, client, alice):
        experiment = factories.ExperimentFactory(finished_at=timezone.now())

        response = client.get(reverse("experiment_progress", args=[experiment.pk]), headers={"HX-Request": "true"})
        assert response.headers["HX-Refresh"] == "true"

    def test_stop_and_go_on(self, client, alice, sent, django_capture_on_commit_callbacks):
        people(1, 1)
        experiment = begun()

        client.post(reverse("experiment_stop", args=[experiment.pk]))
        experiment.refresh_from_db()
        assert experiment.state == "stopped"
        with django_capture_on_commit_callbacks(execute=True):
            text = text_of(client.post(reverse("experiment_resume", args=[experiment.pk]), {}, follow=True))

        assert "Going on with 1 dialogue." in text
        assert sent == [experiment.pk]

    def test_send_to_people_makes_a_study(self, client, alice):
        people(2, 1)
        experiment = played()

        text = text_of(client.post(reverse("experiment_people", args=[experiment.pk]), {"n": 1}, follow=True))

        assert "The study has 1 dialogues." in text
        assert Study.objects.get().items.count() == 1

    def test_send_to_people_says_what_is_wrong(self, client, alice):
        experiment = factories.ExperimentFactory()

        text = text_of(client.post(reverse("experiment_people", args=[experiment.pk]), {"n": 1}, follow=True))

        assert "No dialogue of this experiment has ended as it should yet." in text

    def test_let_a_judge_rate_all(self, client, alice):
        people(2, 1)
        experiment = played()

        response = client.post(reverse("experiment_judge", args=[experiment.pk]))

        assert response.url == reverse("run_create", args=[Study.objects.get().slug])


class TestDialogue:
    def test_it_shows_turns_what_they_took_and_who_the_user_is(self, client, alice):
        people(1, 1)
        experiment = played(conditions=["base+I-retrieved"], passages=1)

        text = text_of(client.get(reverse("simulated_detail", args=[experiment.pk, 1])))

        assert "Booked at eight." in text
        assert "always books for eight" in text, "what was retrieved"
        assert "the user said that the task is done" in text
        assert "She always books for eight." in text, "who the user is"

    def test_what_was_dropped_of_a_reply_is_kept_shown_and_counted(self, client, alice):
        people(1, 1)
        lines = ["For when?\nUser: At eight.\nAssistant: Booked.", "Booked at eight.", "You are welcome."]
        experiment = played(assistant=scripted("assistant", lines=lines))
        experiment.dialogues.get().turns.filter(number=4).update(cut_off=["Booked at ei"])

        page = text_of(client.get(reverse("simulated_detail", args=[experiment.pk, 1])))
        assert "went on for the other side, which was cut" in page
        assert "Assistant: Booked." in page, "the reply as it came"
        assert "1 reply met the limit of tokens" in page
        assert ">Booked at ei<" in page

        talk = client.get(reverse("api_experiment_results", args=[experiment.pk])).json()["tables"]["talk"]["rows"][-1]
        assert (talk["cells"]["cut"]["value"], talk["cells"]["cut_off"]["value"]) == (1 / 6, 1 / 6)

    def test_it_says_why_its_situation_is_as_it_is(self, client, alice):
        why = {"agent": "claude-x", "justifications": {"Device": "It is at hand."}}
        [scenario] = people(1, 1)
        Scenario.objects.filter(pk=scenario.pk).update(situation={"Device": "watch", PROVENANCE: why})
        experiment = played(conditions=["base+S"])

        page = text_of(client.get(reverse("simulated_detail", args=[experiment.pk, 1])))
        assert all(part in page for part in ("watch", "It is at hand.", "claude-x"))

    def test_a_growing_one_fetches_itself(self, client, alice):
        people(1, 1)
        experiment = begun()
        factories.TurnFactory(simulated=experiment.dialogues.get(), text="The first words.")
        address = reverse("simulated_turns", args=[experiment.pk, 1])

        page = text_of(client.get(reverse("simulated_detail", args=[experiment.pk, 1])))
        fragment = text_of(client.get(address, headers={"HX-Request": "true"}))

        assert address in page
        assert "The first words." in fragment
        assert "<html" not in fragment

    def test_when_it_has_ended_the_page_is_loaded_again(self, client, alice):
        people(1, 1)
        experiment = played()

        response = client.get(reverse("simulated_turns", args=[experiment.pk, 1]), headers={"HX-Request": "true"})
        assert response.headers["HX-Refresh"] == "true"

    def test_what_a_model_says_is_text(self, client, alice):
        people(1, 1)
        experiment = played(assistant=scripted("assistant", lines=["<script>alert(1)</script>", "Booked."]))

        page = client.get(reverse("simulated_detail", args=[experiment.pk, 1])).content.decode()

        assert "<script>alert(1)</script>" not in page
        assert "&lt;script&gt;alert(1)" in page

    def test_there_is_no_such_dialogue(self, client, alice):
        experiment = factories.ExperimentFactory()

        assert client.get(reverse("simulated_detail", args=[experiment.pk, 7])).status_code == 404


class TestResults:
    def test_nothing_yet(self, client, alice):
        experiment = factories.ExperimentFactory()

        assert "No dialogue has ended yet" in text_of(client.get(reverse("experiment_results", args=[experiment.pk])))

    def test_without_a_judge_it_says_how_to_get_one(self, client, alice):
        people(1, 1)

        text = text_of(client.get(reverse("experiment_results", args=[played().pk])))

        assert "No judge has rated these dialogues" in text
        assert "How the dialogues went" in text


class TestMeasures:
    def test_profiles_and_dialogues(self, client, alice):
        people(2, 1)
        played()

        text = text_of(client.get(reverse("material_measures")))

        assert "Evenness per preference type" in text
        assert "Cuisine" in text
        assert "Variety of words by side" in text
        assert "2 profiles hold" in text
        assert "needs the list of these" in text
        assert "import_schema" in text
        assert "Evenness over possible values" not in text
        assert "unknown" not in text

    def test_the_human_check_names_criteria(self, client, alice):
        criterion = CriterionFactory(study=with_items(4), key="task_completion", name="Task done", yes_no=True)
        people_say(criterion, {"bob": ["yes", "no"] * 2, "dana": ["yes", "yes"] * 2})
        text = text_of(client.get(reverse("human_check", args=[criterion.study.slug])))
        assert "Task done" in text
        assert "task_completion" not in text

    def test_nothing_yet(self, client, alice):
        assert "No measures yet" in text_of(client.get(reverse("material_measures")))

    def test_free_text_is_folded_after_ten_values(self, client, alice):
        for k in range(13):
            ProfileFactory(source="many", external_id=f"m{k}", demographics={"Age": "18", "About": f"Story {k:02}"})
        text = text_of(client.get(reverse("material_measures")))
        assert "Story 09" in text
        assert "Story 10" not in text
        assert '3 other values</th> <td class="numeric">3</td>' in text
        assert "23.1" in text.partition("3 other values")[2][:160], "percent: 3 of 13"

    def test_published_numbers_stand_beside(self, client, alice):
        preferences = {"Alarm": {"Alarm Time Preference": "7:00 AM"}}
        ProfileFactory(source="personalens", preferences=preferences, demographics={"gender": "Male"})

        address = reverse("material_measures")
        assert ">757<" not in text_of(client.get(address))
        text = text_of(client.get(address + "?published=1"))
        assert '<td class="numeric">14</td>' in text, "generated values of the alarm time"
        assert '<td class="numeric">0.72</td>' in text
        assert '<td class="numeric">757</td>' in text, "men"
        assert "<svg" in text

    def test_much_is_left_to_a_worker(self, client, alice, monkeypatch):
        people(2, 1)
        few = {kind: replace(one, at_once=1) for kind, one in measures.KINDS.items()}
        monkeypatch.setattr(measures, "KINDS", few)
        sent = []
        monkeypatch.setattr(waiting.current_app, "send_task", lambda name, args: sent.append(args))
        cache.clear()

        assert "A worker measures more than 1 profiles" in text_of(client.get(reverse("material_measures")))
        assert client.get(reverse("measures_download", args=["csv"]) + "?source=test").status_code == 409
        text = text_of(client.post(reverse("measures_compute"), {"kind": "profiles", "source": "test"}, follow=True))
        assert "no worker has begun yet" in text
        assert sent == [["profiles", "test", "alice"]]
        measures.compute(*sent[0])
        assert "Evenness per preference type" in text_of(client.get(reverse("material_measures")))
        assert client.post(reverse("measures_compute"), {"kind": "profiles", "source": "x"}).status_code == 404

    @pytest.mark.parametrize(("format", "holds"), [("csv", "Cuisine"), ("json", "Cuisine"), ("svg", "<svg")])
    def test_downloads(self, client, alice, format, holds):
        people(1, 1)

        response = client.get(reverse("measures_download", args=[format]) + "?source=test")

        assert holds in response.content.decode()
        assert client.get(reverse("measures_download", args=[format]) + "?source=none").status_code == 404
