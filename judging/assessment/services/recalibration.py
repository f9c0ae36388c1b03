"""A fitted map applied to a judge's run: a new, traceable score, as the run of a judge of its own.

Criteria of whole items, of turns and of responses are runs of their own, as those that they are made of.

Items that the map was fitted to get their out-of-fold score, so that agreement with people stays that of scores that
have not seen the label; all others get the map that was fitted to all labelled items. A score outside the range of the
fitted ones is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from django.utils import timezone

from annotation.stats.table import FloatArray
from annotation.studies.models.studies import Criterion
from annotation.studies.queries.units import to_position, to_turn, unit
from core.accounts.models.users import User
from core.audit.log import audit_transaction, audited
from core.errors import InputError
from core.hashing import content_hash
from core.version import code_version
from judging.assessment.options import AssessmentOptions
from judging.assessment.queries.ratings import find_unit, list_judgments
from judging.assessment.services.assessment import Assessment
from judging.assessment.services.calibration import recalibrate_scores
from judging.judges.models import RECALIBRATED, Judge
from judging.judges.services.judges import check_names, find_latest
from judging.runs.models.runs import JudgeRun, Judgment
from judging.stats.calibration_types import IsotonicDocument, OrdinalLogisticDocument

BATCH = 2000
OUTSIDE = "outside_range"


@dataclass(frozen=True, eq=False)
class AppliedMaps:
    """The maps of a judge, by criterion key, and (n,) the scores that they give; NaN where there is none."""

    maps: Mapping[str, IsotonicDocument | OrdinalLogisticDocument]
    scores: Mapping[str, FloatArray]


@audited("judge.recalibrate", says=("found.judge",), prepares=True)
def apply(*, by: User | None, found: Assessment, name: str = "", anyway: bool = False) -> JudgeRun:
    """The finished run of the recalibrated judge, made if there is none of just these maps; of several, one for each
    unit that criteria are asked of, the first.

    Criteria without a map (no order, too few labels, a constant judge) are left out, and those whose map raises the
    mean absolute error, unless it is wanted ``anyway``. Raises InputError where none has
    one.
    """
    applied = _applied(found, anyway=anyway)
    judge = _judge(by, found, name.strip() or f"{found.judge} recalibrated", applied.maps)
    digest = content_hash([judge.parameters, found.calibration.input_hash])
    with audit_transaction() as done:
        there = JudgeRun.objects.filter(judge=judge, study=found.study, input_hash=digest).first()
        if there is not None:
            done.result = there
            return there
        chosen = [criterion for criterion in found.evidence.criteria if criterion.key in applied.maps]
        runs = {}
        for each in dict.fromkeys(map(find_unit, chosen)):
            runs[each] = JudgeRun.objects.create(
                study=found.study,
                judge=judge,
                input_hash=digest,
                code_version=code_version(),
                unit=each,
                created_by=by,
                finished_at=timezone.now(),
            )
            runs[each].criteria.set(criterion for criterion in chosen if find_unit(criterion) == each)
        for criterion in chosen:
            rows = _judgments(runs[find_unit(criterion)], found, criterion, applied)
            Judgment.objects.bulk_create(rows, batch_size=BATCH)
        run = done.result = next(iter(runs.values()))
    return run


def _applied(found: Assessment, *, anyway: bool) -> AppliedMaps:
    maps, scores, reasons = {}, {}, []
    there = found.calibration  # the same input, method and seed give the same folds, and so the same maps again
    options = AssessmentOptions(**{**there.parameters, "bootstrap": 0, "seed": there.seed})
    for key, evidence in found.evidence.evidence.items():
        if (told := there.document["criteria"][key]["scores"]) is None:
            reasons.append(f"{key}: the scale has no order")
            continue
        fitted = recalibrate_scores(evidence, options)
        if fitted.map is None:
            reasons.append(f"{key}: {fitted.reason}")
            continue
        if told["improves"] is False and not anyway:
            reasons.append(f"{key}: {told['advice']}")
            continue
        human, own = evidence.scores()
        seen = ~np.isnan(human) & ~np.isnan(own)
        maps[key] = fitted.map.to_json()
        scores[key] = np.where(seen, fitted.mapped, fitted.map(own))
    if not maps:
        raise InputError("there is no map to apply ({reasons})", field="judge", reasons="; ".join(reasons))
    return AppliedMaps(maps, scores)


def _judge(by: User | None, found: Assessment, name: str, maps: Mapping[str, object]) -> Judge:
    """The recalibrated judge of this name with these maps: its latest version if they are the same, else a new one."""
    check_names(name, "")
    wanted: dict[str, object] = {
        "provider": RECALIBRATED,
        "model": found.judge.model,
        "parameters": {"of": str(found.judge), "study": found.study.slug, "maps": dict(maps)},
    }
    project = found.study.project
    latest = find_latest(name, project=project)
    if latest and all(getattr(latest, field) == value for field, value in wanted.items()):
        return latest
    if latest and latest.provider != RECALIBRATED:
        raise InputError("There is another judge called {name!r}.", field="name", name=name)
    version = latest.version + 1 if latest else 1
    return Judge.objects.create(project=project, name=name, version=version, created_by=by, **wanted)


def _judgments(run: JudgeRun, found: Assessment, criterion: Criterion, applied: AppliedMaps) -> Iterator[Judgment]:
    """One judgment for each item, turn or response that the judge was asked about, naming those it is made of."""
    evidence, scores = found.evidence.evidence[criterion.key], applied.scores[criterion.key]
    of = _sources(found.evidence.runs[criterion.key], criterion)
    scale = evidence.numbers
    items = dict(found.study.items.values_list("position", "pk"))
    for row, name in enumerate(evidence.material.names):
        if name not in of:
            continue
        score = scores[row]
        known = not np.isnan(score)
        yield Judgment(
            run=run,
            item_id=items[to_position(name)],
            turn=to_turn(name),
            criterion=criterion,
            value=str(evidence.table.categories[int(np.abs(scale - score).argmin())]) if known else "",
            unscored_reason="" if known else OUTSIDE if evidence.said.codes[row] >= 0 else "no_member",
            score=float(score) if known else None,
            item_hash=of[name][0].item_hash,
            cost_usd=0,
            details={"members": [one.pk for one in of[name]], "calibration": found.calibration.pk},
        )


def _sources(run: JudgeRun, criterion: Criterion) -> dict[str, list[Judgment]]:
    """By the name of the item, turn or response, the judgments of the first repeat."""
    found: dict[str, list[Judgment]] = {}
    first = list_judgments([run.pk]).filter(criterion=criterion, repeat=1)
    judgments = first.select_related("item").order_by("order", "pk")
    for judgment in judgments.only("pk", "item_hash", "item__position", "turn", "run_id"):
        found.setdefault(unit(judgment.item.position, judgment.turn), []).append(judgment)
    return found
