"""`manage.py invite`: links by which people come into a study."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TypedDict, final

from django.core.management.base import CommandParser
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from annotation.management.base import ConcordCommand
from annotation.recruitment.forms import LONGEST_DAYS, days_from_now
from annotation.recruitment.models import Invitation
from annotation.recruitment.platforms import PLATFORMS
from annotation.recruitment.queries import add_uses, find_closing_reason
from annotation.recruitment.services import enrolment
from annotation.studies.models.studies import Study
from annotation.studies.queries.studies import study_called
from core.errors import InputError


class InvitationDocument(TypedDict):
    number: int
    platform: str | None
    note: str
    uses: int | None
    joined: int
    expires_at: str | None
    created_by: str | None
    created_at: str
    revoked_at: str | None
    closed: str | None


class NewInvitationDocument(InvitationDocument):
    study: str
    link: str
    token: str


@final
class InvitationsDocument(TypedDict):
    study: str
    invitations: list[InvitationDocument]


class Command(ConcordCommand[NewInvitationDocument | InvitationsDocument]):
    help = "Make a link into a study (told this once), list those there are, or revoke one."
    example = "invite --study pilot --uses 20 --days 14 --platform prolific --site https://rate.example.org"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or address of the study")
        parser.add_argument("--uses", type=int, help="people at most; default: any number")
        parser.add_argument("--days", type=int, help="days that it is good for; default: for good")
        parser.add_argument("--expires", help="until when it is good, as 2027-01-31T18:00+00:00, instead of --days")
        parser.add_argument("--platform", default="", help=f"one of {', '.join(PLATFORMS)}")
        parser.add_argument("--note", default="")
        parser.add_argument("--site", default="", help="begin the link with this address of the site")
        parser.add_argument("--list", action="store_true", help="list the invitations instead")
        parser.add_argument("--revoke", type=int, metavar="NUMBER", help="revoke one instead")

    def run(
        self, *, study: str, uses: int | None, days: int | None, expires: str | None, platform: str, note: str,
        site: str, list: bool, revoke: int | None, **_: object,
    ) -> NewInvitationDocument | InvitationsDocument:  # fmt: skip
        found = study_called(study)
        if revoke is not None:
            old = found.invitations.filter(pk=revoke).first()
            if old is None:
                raise InputError("{study} has no invitation {number}.", field="revoke", study=found, number=revoke)
            enrolment.revoke(by=None, invitation=old)
        if list or revoke is not None:
            return {"study": found.name, "invitations": list_invitations(found)}
        if site and not site.startswith(("https://", "http://")):
            raise InputError("An address begins with https://.", field="site")
        until = expiry(days, expires)
        made = enrolment.create(by=None, study=found, max_uses=uses, expires_at=until, platform=platform, note=note)
        known = PLATFORMS.get(made.invitation.platform)
        path = reverse("join", args=[made.token]) + (known.example if known else "")
        rows = [one for one in list_invitations(found) if one["number"] == made.invitation.pk]
        return {"study": found.name, "link": site.rstrip("/") + path, "token": made.token, **rows[0]}

    def write_text(self, document: NewInvitationDocument | InvitationsDocument) -> None:
        if "link" in document:
            number, link = document["number"], document["link"]
            self.stdout.write(f"Invitation {number} into {document['study']!r}, told this once:\n{link}")
            return
        for one in document["invitations"]:
            state = one["closed"] or "open"
            most = "" if one["uses"] is None else f" of {one['uses']}"
            self.stdout.write(f"{one['number']}: {one['joined']}{most} joined; {state} {one['note']}".rstrip())


def expiry(days: int | None, until: str | None) -> datetime | None:
    if until is None:
        if days is not None and not 1 <= days <= LONGEST_DAYS:
            raise InputError("A link is good for 1 to {longest_days} days.", field="days", longest_days=LONGEST_DAYS)
        return days_from_now(days)
    if days is not None:
        raise InputError("Give --days or --expires, not both.", field="expires")
    try:
        found = parse_datetime(until)
        if found:
            return (found if timezone.is_aware(found) else timezone.make_aware(found)).astimezone(UTC)
    except (ValueError, OverflowError):  # at the end of time
        pass
    raise InputError("{until!r} is not a date and time such as 2027-01-31T18:00+00:00.", field="expires", until=until)


def list_invitations(study: Study) -> list[InvitationDocument]:
    found = add_uses(study.invitations.select_related("study", "created_by")).order_by("pk")
    return [to_json(one, one.uses) for one in found]


def to_json(one: Invitation, joined: int) -> InvitationDocument:
    return {
        "number": one.pk,
        "platform": one.platform or None,
        "note": one.note,
        "uses": one.max_uses,
        "joined": joined,
        "expires_at": one.expires_at.isoformat() if one.expires_at else None,
        "created_by": one.created_by.username if one.created_by else None,
        "created_at": one.created_at.isoformat(),
        "revoked_at": one.revoked_at.isoformat() if one.revoked_at else None,
        "closed": find_closing_reason(one, uses=joined) or None,
    }
