"""How often studies like one would give a judge the verdict *replace*: the power table of a study (no database)."""

from __future__ import annotations

import numpy as np

from annotation.stats.agreement import agreement
from annotation.stats.table import MISSING
from judging.assessment.options import AssessmentOptions
from judging.stats.assessment_data import AssessmentData
from judging.stats.power import PowerDesign, compute_power, no_power
from judging.stats.result_types import JudgeFigures, PowerDocument

STUDIES = 300
"""Simulated beside a verdict."""

PLANNED_STUDIES = 100
"""Simulated for each line of the planner."""

SIZES = (50, 100, 200, 500)
EXPECTED = 0.6
"""Kappa of people that is planned for before any is known."""

NO_CEILING = "inter-annotator agreement is not known"


def compute_criterion(evidence: AssessmentData, found: JudgeFigures, options: AssessmentOptions) -> PowerDocument:
    """The line of the study as it is, by the usual rules; ``found`` is the document of its agreement."""
    ceiling = (found["human_ceiling"] if evidence.people.counted else found["human_ceiling_weighted"])["value"]
    studies = min(STUDIES, max(options.bootstrap, 1))
    if ceiling is None or not evidence.labelled.any():
        return no_power(NO_CEILING)
    return compute_power(build_design(evidence, ceiling), studies=studies, epsilon=options.epsilon)


def build_design(evidence: AssessmentData, ceiling: float, n_items: int = 0) -> PowerDesign:
    """The study, or one of ``n_items`` in clusters of the same size: its people, scale, shares and kappa of people."""
    table, items = evidence.table, evidence.labelled & (evidence.said.codes != MISSING)
    n = max(int(items.sum()), 1)
    wanted = n_items or n
    counts = table.counts[items].sum(axis=0) + 1.0
    ratings = float(table.ratings_per_item[items].mean()) if items.any() else 2.0
    return PowerDesign(
        n_items=wanted,
        n_clusters=max(1, round(max(evidence.n_clusters(items), 1) * wanted / n)),
        n_raters=max(2, round(ratings)),
        n_categories=table.n_categories,
        level="nominal" if evidence.people.counted else table.level,
        kappa=min(max(ceiling, 0.02), 0.98),
        shares=tuple((counts / counts.sum()).tolist()),
    )


def build_power_table(evidence: AssessmentData) -> list[PowerDocument]:
    """The power table of studies like this one at several sizes, up to the items there are.

    People's kappa is the one that is known so far, or `EXPECTED` before labelling starts.
    """
    rated = evidence.table.subset_items(evidence.table.pairable)
    name = "mean_pairwise_cohen_kappa" if evidence.people.counted else "mean_pairwise_weighted_cohen_kappa"
    known = agreement(rated, bootstrap=0).coefficients[name].value if rated.n_items else np.nan
    ceiling = EXPECTED if np.isnan(known) else known
    sizes = [n for n in SIZES if n <= evidence.material.n] or [evidence.material.n]
    return [compute_power(build_design(evidence, ceiling, n), studies=PLANNED_STUDIES) for n in sizes]
