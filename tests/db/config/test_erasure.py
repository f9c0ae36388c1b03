"""Bob asks to be forgotten: nothing says any more who he was, and his labels stay under a number."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.apps import apps
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.benchmarks.models import Benchmark, BenchmarkCase
from annotation.recruitment.models import DemographicAnswer, Invitation, Participation
from annotation.studies.models.labels import Adjudication, Annotation, Draft
from annotation.studies.models.studies import Study
from annotation.studies.models.webhooks import Webhook
from annotation.studies.services import studies
from config import invariants
from config.backups import tables
from config.erasure import names
from config.erasure.erasing import DELETED, concerns, erase_person, to_pseudonym
from core.accounts.models.projects import Membership, Project
from core.accounts.models.tokens import ApiToken, IdempotentWrite
from core.accounts.models.users import User
from core.accounts.services import projects, tokens
from core.audit import queries as audit_queries
from core.audit.models import Act
from core.errors import InputError
from judging.assessment.options import JudgedOptions
from judging.assessment.services import agreement
from judging.assessment.services.agreement import StudyRatings
from tests.db.judging.assessment.services.judged import study as judged_study, trusted
from tests.support.factories import (
    AssignmentFactory,
    BenchmarkFactory,
    CriterionFactory,
    DemographicQuestionFactory,
    MembershipFactory,
    ProjectFactory,
    ResearcherFactory,
    ResponsePairFactory,
    UserFactory,
)
from tests.support.labelled import people_say, with_items

MARK = "xylophone-4711"
"""In all that says who bob is, and in nothing else."""


def everything() -> dict[str, str]:
    """Every row of every table that has the mark, sessions opened."""
    found = {model._meta.label: "".join(tables.rows(model)) for model in tables.list_models()}
    found["sessions"] = "".join(str(one.get_decoded()) for one in Session.objects.all())
    found["admin"] = "".join(tables.rows(LogEntry))
    return {label: text for label, text in found.items() if MARK in text}


@pytest.fixture(autouse=True)
def nothing_counted() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def pilot(db) -> Study:
    """Rated by bob, who cannot judge one item, and by two others."""
    study = with_items(4, name="Pilot", slug="pilot", overlap=3, state="open")
    criterion = CriterionFactory(study=study, key="personalization")
    people_say(criterion, {"bob": ["1", "2", "", "4"], "cleo": ["1", "2", "3", "4"], "dana": ["1", "2", "3", "3"]})
    study.annotators.add(*User.objects.all())
    return study


@pytest.fixture
def bob(pilot) -> User:
    return User.objects.get(username="bob")


def member(project: Project, role: str) -> User:
    user = ResearcherFactory()
    projects.join(by=None, project=project, user=user, role=role)
    return user


def labels(study: Study) -> list[tuple[Any, ...]]:
    rows = Annotation.objects.filter(assignment__study=study)
    return sorted(rows.values_list("assignment__item__position", "assignment__annotator", "value"))


@pytest.mark.long
def test_nothing_that_says_who_it_was_is_left(db):
    """An annotator and adjudicator with an account of every kind, in results, in a benchmark, in an open session."""
    criterion = judged_study(n=12)
    study = criterion.study
    bob = User.objects.get(username="p0")
    told = {"username": MARK, "display_name": f"Bob {MARK}", "first_name": MARK, "last_name": MARK}
    User.objects.filter(pk=bob.pk).update(**told, email=f"{MARK}@example.org", last_login=timezone.now())
    bob.refresh_from_db()
    bob.set_password("right-one-7")
    bob.save()
    EmailAddress.objects.create(user=bob, email=bob.email)
    for _ in range(2):  # the second waits for a code
        Client().post(reverse("login"), {"login": MARK, "password": "right-one-7"})
        Authenticator.objects.get_or_create(user=bob, type="totp", data={"secret": MARK})
    SocialAccount.objects.create(user=bob, provider="lab", uid=MARK, extra_data={"name": MARK})
    question = DemographicQuestionFactory(study=study, options=["cello", "none"])
    study.annotators.add(bob)
    DemographicAnswer.objects.create(question=question, annotator=bob, value=MARK)
    link = Invitation.objects.create(study=study, token_hash="0" * 64, max_uses=1, note=f"for {MARK}")
    Participation.objects.create(
        study=study, annotator=bob, invitation=link, platform="prolific", platform_key=f"of {MARK}",
        visits=[{"person": MARK}], completion_code=MARK, completed_at=timezone.now(),
    )  # fmt: skip
    MembershipFactory(project=study.project, user=bob, role="adjudicator")
    ApiToken.objects.create(user=bob, name=MARK, hint="h", digest="d", scopes=["read"])
    unfinished = AssignmentFactory(item=study.items.first(), leased=True, annotator=bob, purpose="repeat")
    Draft.objects.create(assignment=unfinished, annotator=bob, content={"a-note": MARK}, saved_at=timezone.now())
    cleo = UserFactory(username="cleo")
    IdempotentWrite.objects.create(user=cleo, key="k", request_hash="0", answer={"results": [{"annotator": MARK}]})
    for row in (bob, EmailAddress.objects.get()):
        kind = ContentType.objects.get_for_model(row)
        LogEntry.objects.create(
            user=cleo, content_type=kind, object_id=row.pk, object_repr=f"{MARK}", action_flag=CHANGE, change_message=""
        )
    options = JudgedOptions(bootstrap=0)
    agreement.load_or_compute(by=None, study=study, options=options, ratings=StudyRatings.from_options(study, options))
    trusted(criterion)
    decided = Adjudication.objects.create(item=study.items.first(), criterion=criterion, value="1", decided_by=bob)
    released = BenchmarkFactory(study=study)
    step = {"step": "adjudicated", "by": str(bob), "at": decided.created_at.isoformat()}
    other = {**step, "at": "2026-01-01T00:00:00+00:00", "by": "Bob"}
    BenchmarkCase.objects.create(
        benchmark=released, pair=ResponsePairFactory(), gold="1", history=[other, step], content_hash="0" * 64
    )
    Benchmark.objects.update(state="released", released_at=timezone.now())
    assert {
        *("annotation.User", "annotation.AgreementRun", "judging.CalibrationRun", "judging.AuditRun", "sessions"),
        *("annotation.ApiToken", "annotation.Participation", "annotation.Invitation", "annotation.BenchmarkCase"),
        *("annotation.DemographicAnswer", "annotation.Draft", "annotation.IdempotentWrite", "account.EmailAddress"),
        *("mfa.Authenticator", "socialaccount.SocialAccount", "admin"),
    } <= set(everything())
    before = labels(study)
    assert Session.objects.count() == 2

    erase_person(by=bob, person=bob)

    assert everything() == {}
    assert labels(study) == before
    bob.refresh_from_db()
    assert bob.username == to_pseudonym(bob) == f"erased-{bob.pk}-{bob.username[-6:]}"
    assert (bob.is_active, bob.has_usable_password(), bob.erased_at is None) == (False, False, False)
    assert BenchmarkCase.objects.get().history == [other, {**step, "by": bob.username}]
    assert not study.assignments.filter(annotator=bob).exclude(state="submitted").exists()
    assert Adjudication.objects.get().decided_by == bob
    assert audit_queries.find_break() is None
    newest = Act.objects.latest("number")
    assert (newest.verb, newest.key, newest.name, newest.who_id) == ("account.erase", bob.pk, "", bob.pk)


def test_notes_stay_unless_they_asked(pilot, bob):
    Annotation.objects.filter(assignment__annotator=bob).update(note="As a nurse I would not.")
    slot = pilot.assignments.filter(annotator__username="cleo").first()
    late = {"personalization": "1", "personalization-note": "as I said", "personalization-unscored": ""}
    Draft.objects.create(
        assignment=slot, annotator=bob, state="late", late_reason="gone", content=late, saved_at=timezone.now()
    )
    before = labels(pilot)
    dana = User.objects.get(username="dana")
    erase_person(by=None, person=dana)
    assert Annotation.objects.filter(note="As a nurse I would not.").count() == 4
    erase_person(by=None, person=bob, notes=True)
    theirs = Annotation.objects.filter(assignment__annotator=bob)
    assert set(theirs.values_list("note", flat=True)) == {""}
    assert list(theirs.filter(value="").values_list("unscored_reason", flat=True)) == ["erased"]
    assert Draft.objects.get().content == {"personalization": "1", "personalization-unscored": ""}
    assert labels(pilot) == before


def test_what_they_had_in_work_goes_to_others(pilot, bob):
    item = pilot.items.first()
    pilot.assignments.filter(item=item, annotator=bob).delete()
    slot = AssignmentFactory(item=item, leased=True, annotator=bob, slot=1)
    again = AssignmentFactory(item=pilot.items.last(), leased=True, annotator=bob, purpose="repeat")
    erase_person(by=None, person=bob)
    slot.refresh_from_db()
    assert (slot.state, slot.annotator) == ("open", None)
    assert not pilot.assignments.filter(pk=again.pk).exists()


def test_they_can_not_sign_in_again_and_are_signed_out_everywhere(pilot, bob):
    bob.set_password("right-one-7")
    bob.save()
    elsewhere = Client()
    elsewhere.post(reverse("login"), {"login": "bob", "password": "right-one-7"})
    assert elsewhere.get(reverse("my_work")).status_code == 200
    _, token = tokens.make(by=bob, name="laptop", scopes=["read"])
    erase_person(by=None, person=bob)
    assert elsewhere.get(reverse("my_work")).status_code == 302
    assert Client().get("/api/v1/me", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    reply = Client().post(reverse("login"), {"login": to_pseudonym(bob), "password": "right-one-7"})
    assert reply.status_code == 200


class TestResearcher:
    def test_what_they_made_stays_under_a_number_and_webhooks_end(self, db):
        rosa, other = ResearcherFactory(username="rosa"), ResearcherFactory(username="other")
        projects.join(by=None, project=Project.objects.get(), user=other, role="owner")
        study = studies.create(by=rosa, name="Made", kind="pair", criteria=["preference"])
        hook = Webhook.objects.create(
            project=study.project,
            url="https://rosa.example/",
            events=["ping"],
            nonce="n",
            created_by=rosa,
        )
        erase_person(by=rosa, person=rosa)
        study.refresh_from_db()
        hook.refresh_from_db()
        assert study.created_by == rosa
        assert hook.ended_at is not None
        assert not Membership.objects.filter(user=rosa).exists()
        assert audit_queries.find_break() is None

    def test_the_only_owner_of_a_project_hands_it_on_first(self, db):
        rosa = ResearcherFactory(username="rosa")  # owns the only project, as its first researcher
        with pytest.raises(InputError, match="rosa is the only owner of the project Default"):
            erase_person(by=rosa, person=rosa)
        projects.join(by=None, project=Project.objects.get(), user=ResearcherFactory(), role="owner")
        assert erase_person(by=rosa, person=rosa).erased_at

    def test_the_last_administrator_makes_somebody_else_one_first(self, db):
        rosa = UserFactory(username="rosa", is_superuser=True)
        UserFactory(is_superuser=True, is_active=False)
        with pytest.raises(InputError, match="rosa is the only administrator"):
            erase_person(by=None, person=rosa)
        UserFactory(is_superuser=True)
        assert erase_person(by=None, person=rosa).erased_at

    def test_an_erased_account_gets_no_role_again(self, pilot, bob):
        erase_person(by=None, person=bob)
        with pytest.raises(InputError, match="is erased"):
            projects.join(by=None, project=pilot.project, user=bob, role="researcher")


class TestWhoMay:
    def test_an_owner_erases_annotators_of_their_own_projects_only(self, pilot, bob):
        owner = member(pilot.project, "owner")
        researcher = member(pilot.project, "researcher")
        elsewhere = with_items(1, name="Elsewhere", slug="elsewhere", project=ProjectFactory())
        with pytest.raises(InputError, match="the site's administration"):
            erase_person(by=researcher, person=bob)
        elsewhere.annotators.add(bob)
        with pytest.raises(InputError, match="the site's administration"):
            erase_person(by=owner, person=bob)
        elsewhere.annotators.remove(bob)
        with pytest.raises(InputError, match="the site's administration"):
            erase_person(by=owner, person=researcher)
        assert erase_person(by=owner, person=bob).erased_at

    def test_whom_an_account_concerns(self, pilot, bob):
        owner = member(pilot.project, "owner")
        stranger = MembershipFactory(project=ProjectFactory(), role="owner").user
        assert [concerns(by, bob) for by in (bob, owner, stranger, User.objects.get(username="cleo"))] == [
            *(True, True, False, False)
        ]

    def test_nobody_is_erased_twice_and_no_simulated_annotator_at_all(self, pilot, bob):
        erase_person(by=None, person=bob)
        with pytest.raises(InputError, match="erased already"):
            erase_person(by=None, person=bob)
        with pytest.raises(InputError, match="simulated"):
            erase_person(by=None, person=UserFactory(kind="simulated"))


def test_the_database_keeps_an_erased_account_empty(pilot, bob):
    erase_person(by=None, person=bob)
    for change in ({"email": "bob@example.org"}, {"is_active": True}, {"display_name": "Bob"}, {"is_researcher": True}):
        with pytest.raises(IntegrityError, match="erased_account_is_nobody"), transaction.atomic():
            User.objects.filter(pk=bob.pk).update(**change)


STAYS = {
    "annotation.Act.who": "a number, in a log that nobody changes",
    "annotation.Adjudication.decided_by": "a decision",
    "annotation.Admission.annotator": "a result of the qualification",
    "annotation.Admission.decided_by": "a decision",
    "annotation.Assignment.annotator": "their labels",
    "annotation.ConsentDecision.annotator": "that they agreed or withdrew",
    "annotation.ConsentDecision.recorded_by": "a decision",
    "annotation.Draft.annotator": "late answers, which are labels; drafts go",
    "annotation.Draft.decided_by": "a decision",
    "annotation.Exclusion.annotator": "whose labels do not count",
    "annotation.Exclusion.decided_by": "a decision",
    "annotation.Exclusion.ended_by": "a decision",
    "annotation.FilterOutcome.decided_by": "a decision",
    "annotation.ItemMessage.author": "a researcher's answer; threads of their own go",
    "annotation.Participation.annotator": "that they took part; by which link and id is emptied",
    "annotation.QueueRules.decided_by": "a decision",
    "annotation.TierOverride.decided_by": "a decision",
    "judging.FailureTag.tagged_by": "a label",
    "simulation.ConflictReview.decided_by": "a decision",
    "admin.LogEntry.user": "what they did in the administration, under the number",
}
"""Links to accounts that stay, under the number; besides all that say who made or revoked something."""

MAKERS = {"created_by", "retired_by", "revoked_by"}


def test_every_link_to_an_account_is_deleted_or_stays_for_a_reason():
    """A new table with a link to people fails here until somebody decides."""
    gone = {f"{model._meta.label}.{link}" for model, link in DELETED}
    links = {
        f"{model._meta.label}.{field.name}"
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if field.related_model is User and field.name not in MAKERS
    }
    assert links == {*gone, *STAYS}


class TestNamesInResults:
    def test_a_username_is_replaced_where_a_result_names_a_rater(self):
        before = {
            "raters": [{"rater": "mean", "n_ratings": 3}],
            "pairs": [{"a": "mean", "b": "cleo", "n": 2}],
            "judges": {"mean": {"per_annotator": {"mean": {"value": 0.5, "method": "mean"}}}},
            "labels": {"annotators": [{"annotator": "mean"}], "backwards": ["mean", "cleo"]},
            "warnings": [
                {"code": "idle_raters", "message": "No rating by mean, mean.two: not counted among mean."},
                {"code": "no_width", "message": "The mean has no width."},
            ],
            "mean": 3.5,
        }
        assert names.rename_rater(before, "mean", "erased-1") == {
            "raters": [{"rater": "erased-1", "n_ratings": 3}],
            "pairs": [{"a": "erased-1", "b": "cleo", "n": 2}],
            "judges": {"mean": {"per_annotator": {"erased-1": {"value": 0.5, "method": "mean"}}}},
            "labels": {"annotators": [{"annotator": "erased-1"}], "backwards": ["erased-1", "cleo"]},
            "warnings": [
                {"code": "idle_raters", "message": "No rating by erased-1, mean.two: not counted among erased-1."},
                {"code": "no_width", "message": "The mean has no width."},
            ],
            "mean": 3.5,
        }


def confirmed(client: Client, person: User) -> str:
    """The page, after the password was asked for once more: before anything is typed, which would be lost."""
    address = reverse("person_erase", args=[person.pk])
    for answer in (client.get(address), client.post(address, {"confirm": person.username})):
        assert answer.headers["Location"].startswith("/account/again/")
    assert not User.objects.get(pk=person.pk).erased_at
    client.post(reverse("account_reauthenticate"), {"password": "pw"})
    return address


class TestPage:
    def test_oneself(self, client, pilot):
        bob = UserFactory(username="eve")
        pilot.annotators.add(bob)
        client.force_login(bob)
        assert reverse("person_erase", args=[bob.pk]) in client.get(reverse("account")).content.decode()
        address = confirmed(client, bob)
        page = client.get(address).content.decode()
        assert "This cannot be undone." in page
        assert reverse("withdraw", args=["pilot"]) in page
        slip = client.post(address, {"confirm": "Eve"})
        assert slip.status_code == 422
        assert "This is not the username" in slip.content.decode()
        done = client.post(address, {"confirm": "eve"})
        assert "Your account is erased" in done.content.decode()
        assert User.objects.get(pk=bob.pk).erased_at
        assert client.get(reverse("my_work")).status_code == 302

    def test_who_came_from_a_platform_has_no_password_to_be_asked_for(self, client, bob):
        bob.set_unusable_password()
        bob.save()
        client.force_login(bob)
        done = client.post(reverse("person_erase", args=[bob.pk]), {"confirm": "bob"})
        assert "Your account is erased" in done.content.decode()

    @pytest.mark.any_database
    @pytest.mark.long
    def test_an_owner_for_somebody_and_nobody_else(self, client, pilot, bob):
        owner = member(pilot.project, "owner")
        client.force_login(owner)
        assert (
            reverse("person_erase", args=[bob.pk]) in client.get(reverse("coming_in", args=["pilot"])).content.decode()
        )
        address = confirmed(client, bob)
        done = client.post(address, {"confirm": "bob", "notes": "on"}, follow=True)
        assert "bob is erased." in done.content.decode()
        assert User.objects.get(pk=bob.pk).erased_notes
        refused = client.get(address).content.decode()
        assert "is erased already." in refused
        assert "Erase for good" not in refused
        for other in (member(pilot.project, "researcher"), UserFactory(), User.objects.get(username="cleo")):
            other.set_password("pw")
            other.save()
            client.force_login(other)
            client.post(reverse("account_reauthenticate"), {"password": "pw"})
            assert client.get(address).status_code == 404

    def test_what_they_do_elsewhere_is_not_told(self, client, pilot, bob):
        hidden = with_items(1, name="Hidden study", slug="hidden", project=ProjectFactory())
        hidden.annotators.add(bob)
        client.force_login(member(pilot.project, "owner"))
        page = client.get(confirmed(client, bob)).content.decode()
        assert "the site’s administration" in page.replace("&#x27;", "’")
        assert "Pilot" in page
        assert "Hidden study" not in page


class TestApi:
    @pytest.fixture
    def root(self, db) -> dict[str, str]:
        _, text = tokens.make(by=UserFactory(username="root", is_superuser=True), name="t", scopes=["admin"])
        return {"Authorization": f"Bearer {text}"}

    def test_it_says_and_does_the_same(self, client, root, pilot, bob):
        address, number = "/api/v1/people/bob/erase", to_pseudonym(bob)
        told = {"username": "bob", "number": number, "labels": 4, "studies": ["Pilot"], "refused": ""}
        assert client.get(address, headers=root).json() == told
        slip = client.post(address, {"confirm": "Bob"}, content_type="application/json", headers=root)
        assert (slip.status_code, slip.json()["field"]) == (400, "confirm")
        done = client.post(address, {"confirm": "bob"}, content_type="application/json", headers=root)
        assert (done.status_code, done.json()) == (200, told)
        assert User.objects.get(pk=bob.pk).username == number
        again = client.post(
            f"/api/v1/people/{number}/erase", {"confirm": number}, content_type="application/json", headers=root
        )
        assert again.status_code == 400
        assert "erased already" in again.content.decode()

    def test_a_token_that_may_not_let_others_in_erases_nobody(self, client, pilot, bob):
        _, text = tokens.make(by=bob, name="t", scopes=["read", "annotate"])
        reply = client.post(
            "/api/v1/people/bob/erase", {"confirm": "bob"}, content_type="application/json",
            headers={"Authorization": f"Bearer {text}"},
        )  # fmt: skip
        assert reply.status_code == 403
        client.force_login(User.objects.get(username="cleo"))
        assert client.get("/api/v1/people/bob/erase").status_code == 404


class TestCommand:
    def said(self, *args: str) -> dict[str, Any]:
        out = StringIO()
        call_command("erase", *args, "--json", stdout=out)
        found: dict[str, Any] = json.loads(out.getvalue())
        return found

    def test_it_says_first_and_does_with_do(self, pilot, bob):
        said = self.said("bob")
        assert (said["did"], said["labels"], said["studies"]) == (False, 4, ["Pilot"])
        assert not User.objects.get(pk=bob.pk).erased_at
        assert self.said("bob", "--do", "--notes")["number"] == User.objects.get(pk=bob.pk).username
        with pytest.raises(CommandError, match="no account 'bob'"):
            self.said("bob", "--do")


def test_the_site_is_as_it_should_be(pilot, bob, settings, tmp_path, django_capture_on_commit_callbacks):
    settings.WITHDRAWN_FILE = tmp_path / "withdrawn.jsonl"
    with django_capture_on_commit_callbacks(execute=True):
        erase_person(by=None, person=bob)
    assert DemographicAnswer.objects.count() == 0
    assert [one.invariant for one in invariants.findings()] == []
