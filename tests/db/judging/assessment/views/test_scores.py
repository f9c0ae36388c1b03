"""alice researches and reads what a run found."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.urls import reverse

from tests.support import factories
from tests.support.judging import dialogue_study, judged, pair_study, scripted

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

TALK = [{"role": role, "content": role} for role in ("user", "assistant", "user", "assistant")]


@pytest.fixture
def alice(client):
    alice = factories.ResearcherFactory(username="alice")
    client.force_login(alice)
    return alice


def text_of(response) -> str:
    return " ".join(response.content.decode().split())


def study_with_turns():
    study = dialogue_study(2)
    factories.ItemFactory(study=study, dialogue=factories.DialogueFactory(turns=TALK))
    return study


def test_only_researchers_read_it(client):
    run = factories.JudgeRunFactory(study=dialogue_study(1))
    address = reverse("run_scores", args=[run.pk])
    assert client.get(address).url.startswith(reverse("login"))
    client.force_login(factories.UserFactory(username="bob"))
    assert client.get(address).status_code == 403


def test_means_distribution_and_groups(client, alice):
    run = judged(dialogue_study(3), scripted(otherwise="2"), criteria=["personalization"])

    text = text_of(client.get(reverse("run_scores", args=[run.pk])))

    assert "2.00" in text
    assert "by domain" in text
    assert "by turn" not in text
    assert "<svg" not in text.split("<h1>")[1].split("Over all")[0]


@pytest.mark.long
def test_a_run_on_turns_shows_its_curve_and_the_numbers_behind_it(client, alice):
    run = judged(study_with_turns(), scripted(otherwise="2"), every_turn=True, criteria=["personalization"])

    text = text_of(client.get(reverse("run_scores", args=[run.pk])))

    assert "turn of the assistant" in text
    assert "scores.png" in text
    page = text_of(client.get(reverse("run_detail", args=[run.pk])))
    assert reverse("run_scores", args=[run.pk]) in page
    assert "every turn of the assistant" in page


def test_before_the_first_judgment_it_says_what_will_be_there(client, alice):
    run = factories.JudgeRunFactory(study=dialogue_study(1))

    assert "Nothing is judged yet" in text_of(client.get(reverse("run_scores", args=[run.pk])))


def test_an_unknown_grouping_is_refused(client, alice):
    run = judged(dialogue_study(1), scripted())

    response = client.get(reverse("run_scores", args=[run.pk]), {"by": "colour"})

    assert response.status_code == 400
    assert "cannot be grouped by" in text_of(response)


class TestDownloads:
    def get(self, client, run, name, **query):
        return client.get(reverse("run_scores_download", args=[run.pk, name]), query)

    def test_json_and_csv_hold_the_same(self, client, alice):
        run = judged(study_with_turns(), scripted(otherwise="2"), every_turn=True, criteria=["personalization"])

        document = json.loads(self.get(client, run, "json").content)
        rows = list(csv.DictReader(io.StringIO(self.get(client, run, "csv").content.decode())))

        found = document["criteria"]["personalization"]
        by_part = {(row["part"], row["name"]): row for row in rows}
        assert float(by_part["all", ""]["value"]) == found["overall"]["value"] == 2
        assert by_part["turn", "1"]["n_items"] == "3"
        assert by_part["turn", "2"]["n_items"] == "1"
        assert by_part["share of value", "2"]["value"] == "1.0"

    def test_the_curve_as_a_picture(self, client, alice):
        run = judged(study_with_turns(), scripted(), every_turn=True, criteria=["personalization"])

        assert self.get(client, run, "svg").content.startswith(b"<svg")
        assert self.get(client, run, "png").content.startswith(b"\x89PNG")

    def test_there_is_no_curve_of_turns_without_a_verdict(self, client, alice):
        run = judged(study_with_turns(), scripted(otherwise="no idea"), every_turn=True, criteria=["personalization"])

        assert self.get(client, run, "svg").status_code == 404
        assert client.get(reverse("run_scores", args=[run.pk])).context["curve"] == ""

    def test_there_is_no_curve_of_whole_dialogues(self, client, alice):
        run = judged(pair_study(1), scripted())

        assert self.get(client, run, "svg").status_code == 404
        assert self.get(client, run, "json").status_code == 200
        assert self.get(client, run, "json", by="colour").status_code == 404


@pytest.mark.each_database
def test_the_judgment_of_a_turn_shows_the_turn(client, alice):
    run = judged(study_with_turns(), scripted(), every_turn=True, criteria=["personalization"])
    judgment = run.judgments.get(turn=4)

    text = text_of(client.get(reverse("judgment_detail", args=[judgment.pk])))

    assert "turn 4 of" in text
    assert "<h2>Turn 4</h2>" in text
    assert "People rate the whole dialogue" in text


def test_the_run_form_offers_turns_for_dialogues_only(client, alice):
    study = study_with_turns()
    assert "Every turn of the assistant" in text_of(client.get(reverse("run_create", args=[study.slug])))
    assert "Every turn of" not in text_of(client.get(reverse("run_create", args=[pair_study(1).slug])))

    factories.CriterionFactory(study=study, key="naturalness_user")
    form = {"judge": scripted().pk, "criteria": ["naturalness_user"], "unit": "turn", "repeats": 1, "seed": 0}
    refused = client.post(reverse("run_create", args=[study.slug]), form)
    assert "about the user&#x27;s turns" in text_of(refused)

    everything = [criterion.key for criterion in study.criteria.all()]
    client.post(reverse("run_create", args=[study.slug]), {**form, "criteria": everything})
    run = study.judge_runs.get()
    assert run.every_turn
    assert {criterion.key for criterion in run.criteria.all()} == {"personalization", "task_completion"}
