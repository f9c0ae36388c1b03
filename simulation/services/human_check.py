"""The human check of PersonaLens (arXiv 2506.09902), Table 5: how far people agree, and a judge with each of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.models import Study, User
from judging.services import agreement
from judging.services.agreement import StudyRatings
from judging.services.comparison import JudgedOptions
from simulation.services.measure_tables import Row, beside

CAPTION = "Judge and people: mean of the judge's Cohen kappas with each person, and Fleiss kappa of the people"


def table_5(*, by: User | None, study: Study, with_published: bool = False) -> dict[str, Any]:
    """Make the table of a study: a row for each criterion and judge, kappas unweighted as in the paper.

    Intervals and weights are those of the study's agreement: an item drawn with a smaller chance counts more.
    """
    options = JudgedOptions()
    run = agreement.of_study(by=by, study=study, options=options, ratings=StudyRatings.of(study, options))
    rows = [row for key, found in run.result["criteria"].items() for row in rows_of(key, found)]
    table = {"table": "5", "study": study.name, "caption": CAPTION, "rows": rows}
    return beside("5", table) if with_published else table


def rows_of(key: str, found: Mapping[str, Any]) -> list[Row]:
    """A row for each judge; one without a judge where there is none."""
    people = {
        "items": found["n_items"],
        "raters": found["n_raters"],
        "fleiss_kappa": found["coefficients"]["fleiss_kappa"],
        "percent_agreement": found["coefficients"]["percent_agreement"],
    }
    judges = [{"judge": name, "mean_cohen_kappa": one["mean_cohen_kappa"]} for name, one in found["judges"].items()]
    return [{"criterion": key, **one, **people} for one in judges or [{"judge": None, "mean_cohen_kappa": None}]]
