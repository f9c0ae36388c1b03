"""Joining a study: by a link that was made, with a new account, with one's own, or as somebody whom a platform sent.

The token of a link is told once and only its hash is kept.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _, gettext_noop

from annotation.recruitment.models import Invitation, Participation
from annotation.recruitment.platforms import Visit
from annotation.recruitment.queries import (
    add_uses,
    find_closing_reason,
    find_intake,
    find_return_code,
    find_study_closing_reason,
    has_withdrawn,
    return_code,
    token_hash,
)
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.hashing import content_hash

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
        raise InputError("{study} is closed: open it again before you invite people.", field="study", study=study)
    if max_uses is not None and not 1 <= max_uses <= MOST_USES:
        raise InputError("An invitation is for 1 to {most_uses:,} people.", field="uses", most_uses=MOST_USES)
    if expires_at is not None and expires_at <= timezone.now():
        raise InputError("It would have expired already.", field="expires")
    if platform not in Invitation.Platform.values:
        known = ", ".join(filter(None, Invitation.Platform.values))
        raise InputError("{platform!r} is not one of {known}.", field="platform", platform=platform, known=known)
    if "\0" in note or len(note) > LONGEST_NOTE:
        raise InputError("A note has at most {longest_note} characters.", field="note", longest_note=LONGEST_NOTE)


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


MOST_VISITS = 100
"""Visits of one person that are kept; who opens a link more often than that has told nothing new for long."""

WITHDRAWN = gettext_noop(
    "You have withdrawn from this study. Your labels were erased, and you are given no more items."
)

NOT_THEIRS = gettext_noop("This is not the return code of this id.")


def join(*, by: User, study: Study, invitation: Invitation | None = None) -> None:
    """Let `by` rate in the study, by an invitation or by its public address. Joining again changes nothing."""
    with transaction.atomic():
        refuse_withdrawn(by, study)
        if not study.annotators.filter(pk=by.pk).exists():
            admit_to_study(by, study, invitation)


def create_account_and_join(*, account: User, study: Study, invitation: Invitation | None = None) -> User:
    """Save the account (checked, unsaved, with its password set) and let it rate in the study: both or neither."""
    try:
        with transaction.atomic():
            account.save(force_insert=True)
            admit_to_study(account, study, invitation)
    except IntegrityError as error:
        raise InputError("This name is taken.", field="username") from error
    return account


def find_or_create_platform_account(*, by: User | None, invitation: Invitation, visit: Visit, code: str = "") -> User:
    """The account of whom a platform sent: made at their first visit, the same at every other.

    It has no password. The platform's link is the way in at the first visit. Ids there are no secrets, so to come back
    takes more: the browser in which they are signed in (`by`), or their return code.
    """
    key = platform_key(visit)
    with transaction.atomic():
        found = find_participation(invitation.study, key)
        if found is None:
            found = newcomer(invitation, visit, key)
        else:
            refuse_stranger(found, by, code)
            refuse_withdrawn(found.annotator, found.study)
        remember(found, visit)
    return found.annotator


@audited("return_code.tell", on="annotator")
def tell_return_code(*, by: User | None, study: Study, annotator: User) -> str:  # noqa: ARG001
    """The return code of somebody who lost theirs. Whoever knows it and their id can rate in their name."""
    code = find_return_code(study, annotator)
    if not code:
        raise InputError(
            "No platform sent {annotator} to {study}.", field="annotator", annotator=annotator, study=study
        )
    return code


def refuse_stranger(participation: Participation, by: User | None, code: str) -> None:
    """Let nobody in as somebody else: an id of a platform is known to many."""
    given = "".join(code.split()).replace("-", "").upper()
    if by != participation.annotator and not constant_time_compare(given, return_code(participation).replace("-", "")):
        raise InputError(_(NOT_THEIRS), field="code")


def platform_key(visit: Visit) -> str:
    return content_hash([visit.platform, visit.person])


def find_participation(study: Study, key: str) -> Participation | None:
    """Find and lock the participation with this platform id."""
    there = Participation.objects.select_for_update(of=("self",)).select_related("annotator", "study")
    return there.filter(study=study, platform_key=key).first()


def newcomer(invitation: Invitation, visit: Visit, key: str) -> Participation:
    locked = lock_invitation(invitation)
    if found := find_participation(locked.study, key):  # a second window came first, while this one waited for the lock
        return found
    name = f"{visit.platform}-{locked.study.pk}-{key[:12]}"
    account = User(username=name, kind=User.Kind.PERSON)
    account.set_unusable_password()
    account.save(force_insert=True)
    locked.study.annotators.add(account)
    return Participation.objects.create(
        study=locked.study, annotator=account, invitation=locked, platform=visit.platform, platform_key=key
    )


def remember(participation: Participation, visit: Visit) -> None:
    """Keep what the address said, unless it said so before; the newest visit is the last one."""
    said: dict[str, object] = {"person": visit.person, **visit.parameters}
    others = [one for one in participation.visits if {**one, "at": ""} != {**said, "at": ""}]
    participation.visits = [*others, {**said, "at": timezone.now().isoformat()}][-MOST_VISITS:]
    participation.save(update_fields=["visits"])


def refuse_withdrawn(by: User, study: Study) -> None:
    if has_withdrawn(study, by):
        raise InputError(_(WITHDRAWN), field="annotator")


def admit_to_study(by: User, study: Study, invitation: Invitation | None) -> None:
    if invitation is not None:
        invitation = lock_invitation(invitation)
    elif not find_intake(study).is_public:
        raise InputError("This study takes nobody in without an invitation.", field="study")
    elif why := find_study_closing_reason(study):
        raise InputError(why, field="study")
    study.annotators.add(by)
    Participation.objects.get_or_create(
        study=study, annotator=by, defaults={"invitation": invitation, "is_self_registered": invitation is None}
    )
