"""Erasing a person: the account stays as a number without a person, and so do their labels and what they decided.

Whoever wants their labels erased too withdraws from the studies, before or after.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.admin.models import LogEntry
from django.contrib.auth.hashers import make_password
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db.models import Model, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.recruitment.models import ConsentDecision, DemographicAnswer, Invitation, Participation
from annotation.recruitment.services import consents, withdrawn
from annotation.recruitment.services.withdrawn import birthday
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation, Draft
from annotation.studies.models.messages import ItemMark, ItemMessage
from annotation.studies.models.studies import Study
from annotation.studies.models.webhooks import Webhook
from annotation.studies.queries.asks import SUFFIXES
from config.erasure import names
from core.accounts import permissions
from core.accounts.access import may_research
from core.accounts.models.projects import Membership, Project
from core.accounts.models.tokens import ApiToken, IdempotentWrite
from core.accounts.models.users import User
from core.accounts.permissions import filter_visible
from core.audit.log import audit_batch, audited
from core.errors import InputError
from core.hashing import content_hash

DELETED: tuple[tuple[type[Model], str], ...] = (
    (ApiToken, "user"),
    (Authenticator, "user"),  # authenticator apps and recovery codes
    (DemographicAnswer, "annotator"),
    (EmailAddress, "user"),
    (IdempotentWrite, "user"),
    (ItemMark, "annotator"),
    (ItemMessage, "annotator"),  # their threads, with the answers
    (Membership, "user"),
    (SocialAccount, "user"),
)
"""Rows about the person that go with them, and their link to the account. All others stay, under the number."""

ERASED_TEXT = "erased"
"""Stands where somebody wrote why they could not judge: that they could not is part of the label."""


def erase_person(*, by: User | None, person: User, notes: bool = False) -> User:
    """Take everything out of an account that says who it was; with `notes` also what they wrote beside labels.

    InputError where it may not be: see `find_obstacle`.
    """
    with audit_batch():
        lock(person)
        person.refresh_from_db()
        if reason := find_obstacle(by, person):
            raise InputError(reason, field="person")
        return make_nobody(by=by, person=person, notes=notes, at=timezone.now())


def lock(person: User) -> None:
    """Until the end nobody takes away the other owners and administrators, and what the person sends now waits."""
    owned = Project.objects.filter(memberships__user=person, memberships__role=Membership.Role.OWNER)
    list(Project.objects.select_for_update().filter(pk__in=owned.values("pk")).order_by("pk"))
    list(User.objects.select_for_update(no_key=True).filter(Q(is_superuser=True) | Q(pk=person.pk)).order_by("pk"))


def find_obstacle(by: User | None, person: User) -> str:
    """Why the account cannot be erased, or not by them, in a sentence; empty if it can."""
    if person.erased_at:
        return _("{person} is erased already.").format(person=person)
    if person.kind == User.Kind.SIMULATED:
        return _("{person} is a simulated annotator, nobody who could be erased.").format(person=person)
    if not may_erase(by, person):
        return _("{person} has a part in what you do not own: the site's administration can erase the account.").format(
            person=person
        )
    if project := list_owned_alone(person).first():
        said = _("{person} is the only owner of the project {project}: make somebody else its owner first.")
        return said.format(person=person, project=project)
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=person.pk)
    if person.is_superuser and not others.exists():
        return _("{person} is the only administrator of the site: make somebody else one first.").format(person=person)
    return ""


def list_owned_alone(person: User) -> QuerySet[Project]:
    """Projects that would have no owner without them."""
    owners = Membership.objects.filter(role=Membership.Role.OWNER)
    theirs = owners.filter(user=person).values("project")
    return Project.objects.filter(pk__in=theirs).exclude(pk__in=owners.exclude(user=person).values("project"))


def may_erase(by: User | None, person: User) -> bool:
    """Oneself; anybody, for administrators and commands; an annotator of one's own projects only, for their owners."""
    if by is None or by == person or by.is_superuser:
        return True
    is_only_annotator = not (person.is_researcher or person.is_superuser or person.memberships.exists())
    mine = permissions.memberships(by, permissions.OWNING)
    studies = list_studies(person)
    return (
        may_research(by) and is_only_annotator and studies.exists() and not studies.exclude(project__in=mine).exists()
    )


def concerns(by: User, person: User) -> bool:
    """Whether the account may be spoken of to them: their own, or one that has a part in a project that they own."""
    if by == person or by.is_superuser:
        return True
    mine = permissions.memberships(by, permissions.OWNING)
    return may_research(by) and list_studies(person).filter(project__in=mine).exists()


def list_studies(person: User) -> QuerySet[Study]:
    """Studies in which they have or had a part."""
    parts = (Assignment, Participation, ConsentDecision)
    found = Q(pk__in=person.studies.values("pk"))
    for model in parts:
        found |= Q(pk__in=model._base_manager.filter(annotator=person).values("study"))
    return Study.objects.filter(found)


