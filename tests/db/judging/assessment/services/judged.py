"""A study with people and a judge of known quality, for what is built on calibration."""

from __future__ import annotations

from typing import Any

import numpy as np

from annotation.studies.models.studies import Criterion, Study
from judging.assessment.options import AssessmentOptions
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import assessment, rules as study_rules, runs
from judging.assessment.services.assessment import Assessment, AssessmentRequest
from judging.assessment.services.rules import Success
from judging.stats.verdict import Rules
from tests.support.factories import CriterionFactory
from tests.support.labelled import judge_says, people_say, with_items

QUICK = AssessmentOptions(bootstrap=40)


def scores(rng: np.random.Generator, truth: np.ndarray, noise: float) -> list[str]:
    return [str(int(v)) for v in np.clip(np.round(truth + rng.normal(0, noise, len(truth))), 1, 4)]


def study(
    n: int = 80,
    *,
    labelled: int | None = None,
    noise: float = 0.4,
    people: int = 3,
    name: str = "Known",
    judge: str = "gpt",
    **more: Any,
) -> Criterion:
    """An ordinal criterion; everybody rates the first ``labelled`` items, the judge all of them."""
    rng = np.random.default_rng(3)
    truth = rng.uniform(0.6, 4.4, n)
    criterion = CriterionFactory(study=with_items(n, name=name, slug=name.lower()), key="personalization", **more)
    rated = n if labelled is None else labelled
    people_say(
        criterion,
        {f"p{k}": [*scores(rng, truth, 0.4)[:rated], *[None] * (n - rated)] for k in range(people)},
    )
    judge_says(criterion, judge, scores(rng, truth, noise))
    return criterion


def trusted(criterion: Criterion, name: str = "gpt", *, rules: Rules | None = None) -> Assessment:
    evidence = StudyData.load(criterion.study)
    hold_to(criterion, rules or Rules())
    return assessment.assess_judge(
        by=None, evidence=evidence.load_judge(evidence.judge(name)), asked=AssessmentRequest(calibration=QUICK)
    )


def compute_results(found: Study) -> None:
    """Compute and keep each judge's calibration and audit as pages and commands ask for them; this is no look."""
    evidence, asked = StudyData.load(found), AssessmentRequest()
    for judge in evidence.judges():
        runs.calibration(by=None, evidence=evidence.load_judge(judge), options=asked.calibration)
        runs.audit(by=None, evidence=evidence.load_judge(judge), options=asked.audit)


def hold_to(criterion: Criterion, wanted: Rules) -> None:
    """Set the rules of the study, or change them where somebody has looked."""
    study_rules.set_rules(by=None, study=criterion.study, rules=wanted, success=Success(), reason="a test")


def calibrated(criterion: Criterion, name: str = "gpt") -> dict[str, Any]:
    return trusted(criterion, name).calibration.result["criteria"][criterion.key]
