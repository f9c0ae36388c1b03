"""alice makes a panel out of finished runs."""

from __future__ import annotations

import pytest
from django.urls import reverse

from judging.runs.models.runs import JudgeRun
from tests.support import factories
from tests.support.judging import dialogue_study, judged, scripted

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(client):
    alice = factories.ResearcherFactory(username="alice")
    client.force_login(alice)
    return alice


@pytest.fixture
def study():
    return dialogue_study(2)


def members(study, *answers: str):
    return [judged(study, scripted(otherwise=answer), criteria=["personalization"]) for answer in answers]


def text_of(response) -> str:
    return " ".join(response.content.decode().split())


def address(study) -> str:
    return reverse("panel_create", args=[study.slug])


def test_only_researchers_make_panels(client, study):
    assert client.get(address(study)).url.startswith(reverse("login"))
    client.force_login(factories.UserFactory(username="bob"))
    assert client.get(address(study)).status_code == 403


@pytest.mark.any_database
@pytest.mark.long
def test_a_panel_is_made_and_leads_to_the_results(client, alice, study):
    runs = members(study, "1", "2", "2")

    form = {"name": "Jury", "runs": [run.pk for run in runs], "method": "dawid_skene"}
    response = client.post(address(study), form, follow=True)

    made = JudgeRun.objects.get(judge__name="Jury")
    assert made.created_by == alice
    text = text_of(response)
    assert "Accuracy by the model" in text
    assert all(str(run.judge) in text for run in runs)
    assert reverse("results", args=[study.slug]) in text
    assert "Jury" in text_of(client.get(address(study)))
    assert "combined" in text_of(client.get(address(study)))


@pytest.mark.any_database
def test_a_majority_has_no_model_behind_it(client, alice, study):
    runs = members(study, "1", "2", "2")

    form = {"name": "Jury", "runs": [run.pk for run in runs], "method": "majority"}
    text = text_of(client.post(address(study), form, follow=True))

    assert "Same verdict as the panel" in text
    assert "Accuracy by the model" not in text


@pytest.mark.parametrize(
    ("change", "message"),
    [({"name": ""}, "required"), ({"runs": []}, "required"), ({"one": True}, "at least two members")],
)
def test_what_is_missing_is_said_at_its_field(client, alice, study, change, message):
    runs = members(study, "1", "2")
    chosen = runs[:1] if change.pop("one", False) else runs
    form = {"name": "Jury", "runs": [run.pk for run in chosen], "method": "majority", **change}

    response = client.post(address(study), form)

    assert message in text_of(response)
    assert not JudgeRun.objects.filter(judge__name="Jury").exists()


def test_without_a_finished_run_it_says_what_to_do(client, alice, study):
    factories.JudgeRunFactory(study=study)

    assert "No finished run yet" in text_of(client.get(address(study)))
    assert address(study) not in text_of(client.get(reverse("run_create", args=[study.slug])))


@pytest.mark.any_database
@pytest.mark.long
def test_panels_and_other_studies_are_not_offered(client, alice, study):
    own, other = members(study, "1", "2"), members(dialogue_study(1), "1")
    client.post(address(study), {"name": "Jury", "runs": [run.pk for run in own], "method": "majority"})

    offered = client.get(address(study)).context["form"].fields["runs"].queryset

    assert set(offered) == set(own)
    assert not set(offered) & set(other)
    assert address(study) in text_of(client.get(reverse("run_create", args=[study.slug])))
