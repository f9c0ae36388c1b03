"""A part of the items is held out from the development of a judge, and every look at it is on record."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction

from annotation.errors import InputError
from annotation.models import Study, User
from judging.models import HoldOut, Judge, Look
from judging.queries.evidence import HELD_OUT, StudyEvidence, leaks
from judging.services.trust import trusting
from judging.services.trust.trusting import Asked, Trusted


def hold_out(*, by: User | None, study: Study, share: float = 0.5, seed: int = 0) -> HoldOut:
    """Split the study's items by profile, question or dialogue. Once: a second split would undo the first."""
    if not 0 < share < 1:
        raise InputError("must be between 0 and 1, for example 0.5", field="share")
    if seed < 0:
        raise InputError("must not be negative", field="seed")
    try:
        with transaction.atomic():
            return HoldOut.objects.create(study=study, share=share, seed=seed, created_by=by)
    except IntegrityError as error:
        raise InputError(f"a part of {study} is held out already", field="study") from error


def look(*, by: User | None, study: Study, judge: Judge, asked: Asked) -> Trusted:
    """The judge on the held-out part; that somebody saw it is on record from now on."""
    found = trusting.of_judge(by=by, evidence=StudyEvidence.read(study, HELD_OUT).of(judge), asked=asked)
    Look.objects.create(study=study, judge=judge, calibration=found.calibration, created_by=by)
    return found


def check_seen(found: Trusted) -> Trusted:
    """The same. Raises InputError where it is of the held-out part and nobody looked at just this result on record."""
    seen = Look.objects.filter(study=found.study, judge=found.judge, calibration=found.calibration)
    if found.part == HELD_OUT and not seen.exists():
        raise InputError("the held-out part is only shown to who looks at it on record", field="part")
    return found


def looks(study: Study, judge: Judge) -> list[Look]:
    """Every look at the held-out part with any version of the judge, the first one first."""
    found = Look.objects.filter(study=study, judge__name=judge.name).select_related("judge", "created_by")
    return list(found.order_by("created_at", "pk"))


def record(study: Study, judge: Judge, part: str) -> dict[str, Any] | None:
    """What a certificate says of the split and of all looks; None where nothing is held out."""
    split = HoldOut.objects.filter(study=study).first()
    if split is None:
        return None
    return {
        "share": split.share,
        "seed": split.seed,
        "part": part,
        "leaks": len(leaks(study, split)),
        "looks": [
            {
                "judge": str(one.judge),
                "at": one.created_at.isoformat(timespec="seconds"),
                "by": str(one.created_by) if one.created_by else None,
                "calibration": one.calibration_id,
            }
            for one in looks(study, judge)
        ],
    }
