"""A stranger comes in over HTTP: by an invitation, by a public address, from a platform."""

from __future__ import annotations

from datetime import timedelta
from html import unescape
from urllib.parse import urlencode

import pytest
from allauth.mfa.totp.internal import auth as totp
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags as striptags

from annotation.recruitment.models import Invitation, Participation
from annotation.recruitment.platforms import PREVIEW
from annotation.recruitment.queries import find_intake, find_return_code, load_offer, token_hash
from annotation.recruitment.services import completions, consents, enrolment
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from annotation.studies.services import studies
from core.accounts.models.users import User
from tests.support.people import OpenStudy

PASSWORD = "a-long-enough-one"
NEW = {"username": "dora", "password1": PASSWORD, "password2": PASSWORD}
PROLIFIC = {"PROLIFIC_PID": "60aa", "STUDY_ID": "s1", "SESSION_ID": "x1"}
TURK = {"workerId": "A1B", "assignmentId": "3XA", "hitId": "H1", "turkSubmitTo": "https://www.mturk.com"}
GOOD = {"task_completion": "yes", "personalization": "3"}


@pytest.fixture
def study(open_study: OpenStudy, bob: User) -> Study:
    return open_study([bob], items=2, overlap=2)


def link(study: Study, **more) -> str:
    return reverse("join", args=[enrolment.create(by=None, study=study, **more).token])


def sign_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def text_of(response) -> str:
    return unescape(response.content.decode())


def test_a_stranger_makes_an_account_and_rates(study: Study, alice: User) -> None:
    consents.set_text(by=alice, study=study, text="You rate dialogues.")
    client, address = Client(), link(study, max_uses=1)
    assert "Make an account and join" in text_of(client.get(address))
    answer = client.post(address, NEW)
    assert answer.url == reverse("consent", args=["pilot"])
    assert "You rate dialogues." in text_of(client.get(answer.url))
    assert client.get(reverse("next_item", args=["pilot"])).url == answer.url  # no item before consent
    answer = client.post(
        answer.url, {"decision": "agree", "text": find_intake(study).consent_text.content_hash}, follow=True
    )
    assert answer.status_code == 200
    assert "Rate an item of Pilot" in text_of(answer)
    joined = Participation.objects.get(annotator__username="dora")
    assert (joined.invitation.study, joined.platform) == (study, "")
    assert Invitation.objects.get().token_hash == token_hash(address.split("/")[-2]) != address.split("/")[-2]


def test_declining_is_recorded_and_shows_no_item(study: Study, alice: User, bob: User) -> None:
    text = consents.set_text(by=alice, study=study, text="You rate dialogues.")
    client, address = sign_in(bob), reverse("consent", args=["pilot"])
    page = client.post(address, {"decision": "decline", "text": text.content_hash}, follow=True)
    assert "You declined" in text_of(page)
    assert client.post(reverse("next_item", args=["pilot"])).url == address
    assert not Assignment.objects.filter(annotator=bob).exists()
    client.post(address, {"decision": "agree", "text": text.content_hash})
    assert "You agreed to this text" in text_of(client.get(address))


def test_an_outdated_text_is_not_agreed_to(study: Study, alice: User, bob: User) -> None:
    old = consents.set_text(by=alice, study=study, text="One.")
    consents.set_text(by=alice, study=study, text="Two.")
    page = sign_in(bob).post(
        reverse("consent", args=["pilot"]), {"decision": "agree", "text": old.content_hash}, follow=True
    )
    assert "has changed" in text_of(page)
    assert not study.consent_decisions.exists()


def test_weak_passwords_and_taken_names_are_refused_at_their_fields(study: Study, bob: User) -> None:
    client, address = Client(), link(study)
    assert "too common" in text_of(client.post(address, {**NEW, "password1": "password", "password2": "password"}))
    assert "already exists" in text_of(client.post(address, {**NEW, "username": "bob"}))
    assert "already exists" in text_of(client.post(address, {**NEW, "username": "BOB"}))
    assert not Participation.objects.exists()


