"""Agreement of people, and the keeping of what was computed.

A result is kept with the hash of what it was computed from. Asking the same of the same labels, with the same code,
gives the kept result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from annotation.agreement.options import AgreementOptions
from annotation.agreement.result_types import MajorityDocument, PeopleAgreementDocument
from annotation.stats.agreement import AgreementResult, agreement
from annotation.stats.dependence import Design, design_warnings
from annotation.stats.headline import choose_headline
from annotation.stats.majority import majority
from annotation.stats.result_types import NoteDocument
from annotation.stats.span_agreement import SpanAgreement, span_agreement
from annotation.stats.table import Level, RatingTable
from annotation.studies.models.labels import AgreementRun
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.hashing import content_hash
from core.jobs.waiting import take_turn
from core.version import code_version

HEADLINE = (
    "On {level} scales sentences and plots show {name}, of people and of judges alike; all others are in the tables."
)
MAJORITY = "The majority is the category that more people chose than any other; ties are counted, not broken."


def compute_people(table: RatingTable, options: AgreementOptions, design: Design) -> PeopleAgreementDocument:
    """The document of one criterion, without judges: coefficients, pairs, majority, warnings, conventions."""
    compute = COMPUTE.get(table.level, agreement)
    found = compute(table, bootstrap=options.bootstrap, confidence=options.confidence, seed=options.seed).to_json()
    dependence = design.to_json(table, has_intervals=options.bootstrap > 0)
    headline = choose_headline(table.level, table.n_categories)
    of_majority: list[NoteDocument] = [] if table.level == "spans" else [{"code": "majority", "message": MAJORITY}]
    return {
        **found,
        "warnings": [*found["warnings"], *(one.to_json() for one in design_warnings(design, table.weights))],
        "headline": headline.to_json(),
        "majority": majority_counts(table),
        "dependence": dependence,
        "conventions": [
            {"code": "resampling", "message": dependence["message"]},
            {"code": "headline", "message": HEADLINE.format(level=table.level, name=headline.name)},
            *of_majority,
        ],
    }


class AgreementFunction(Protocol):
    """What computes the agreement of a table."""

    def __call__(
        self, table: RatingTable, *, bootstrap: int = ..., confidence: float = ..., seed: int = ...
    ) -> AgreementResult | SpanAgreement: ...


COMPUTE: dict[Level, AgreementFunction] = {"spans": span_agreement}
"""By level, what computes its agreement where it is not that of all others. Of texts there is none (`by_level`)."""


def majority_counts(table: RatingTable) -> MajorityDocument | None:
    """Items by the category that most of their people chose, and the items without one; None of spans."""
    if table.level == "spans":
        return None
    found = majority(table)
    counts = {str(category): int((found.codes == code).sum()) for code, category in enumerate(table.categories)}
    return {"counts": counts, "tied": int(found.tied.sum()), "unrated": int(found.unrated.sum())}


def load_or_compute_run(
    *,
    by: User | None,
    study: Study,
    parameters: Mapping[str, object],
    seed: int,
    input_hash: str,
    compute: Callable[[], Mapping[str, object]],
) -> AgreementRun:
    """The kept run of the same input, parameters, seed and code; else a new one with what `compute` returns.

    Two who ask at once compute once: the second waits for the first. Should both compute all the same, because the
    first seemed to be gone, the database keeps one row.
    """
    identity = content_hash([study.pk, dict(parameters), seed, input_hash, code_version()])
    with take_turn(f"agreement-run-{identity}"):
        if run := AgreementRun.objects.filter(identity=identity).first():
            return run
        run, is_new = AgreementRun.objects.get_or_create(
            identity=identity,
            defaults={
                "study": study,
                "parameters": dict(parameters),
                "seed": seed,
                "input_hash": input_hash,
                "code_version": code_version(),
                "result": compute(),
                "created_by": by,
            },
        )
        if is_new:
            run.refresh_from_db(fields=["result"])  # PostgreSQL orders fields its own way: the same at once and later
    return run
