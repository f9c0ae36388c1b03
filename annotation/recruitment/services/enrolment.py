"""Joining a study: with a new account, with the account one has, or as somebody whom a platform sent."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotation.recruitment.models.participation import Invitation, Participation
from annotation.recruitment.platforms import Visit
from annotation.recruitment.queries.participation import (
    find_intake,
    find_return_code,
    find_study_closing_reason,
    has_withdrawn,
    return_code,
)
from annotation.recruitment.services.invitations import lock_invitation
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.hashing import content_hash

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
        raise InputError(_("This name is taken."), field="username") from error
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
        raise InputError(f"No platform sent {annotator} to {study}.", field="annotator")
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
    said: dict[str, Any] = {"person": visit.person, **visit.parameters}
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
        raise InputError(_("This study takes nobody in without an invitation."), field="study")
    elif why := find_study_closing_reason(study):
        raise InputError(why, field="study")
    study.annotators.add(by)
    Participation.objects.get_or_create(
        study=study, annotator=by, defaults={"invitation": invitation, "is_self_registered": invitation is None}
    )