def test_who_has_an_account_signs_in_and_joins(study: Study, charlie: User) -> None:
    address = link(study, max_uses=1)
    assert f"/login/?next={address}" in text_of(Client().get(address))
    client = sign_in(charlie)
    assert "signed in as charlie" in " ".join(text_of(client.get(address)).replace("<strong>", "").split())
    assert client.post(address).url == reverse("next_item", args=["pilot"])
    assert client.get(address).url == reverse("next_item", args=["pilot"])  # used up, and still his way in
    assert Participation.objects.count() == 1


def test_a_researcher_who_follows_a_link_is_asked_first(study: Study, alice: User) -> None:
    page = text_of(sign_in(alice).get(link(study)))
    assert "a researcher" in page
    assert not study.annotators.contains(alice)


@pytest.mark.parametrize(
    ("spoil", "why", "status"),
    [
        (lambda one, study: enrolment.revoke(by=None, invitation=one), "was revoked", 410),
        (
            lambda one, study: Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1)),
            "has expired",
            410,
        ),
        (
            lambda one, study: Participation.objects.create(
                study=study, annotator=study.annotators.get(), invitation=one
            ),
            "as many people",
            410,
        ),
        (lambda one, study: studies.close(by=None, study=study), "closed", 410),
        (lambda one, study: Invitation.objects.all().delete(), "no such invitation", 404),
    ],
    ids=["revoked", "expired", "used up", "closed", "invented"],
)
@pytest.mark.parametrize("platform", ["", "prolific"])
def test_a_link_that_cannot_be_used_says_why(study: Study, spoil, why, status, platform) -> None:
    made = enrolment.create(by=None, study=study, max_uses=1, platform=platform)
    spoil(made.invitation, study)
    address = f"{reverse('join', args=[made.token])}?{urlencode(PROLIFIC)}"
    for answer in (Client().get(address), Client().post(address, NEW)):
        assert answer.status_code == status
        assert why in text_of(answer)
    assert not User.objects.filter(username="dora").exists()
    assert not User.objects.filter(username__startswith="prolific").exists()


def test_an_odd_token_is_an_unknown_one(db: None) -> None:
    for token in ("x", "%00", "é", "a" * 2000):
        assert Client().get(f"/join/{token}/").status_code == 404


def test_the_public_address_exists_only_where_a_study_allows_it(study: Study) -> None:
    address = reverse("register", args=["pilot"])
    assert Client().get(address).status_code == 404
    completions.set_intake(by=None, study=study, is_public=True)
    client = Client()
    assert client.post(address, NEW).url == reverse("next_item", args=["pilot"])
    assert Participation.objects.get().is_self_registered
    studies.close(by=None, study=study)
    assert Client().get(address).status_code == 410


def come(client: Client, address: str, said: dict, **headers):
    return client.post(f"{address}?{urlencode(said)}", **headers)


@pytest.mark.any_database
def test_one_prolific_id_is_one_account_that_goes_on(study: Study) -> None:
    address = link(study, platform="prolific", max_uses=1)
    client = Client()
    assert "Begin" in text_of(client.get(f"{address}?{urlencode(PROLIFIC)}"))
    assert not Participation.objects.exists()  # looking at the link makes nothing
    first = come(client, address, PROLIFIC)
    assert first.url == reverse("next_item", args=["pilot"])
    held = client.get(first.url).url

    assert "Go on where you were" in text_of(client.get(f"{address}?{urlencode(PROLIFIC)}"))
    later = {**PROLIFIC, "SESSION_ID": "x2"}
    assert client.get(come(client, address, later).url).url == held
    come(client, address, PROLIFIC)
    part = Participation.objects.get()
    assert [one["SESSION_ID"] for one in part.visits] == ["x2", "x1"]
    assert not part.annotator.has_usable_password()
    assert "60aa" not in part.annotator.username
    assert come(Client(), address, {**PROLIFIC, "PROLIFIC_PID": "60bb"}).status_code == 410


