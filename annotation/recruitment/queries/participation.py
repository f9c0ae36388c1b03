"""Participations: the link that people came by, what they agreed to, and whether that still holds."""

from __future__ import annotations

import hashlib
from base64 import b32encode
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from annotation.recruitment.models.participation import (
    ConsentDecision,
    ConsentText,
    Intake,
    Invitation,
    Participation,
)
from annotation.studies.models.assignments import WORK, Assignment
from annotation.studies.models.studies import Study
from core.accounts.models.users import User

CODE_BYTES = 10
CODE_SALT = "annotation.return code"

AGREED, DECLINED, WITHDRAWN = ConsentDecision.Decision


def token_hash(token: str) -> str:
    """What is kept of a link's token. It is drawn from 256 bits, so that a plain hash cannot be turned around."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def return_code(participation: Participation) -> str:
    """What lets a person whom a platform sent go on in another browser. It follows from the site's secret key."""
    secret = salted_hmac(CODE_SALT, f"{participation.pk} {participation.platform_key}", algorithm="sha256").digest()
    letters = b32encode(secret[:CODE_BYTES]).decode()
    return "-".join(letters[start : start + 4] for start in range(0, len(letters), 4))


def find_return_code(study: Study, annotator: User) -> str:
    """The return code of somebody whom a platform sent to the study; empty for anybody else."""
    found = study.participations.filter(annotator=annotator).exclude(platform_key="").first()
    return return_code(found) if found else ""


def is_link_participant(user: Any) -> bool:
    """Whether an account was made for somebody whom a platform sent, and has no password."""
    if not user.is_authenticated or user.has_usable_password():
        return False
    return Participation.objects.filter(annotator=user).exclude(platform_key="").exists()


def find_intake(study: Study) -> Intake:
    """How people come into the study; an unsaved one that asks nothing where none was set."""
    return Intake.objects.select_related("consent_text").filter(study=study).first() or Intake(study=study)


def find_invitation(token: str) -> tuple[Invitation, str] | None:
    """The invitation with this token, and why nobody can join by it any more (empty if they can)."""
    called = Invitation.objects.filter(token_hash=token_hash(token)).select_related("study")
    found = add_uses(called).first()
    return (found, find_closing_reason(found, uses=found.uses)) if found else None


def add_uses(invitations: QuerySet[Invitation]) -> QuerySet[Any]:
    """With `uses`, the number of people who joined by each."""
    return invitations.annotate(uses=Count("participations"))


def find_closing_reason(invitation: Invitation, *, uses: int) -> str:
    """Why nobody can join by the invitation any more; empty if they can."""
    if invitation.revoked_at:
        return _("This link was revoked.")
    if invitation.expires_at and invitation.expires_at <= timezone.now():
        return _("This link has expired.")
    if invitation.max_uses is not None and uses >= invitation.max_uses:
        return _("This link has been used by as many people as it was made for.")
    return find_study_closing_reason(invitation.study)


def find_study_closing_reason(study: Study) -> str:
    return _("This study is closed and takes no more people.") if study.state == Study.State.CLOSED else ""


def find_decision(study: Study, annotator: User) -> ConsentDecision | None:
    """Their newest decision."""
    decided = ConsentDecision.objects.filter(study=study, annotator=annotator)
    return decided.select_related("text").order_by("-pk").first()


def has_withdrawn(study: Study, annotator: User) -> bool:
    """Whether they withdrew, and no researcher has taken them in again since."""
    if study.annotators.filter(pk=annotator.pk).exists():
        return False
    newest = ConsentDecision.objects.filter(study=study, annotator=annotator).order_by("-pk")
    return newest.values_list("decision", flat=True).first() == WITHDRAWN


def text_owed(study: Study, annotator: User) -> ConsentText | None:
    """The text that they have to agree to before they see an item; None where nothing is owed."""
    text = find_intake(study).consent_text
    decided = find_decision(study, annotator)
    agreed = decided and decided.decision == AGREED and decided.text_id == (text and text.pk)
    return None if agreed else text


@dataclass(frozen=True)
class Participant:
    """One person of a study as the researcher sees them."""

    annotator: User
    came_by: str
    platform: str
    platform_id: str
    joined_at: datetime | None
    decision: str
    text_hash: str
    decided_at: datetime | None
    erased: int | None
    submitted: int
    completed_at: datetime | None
    completion_code: str

    def to_json(self) -> dict[str, object]:
        """As JSON types."""
        at = {name: getattr(self, name) for name in ("joined_at", "decided_at", "completed_at")}
        return {
            **{name: value for name, value in vars(self).items() if name != "annotator"},
            **{name: value.isoformat() if value else None for name, value in at.items()},
            "annotator": self.annotator.username,
        }


def participants(study: Study) -> list[Participant]:
    """Everybody who is, or was, in the study, by name. Four queries."""
    joined = {one.annotator_id: one for one in study.participations.select_related("invitation")}
    decided: dict[int, ConsentDecision] = {}
    for one in study.consent_decisions.select_related("text").order_by("pk"):
        decided[one.annotator_id] = one
    submitted = dict(
        study.assignments.filter(state=Assignment.State.SUBMITTED, purpose__in=WORK)
        .order_by()
        .values_list("annotator")
        .annotate(n=Count("pk"))
    )
    here = Q(studies=study) | Q(pk__in=[*joined, *decided])
    people = User.objects.filter(here, kind=User.Kind.PERSON).distinct().order_by("username")
    return [
        participant(person, joined.get(person.pk), decided.get(person.pk), submitted.get(person.pk, 0))
        for person in people
    ]


def participant(
    person: User, joined: Participation | None, decided: ConsentDecision | None, submitted: int
) -> Participant:
    visits = joined.visits if joined else []
    return Participant(
        annotator=person,
        came_by=describe_origin(joined),
        platform=joined.platform if joined else "",
        platform_id=str(visits[-1].get("person", "")) if visits else "",
        joined_at=joined.joined_at if joined else None,
        decision=decided.get_decision_display() if decided else "",
        text_hash=decided.text.content_hash if decided and decided.text else "",
        decided_at=decided.created_at if decided else None,
        erased=decided.erased if decided else None,
        submitted=submitted,
        completed_at=joined.completed_at if joined else None,
        completion_code=joined.completion_code if joined else "",
    )


def describe_origin(joined: Participation | None) -> str:
    if joined and joined.invitation:
        return f"invitation {joined.invitation.pk}"
    if joined and joined.is_self_registered:
        return "public address"
    return "added"
