"""Agreement of a large study, left to a worker. The result is a row as any other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from annotation.studies.models.labels import AgreementRun
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries.raters import Annotator, load_annotators
from core.accounts.models.users import User
from core.hashing import content_hash
from core.jobs import waiting
from core.jobs.waiting import DeferredRequest
from judging.assessment.services import agreement
from judging.assessment.services.agreement import StudyRatings
from judging.assessment.services.comparison import JudgedOptions

TASK = "judging.agree"


@dataclass(frozen=True)
class DeferredAgreement:
    """A criterion with those who rated it, as far as a kept result names them."""

    criterion: Criterion
    raters: tuple[str, ...]


def build_key(study: Study, options: JudgedOptions) -> str:
    return f"agreement-{study.pk}-{content_hash(options.model_dump())[:32]}"


def find_request(study: Study, options: JudgedOptions) -> DeferredRequest | None:
    """What stands of it; None where nobody has asked, or it is done."""
    return waiting.find_request(build_key(study, options))


def ask(*, by: User, study: Study, options: JudgedOptions) -> None:
    """Leave it to a worker. One who is at it already is left alone. Raises InputError where none can be reached."""
    waiting.ask(by=by, key=build_key(study, options), task=TASK, args=[study.pk, options.model_dump(), by.pk])


def compute(study_id: int, parameters: dict[str, Any], by: int | None) -> None:
    """What a worker does: compute and keep, unless it is kept or another one is at it. An error is told on the page."""
    study, options = Study.objects.get(pk=study_id), JudgedOptions(**parameters)
    reader = None if by is None else User.objects.filter(pk=by).first()

    def work() -> None:
        agreement.load_or_compute(
            by=reader, study=study, options=options, ratings=StudyRatings.from_options(study, options)
        )

    waiting.compute(build_key(study, options), reader.username if reader else "", work)


def find_stored_run(study: Study, options: JudgedOptions) -> AgreementRun | None:
    """The newest result with these options, whatever labels there were. Two queries."""
    rows = AgreementRun.objects.filter(study=study, seed=options.seed).order_by("-created_at")
    pk = next((pk for pk, given in rows.values_list("pk", "parameters") if given == options.to_json()), None)
    return None if pk is None else AgreementRun.objects.get(pk=pk)


def build_shown(study: Study, run: AgreementRun) -> tuple[tuple[DeferredAgreement, ...], dict[str, Annotator]]:
    """The criteria of a kept result with their raters, and the annotators of the study, without reading a label."""
    documents = run.result["criteria"]
    criteria = [criterion for criterion in study.criteria.all() if criterion.key in documents]
    found = tuple(DeferredAgreement(criterion, list_raters(documents[criterion.key])) for criterion in criteria)
    return found, load_annotators(study)


def list_raters(document: dict[str, Any]) -> tuple[str, ...]:
    """Who is named in a document. One rater alone is in no pair, and is not."""
    return tuple(dict.fromkeys(pair[side] for pair in document["pairs"] for side in ("a", "b")))
