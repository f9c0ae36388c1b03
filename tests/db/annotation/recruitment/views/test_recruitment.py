"""Alice lets people in."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from annotation.recruitment.models import Invitation
from annotation.recruitment.queries import find_intake
from annotation.recruitment.services import consents, enrolment
from annotation.studies.models.studies import Study
from annotation.workbench.services import annotations, assignments
from core.accounts.models.users import User
from tests.support.factories import UserFactory
from tests.support.people import OpenStudy

HERE = ("coming_in", "invitation_create", "consent_text", "intake")


@pytest.fixture
def study(open_study: OpenStudy, bob: User) -> Study:
    return open_study([bob])


@pytest.fixture
def client(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


def text_of(response) -> str:
    return unescape(response.content.decode())


def test_a_link_is_shown_once_and_then_only_listed(study: Study, client: Client, alice: User) -> None:
    given = {"platform": "prolific", "uses": "3", "days": "2", "note": "wave 1"}
    page = text_of(client.post(reverse("invitation_create", args=["pilot"]), given))
    address = re.search(r"data-link>([^<]+)<", page).group(1)
    assert address.endswith("?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}")
    token = address.split("/join/")[1].split("/")[0]
    made = Invitation.objects.get()
    assert (made.max_uses, made.note, made.created_by, token in str(vars(made))) == (3, "wave 1", alice, False)
    listed = text_of(client.get(reverse("coming_in", args=["pilot"])))
    assert "wave 1" in listed
    assert token not in listed


def test_what_is_wrong_is_said_at_its_field(study: Study, client: Client) -> None:
    answer = client.post(reverse("invitation_create", args=["pilot"]), {"uses": "0"})
    assert answer.status_code == 422
    assert "greater than or equal to 1" in text_of(answer)
    answer = client.post(reverse("intake", args=["pilot"]), {"completion_code": "a b"})
    assert "letters, digits" in text_of(answer)
    answer = client.post(reverse("intake", args=["pilot"]), {"completion_url": "javascript:alert(1)"})
    assert answer.status_code == 422
    assert 'role="alert" tabindex="-1" autofocus>' in text_of(answer), "the page opens at the form, which is far down"
    assert not Invitation.objects.exists()


def test_revoking_is_on_record_and_done_once(study: Study, client: Client, alice: User) -> None:
    made = enrolment.create(by=alice, study=study)
    address = reverse("invitation_revoke", args=["pilot", made.invitation.pk])
    assert "Nobody can join" in text_of(client.post(address, follow=True))
    assert "revoked already" in text_of(client.post(address, follow=True))
    assert Invitation.objects.get().revoked_by == alice


def test_the_text_and_the_settings(study: Study, client: Client) -> None:
    client.post(reverse("consent_text", args=["pilot"]), {"consent_text": "<b>Read</b> this."})
    client.post(reverse("intake", args=["pilot"]), {"is_public": "on", "completion_code": "C0DE"})
    found = find_intake(study)
    assert (found.is_public, found.completion_code, found.consent_text.text) == (True, "C0DE", "<b>Read</b> this.")
    page = client.get(reverse("coming_in", args=["pilot"])).content.decode()
    assert "http://testserver/register/pilot/" in page
    assert "&lt;b&gt;Read" in page


def test_who_came_in_files(study: Study, client: Client, bob: User) -> None:
    found = json.loads(client.get(reverse("participants_download", args=["pilot", "json"])).content)
    assert [(one["annotator"], one["came_by"]) for one in found] == [("bob", "added")]
    assert "bob" in client.get(reverse("participants_download", args=["pilot", "csv"])).content.decode()
    assert client.get(reverse("participants_download", args=["pilot", "xml"])).status_code == 404


def test_withdrawing_somebody_who_asked_for_it(study: Study, client: Client, alice: User, bob: User) -> None:
    slot = assignments.lease_next(by=bob, study=study)
    annotations.submit(by=bob, assignment=slot, values={"task_completion": "yes", "personalization": "3"})
    address = reverse("participant_withdraw", args=["pilot", bob.pk])
    assert "2 labels" in text_of(client.get(address))
    assert "Labels erased: 2" in text_of(client.post(address, follow=True))
    assert "no part" in text_of(client.post(address, follow=True))
    assert study.consent_decisions.get().recorded_by == alice


@pytest.mark.any_database
def test_the_same_queries_for_any_number_of_people(
    study: Study, client: Client, alice: User, django_assert_max_num_queries
) -> None:
    text = consents.set_text(by=alice, study=study, text="Yes?")
    made = enrolment.create(by=alice, study=study)
    for one in UserFactory.create_batch(12):
        enrolment.join(by=one, study=study, invitation=made.invitation)
        consents.decide(by=one, study=study, text_hash=text.content_hash, agrees=True)
        enrolment.create(by=alice, study=study)
    with django_assert_max_num_queries(25):
        client.get(reverse("coming_in", args=["pilot"]))


def test_it_is_for_researchers(study: Study, bob: User) -> None:
    client = Client()
    client.force_login(bob)
    made = enrolment.create(by=None, study=study)
    for name in HERE:
        assert client.post(reverse(name, args=["pilot"])).status_code == 403
    assert client.post(reverse("invitation_revoke", args=["pilot", made.invitation.pk])).status_code == 403
    assert client.get(reverse("participants_download", args=["pilot", "json"])).status_code == 403
    assert client.post(reverse("participant_withdraw", args=["pilot", bob.pk])).status_code == 403
