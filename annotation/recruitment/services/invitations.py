"""Links into a study: made, taken back, and used. The token is told once and only its hash is kept."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from annotation.recruitment.models.participation import Invitation
from annotation.recruitment.queries.participation import add_uses, find_closing_reason, token_hash
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError

TOKEN_BYTES = 32
MOST_USES = 1_000_000
LONGEST_NOTE = 200


@dataclass(frozen=True)
class CreatedInvitation:
    """An invitation with its token, which cannot be found out again."""

    invitation: Invitation
    token: str


@audited("invitation.make", says=("max_uses", "expires_at", "platform"))
def create(
    *,
    by: User | None,
    study: Study,
    max_uses: int | None = None,
    expires_at: datetime | None = None,
    platform: str = "",
    note: str = "",
) -> CreatedInvitation:
    """A link by which `max_uses` people (anybody without it) may join until `expires_at` (for good without it)."""
    check(study, max_uses, expires_at, platform, note)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    made = Invitation.objects.create(
        study=study,
        token_hash=token_hash(token),
        platform=platform,
        note=note.strip(),
        max_uses=max_uses,
        expires_at=expires_at,
        created_by=by,
    )
    return CreatedInvitation(made, token)


def check(study: Study, max_uses: int | None, expires_at: datetime | None, platform: str, note: str) -> None:
    if study.state == Study.State.CLOSED:
        raise InputError(f"{study} is closed: open it again before you invite people.", field="study")
    if max_uses is not None and not 1 <= max_uses <= MOST_USES:
        raise InputError(f"An invitation is for 1 to {MOST_USES:,} people.", field="uses")
    if expires_at is not None and expires_at <= timezone.now():
        raise InputError("It would have expired already.", field="expires")
    if platform not in Invitation.Platform.values:
        known = ", ".join(filter(None, Invitation.Platform.values))
        raise InputError(f"{platform!r} is not one of {known}.", field="platform")
    if "\0" in note or len(note) > LONGEST_NOTE:
        raise InputError(f"A note has at most {LONGEST_NOTE} characters.", field="note")


@audited("invitation.revoke", on="invitation")
def revoke(*, by: User | None, invitation: Invitation) -> None:
    """Let nobody join by it any more. Who joined before stays."""
    now = timezone.now()
    if not Invitation.objects.filter(pk=invitation.pk, revoked_at=None).update(revoked_at=now, revoked_by=by):
        raise InputError("This invitation is revoked already.", field="revoke")
    invitation.revoked_at, invitation.revoked_by = now, by


def lock_invitation(invitation: Invitation) -> Invitation:
    """The invitation, locked against others who join at the same moment. InputError where it is closed."""
    locked = Invitation.objects.select_for_update(of=("self",)).select_related("study").get(pk=invitation.pk)
    uses = add_uses(Invitation.objects.filter(pk=locked.pk)).values_list("uses", flat=True).get()
    if why := find_closing_reason(locked, uses=uses):
        raise InputError(why, field="invitation")
    return locked
