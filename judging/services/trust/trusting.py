"""All that is known of one judge on a study: calibration, audits and the verdict, for pages, commands and reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from annotation.errors import InputError
from annotation.models import Study, User
from judging.models import AuditRun, CalibrationRun, Judge
from judging.queries.evidence import JudgeEvidence, StudyEvidence
from judging.services.trust import runs, verdicts
from judging.services.trust.options import AuditOptions, TrustOptions
from judging.services.trust.verdicts import CriterionVerdict
from judging.stats.verdict import Decision, Rules


@dataclass(frozen=True)
class Asked:
    """How calibration and audits are made, and by which rules they are judged."""

    calibration: TrustOptions = field(default_factory=TrustOptions)
    audit: AuditOptions = field(default_factory=AuditOptions)
    rules: Rules = field(default_factory=Rules)


@dataclass(frozen=True)
class Trusted:
    """One judge on a study."""

    study: Study
    judge: Judge
    evidence: JudgeEvidence
    calibration: CalibrationRun
    audit: AuditRun
    rules: Rules
    verdicts: tuple[CriterionVerdict, ...]

    @property
    def decision(self) -> Decision | None:
        """What holds on every criterion."""
        return verdicts.worst(list(self.verdicts))

    def audit_document(self) -> dict[str, Any]:
        """The result of the audits with the verdict of each criterion."""
        said = {one.key: one.as_json() for one in self.verdicts}
        criteria = {key: {**found, "verdict": said[key]} for key, found in self.audit.result["criteria"].items()}
        return {**self.audit.result, "criteria": criteria}


def of_judge(*, by: User | None, evidence: StudyEvidence, judge: Judge, asked: Asked) -> Trusted:
    """Computed on every criterion, or what is kept of the same. Raises InputError where the judge has said nothing."""
    mine = evidence.of(judge)
    if not mine.criteria:
        raise InputError(f"{judge} has not judged this study", field="judge")
    calibration = runs.calibration(by=by, evidence=mine, options=asked.calibration)
    audit = runs.audit(by=by, evidence=mine, options=asked.audit)
    found = verdicts.of_judge(calibration.result, audit.result, asked.rules)
    return Trusted(evidence.study, judge, mine, calibration, audit, asked.rules, tuple(found))


def for_criterion(result: dict[str, Any], key: str | None) -> dict[str, Any]:
    """What a reader asked for: one criterion's document, or all where there are several."""
    documents = result["criteria"]
    if key is None and len(documents) == 1:
        (key,) = documents
    if key is None:
        return result
    if key not in documents:
        raise InputError(f"no criterion is called {key!r}; there are {', '.join(documents)}", field="criterion")
    head = {name: part for name, part in result.items() if name != "criteria"}
    return {**head, **documents[key]}
