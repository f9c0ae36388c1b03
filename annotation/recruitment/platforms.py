"""What the link of a platform says of the person who opens it (pure).

Prolific puts PROLIFIC_PID, STUDY_ID and SESSION_ID into the address; Mechanical Turk puts workerId, assignmentId,
hitId and turkSubmitTo, and says by a set value of assignmentId that somebody only looks at the task.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from core.errors import InputError

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
TURK = ("https://www.mturk.com", "https://workersandbox.mturk.com")
"""To whom an assignment may be submitted."""

FRAMED_BY = ("https://*.mturk.com", "https://*.mturkcontent.com")
"""Sites that may frame the first page of a link; Mechanical Turk does."""

AN_ID = re.compile(r"[A-Za-z0-9_.:-]{1,255}")


@dataclass(frozen=True)
class Platform:
    """A place where people take up work.

    Attributes
    ----------
    name
        As people know it.
    person
        The parameter that says who somebody is.
    parameters
        All that are read; whatever else is in the address is left alone.
    example
        What a researcher appends to the link there.
    """

    name: str
    person: str
    parameters: tuple[str, ...]
    example: str = ""


PLATFORMS = {
    "prolific": Platform(
        "Prolific",
        "PROLIFIC_PID",
        ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
        "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
    ),
    "mturk": Platform(
        "Mechanical Turk", "workerId", ("workerId", "assignmentId", "hitId", "turkSubmitTo")
    ),  # appends them itself
}


@dataclass(frozen=True)
class Visit:
    """Somebody who came from a platform.

    Attributes
    ----------
    platform
        Key of `PLATFORMS`.
    person
        Their id there; empty for a preview.
    parameters
        What the address said, by name; without what was empty.
    is_preview
        They look at the task and have not taken it up.
    """

    platform: str
    person: str
    parameters: Mapping[str, str]
    is_preview: bool = False


def visit(platform: str, given: Mapping[str, Sequence[str]]) -> Visit:
    """The visit that an address tells of. ``given`` maps each parameter to its values.

    Raises InputError, naming the parameter, where the person's id is missing, not filled in, given twice or no id.
    """
    known = PLATFORMS[platform]
    found = {name: _one(name, given[name]) for name in known.parameters if any(given.get(name, ()))}
    if found.get("assignmentId") == PREVIEW:
        return Visit(platform, "", found, is_preview=True)
    if known.person not in found:
        raise InputError(
            "This link is to be opened from {platform}, which says who you are.",
            field=known.person,
            platform=known.name,
        )
    for name, value in found.items():
        _check(name, value)
    return Visit(platform, found[known.person], found)


def _one(name: str, values: Sequence[str]) -> str:
    if len(values) > 1:
        raise InputError("The address names it twice.", field=name)
    return values[0]


def _check(name: str, value: str) -> None:
    if name == "turkSubmitTo":
        parts = urlsplit(value)
        if f"{parts.scheme}://{parts.netloc}" not in TURK:
            raise InputError("It does not lead to Mechanical Turk.", field=name)
    elif not AN_ID.fullmatch(value):
        raise InputError("This is not an id: the platform has not filled it in.", field=name)


def submit_address(parameters: Mapping[str, str]) -> str:
    """Where Mechanical Turk takes the end of an assignment; empty where the visit does not say it."""
    base, assignment = parameters.get("turkSubmitTo", ""), parameters.get("assignmentId", "")
    return f"{base.rstrip('/')}/mturk/externalSubmit" if base and assignment else ""


def completion_address(platform: str, code: str) -> str:
    """Where a platform takes a completion code as part of the address; empty where it does not."""
    return f"https://app.prolific.com/submissions/complete?cc={code}" if platform == "prolific" and code else ""
