"""A part of the items is held out from the development of a judge, and every look at it is on record."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import IntegrityError, transaction

from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.audit.log import audit_transaction, audited
from core.errors import InputError
from core.options.model import check_options
from judging.assessment.models.assessment import CalibrationRun, Look
from judging.assessment.options import NewHoldOut
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.result_types import HoldOutDocument, LeakingAuditDocument, LookDocument
from judging.assessment.services import assessment
from judging.assessment.services.assessment import Assessment, AssessmentRequest
from judging.assessment.services.rules import name_author
from judging.judges.models import HoldOut, Judge
from judging.judges.queries.study_items import HELD_OUT, leaks, positions


@check_options(NewHoldOut)
@audited("study.hold_out", on="study", says=("share", "seed"))
def hold_out(*, by: User | None, study: Study, share: float = 0.5, seed: int = 0) -> HoldOut:
    """Split the study's items by profile, question or dialogue. Once: a second split would undo the first."""
    try:
        with transaction.atomic():
            made = HoldOut.objects.create(study=study, share=share, seed=seed, created_by=by)
    except IntegrityError as error:
        raise InputError("a part of {study} is held out already", field="study", study=study) from error
    n, held = study.items.count(), len(positions(study))
    if n and held in (0, n):  # refused, as it cannot be undone
        raise InputError(
            "this share and seed hold out {held} of {n} items; choose others", field="share", held=held, n=n
        )
    return made


@audited("study.look_at_held_out", on="study", says=("judge",), prepares=True)
def record_access(*, by: User | None, study: Study, judge: Judge, asked: AssessmentRequest) -> Assessment:
    """The judge on the held-out part; that somebody saw it is on record from now on.

    A version is scored there once. Whoever looks again sees the same score, on record too; another score, of other
    labels, judgments, options or draws, is refused with an InputError: the best of several would be too good.
    """
    found = assessment.assess_judge(by=by, evidence=StudyData.load(study, HELD_OUT).load_judge(judge), asked=asked)
    with audit_transaction() as done:
        HoldOut.objects.select_for_update().get(study=study)  # of two first looks at once one is the first
        _check_once(found)
        done.result = Look.objects.create(study=study, judge=judge, calibration=found.calibration, created_by=by)
    return found


def _check_once(found: Assessment) -> None:
    """Raise InputError where this version was scored on the held-out part before, and not just so."""
    looks = Look.objects.filter(study=found.study, judge=found.judge).select_related("calibration")
    first = looks.order_by("created_at", "pk").first()
    if first and _scored(first.calibration) != _scored(found.calibration):
        raise InputError(
            "{judge} was scored on the held-out part on {created_at:%Y-%m-%d %H:%M} UTC, with other labels, "
            "judgments or options. A version is scored there once: make a new version of the judge",
            field="part",
            judge=found.judge,
            created_at=first.created_at,
        )


def _scored(run: CalibrationRun) -> tuple[object, ...]:
    """What decides on a score, whatever version of Concord computed it."""
    return run.input_hash, run.parameters, run.seed


def check_seen(found: Assessment) -> Assessment:
    """The same. Raises InputError where it is of the held-out part and nobody looked at just this result on record."""
    seen = Look.objects.filter(study=found.study, judge=found.judge, calibration=found.calibration)
    if found.part == HELD_OUT and not seen.exists():
        raise InputError("the held-out part is only shown to who looks at it on record", field="part")
    return found


def list_accesses(study: Study, judge: Judge) -> list[Look]:
    """Every look at the held-out part with any version of the judge, the first one first."""
    found = Look.objects.filter(study=study, judge__name=judge.name).select_related("judge", "created_by")
    return list(found.order_by("created_at", "pk"))


def record(study: Study, judge: Judge, part: str) -> dict[str, object] | None:
    """What a certificate says of the split and of all looks; None where nothing is held out.

    What is signed cannot be changed: accounts have numbers there, as somebody may be erased.
    """
    split = HoldOut.objects.filter(study=study).first()
    if split is None:
        return None
    every = list_accesses(study, judge)
    seen = [{**_as_json(one), "by": name_author(one)} for one in every]
    return {**_to_json(study, split, every), "part": part, "looks": seen}


def compute_study(study: Study) -> HoldOutDocument | None:
    """What a report says of the split, and of the looks with every judge; None where nothing is held out."""
    split = HoldOut.objects.filter(study=study).first()
    if split is None:
        return None
    every = Look.objects.filter(study=study).select_related("judge", "created_by").order_by("created_at", "pk")
    return _to_json(study, split, every)


def find_leaking(study: Study) -> list[int]:
    """Positions of held-out items whose content also stands in the development part; none where nothing is split."""
    split = HoldOut.objects.filter(study=study).first()
    return leaks(study, split) if split else []


def audit_document(found: Assessment) -> LeakingAuditDocument:
    """The result of the audits, with what leaks between the parts: the same on page, command and API."""
    return {**found.audit_document(), "leaks": find_leaking(found.study)}


def _to_json(study: Study, split: HoldOut, looks: Iterable[Look]) -> HoldOutDocument:
    return {
        "share": split.share,
        "seed": split.seed,
        "leaks": len(leaks(study, split)),
        "looks": [_as_json(one) for one in looks],
    }


def _as_json(one: Look) -> LookDocument:
    return {
        "judge": str(one.judge),
        "at": one.created_at.isoformat(timespec="seconds"),
        "by": str(one.created_by) if one.created_by else None,
        "calibration": one.calibration_id,
    }
