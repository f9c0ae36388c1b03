"""The page of a guideline, and what annotators see of an edit."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.studies.models.labels import Annotation
from annotation.studies.services import guidelines
from core.accounts.models.users import User
from tests.db.annotation.workbench.views.test_work import GOOD, sign_in, start, text_of
from tests.support.people import OpenStudy

pytestmark = pytest.mark.django_db


def address(key: str = "personalization") -> str:
    return reverse("guideline", args=["pilot", key])


def posted(client: Client, **changed: str):
    page = client.get(address())
    given = {name: page.context["form"][name].value() or "" for name in page.context["form"].fields}
    return client.post(address(), given | changed, follow=True)


def test_alice_edits_a_guideline_while_the_study_is_open(open_study: OpenStudy, alice: User, bob: User) -> None:
    study = open_study([bob])
    client = sign_in(alice)
    page = text_of(posted(client, guideline="Look <b>twice</b>.", reason="Once is not enough."))
    assert "Personalization has version 2 now" in page
    assert "Look &lt;b&gt;twice" in client.get(address()).content.decode()
    assert "Once is not enough." in page
    assert "As the study was made." in page
    criterion = study.criteria.get(key="personalization")
    assert (criterion.guideline, criterion.guideline_version) == ("Look <b>twice</b>.", 2)
    assert criterion.categories[0]["label"] == "None"


def test_what_is_wrong_is_said_at_its_field(open_study: OpenStudy, alice: User, bob: User) -> None:
    open_study([bob])
    client = sign_in(alice)
    assert posted(client, guideline="New.").context["form"].errors.keys() == {"reason"}
    assert "Nothing was changed." in posted(client, reason="For nothing.").context["form"].errors["guideline"]


def test_bob_may_not_edit_and_a_criterion_that_is_not_there_is_not_found(open_study, alice: User, bob: User) -> None:
    open_study([bob])
    assert sign_in(bob).get(address()).status_code == 403
    assert sign_in(alice).get(address("other")).status_code == 404


def test_the_annotator_is_told_once_and_the_label_says_what_was_shown(open_study, alice: User, bob: User) -> None:
    study = open_study([bob], items=3)
    client = sign_in(bob)
    client.post(start(client, study), GOOD)
    criterion = study.criteria.get(key="personalization")
    shown = client.get(start(client, study))
    guidelines.edit(by=alice, criterion=criterion, guideline="Look twice.", reason="Once is not enough.")
    client.post(shown.request["PATH_INFO"], GOOD | {"personalization-version": "1"})
    told = text_of(client.get(start(client, study)))
    assert "The guideline of Personalization has changed" in told
    assert "Once is not enough." in told
    assert "<ins>" in told
    client.post(start(client, study), GOOD | {"personalization-version": "2"})
    labels = Annotation.objects.filter(criterion=criterion).order_by("pk")
    assert [one.guideline_version for one in labels] == [1, 1, 2]
    last = reverse("assignment", args=[labels[2].assignment_id])
    assert "has changed" not in text_of(client.get(last))


def test_a_version_that_there_is_not_is_said_at_its_criterion(open_study, bob: User) -> None:
    client = sign_in(bob)
    page = client.post(start(client, open_study([bob])), GOOD | {"personalization-version": "7"})
    assert "there is no version '7' of its guideline" in text_of(page)
    assert not Annotation.objects.exists()
