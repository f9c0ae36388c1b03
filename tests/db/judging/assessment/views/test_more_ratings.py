"""Asking for more ratings on the page *Tiers*, and what *Progress* says of an adaptive study."""

from __future__ import annotations

import re

import pytest
from django.core.cache import cache
from django.template.loader import render_to_string
from django.urls import reverse

from annotation.agreement.services import more_ratings
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Study
from annotation.studies.queries import ratings
from annotation.workbench.services import overlap
from core.accounts.models.users import User
from tests.db.annotation.agreement.services.test_more_ratings import voted
from tests.support.factories import ResearcherFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(client):
    cache.clear()
    client.force_login(ResearcherFactory(username="alice"))
    return client


def part(criterion, **study):
    """The part of the page as it is included, without white space."""
    Study.objects.filter(pk=criterion.study_id).update(**study)
    study = Study.objects.get(pk=criterion.study_id)
    context = {"study": study, **more_ratings.build_more_context(study, ratings.load_criterion(criterion))}
    return re.sub(r"\s+", " ", render_to_string("judging/_tier_more.html", context))


def test_the_part_begins_with_its_answer_and_offers_the_next_step(alice):
    criterion = voted()
    html = part(criterion)
    found = more_ratings.compute_criterion(criterion.study, ratings.load_criterion(criterion))
    assert found["sentence"] in html
    assert f"Ask for one more rating of these {len(found['ask'])} items" in html
    assert ",".join(map(str, found["ask"])) in html


def test_where_nothing_can_be_asked_it_says_what_to_do(alice):
    criterion = voted()
    assert "Open the study" in part(criterion, state="closed")
    assert "by itself" in part(criterion, state="open", is_adaptive=True, overlap=6, most_overlap=9)


def test_the_button_asks_for_one_more_rating_of_each(alice):
    study = voted().study
    answer = alice.post(reverse("tiers_ask_more", args=["suits"]), {"positions": "3,8", "criterion": "done"})
    assert answer.url == f"{reverse('tiers', args=['suits'])}?criterion=done#more"
    waiting = Assignment.objects.filter(study=study, state="open")
    assert sorted(waiting.values_list("item__position", flat=True)) == [3, 8]
    assert "One more rating is asked for of 2 items." in alice.get(answer.url).content.decode()


@pytest.mark.parametrize(
    ("positions", "said"),
    [("3,x", "not a list of positions"), ("", "not a list"), ("0", "from 1"), ("99", "no item 99")],
)
def test_a_mistake_is_said_on_the_page(alice, positions, said):
    voted()
    answer = alice.post(reverse("tiers_ask_more", args=["suits"]), {"positions": positions}, follow=True)
    assert said in answer.content.decode()
    assert not Assignment.objects.filter(state="open").exists()


def adaptive(**more):
    """A study of six ratings of each item, up to nine where it is unclear."""
    criterion = voted(**more)
    Study.objects.filter(pk=criterion.study_id).update(is_adaptive=True, overlap=6, most_overlap=9)
    criterion.study.annotators.set([*User.objects.filter(assignments__study=criterion.study), UserFactory()])
    return Study.objects.get(pk=criterion.study_id)


def progress(client):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", client.get(reverse("progress", args=["suits"])).content.decode()))


@pytest.mark.any_database
@pytest.mark.long
def test_progress_says_what_is_asked_for_and_what_is_saved(alice):
    study = adaptive()
    assert "240 of 360 ratings are asked for so far, 33 % fewer than 9 for all" in progress(alice)
    found = overlap.run_round(by=None, study=study)
    assert found.n_asked
    said = progress(alice)
    assert f"{240 + found.n_asked} of 360 ratings" in said
    assert f"Asked about again {found.n_asked}" in said
    assert f"Settled: clear tier {found.n_clear}" in said


@pytest.mark.long
def test_progress_says_that_the_model_cannot_be_fitted(alice):
    overlap.run_round(by=None, study=adaptive(n=5))
    said = progress(alice)
    assert "The overlap stays at 6" in said
    assert "5 items with two ratings; the model needs 20" in said
