"""Attacks: one annotator on another one's work through every address, and strangers on links into a study."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections, transaction
from django.test import Client
from django.urls import get_resolver, reverse

from annotation.recruitment.models import ConsentDecision, Invitation, Participation
from annotation.recruitment.queries import token_hash
from annotation.recruitment.services import enrolment
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation, Draft
from annotation.studies.models.studies import Study
from annotation.workbench.assignment_names import to_name
from annotation.workbench.services import annotations, assignments, drafts
from annotation.workbench.views.work import sign_proof
from core.accounts.models.users import User
from core.errors import InputError
from tests.db.config.test_permissions import content_of, routes, rule_of
from tests.support.factories import StudyFactory
from tests.support.people import OpenStudy, alice, bob, charlie, open_study  # noqa: F401 - fixtures

MARK = "quokka"
"""In everything that bob enters."""

ANSWERS = {"task_completion": "no", "personalization": "1", "task_completion-note": "overwritten"}
OWN = [found for found in routes(get_resolver().url_patterns) if rule_of(found[2]) in ("signed_in", "public")]
OF_THE_API = ("put", "patch", "delete")
HEADERS: dict[str, dict[str, str]] = {"page": {}, "htmx": {"HX-Request": "true", "HX-Target": "main"}}


@pytest.fixture
def study(open_study: OpenStudy, bob: User, charlie: User) -> Study:  # noqa: F811
    """Bob has rated one item, with a note and evidence, and begun another; charlie annotates in the same study."""
    study = open_study([bob, charlie], items=3, overlap=2)
    first = assignments.lease_next(by=bob, study=study)
    assert first
    annotations.submit(
        by=bob,
        assignment=first,
        values={"task_completion": "yes", "personalization": "3"},
        notes={"task_completion": f"{MARK} note"},
        evidence={"task_completion": json.dumps([{"part": "turn-1", "start": 0, "end": 4}])},
    )
    second = assignments.lease_next(by=bob, study=study)
    assert second
    drafts.save(by=bob, assignment=second, changes={"task_completion-note": f"{MARK} draft"}, active_seconds=1)
    return study


def slots_of_bob(study: Study) -> list[Assignment]:
    return list(study.assignments.filter(annotator__username="bob").select_related("annotator").order_by("pk"))


def work_of_bob() -> list[Any]:
    """All that is kept of bob's work, value by value."""
    of_bob = {"assignment__annotator__username": "bob"}
    return [
        list(Assignment.objects.filter(annotator__username="bob").order_by("pk").values()),
        list(Annotation.objects.filter(**of_bob).order_by("pk").values()),
        list(Draft.objects.filter(annotator__username="bob").order_by("pk").values()),
        list(ConsentDecision.objects.filter(annotator__username="bob").values()),
    ]


def addresses(study: Study, slot: Assignment) -> Iterator[tuple[str, str]]:
    """Name and address of every route that any account may ask, with bob's slot wherever it takes one."""
    for name, route, _ in OWN:
        if "<" not in route:
            yield name, f"/{route}"
            continue
        filled = route.replace("<slot:pk>", to_name(slot.pk)).replace("<own:name>", to_name(slot.pk))
        filled = filled.replace("<own:slug>", study.slug).replace("<own_number:pk>", str(slot.pk))
        yield name, "/" + filled.replace("<own_text:token>", "x")


@pytest.mark.parametrize(
    ("method", "form"),
    [("get", "page"), ("get", "htmx"), ("post", "page"), ("post", "htmx"), *((one, "page") for one in OF_THE_API)],
)
def test_no_address_shows_or_changes_the_work_of_another(study: Study, charlie: User, method: str, form: str) -> None:  # noqa: F811
    before, client, asked = work_of_bob(), Client(headers=HEADERS[form]), set()
    assert MARK in str(before)
    client.force_login(charlie)
    cookies = client.cookies.copy()
    for slot in slots_of_bob(study):
        proof = sign_proof(slot, slot.annotator)  # that bob was shown it, taken from his page
        body = {**ANSWERS, "seen": proof, "holding": to_name(slot.pk), "submitted": "1"}
        for name, address in addresses(study, slot):
            if address in asked or (form == "htmx" and address.startswith("/api/")):
                continue
            asked.add(address)
            client.cookies = cookies.copy()
            with transaction.atomic():
                reply = send(client, method, address, body)
                assert MARK not in content_of(reply).decode("utf-8", "replace"), name
                assert work_of_bob() == before, name
                assert reply.status_code < 500, name
                if to_name(slot.pk) in address:
                    assert reply.status_code in (404, 405), (name, reply.status_code)
                transaction.set_rollback(True)
    assert any(to_name(slot.pk) in address for address in asked)


