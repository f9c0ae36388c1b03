"""Agreement of people, and the keeping of what was computed.

A result is kept with the hash of what it was computed from. Asking the same of the same labels, with the same code,
gives the kept result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from annotation.stats.agreement import agreement
from annotation.stats.dependence import Design, design_warnings
from annotation.stats.headline import choose_headline
from annotation.stats.majority import majority
from annotation.stats.table import RatingTable
from annotation.studies.models.labels import AgreementRun
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.errors import InputError
from core.hashing import content_hash
from core.jobs.single_flight import take_turn
from core.version import code_version

MOST_REPLICATES = 100_000

RESAMPLES = 2000
"""Of every interval, wherever a figure is shown, unless somebody asks for another number."""


@dataclass(frozen=True)
class Options:
    """How intervals are made.

    Attributes
    ----------
    bootstrap
        Number of resamples of the items; 0 for no intervals.
    confidence
        Nominal coverage, between 0 and 1.
    seed
        Of the resampling.
    cluster
        By what items are resampled together: empty for what the study knows (nothing, of a file), or ``none``.
    strata
        Within what items are resampled, each part keeping its size; empty for what the study knows.
    """

    bootstrap: int = RESAMPLES
    confidence: float = 0.95
    seed: int = 0
    cluster: str = ""
    strata: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.bootstrap <= MOST_REPLICATES:
            raise InputError(f"must be between 0 and {MOST_REPLICATES}", field="bootstrap")
        if not 0 < self.confidence < 1:
            raise InputError("must be between 0 and 1, for example 0.95", field="confidence")
        if self.seed < 0:
            raise InputError("must not be negative", field="seed")

    def to_json(self) -> dict[str, Any]:
        """All that decides on the result besides the labels and the seed."""
        return {name: value for name, value in asdict(self).items() if name != "seed"}


HEADLINE = (
    "On {level} scales sentences and plots show {name}, of people and of judges alike; all others are in the tables."
)
MAJORITY = "The majority is the category that more people chose than any other; ties are counted, not broken."


def compute_people(table: RatingTable, options: Options, design: Design) -> dict[str, Any]:
    """The document of one criterion, without judges: coefficients, pairs, majority, warnings, conventions."""
    found = agreement(table, bootstrap=options.bootstrap, confidence=options.confidence, seed=options.seed).to_json()
    dependence, headline = design.to_json(table), choose_headline(table.level, table.n_categories)
    return {
        **found,
        "warnings": [*found["warnings"], *(one.to_json() for one in design_warnings(design, table.weights))],
        "headline": headline.to_json(),
        "majority": majority_counts(table),
        "dependence": dependence,
        "conventions": [
            {"code": "resampling", "message": dependence["message"]},
            {"code": "headline", "message": HEADLINE.format(level=table.level, name=headline.name)},
            {"code": "majority", "message": MAJORITY},
        ],
    }


def majority_counts(table: RatingTable) -> dict[str, Any]:
    """Items by the category that most of their people chose, and the items without one."""
    found = majority(table)
    counts = {str(category): int((found.codes == code).sum()) for code, category in enumerate(table.categories)}
    return {"counts": counts, "tied": int(found.tied.sum()), "unrated": int(found.unrated.sum())}


def load_or_compute_run(
    *,
    by: User | None,
    study: Study,
    parameters: Mapping[str, Any],
    seed: int,
    input_hash: str,
    compute: Callable[[], dict[str, Any]],
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
