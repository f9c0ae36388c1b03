"""Consent: the text of a study, a person's agreement or refusal, and withdrawal, which erases what they gave."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Q, QuerySet

from annotation.quality.models import Admission
from annotation.recruitment.models import ConsentDecision, ConsentText, DemographicAnswer, Intake, Participation
from annotation.recruitment.queries import find_intake
from annotation.recruitment.services import withdrawn
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation, Draft
from annotation.studies.models.messages import ItemMark, ItemMessage
from annotation.studies.models.studies import Study
from core.accounts.models.tokens import IdempotentWrite
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.hashing import content_hash

LONGEST_TEXT = 50_000


@audited("consent_text.set", on="study")
def set_text(*, by: User | None, study: Study, text: str) -> ConsentText | None:
    """Let people agree to this text before they see an item; to nothing if it is empty.

    Who agreed to another version is asked again. The same text is the same version, whoever sets it.
    """
    text = text.replace("\r\n", "\n").strip()
    if "\0" in text or len(text) > LONGEST_TEXT:
        raise InputError(
            "A consent text has at most {longest_text:,} characters.", field="consent_text", longest_text=LONGEST_TEXT
        )
    with transaction.atomic():
        version = None
        if text:
            version, _ = ConsentText.objects.get_or_create(
                study=study, content_hash=content_hash(text), defaults={"text": text, "created_by": by}
            )
        Intake.objects.update_or_create(study=study, defaults={"consent_text": version})
    return version


def decide(*, by: User, study: Study, text_hash: str, agrees: bool) -> ConsentDecision:
    """Record that `by` agrees to the study's text, or declines. `text_hash` is of the text that they were shown."""
    with transaction.atomic():
        text = find_intake(study).consent_text
        if text is None or text.content_hash != text_hash:
            raise InputError("The text has changed while you read it. Please read it again.", field="text")
        check_annotator(by, study)
        return ConsentDecision.objects.create(
            study=study,
            annotator=by,
            text=text,
            decision=ConsentDecision.Decision.AGREED if agrees else ConsentDecision.Decision.DECLINED,
            recorded_by=by,
        )


def check_annotator(by: User, study: Study) -> None:
    if not study.annotators.filter(pk=by.pk).exists():
        raise InputError("{by} is not an annotator of {study}.", field="annotator", by=by, study=study)


@audited("annotator.withdraw", on="annotator")
def withdraw(*, by: User | None, study: Study, annotator: User) -> ConsentDecision:
    """Erase what `annotator` gave in the study: labels with notes and evidence, drafts, and what a platform said.

    Their slots become open again, they are no annotator of the study any more, and nothing that is computed from now
    on knows of their labels. What stays is that they withdrew, when, and how many labels that were. Doing it again
    erases what is there now.
    """
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=annotator.pk)  # what they send just now waits: see drafts
        check_participation(study, annotator)
        study.annotators.remove(annotator)
        slots = [slot.pk for slot in select_open_assignments(study, annotator).select_for_update()]
        erased = erase(study, annotator, slots)
        free(study, slots)
        withdrawn.write_after_commit()
        return ConsentDecision.objects.create(
            study=study,
            annotator=annotator,
            decision=ConsentDecision.Decision.WITHDRAWN,
            erased=erased,
            recorded_by=by,
        )


def is_participant(study: Study, annotator: User) -> bool:
    """Whether there is anything to withdraw from."""
    return (
        study.annotators.filter(pk=annotator.pk).exists()
        or study.participations.filter(annotator=annotator).exists()
        or select_open_assignments(study, annotator).exists()
    )


def check_participation(study: Study, annotator: User) -> None:
    if not is_participant(study, annotator):
        raise InputError("{annotator} has no part in {study}.", field="annotator", annotator=annotator, study=study)
    if annotator.kind != User.Kind.PERSON:
        raise InputError(
            "{annotator} is {kind}, nobody who could withdraw.",
            field="annotator",
            annotator=annotator,
            kind=annotator.get_kind_display(),
        )


def select_open_assignments(study: Study, annotator: User) -> QuerySet[Assignment]:
    return Assignment.objects.filter(study=study, annotator=annotator)


def erase(study: Study, annotator: User, slots: list[int]) -> int:
    """Delete what they gave. Returns how many labels that were."""
    labels, _ = Annotation.objects.filter(assignment__in=slots).delete()
    Draft.objects.filter(assignment__study=study, annotator=annotator).delete()
    ItemMessage.objects.filter(study=study, annotator=annotator).delete()
    ItemMark.objects.filter(study=study, annotator=annotator).delete()
    Admission.objects.filter(study=study, annotator=annotator).delete()
    DemographicAnswer.objects.filter(question__study=study, annotator=annotator).delete()
    IdempotentWrite.objects.filter(user=annotator).delete()  # kept for a day, an answer may tell what they handed in
    Participation.objects.filter(study=study, annotator=annotator).update(visits=[])
    return labels


def free(study: Study, slots: list[int]) -> None:
    """Let others rate these items. What was made for them alone goes: slots beyond the overlap, checks and repeats."""
    alone = Q(slot__gt=study.limit) | ~Q(purpose=Assignment.Purpose.RATING)
    Assignment.objects.filter(alone, pk__in=slots).delete()
    Assignment.objects.filter(pk__in=slots).update(
        state=Assignment.State.OPEN,
        annotator=None,
        leased_until=None,
        started_at=None,
        submitted_at=None,
        active_seconds=None,
        number=None,
    )
