"""Calibration and audit of a judge on a study: read, computed and kept, as agreement is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from annotation.agreement.services import stored_difficulty
from annotation.agreement.services.stored_difficulty import Fit
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries import ratings
from annotation.studies.queries.ratings import PeoplesRatings
from core.accounts.models.users import User
from core.hashing import content_hash
from core.jobs.waiting import take_turn
from core.version import code_version
from judging.assessment.models.assessment import AuditRun, CalibrationRun
from judging.assessment.options import AssessmentOptions, AuditOptions
from judging.assessment.queries.assessment_data import JudgeData
from judging.assessment.result_types import AuditDocument, CalibrationDocument, CriterionCalibrationDocument, JudgeHead
from judging.assessment.services import audits, calibration as calibrating
from judging.stats.assessment_data import AssessmentData
from judging.stats.observed import ItemColumns

Run = TypeVar("Run", CalibrationRun, AuditRun)


def calibration(*, by: User | None, evidence: JudgeData, options: AssessmentOptions) -> CalibrationRun:
    """Calibration of a judge on every criterion: the kept result where there is one, else a new one that is kept."""
    return _load_or_compute(
        CalibrationRun,
        by=by,
        evidence=evidence,
        parameters=options.to_json(),
        seed=options.seed,
        compute=lambda: _calibrated(evidence, options),
    )


def audit(*, by: User | None, evidence: JudgeData, options: AuditOptions) -> AuditRun:
    """Audits of a judge on every criterion, kept likewise."""
    return _load_or_compute(
        AuditRun,
        by=by,
        evidence=evidence,
        parameters=options.to_json(),
        compute=lambda: _audited(evidence, options),
    )


def _calibrated(evidence: JudgeData, options: AssessmentOptions) -> CalibrationDocument:
    name, fits = str(evidence.judge), _fits(evidence)
    criteria: dict[str, CriterionCalibrationDocument] = {
        c.key: {
            **calibrating.compute_criterion(evidence.evidence[c.key], c, name, options, fits[c.key]),
            "run": evidence.runs[c.key].pk,
            "run_finished": evidence.runs[c.key].finished_at is not None,
            "reasons": dict(evidence.reasons[c.key]),
        }
        for c in evidence.criteria
    }
    return {**_head(evidence), "criteria": criteria}


def _fits(evidence: JudgeData) -> dict[str, Fit]:
    """By criterion key, its difficulty model: of all items the one that the page of tiers shows, of a part its own.

    So a result depends on no label besides those that its input hash is made of.
    """
    there = {criterion.pk: evidence.evidence[criterion.key].material for criterion in evidence.criteria}
    each = [
        _of_items(one, set(there[one.criterion.pk].names))
        for one in ratings.load_study(evidence.study)
        if one.criterion.pk in there
    ]
    fits = stored_difficulty.load_or_fit_all(each, patient=True)
    return {one.criterion.key: fit for one, fit in zip(each, fits, strict=True)}


def _of_items(given: PeoplesRatings, names: Collection[str]) -> PeoplesRatings:
    """Those of these items."""
    mine = np.array([name in names for name in given.table.items], dtype=bool)
    return replace(given, table=given.table.subset_items(mine), declined=given.declined[mine])


def _audited(evidence: JudgeData, options: AuditOptions) -> AuditDocument:
    model = evidence.judge.model or evidence.judge.name
    criteria = audits.audit_criteria(evidence.evidence, evidence.criteria, model, options, _fits(evidence))
    return {**_head(evidence), "criteria": criteria}


def _head(evidence: JudgeData) -> JudgeHead:
    return {
        "study": evidence.study.name,
        "judge": str(evidence.judge),
        "kind": evidence.judge.kind,
        "model": evidence.judge.model,
        "provider": evidence.judge.provider,
        "prompts": list(evidence.prompts),
        "part": evidence.part,
        "left_out": list(evidence.left_out),
    }


def _load_or_compute(
    table: type[Run],
    *,
    by: User | None,
    evidence: JudgeData,
    parameters: Mapping[str, object],
    seed: int = 0,
    compute: Callable[[], CalibrationDocument | AuditDocument],
) -> Run:
    digest = input_hash(evidence)
    asked = content_hash([evidence.study.pk, evidence.judge.pk, digest, dict(parameters), seed, code_version()])
    with take_turn(f"{table._meta.label_lower}-{asked}"):
        if there := load_stored_runs(table, [evidence], parameters, seed):
            return there[evidence.judge.pk]
        return table.objects.create(
            study=evidence.study,
            judge=evidence.judge,
            parameters=dict(parameters),
            seed=seed,
            input_hash=digest,
            code_version=code_version(),
            result=compute(),
            created_by=by,
        )


def load_stored_runs(
    table: type[Run], evidence: Sequence[JudgeData], parameters: Mapping[str, object], seed: int = 0
) -> dict[int, Run]:
    """By judge, the newest run of the same input, parameters, seed and code. One query."""
    digests = [input_hash(one) for one in evidence]
    there = table.objects.filter(input_hash__in=digests, seed=seed, code_version=code_version()).select_related(
        "study", "judge"
    )
    mine = {(one.study.pk, one.judge.pk) for one in evidence}
    return {
        run.judge_id: run
        for run in there.order_by("created_at", "pk")
        if run.parameters == dict(parameters) and (run.study_id, run.judge_id) in mine
    }


def load_newest_runs(
    table: type[Run], study: Study, part: str, parameters: Mapping[str, object], seed: int = 0
) -> dict[int, Run]:
    """By judge, the newest run with these parameters on a part of the items, whatever its input. Two queries."""
    rows = table.objects.filter(study=study, seed=seed, result__part=part).order_by("created_at", "pk")
    fitting = {
        judge: pk for pk, judge, given in rows.values_list("pk", "judge_id", "parameters") if given == parameters
    }
    return {run.judge_id: run for run in table.objects.filter(pk__in=fitting.values()).select_related("study", "judge")}


def input_hash(evidence: JudgeData) -> str:
    """Of all labels, judgments and facts about items that a result depends on."""
    return evidence.digest(_hashed)


def identify(each: Sequence[JudgeData]) -> list[object]:
    """What a result on several judges depends on, and the names that it tells."""
    named = [[one.study.name, str(one.judge), one.part, [c.name for c in one.criteria]] for one in each]
    return [code_version(), named, [input_hash(one) for one in each]]


def _hashed(evidence: JudgeData) -> str:
    each = evidence.evidence
    parts = {
        c.key: [c.level, c.values, evidence.runs[c.key].pk, _of_columns(each[c.key]), *_of_parts(c, each[c.key])]
        for c in evidence.criteria
    }
    judge = [str(evidence.judge), evidence.judge.kind, evidence.judge.model, evidence.prompts]
    finished = [evidence.runs[c.key].finished_at is not None for c in evidence.criteria]
    return content_hash([judge, finished, _hash_dataset(evidence.material), parts, evidence.reasons])


def _of_parts(criterion: Criterion, evidence: AssessmentData) -> list[str]:
    """What is known of the turns or responses that a criterion is asked of; nothing where that is the item."""
    return [] if criterion.unit == Criterion.Unit.ITEM else [_hash_dataset(evidence.material)]


def _hash_dataset(items: ItemColumns) -> str:
    groups = {name: list(column) for name, column in items.groups.items()}
    dependence = [items.clusters, items.strata, [items.design.by, items.design.within, items.design.weighted]]
    texts = content_hash([items.names, dependence, items.assistants, items.opponents, groups, items.fingerprints])
    return _digest(texts.encode(), items.inclusion, items.length)


def _of_columns(evidence: AssessmentData) -> str:
    people, said = evidence.people, evidence.said
    nothing = np.zeros(0)
    of_people = [people.table.raters, sorted(people.by_hand.items()), people.demographics, people.strengths]
    names = content_hash([of_people, said.confidence_from]).encode()
    previous = nothing if evidence.previous is None else evidence.previous
    contradicts = nothing if said.contradicts is None else said.contradicts
    explained = nothing if said.explained is None else said.explained
    verdicts = (said.asked, said.codes, said.first, said.second, said.repeated, previous)
    columns = (*verdicts, said.score, said.confidence, contradicts, explained, *_of_copies(evidence))
    return _digest(names, people.table.codes, people.gold, people.declined, *columns)


def _of_copies(evidence: AssessmentData) -> Iterator[npt.NDArray[np.generic]]:
    for one in evidence.copies:
        yield np.frombuffer(f"{one.name} {one.n_items}".encode(), dtype=np.uint8)
        yield from (one.rows, one.original, one.copy, one.repeated)
        yield one.wanted if one.wanted is not None else np.zeros(0)


def _digest(start: bytes, *columns: npt.NDArray[np.generic]) -> str:
    found = hashlib.sha256(start)
    for column in columns:
        found.update(f"{column.dtype.str}{column.shape}".encode())
        found.update(np.ascontiguousarray(column).tobytes())
    return found.hexdigest()
