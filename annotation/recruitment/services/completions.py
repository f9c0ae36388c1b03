"""How people come into a study, and completion: a person has done their share, and gets the code that says so."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from annotation.recruitment.models import Intake, Participation
from annotation.recruitment.platforms import completion_address, submit_address
from annotation.recruitment.queries import find_intake
from annotation.recruitment.services import consents
from annotation.studies.models.assignments import WORK, Assignment
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError

CODE_BYTES = 5
A_CODE = re.compile(r"[A-Za-z0-9_-]{1,80}")


@dataclass(frozen=True)
class Completion:
    """What somebody takes home who is done.

    Attributes
    ----------
    code
        Empty where the study gives none.
    address
        Where it takes them; empty where nowhere.
    submit_to, assignment
        Of Mechanical Turk: where the assignment is submitted to, and its id; empty elsewhere.
    """

    code: str
    address: str = ""
    submit_to: str = ""
    assignment: str = ""


def record(*, by: User, study: Study) -> Completion | None:
    """Put on record that nothing is left for `by`, once, and tell their code; None if they have rated nothing."""
    rated = study.assignments.filter(annotator=by, state=Assignment.State.SUBMITTED, purpose__in=WORK)
    if not rated.exists():
        return None
    intake = find_intake(study)
    with transaction.atomic():
        part, _ = Participation.objects.select_for_update().get_or_create(study=study, annotator=by)
        if part.completed_at is None:
            part.completed_at = timezone.now()
            part.completion_code = build_code(intake, part)
            part.save(update_fields=["completed_at", "completion_code"])
    return completion(intake, part)


def build_code(intake: Intake, part: Participation) -> str:
    """The study's code, or for people of a platform one of their own."""
    return intake.completion_code or (secrets.token_hex(CODE_BYTES).upper() if part.platform else "")


def completion(intake: Intake, part: Participation) -> Completion:
    said = part.visits[-1] if part.visits else {}
    return Completion(
        code=part.completion_code,
        address=intake.completion_url or completion_address(part.platform, intake.completion_code),
        submit_to=submit_address(said),
        assignment=said.get("assignmentId", ""),
    )


@audited("intake.set", on="study", says=("is_public",))
def set_intake(
    *,
    by: User | None,
    study: Study,
    is_public: bool | None = None,
    completion_code: str | None = None,
    completion_url: str | None = None,
    consent_text: str | None = None,
) -> Intake:
    """Set how people come in, what they get at the end and what they agree to: all of it or nothing.

    What is not given stays as it is. Who agreed to another text is asked again.
    """
    texts = {"completion_code": completion_code, "completion_url": completion_url}
    given = {name: text.strip() for name, text in texts.items() if text is not None}
    if (code := given.get("completion_code")) and not A_CODE.fullmatch(code):
        raise InputError("A code has at most 80 letters, digits, - and _.", field="completion_code")
    if (url := given.get("completion_url")) and not url.startswith(("https://", "http://")):
        raise InputError("An address begins with https://.", field="completion_url")
    defaults = given if is_public is None else {**given, "is_public": is_public}
    if defaults:
        Intake.objects.update_or_create(study=study, defaults=defaults)
    if consent_text is not None:
        consents.set_text(by=by, study=study, text=consent_text)
    return find_intake(study)
