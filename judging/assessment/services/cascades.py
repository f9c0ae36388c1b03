"""Cascades of a study's judges: what each accepts at a guaranteed agreement, its cost, and what is escalated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.stats.estimate import number_or_none
from annotation.stats.table import MISSING, BoolArray, FloatArray
from annotation.studies.models.studies import Criterion
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.hashing import content_hash
from core.jobs.waiting import load_or_make
from judging.assessment.models.assessment import Escalation
from judging.assessment.options import MOST_JUDGES, CascadeOptions
from judging.assessment.queries.assessment_data import JudgeData, StudyData
from judging.assessment.report_types import CriterionCascadeDocument, StudyCascadeDocument
from judging.assessment.services import assessment, escalation, runs
from judging.assessment.services.assessment import AssessmentRequest
from judging.judges.models import PANEL, RECALIBRATED, Judge
from judging.runs.queries.spending import cost_per_item
from judging.stats.assessment_data import AssessmentData
from judging.stats.cascade import Cascade, Stage, cascade
from judging.stats.observed import select_names

MADE_OF_OTHERS = (PANEL, RECALIBRATED)
"""What stands for a provider where a judge costs nothing because others were asked for it."""

Costs = Mapping[tuple[int, int], float]
"""What an item costs, by ids of run and criterion, where it is known."""


@dataclass(frozen=True, eq=False)
class Cascaded:
    """A cascade on one criterion.

    Attributes
    ----------
    criterion
        The criterion.
    items
        (n,) which items, turns or responses count: all but those on which people gave no label.
    found
        The cascade on these items.
    alone
        Each of its judges by itself, at the same target and error probability.
    """

    criterion: Criterion
    items: BoolArray
    found: Cascade
    alone: tuple[Cascade, ...]

    def to_json(self) -> CriterionCascadeDocument:
        """As JSON types."""
        return {
            "criterion": self.criterion.key,
            "name": self.criterion.name,
            "n_items": int(self.items.sum()),
            **self.found.to_json(),
            "alone": [one.to_json() for one in self.alone],
        }

    @property
    def left(self) -> BoolArray:
        """(n,) items, turns or responses that are escalated to people."""
        left = np.zeros(len(self.items), dtype=bool)
        left[self.items] = self.found.to_people
        return left


def find_judges_in_order(evidence: StudyData, names: Sequence[str]) -> list[Judge]:
    """The judges called so, in that order. Raises InputError as `check_judges` does."""
    return check_judges([evidence.judge(name) for name in names])


def check_judges(judges: Sequence[Judge]) -> list[Judge]:
    """Judges that can be asked one after the other. InputError for fewer than two, too many, or one named twice."""
    if len({judge.pk for judge in judges}) < len(judges):
        raise InputError("a judge stands in the cascade twice", field="judges")
    if not 2 <= len(judges) <= MOST_JUDGES:
        raise InputError(
            "a cascade has 2 to {most_judges} judges; there are {n_judges}",
            field="judges",
            most_judges=MOST_JUDGES,
            n_judges=len(judges),
        )
    return list(judges)


def usual(there: Sequence[JudgeData]) -> list[JudgeData]:
    """Of judges in the order of their cost the first two that are no rules, or the first two where there are fewer."""
    models = [one for one in there if not one.judge.is_baseline]
    return list(models if len(models) > 1 else there)[:2]


def sort_by_cost(each: Sequence[JudgeData], costs: Costs) -> list[JudgeData]:
    """The judges that are not made of others, the cheapest first; of unknown cost last, then by name."""
    each = [one for one in each if one.judge.provider not in MADE_OF_OTHERS]

    def dear(one: JudgeData) -> tuple[float, str]:
        known = [costs[run.pk, c.pk] for c in one.criteria if ((run := one.runs[c.key]).pk, c.pk) in costs]
        return (float(np.mean(known)) if known else np.inf, str(one.judge))

    return sorted(each, key=dear)


def compute_cascade(each: Sequence[JudgeData], options: CascadeOptions) -> list[Cascaded]:
    """The cascade of these judges, in this order, on every criterion that all of them have judged. One query.

    Raises InputError where there is none.
    """
    return _compute(each, options, load_costs(each))


def load_costs(each: Sequence[JudgeData]) -> Costs:
    """What an item costs, by ids of run and criterion, where it is known. One query."""
    return cost_per_item(run.pk for one in each for run in one.runs.values())


def _compute(each: Sequence[JudgeData], options: CascadeOptions, costs: Costs) -> list[Cascaded]:
    shared = [c for c in each[0].criteria if all(c.key in one.evidence for one in each)]
    if not shared:
        why = f". {each[0].reasons_left_out}" if each[0].left_out else ""
        raise InputError("there is no criterion that all of these judges have judged{why}", field="judges", why=why)
    return [_of_criterion(c, each, costs, options) for c in shared]


def _of_criterion(
    criterion: Criterion,
    each: Sequence[JudgeData],
    costs: Costs,
    options: CascadeOptions,
) -> Cascaded:
    people = each[0].evidence[criterion.key].people
    items = ~people.without_label
    material = each[0].evidence[criterion.key].material
    weights = None if material.weights is None else material.weights[items]
    clusters = None if material.dependent is None else select_names(material.dependent, items)
    stages = [
        _stage(one, criterion, items, costs.get((one.runs[criterion.key].pk, criterion.pk), np.nan)) for one in each
    ]

    def made(some: Sequence[Stage]) -> Cascade:
        return cascade(some, clusters=clusters, weights=weights, target=options.target, delta=options.delta)

    return Cascaded(criterion, items, made(stages), tuple(made([stage]) for stage in stages))


def _stage(one: JudgeData, criterion: Criterion, items: BoolArray, cost: float) -> Stage:
    evidence: AssessmentData = one.evidence[criterion.key]
    return Stage(str(one.judge), sureness(evidence)[items], evidence.agreement[items], cost)


def sureness(evidence: AssessmentData) -> FloatArray:
    """(n,) how sure the judge is of its verdicts; without a confidence all are equally sure. NaN without a verdict."""
    said = evidence.said
    return np.where(said.codes != MISSING, said.confidence if said.confidence_from else 1.0, np.nan)


def list_left(each: Sequence[JudgeData], found: Sequence[Cascaded]) -> dict[str, tuple[str, ...]]:
    """By criterion key, the names of the items, turns or responses without a label that are left to people."""
    data = each[0].evidence
    return {
        (key := one.criterion.key): select_names(data[key].material.names, one.left & ~data[key].labelled)
        for one in found
    }


@audited("items.escalate", says=("options", "overlap"), prepares=True)
def escalate(
    *,
    by: User | None,
    each: Sequence[JudgeData],
    found: Sequence[Cascaded],
    options: CascadeOptions,
    name: str,
    overlap: int = 3,
) -> Escalation:
    """A draft of the items that the cascade leaves to people. It is on record at the cascade's last judge.

    Raises InputError where nothing is left.
    """
    last = assessment.assess_judge(by=by, evidence=each[-1], asked=AssessmentRequest())
    thresholds = {one.criterion.key: number_or_none(one.found.stages[-1].selection.threshold) for one in found}
    return escalation.make(
        by=by,
        found=last,
        doubtful=list_left(each, found),
        thresholds=thresholds,
        name=name,
        target=options.target,
        overlap=overlap,
        cascade={"delta": options.delta, "stages": [_limits(place, one, found) for place, one in enumerate(each)]},
    )


def _limits(place: int, one: JudgeData, found: Sequence[Cascaded]) -> dict[str, object]:
    """A stage as it is kept: by criterion its threshold and the least confidence that its test has looked at."""
    stages = {criterion.criterion.key: criterion.found.stages[place] for criterion in found}
    limits = {
        key: [number_or_none(stage.selection.threshold), number_or_none(stage.looked_from)]
        for key, stage in stages.items()
    }
    return {"judge": str(one.judge), "judge_id": one.judge.pk, "limits": limits}


def describe_usual(judges: Sequence[JudgeData]) -> StudyCascadeDocument | None:
    """The document of the two cheapest, by the usual promise; None where there are no two on the same criterion."""
    costs = load_costs(judges)
    each = usual(sort_by_cost(judges, costs))
    if len(each) < 2 or not set(each[0].evidence) & set(each[1].evidence):
        return None
    return describe(each, CascadeOptions(), costs)


def describe(each: Sequence[JudgeData], options: CascadeOptions, costs: Costs) -> StudyCascadeDocument:
    """The document of the cascade of these judges: what is kept, or computed now. Raises as `compute_cascade`."""
    asked_for = {run.pk for one in each for run in one.runs.values()}
    priced = sorted([list(one) for one in costs.items() if one[0][0] in asked_for], key=str)
    asked = [runs.identify(each), priced, options.target, options.delta]
    key = f"cascade-{content_hash(asked)}"
    return load_or_make(key, lambda: document(each, _compute(each, options, costs)))


def document(each: Sequence[JudgeData], found: Sequence[Cascaded]) -> StudyCascadeDocument:
    """All criteria as JSON types, and how many items without a label are escalated to people on any of them."""
    return {
        "study": each[0].study.name,
        "part": each[0].part,
        "judges": [str(one.judge) for one in each],
        "target_agreement": found[0].found.target,
        "delta": found[0].found.delta,
        "left_to_people": len(escalation.list_positions(list_left(each, found))),
        "criteria": {one.criterion.key: one.to_json() for one in found},
    }