@pytest.mark.parametrize(("platform", "said"), [("prolific", PROLIFIC), ("mturk", TURK)])
def test_a_known_id_alone_signs_nobody_in(study: Study, platform: str, said: dict) -> None:
    address = link(study, platform=platform)
    client = Client()
    page = text_of(client.get(come(client, address, said).url, follow=True))
    code = find_return_code(study, Participation.objects.get().annotator)
    assert f"Your return code is {code}." in page

    stranger = Client()
    asked = text_of(stranger.get(f"{address}?{urlencode(said)}"))
    assert "enter your return code" in " ".join(asked.split())
    assert code not in asked
    for given in ("", "AAAA-BBBB-CCCC-DDDD", code[:-1]):
        answer = stranger.post(f"{address}?{urlencode(said)}", {"code": given})
        assert "not the return code" in text_of(answer)
        assert "_auth_user_id" not in stranger.session
        assert stranger.get(reverse("next_item", args=["pilot"])).url.startswith("/login/")

    answer = stranger.post(f"{address}?{urlencode(said)}", {"code": f" {code.lower().replace('-', ' ')}"})
    assert answer.url == reverse("next_item", args=["pilot"])
    assert stranger.session["_auth_user_id"] == client.session["_auth_user_id"]
    assert code in text_of(stranger.get(reverse("consent", args=["pilot"])))


def test_the_page_with_the_text_says_the_return_code_once(study: Study, alice: User) -> None:
    consents.set_text(by=alice, study=study, text="You rate dialogues.")
    client = Client()
    page = text_of(client.get(come(client, link(study, platform="prolific"), PROLIFIC).url))
    assert page.count("Your return code is") == 1


def test_the_return_code_of_another_person_or_study_opens_nothing(study: Study, alice: User) -> None:
    second = studies.create(by=alice, name="Second", kind="dialogue", criteria=["task_completion"])
    address, elsewhere = link(study, platform="prolific"), link(second, platform="prolific")
    come(Client(), address, PROLIFIC)
    come(Client(), address, {**PROLIFIC, "PROLIFIC_PID": "60bb"})
    come(Client(), elsewhere, PROLIFIC)
    mine = Participation.objects.get(study=study, visits__0__person="60aa")
    for other in Participation.objects.exclude(pk=mine.pk):
        client = Client()
        client.post(f"{address}?{urlencode(PROLIFIC)}", {"code": find_return_code(other.study, other.annotator)})
        assert "_auth_user_id" not in client.session


def test_who_is_signed_in_as_somebody_else_needs_the_code_too(study: Study, charlie: User) -> None:
    address = link(study, platform="prolific")
    come(Client(), address, PROLIFIC)
    client = sign_in(charlie)
    assert "not the return code" in text_of(come(client, address, PROLIFIC))
    assert client.session["_auth_user_id"] == str(charlie.pk)


def test_a_platforms_link_does_not_pass_by_a_second_factor(study: Study) -> None:
    address, client = link(study, platform="prolific"), Client()
    come(client, address, PROLIFIC)
    annotator = Participation.objects.get().annotator
    totp.TOTP.activate(annotator, totp.generate_totp_secret())
    again = Client()
    answer = again.post(f"{address}?{urlencode(PROLIFIC)}", {"code": find_return_code(study, annotator)})
    assert answer.url.startswith(reverse("mfa_authenticate"))
    assert "_auth_user_id" not in again.session


def test_the_same_id_in_another_study_is_another_account(study: Study, alice: User) -> None:
    second = studies.create(by=alice, name="Second", kind="dialogue", criteria=["task_completion"])
    for one in (study, second):
        come(Client(), link(one, platform="prolific"), PROLIFIC)
    assert Participation.objects.values("annotator").distinct().count() == 2


def test_an_account_of_a_person_is_not_touched_by_a_platforms_link(study: Study, alice: User) -> None:
    client = sign_in(alice)
    address = link(study, platform="prolific")
    assert "Somebody else is signed in" in text_of(client.get(f"{address}?{urlencode(PROLIFIC)}"))
    come(client, address, PROLIFIC)
    assert client.get(reverse("study_list")).status_code == 403  # rosa's session ended here
    assert not study.annotators.contains(alice)


