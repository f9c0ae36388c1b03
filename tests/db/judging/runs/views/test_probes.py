"""The page that sets probes of a judge going."""

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
    return dialogue_study(12, slug="talks")


@pytest.fixture
def judge():
    return scripted(otherwise="1", answers={"task_completion": "yes"})


@pytest.fixture
def page(study, judge):
    return reverse("judge_probes", args=[study.slug, judge.pk])


def posted(**changes):
    usual = {
        "alterations": ["injection:note", "invariance:bullets"],
        "criteria": ["personalization"],
        "n": 10,
        "seed": 0,
    }
    return {**usual, **changes}


def test_the_form_offers_what_fits_the_items(alice, client, page):
    text = client.get(page).content.decode()
    assert "injection:user" in text
    assert "Run probes" in text


def test_an_estimate_starts_nothing(alice, client, page):
    response = client.post(page, posted(estimate="1"))
    assert response.context["estimate"].requests == 40
    assert not JudgeRun.objects.exists()


@pytest.mark.any_database
def test_a_run_is_started_and_listed(alice, client, page):
    response = client.post(page, posted())
    run = JudgeRun.objects.get()
    assert response.url == reverse("run_detail", args=[run.pk])
    assert list(run.probe["alterations"]) == ["injection:note", "invariance:bullets"]
    assert f"run {run.pk}" in client.get(page).content.decode()
    assert "nothing to alter" not in client.get(response.url).content.decode()


@pytest.mark.parametrize(
    ("changes", "field"), [({"n": 2}, "n"), ({"alterations": []}, "alterations"), ({"criteria": []}, "criteria")]
)
def test_what_is_wrong_is_said_at_its_field(alice, client, page, changes, field):
    response = client.post(page, posted(**changes))
    assert response.status_code == 200
    assert field in response.context["form"].errors
    assert not JudgeRun.objects.exists()


def test_nothing_to_alter_is_said(alice, client, page):
    response = client.post(page, posted(alterations=["invariance:names"]))
    assert "Nothing in these items can be altered so" in response.content.decode()


def test_a_judge_from_elsewhere_cannot_be_probed(alice, client, study):
    judge = factories.JudgeFactory(provider="imported")
    text = client.get(reverse("judge_probes", args=[study.slug, judge.pk])).content.decode()
    assert "cannot be asked here" in text


def test_annotators_are_kept_out(client, page):
    client.force_login(factories.UserFactory())
    assert client.get(page).status_code in (302, 403)


@pytest.mark.any_database
def test_the_verdict_links_here(alice, client, study, judge, page):
    judged(study, judge)
    text = client.get(reverse("judge_verdict", args=[study.slug, judge.pk])).content.decode()
    assert page in text
