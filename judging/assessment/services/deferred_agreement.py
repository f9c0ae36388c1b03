"""Agreement of a large study, left to a worker. The result is a row as any other."""

from __future__ import annotations

from annotation.studies.models.labels import AgreementRun
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.hashing import content_hash
from core.jobs import waiting
from core.jobs.waiting import DeferredRequest
from judging.assessment.options import JudgedOptions
from judging.assessment.services import agreement
from judging.assessment.services.agreement import StudyRatings

TASK = "judging.agree"


def build_key(study: Study, options: JudgedOptions) -> str:
    return f"agreement-{study.pk}-{content_hash(options.model_dump())[:32]}"


def find_request(study: Study, options: JudgedOptions) -> DeferredRequest | None:
    """What stands of it; None where nobody has asked, or it is done."""
    return waiting.find_request(build_key(study, options))


def ask(*, by: User, study: Study, options: JudgedOptions) -> None:
    """Leave it to a worker. One who is at it already is left alone.

    Raises InputError where none can be reached, and on options that the study cannot have.
    """
    agreement.check_options(study, options)
    waiting.ask(by=by, key=build_key(study, options), task=TASK, args=[study.pk, options.model_dump(), by.pk])


def compute(study_id: int, parameters: dict[str, object], by: int | None) -> None:
    """What a worker does: compute and keep, unless it is kept or another one is at it. An error is told on the page."""
    study, options = Study.objects.get(pk=study_id), JudgedOptions.check(parameters)
    reader = None if by is None else User.objects.filter(pk=by).first()

    def work() -> None:
        agreement.load_or_compute(
            by=reader, study=study, options=options, ratings=StudyRatings.from_options(study, options)
        )

    waiting.compute(build_key(study, options), reader.username if reader else "", work)


def find_stored_id(study: Study, options: JudgedOptions) -> int | None:
    """The id of the newest result with these options, whatever labels there were. One query."""
    rows = AgreementRun.objects.filter(study=study, seed=options.seed).order_by("-created_at")
    return next((pk for pk, given in rows.values_list("pk", "parameters") if given == options.to_json()), None)


def find_stored_run(study: Study, options: JudgedOptions) -> AgreementRun | None:
    """That result. Two queries."""
    pk = find_stored_id(study, options)
    return None if pk is None else AgreementRun.objects.get(pk=pk)