def test_a_link_of_a_platform_without_its_parameters(study: Study) -> None:
    answer = Client().get(link(study, platform="prolific"))
    assert answer.status_code == 400
    assert "PROLIFIC_PID" in text_of(answer)


def test_mechanical_turk_looks_at_the_task_in_a_frame(study: Study) -> None:
    address = link(study, platform="mturk")
    preview = Client().post(f"{address}?{urlencode({**TURK, 'assignmentId': PREVIEW})}")
    assert "Accept it to begin" in text_of(preview)
    assert "X-Frame-Options" not in preview.headers
    assert (
        "frame-ancestors https://*.mturk.com https://*.mturkcontent.com" in preview.headers["Content-Security-Policy"]
    )
    in_frame = Client().get(f"{address}?{urlencode(TURK)}", headers={"sec-fetch-dest": "iframe"})
    assert 'target="_blank"' in text_of(in_frame)
    assert not Participation.objects.exists()
    alone = Client().get(f"{address}?{urlencode(TURK)}").headers
    assert alone["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in alone["Content-Security-Policy"]


def finish(client: Client) -> str:
    """Rates until nothing is left; the last page."""
    for _ in range(5):
        answer = client.post(reverse("next_item", args=["pilot"]))
        if answer.status_code == 200:
            return text_of(answer)
        client.post(answer.url, GOOD)
    raise AssertionError("it never ends")


def policy(client: Client) -> str:
    """Where forms of the last page may lead."""
    parts = client.post(reverse("next_item", args=["pilot"])).headers["Content-Security-Policy"].split("; ")
    return next(part for part in parts if part.startswith("form-action"))


def test_a_completion_code_of_the_study_and_the_way_back_to_prolific(study: Study) -> None:
    completions.set_intake(by=None, study=study, is_public=False, completion_code="C0DE-7")
    client = Client()
    come(client, link(study, platform="prolific"), PROLIFIC)
    page = finish(client)
    assert "C0DE-7" in page
    assert "https://app.prolific.com/submissions/complete?cc=C0DE-7" in page
    part = Participation.objects.get()
    assert (part.completion_code, part.completed_at is not None) == ("C0DE-7", True)
    at = part.completed_at
    finish(client)
    assert Participation.objects.get().completed_at == at


def test_without_one_each_person_of_a_platform_gets_their_own(study: Study) -> None:
    for worker in ("A1B", "A2B"):
        client = Client()
        come(client, link(study, platform="mturk"), {**TURK, "workerId": worker})
        page = finish(client)
        assert "https://www.mturk.com" in policy(client)
        code = Participation.objects.get(visits__0__person=worker).completion_code
        assert code in page
        assert 'action="https://www.mturk.com/mturk/externalSubmit"' in page
        if worker == "A1B":
            Annotation.objects.all().delete()
            Assignment.objects.update(
                state="open", annotator=None, submitted_at=None, leased_until=None, started_at=None
            )
    assert Participation.objects.values("completion_code").distinct().count() == 2


def test_who_found_nothing_to_rate_has_completed_nothing(study: Study, charlie: User) -> None:
    Assignment.objects.all().delete()
    completions.set_intake(by=None, study=study, is_public=False, completion_code="C0DE")
    client = Client()
    come(client, link(study, platform="prolific"), PROLIFIC)
    page = text_of(client.post(reverse("next_item", args=["pilot"])))
    assert "C0DE" not in page
    assert Participation.objects.get().completed_at is None


def test_who_withdrew_is_told_so_at_the_link(study: Study) -> None:
    address, client = link(study, platform="prolific"), Client()
    come(client, address, PROLIFIC)
    finish(client)
    answer = client.post(reverse("withdraw", args=["pilot"]), follow=True)
    assert "Labels erased: 4" in text_of(answer)
    assert not Annotation.objects.exists()
    again = come(client, address, PROLIFIC)
    assert again.status_code == 410
    assert "withdrawn" in text_of(again)
    assert "withdrawn" not in text_of(come(Client(), address, PROLIFIC)), "of no concern to who only knows the id"
    assert Participation.objects.get().visits == []


def test_who_withdrew_is_not_offered_to_join_again(study: Study, bob: User) -> None:
    client, address = sign_in(bob), link(study)
    client.post(reverse("withdraw", args=["pilot"]))
    for again in (client.get(address), client.post(address)):
        assert again.status_code == 403
        assert "You have withdrawn from this study" in text_of(again)
        assert "for a new one" not in text_of(again)


def test_a_network_that_makes_accounts_by_the_dozen_has_to_wait(study: Study, charlie: User, settings) -> None:
    cache.clear()
    settings.ACCOUNT_RATE_LIMITS = {"join": "1/m/ip"}
    address = link(study)
    assert Client().post(address, NEW).status_code == 302
    refused = Client().post(address, NEW | {"username": "erik"})
    assert refused.status_code == 429
    assert "come back in ten minutes" in text_of(refused)
    assert not User.objects.filter(username="erik").exists()
    assert come(Client(), link(study, platform="prolific"), PROLIFIC).status_code == 429
    assert Client().get(address).status_code == 200
    assert sign_in(charlie).post(address).status_code == 302, "who has an account joins as before"
    cache.clear()


def test_a_page_left_open_brings_nothing_back(study: Study, bob: User) -> None:
    client = sign_in(bob)
    address = client.post(reverse("next_item", args=["pilot"])).url
    form = client.get(address).context["seen"]
    client.post(reverse("withdraw", args=["pilot"]))
    pk = Assignment.objects.first().pk
    for name in ("assignment", "assignment_save", "assignment_draft"):
        assert client.post(reverse(name, args=[pk]), {**GOOD, "seen": form}).status_code == 404
    assert not Annotation.objects.exists()
    assert not Assignment.objects.filter(annotator=bob).exists()


# ---------- what is told before consent ----------


def test_how_much_there_is_to_do_is_told_before_consent(study: Study, alice: User) -> None:
    consents.set_text(by=alice, study=study, text="You rate dialogues.")
    client, address = Client(), link(study, platform="prolific")
    first = text_of(client.get(f"{address}?{urlencode(PROLIFIC)}"))
    assert "You rate up to 2 items" in " ".join(striptags(first).split())
    assert "Together they take about 1 minute" in " ".join(striptags(first).split())
    before = text_of(client.get(come(client, address, PROLIFIC).url))
    assert "You rate up to 2 items" in " ".join(striptags(before).split())


def test_the_duration_is_told_from_measured_times_once_there_are_enough(open_study: OpenStudy, bob: User) -> None:
    study = open_study([bob], items=30)
    Study.objects.filter(pk=study.pk).update(item_limit=25)
    study.refresh_from_db()
    estimated = load_offer(study)
    Assignment.objects.filter(rank__lte=21).update(
        annotator=bob, state="submitted", submitted_at=timezone.now(), active_seconds=60.0
    )
    measured = load_offer(study)
    assert (estimated.items, measured.items) == (25, 25)
    assert estimated.seconds < 60
    assert (measured.seconds, measured.minutes) == (60.0, 25)


def test_who_came_by_a_platforms_link_meets_no_passwords_and_no_tokens(study: Study, bob: User) -> None:
    client = Client()
    come(client, link(study, platform="prolific"), PROLIFIC)
    page = text_of(client.get(reverse("account")))
    assert "assword" not in page
    assert "oken" not in page.replace("csrfmiddlewaretoken", "").replace("x-csrftoken", "")
    for address in (reverse("account_change_password"), reverse("mfa_index"), reverse("token_list")):
        assert client.get(address).url == reverse("my_work")
        assert client.post(address, {"name": "mine"}).url == reverse("my_work")
    assert sign_in(bob).get(reverse("token_list")).status_code == 200