def send(client: Client, method: str, address: str, body: dict[str, str]) -> Any:
    if method == "get":
        return client.get(address, body)
    if address.startswith("/api/"):
        values = {name: {"value": value} for name, value in ANSWERS.items() if "-" not in name}
        content = json.dumps({"answers": values, "changes": ANSWERS})
        return getattr(client, method)(address, content, content_type="application/json")
    if method == "post":
        return client.post(address, body)
    return getattr(client, method)(address, "", content_type="application/x-www-form-urlencoded")


def test_bob_himself_is_shown_what_charlie_is_not(study: Study, bob: User) -> None:  # noqa: F811
    """Else the test above could not fail."""
    client = Client()
    client.force_login(bob)
    for slot in slots_of_bob(study):
        assert MARK in client.get(reverse("assignment", args=[slot.pk])).content.decode()


class TestLinks:
    NEW = {"username": "dora", "password1": "a-long-enough-one", "password2": "a-long-enough-one"}

    def refuses(self, token: str) -> bool:
        """Whether nobody gets in by it: as a new account, as one that is there, or from a platform."""
        path = reverse("join", args=[token])
        signed_in = Client()
        signed_in.force_login(User.objects.get_or_create(username="mallory")[0])
        before = Participation.objects.count()
        replies = [Client().post(path, self.NEW), signed_in.post(path), Client().post(f"{path}?PROLIFIC_PID=60aa")]
        return {one.status_code for one in replies} <= {404, 410} and Participation.objects.count() == before

    @pytest.mark.any_database
    def test_nothing_that_is_near_a_token_or_kept_of_it_is_one(self, study: Study) -> None:
        token = enrolment.create(by=None, study=study).token
        other = "B" if token[0] != "B" else "C"
        kept = Invitation.objects.get().token_hash
        for guess in (other + token[1:], token[:-1], token + "A", token.swapcase(), kept, f"{kept}%00", "%2e%2e"):
            assert self.refuses(guess), guess
        assert token_hash(token) == kept

    def test_a_link_is_used_by_no_more_people_than_it_is_for_also_at_once(
        self,
        transactional_db: None,
        open_study: OpenStudy,  # noqa: F811
    ) -> None:
        study = open_study([])
        made = enrolment.create(by=None, study=study, max_uses=2).invitation

        def come(number: int) -> bool:
            try:
                enrolment.create_account_and_join(account=User(username=f"new{number}"), study=study, invitation=made)
            except InputError:
                return False
            finally:
                connections.close_all()
            return True

        with ThreadPoolExecutor(6) as pool:
            assert sum(pool.map(come, range(6))) == 2
        assert study.annotators.count() == study.participations.count() == 2
        assert not User.objects.filter(username__startswith="new", studies=None).exists()

    def test_a_link_leads_into_its_own_study_only(self, study: Study, client: Client) -> None:
        token = enrolment.create(by=None, study=study).token
        client.post(reverse("join", args=[token]), self.NEW)
        other = StudyFactory(name="Other", slug="other", kind="dialogue", state="open")
        for name in ("next_item", "consent", "about_me", "withdraw", "next_ahead"):
            assert client.post(reverse(name, args=[other.slug])).status_code == 404

    def test_no_other_site_and_no_cache_learns_a_link(self, study: Study) -> None:
        for platform in ("", "prolific"):
            token = enrolment.create(by=None, study=study, platform=platform).token
            reply = Client().get(reverse("join", args=[token]), {"PROLIFIC_PID": "60aa"})
            assert reply.status_code == 200
            assert reply.headers["Referrer-Policy"] == "same-origin"
            assert {"no-store", "private"} <= set(reply.headers["Cache-Control"].split(", "))
            text = reply.content.decode()
            assert 'src="http' not in text
            assert 'href="http' not in text
