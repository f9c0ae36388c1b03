"""What calibration and audits are computed from: the items of a study, people's labels, and one judge's judgments.

Each is read in one query of plain columns, in the shapes of `judging.stats.assessment_data`. Answers that came too
late are drafts, not annotations, and so are no part of it; what was submitted counts, and an adjudication goes before
it. Where a criterion is asked of turns or responses, each of them is a row, with the cluster, stratum and probability
of its item. Criteria whose answers are no labels (spans, texts) are no part of it, nor is what a judge said by another
unit than people.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from django.utils.translation import gettext as _

from annotation.agreement.models import TierOverride
from annotation.recruitment import queries
from annotation.stats.by_level import explain_missing
from annotation.stats.dependence import drop_useless
from annotation.stats.table import MISSING
from annotation.studies.models.labels import Adjudication, Annotation
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries import ratings
from annotation.studies.queries.ratings import PeoplesRatings
from annotation.studies.queries.scales import to_label
from annotation.studies.queries.units import unit
from core.errors import InputError
from judging.assessment.agreement_types import LeftOutDocument
from judging.assessment.queries.ratings import choose_runs, find_unit, list_runs
from judging.assessment.queries.replies import LOG_PROBABILITIES, OF_MEMBERS
from judging.assessment.queries.reply_columns import ReplyColumns, ReplyRequest, load_columns
from judging.judges.models import PANEL, Judge
from judging.judges.queries import study_items
from judging.judges.queries.study_items import ALL, DEVELOPMENT, load_texts, select_part
from judging.runs.models.runs import JudgeRun
from judging.runs.queries.probe_replies import load_altered
from judging.stats.assessment_data import AssessmentData
from judging.stats.observed import AlteredCodes, ItemColumns, People

OTHER_UNIT = "Asked of {unit}, and the judge's run rates {other}. {next}"
START = "Start a run of the judge in which it rates {fitting}."
IMPORT = "Import its judgments of the user's turns: judges that run here rate those of the assistant."


@dataclass(frozen=True)
class JudgeData:
    """One judge beside people on every criterion of a study.

    Attributes
    ----------
    judge
        The judge.
    runs
        By criterion key, the run through which it speaks.
    criteria
        In the order of the study; only those that the judge has judged.
    material
        The items; of a criterion that is asked of turns or responses, its evidence has the rows.
    evidence
        By criterion key.
    prompts
        Versions of the prompts that its judgments were asked with, sorted.
    reasons
        By criterion key, why replies held no verdict and how often.
    part
        Of the items: all, development or held-out.
    examples
        By criterion key, how many of the items are the judge's own examples, and so not asked about.
    left_out
        As of `StudyData`.
    """

    study: Study
    judge: Judge
    runs: Mapping[str, JudgeRun]
    criteria: tuple[Criterion, ...]
    material: ItemColumns
    evidence: Mapping[str, AssessmentData]
    prompts: tuple[str, ...]
    reasons: Mapping[str, Mapping[str, int]]
    part: str = ALL
    examples: Mapping[str, int] = field(default_factory=dict)
    left_out: tuple[LeftOutDocument, ...] = ()
    _digests: dict[object, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def reasons_left_out(self) -> str:
        """Why of each criterion that is left out, in one text; empty where none is."""
        return " ".join(f"{one['name']}: {one['reason']}" for one in self.left_out)

    def check_judged(self) -> None:
        """Raise InputError where the judge is beside people on no criterion."""
        if not self.criteria and self.left_out:
            raise InputError(self.reasons_left_out, field="criterion")
        if not self.criteria:
            raise InputError("{judge} has not judged this study", field="judge", judge=self.judge)

    def check_criterion(self, key: str, *, field: str = "criterion") -> None:
        """Raise InputError where the judge is not beside people on the criterion of this key."""
        if reason := next((one["reason"] for one in self.left_out if one["criterion"] == key), ""):
            raise InputError("{key}: {reason}", field=field, key=key, reason=reason)
        if key not in self.evidence:
            raise InputError(
                "no criterion is called {key!r}; there are {evidence}",
                field=field,
                key=key,
                evidence=", ".join(self.evidence),
            )

    def digest(self, of: Callable[[JudgeData], str]) -> str:
        """What ``load_judge`` makes of it, made once: hashing all columns takes longer than reading a kept result."""
        if of not in self._digests:
            self._digests[of] = of(self)
        return self._digests[of]


@dataclass(frozen=True)
class StudyData:
    """What does not depend on the judge, read once however many judges are looked at.

    `left_out` are the criteria that are no part of it, each with the reason. `rows` are the items, and the turns or
    responses that criteria are asked of, by `Criterion.unit`.
    """

    study: Study
    criteria: tuple[Criterion, ...]
    rows: Mapping[str, ItemColumns]
    people: Mapping[int, People]
    runs: Mapping[tuple[int, int], JudgeRun]
    part: str = ALL
    all_runs: tuple[JudgeRun, ...] = ()
    left_out: tuple[LeftOutDocument, ...] = ()

    @classmethod
    def load(cls, study: Study, part: str = "", *, given: Sequence[PeoplesRatings] | None = None) -> StudyData:
        """One part of the items, by default what may be looked at freely. In nine queries, and two or three more for
        each other unit that criteria are asked of.

        `given` is what people said on every criterion, where that is read already. Raises InputError where the study
        has no such part.
        """
        split = study_items.find_hold_out(study)
        chosen = part or (DEVELOPMENT if split else ALL)
        asked = list(study.criteria.all())
        why = {criterion.pk: explain_missing("calibration", criterion.level) for criterion in asked}
        criteria = tuple(criterion for criterion in asked if why[criterion.pk] is None)
        units = dict.fromkeys([Criterion.Unit.ITEM.value, *(criterion.unit for criterion in criteria)])
        rows = {each: select_part(load_texts(study, each), split, chosen) for each in units}
        runs = list_runs(study)
        return cls(
            study=study,
            criteria=criteria,
            rows=rows,
            people=people(study, criteria, rows, given),
            runs=choose_runs(runs),
            part=chosen,
            all_runs=tuple(runs),
            left_out=tuple(_leave_out(one, reason) for one in asked if (reason := why[one.pk])),
        )

    @property
    def material(self) -> ItemColumns:
        """The items."""
        return self.rows[Criterion.Unit.ITEM]

    def describe_dependence(self) -> str:
        """How intervals are made, for each unit that criteria are asked of."""
        first = {criterion.unit: criterion for criterion in reversed(self.criteria)}
        tables = {each: self.people[criterion.pk].table for each, criterion in first.items()}
        return " ".join(of.design.describe(tables[each]) for each, of in self.rows.items() if each in tables)

    def judges(self) -> list[Judge]:
        """Those with a run on the study, by name and version."""
        found = {run.judge_id: run.judge for run in self.runs.values()}
        return sorted(found.values(), key=lambda judge: (judge.name, judge.version))

    def judge(self, name: str) -> Judge:
        """The judge that is called so, or its newest version that has judged the study; `gpt v1` is its first version.

        Also one that has rated other units than people, of which the reason is told. InputError without one.
        """
        there = self.judges()
        others = [run.judge for run in self.all_runs if run.kind == JudgeRun.Kind.ORDINARY]
        called = select_called(name, there) or select_called(name, others)
        exact = [judge for judge in called if f"{judge.name} v{judge.version}" == name]
        if called:
            return (exact or called)[-1]
        known = ", ".join(str(judge) for judge in there) or _("none")
        raise InputError(
            "no judge called {name!r} has judged this study; there are: {known}", field="judge", name=name, known=known
        )

    def load_judge(self, judge: Judge) -> JudgeData:
        """The judge beside people. One query."""
        return self.load_judges([judge])[0]

    def load_judges(self, judges: Sequence[Judge]) -> list[JudgeData]:
        """Each of the judges beside people, whatever their number in one query; one more where probes were run."""
        earlier = [before for judge in judges if (before := self._before(judge))]
        asked = [one for judge in (*judges, *earlier) for one in self._list_requests(judge)]
        columns = load_columns(asked)
        scales = {pk: one.table.categories for pk, one in self.people.items()}
        copies = load_altered(self.all_runs, judges, self.criteria, self.rows, scales)
        return [self._beside_people(judge, columns, copies) for judge in judges]

    def _list_requests(self, judge: Judge) -> Iterator[ReplyRequest]:
        runs, shares = self._runs(judge), OF_MEMBERS if judge.provider == PANEL else LOG_PROBABILITIES
        for criterion in self.criteria:
            if criterion.pk in runs:
                rows, scale = self.rows[criterion.unit], self.people[criterion.pk].table.categories
                yield ReplyRequest(runs[criterion.pk], criterion, rows, scale, shares)

    def _runs(self, judge: Judge) -> dict[int, JudgeRun]:
        """By criterion id, the run through which the judge speaks."""
        return {c.pk: self.runs[judge.pk, c.pk] for c in self.criteria if (judge.pk, c.pk) in self.runs}

    def _before(self, judge: Judge) -> Judge | None:
        """The newest version before this one that has judged the study."""
        older = [one for one in self.judges() if one.name == judge.name and one.version < judge.version]
        return older[-1] if older else None

    def _beside_people(
        self,
        judge: Judge,
        columns: Mapping[tuple[int, int], ReplyColumns],
        copies: Mapping[tuple[int, int], tuple[AlteredCodes, ...]],
    ) -> JudgeData:
        mine, before = self._replies(judge, columns), self._before(judge)
        earlier = self._replies(before, columns) if before else {}
        asked = [criterion for criterion in self.criteria if criterion.pk in mine]
        runs = self._runs(judge)
        found = {
            c.key: AssessmentData(
                self.rows[c.unit],
                self.people[c.pk],
                mine[c.pk].verdicts,
                earlier[c.pk].verdicts.codes if c.pk in earlier else None,
                copies.get((judge.pk, c.pk), ()),
            )
            for c in asked
        }
        return JudgeData(
            study=self.study,
            judge=judge,
            runs={c.key: runs[c.pk] for c in asked},
            criteria=tuple(asked),
            material=self.material,
            evidence=found,
            prompts=tuple(sorted({prompt for one in mine.values() for prompt in one.prompts})),
            reasons={c.key: mine[c.pk].reasons for c in asked},
            part=self.part,
            examples={c.key: mine[c.pk].examples for c in asked},
            left_out=(*self.left_out, *self._list_other_units(judge)),
        )

    def _list_other_units(self, judge: Judge) -> Iterator[LeftOutDocument]:
        """Criteria that the judge has rated by another unit alone than people, each with the run that is to be made."""
        mine = [run for run in self.all_runs if run.judge_id == judge.pk and run.kind == JudgeRun.Kind.ORDINARY]
        for criterion in self.criteria:
            others = [run for run in mine if criterion in run.criteria.all()]
            if others and (judge.pk, criterion.pk) not in self.runs:
                of, fitting = criterion.get_unit_display(), JudgeRun.Unit(find_unit(criterion)).label
                what = IMPORT if criterion.unit == Criterion.Unit.USER_TURN else START.format(fitting=fitting)
                said = OTHER_UNIT.format(unit=of, other=others[-1].get_unit_display(), next=what)
                yield _leave_out(criterion, said)

    def _replies(self, judge: Judge, columns: Mapping[tuple[int, int], ReplyColumns]) -> dict[int, ReplyColumns]:
        """By criterion id, what the judge said."""
        return {criterion: columns[run.pk, criterion] for criterion, run in self._runs(judge).items()}


def select_called(name: str, judges: Sequence[Judge]) -> list[Judge]:
    """The judges of this name, with their version or without."""
    return [one for one in judges if name in (str(one), one.name, f"{one.name} v{one.version}")]


def _leave_out(criterion: Criterion, reason: str) -> LeftOutDocument:
    return {"criterion": criterion.key, "name": criterion.name, "reason": reason}


def people(
    study: Study,
    criteria: Sequence[Criterion],
    rows: Mapping[str, ItemColumns],
    given: Sequence[PeoplesRatings] | None = None,
) -> dict[int, People]:
    """By criterion id, what people said; `rows` by unit.

    Five queries; six where strengths are asked, two less where it is given.
    """
    places = {each: {name: row for row, name in enumerate(of.names)} for each, of in rows.items()}
    place, place_of = places[Criterion.Unit.ITEM], {one.pk: places[one.unit] for one in criteria}
    decided: dict[int, dict[int, str]] = defaultdict(dict)
    oldest_first = Adjudication.objects.filter(criterion__in=criteria).order_by("created_at", "pk")
    for criterion, position, turn, value in oldest_first.values_list("criterion_id", "item__position", "turn", "value"):
        if (row := place_of[criterion].get(unit(position, turn))) is not None:
            decided[criterion][row] = value
    by_hand = _set_by_hand(criteria, place_of)
    about = queries.answers(study)
    each = (
        ratings.load_criteria(study, criteria) if given is None else [one for one in given if one.criterion in criteria]
    )
    strengths = _strengths(study, criteria, place) if study.asks_strength else {}
    found = {}
    for one in each:
        pk = one.criterion.pk
        said = _people(one, rows[one.criterion.unit], place_of[pk], decided[pk], by_hand[pk], about)
        found[pk] = replace(said, strengths=tuple(strengths.get(pk, ())))
    return found


def _strengths(
    study: Study, criteria: Sequence[Criterion], place: Mapping[str, int]
) -> dict[int, list[tuple[int, int, str]]]:
    """By criterion id, the row, the person's id, and by how much one response is better, where that was said."""
    found: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
    said = (
        Annotation.objects.only_counting().filter(assignment__study=study, criterion__in=criteria).exclude(strength="")
    )
    fields = ("criterion_id", "assignment__item__position", "assignment__annotator_id", "strength")
    for criterion, position, person, strength in said.order_by(*fields).values_list(*fields):
        if str(position) in place:
            found[criterion].append((place[str(position)], person, strength))
    return found