def to_pseudonym(person: User) -> str:
    """What stands in place of the username: the same again after a restore, and no other account's on another site."""
    return f"erased-{person.pk}-{content_hash([person.pk, birthday(person.date_joined)])[:6]}"


@audited("account.erase", on="person", says=("notes",))
def make_nobody(*, by: User | None, person: User, notes: bool, at: datetime) -> User:  # noqa: ARG001
    """Erase without asking whether it may be. `at` is the moment that is kept of it."""
    names.replace_in_results(person, to_pseudonym(person), list_studies(person))
    leave_studies(person)
    if notes:
        erase_notes(person)
    end_access(person)
    delete_rows(person)
    clear_account(person, notes=notes, at=at)
    withdrawn.write_after_commit()
    return person


def leave_studies(person: User) -> None:
    """They are given no more items, others get what they had in work, and nothing tells by what link they came."""
    submitted = Assignment.State.SUBMITTED
    for study in list_studies(person):
        unfinished = study.assignments.filter(annotator=person).exclude(state=submitted)
        consents.free(study, list(unfinished.values_list("pk", flat=True)))
    Draft.objects.filter(annotator=person, state=Draft.State.DRAFT).delete()
    joined = Participation.objects.filter(annotator=person)
    Invitation.objects.filter(max_uses=1, participations__in=joined).update(note="")
    joined.update(visits=[], platform="", platform_key="", completion_code="")
    person.studies.clear()


def erase_notes(person: User) -> None:
    """What they wrote beside labels and in late answers. The labels stay."""
    theirs = Annotation.objects.filter(assignment__annotator=person)
    theirs.exclude(note="").update(note="")
    theirs.exclude(unscored_reason="").update(unscored_reason=ERASED_TEXT)
    for draft in Draft.objects.filter(annotator=person):
        kept = {name: text for name, text in draft.content.items() if not name.endswith(SUFFIXES["notes"])}
        draft.content = {
            name: ERASED_TEXT if text and name.endswith(SUFFIXES["unscored"]) else text for name, text in kept.items()
        }
        draft.save(update_fields=["content"])


def end_access(person: User) -> None:
    """Sign them out everywhere, and tell the webhooks that they made nothing more."""
    theirs = [one.pk for one in Session.objects.iterator(chunk_size=2000) if belongs_to(one.get_decoded(), person)]
    Session.objects.filter(pk__in=theirs).delete()
    Webhook.objects.filter(created_by=person, ended_at=None).update(ended_at=timezone.now())


def belongs_to(session: Mapping[str, Any], person: User) -> bool:
    """Whether they are signed in there, or half of the way: allauth keeps the name of who still owes a code."""
    waiting = session.get("account_login") or {}
    keys = (session.get("_auth_user_id"), session.get("account_authentication_methods_user"), waiting.get("user_pk"))
    return str(person.pk) in keys


def delete_rows(person: User) -> None:
    """Rows about them, and what the log of Django's administration calls these and the account."""
    about: list[tuple[type[Model], str]] = [*DELETED, (User, "pk")]
    for model, link in about:
        rows = model._base_manager.filter(**{link: person.pk})
        keys = [str(pk) for pk in rows.values_list("pk", flat=True)]
        kind = ContentType.objects.get_for_model(model)
        LogEntry.objects.filter(content_type=kind, object_id__in=keys).update(object_repr=to_pseudonym(person))
        if model is not User:
            rows.delete()


def clear_account(person: User, *, notes: bool, at: datetime) -> None:
    person.groups.clear()
    person.user_permissions.clear()
    person.username, person.password = to_pseudonym(person), make_password(None)
    person.display_name = person.first_name = person.last_name = person.email = person.language = ""
    person.is_active = person.is_staff = person.is_superuser = person.is_researcher = False
    person.last_login = person.working_in = None
    person.erased_at, person.erased_notes = at, notes
    person.save()


@dataclass(frozen=True)
class About:
    """An account before it is erased.

    Attributes
    ----------
    username, number
        What it is called, and what it would be called then.
    labels, studies
        How many labels stay, and the studies in which the person has or had a part, by name.
    refused
        Why it cannot be erased, in a sentence; empty if it can.
    """

    username: str
    number: str
    labels: int
    studies: tuple[str, ...]
    refused: str

    def to_json(self) -> dict[str, object]:
        return {**asdict(self), "studies": list(self.studies)}


def load_about(*, by: User | None, person: User) -> About:
    """What `by` may see of it: a command and the person all, others what is of their projects."""
    theirs = list_studies(person)
    seen = theirs if by in (None, person) else filter_visible(by, theirs)
    labels = Annotation.objects.filter(assignment__annotator=person, assignment__study__in=seen).count()
    names = seen.order_by("name").values_list("name", flat=True)
    return About(person.username, to_pseudonym(person), labels, tuple(names), find_obstacle(by, person))