def _set_by_hand(criteria: Sequence[Criterion], place_of: Mapping[int, Mapping[str, int]]) -> dict[int, dict[int, str]]:
    """By criterion id, the tiers that researchers have set, by row; an empty one goes back to what is computed."""
    found: dict[int, dict[int, str]] = defaultdict(dict)
    oldest_first = TierOverride.objects.filter(criterion__in=criteria).order_by("created_at", "pk")
    for criterion, position, turn, tier in oldest_first.values_list("criterion_id", "item__position", "turn", "tier"):
        if (row := place_of[criterion].get(unit(position, turn))) is not None:
            found[criterion][row] = tier
    return found


def _people(
    given: PeoplesRatings,
    items: ItemColumns,
    place: Mapping[str, int],
    decided: Mapping[int, str],
    tiers: Mapping[int, str],
    about: Mapping[str, Mapping[str, str]],
) -> People:
    """A row for every item, turn or response, rated or not, with the study's clusters, strata and weights."""
    there = np.array([name in place for name in given.table.items], dtype=bool)
    rows = [place[name] for name in given.table.items if name in place]
    table = given.table.subset_items(there)
    codes = np.full((items.n, len(table.raters)), MISSING, dtype=np.int64)
    codes[rows] = table.codes
    declined = np.zeros(items.n, dtype=np.int64)
    declined[rows] = given.declined[there]
    code = {str(value): number for number, value in enumerate(table.categories)}
    gold = np.full(items.n, MISSING, dtype=np.int64)
    for row, value in decided.items():
        gold[row] = code[to_label(given.criterion, value, None)]
    whole = drop_useless(
        replace(
            table, codes=codes, items=items.names, clusters=items.clusters, strata=items.strata, weights=items.weights
        )
    )
    by_hand = {row: tier for row, tier in tiers.items() if tier}
    answers = {key: tuple(said.get(rater) for rater in whole.raters) for key, said in about.items()}
    return People(whole, gold, declined, by_hand, answers)
