"""Judges beside people on one criterion: the document of CLI.md, from a rating table and columns of verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from annotation.agreement.services import agreement as among_people
from annotation.stats.by_level import explain_missing
from annotation.stats.dependence import INDEPENDENT, Design
from annotation.stats.rater_groups import LEAST_RATERS, agreement_within, group_raters
from annotation.stats.result_types import NoteDocument
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, RatingTable
from annotation.stats.tiers import group_tiers
from core.errors import InputError
from judging.assessment.agreement_types import (
    AnnotatorGroupsDocument,
    CriterionAgreementDocument,
    ItemGroupDocument,
    JudgeDocument,
    JudgeOfGroupDocument,
)
from judging.assessment.options import SCORES, VERDICTS, JudgedOptions
from judging.assessment.queries.ratings import JudgesRatings
from judging.stats.agreement import judge_agreement
from judging.stats.alt_test import alt_test
from judging.stats.differences import compare_judges
from judging.stats.result_types import AltTestDocument, JudgeAgreementDocument, JudgeDifferenceDocument
from judging.stats.span_agreement import judge_span_agreement
from judging.stats.subgroups import compute_agreement_by

RULE = " judge"
"""How the kinds of judges end that are rules and no models: baseline judge, scripted judge."""


@dataclass(frozen=True, eq=False)
class JudgeColumn:
    """A judge's verdicts beside a rating table.

    Attributes
    ----------
    name
        The judge.
    codes
        (n_items,) positions on the table's scale, -1 where there is no verdict.
    unscored
        (n_items,) where the reply held no verdict.
    kind
        Judge, or baseline judge or scripted judge where it is no model.
    finished
        Whether its run is.
    run
        The run; None for a column of a file.
    stale
        How many of the items it judged were edited since.
    held_out
        (n_items,) where the item is held out, and its verdict is not read; None where nothing is.
    scores, sources
        (n_items,) its weighted scores, and on how many items they rest on what; None where they were not asked for.
    """

    name: str
    codes: IntArray
    unscored: BoolArray
    kind: str = "judge"
    finished: bool = True
    run: int | None = None
    scores: FloatArray | None = None
    sources: Mapping[str, int] = field(default_factory=dict)
    stale: int = 0
    held_out: BoolArray | None = None

    @classmethod
    def from_verdicts(cls, said: JudgesRatings, table: RatingTable, *, with_scores: bool = False) -> JudgeColumn:
        """What a judge of the database said on the table's items."""
        codes, unscored = said.codes(table), said.find_unscored(table)
        found = cls(said.name, codes, unscored, said.kind, said.finished, said.run_id, stale=said.stale(table))
        found = replace(found, held_out=said.find_held_out(table) if said.masked else None)
        if not with_scores or not table.has_scores or table.is_open:
            return found
        return replace(found, scores=said.scores(table), sources=said.sources(table))

    def count_held_out(self, rows: BoolArray | slice = slice(None)) -> int:
        """How many of some items are held out."""
        return 0 if self.held_out is None else int(self.held_out[rows].sum())

    def count_unscored_as(self, code: int, table: RatingTable) -> JudgeColumn:
        """The same with every unscored reply counted as a verdict."""
        codes = np.where(self.unscored, code, self.codes)
        scores = None if self.scores is None else np.where(self.unscored, table.scores[code], self.scores)
        return replace(self, codes=codes, unscored=np.zeros_like(self.unscored), scores=scores)


UNSCORED = (
    "A reply without a usable verdict is unscored: its item is left out of the judge's figures, and the number of "
    "such replies stands beside them."
)
VERDICT = (
    "A judge's verdict is that of the first repeat in its newest finished run; in both orders it has to name the "
    "same response."
)

SCORE = (
    "On scales with an order, correlations, mean absolute error and bias of a judge read its score: the mean over the "
    "scale weighted by its probabilities, or by the shares of its repeated answers where it tells none (G-Eval). "
    "Kappas, accuracy, within one step, the alternative-annotator test and differences between judges read the verdict."
)


HELD_OUT = "are left out of its figures, which are of the development part; people's are of all items"

MOST_COMPARED = 8
"""Judges of which every two are compared, the first by name: 28 pairs."""


def document(
    table: RatingTable,
    columns: Sequence[JudgeColumn],
    options: JudgedOptions,
    groups: Sequence[str] | None = None,
    kinds: Sequence[str | None] | None = None,
    design: Design = INDEPENDENT,
) -> CriterionAgreementDocument:
    """The document of one criterion: people among themselves, each judge beside them, every two judges.

    `groups` names the group of each item of the table, `kinds` that of each of its raters, None where it is not known;
    with one of them, each group has figures of its own.
    """
    _check_nested(table, design)
    people = among_people.compute_people(table, options, design)
    used = [_used(table, column, options) for column in columns]
    judge, is_coded = (_judge, True) if table.level != "spans" else (_span_judge, False)
    found: CriterionAgreementDocument = {
        **people,  # type: ignore[typeddict-item]  # it holds no groups of another shape
        "warnings": [*people["warnings"], *_warnings(columns, options)],
        "conventions": [*people["conventions"], *_conventions(columns, options)],
        "judges": {column.name: judge(table, column, options) for column in columns},
        "differences": _differences(table, used, options) if is_coded else [],
    }
    if groups is not None and is_coded:
        found["groups"] = list_groups(table, used, groups, options)
    if kinds is not None and is_coded:
        found["annotator_groups"] = compute_annotators(table, used, kinds, options)
    return found


def _check_nested(table: RatingTable, design: Design) -> None:
    """Raise InputError where a cluster lies in two strata: it cannot be drawn whole within both."""
    if table.clusters is None or table.strata is None:
        return
    stratum_of: dict[str, str] = {}
    for cluster, stratum in zip(table.clusters, table.strata, strict=True):
        if stratum_of.setdefault(cluster, stratum) != stratum:
            raise InputError(
                "{by} {cluster!r} has items in {within} {stratum_of!r} and {stratum!r}: it cannot be drawn whole "
                "within one; leave out the clusters or the strata",
                field="cluster",
                by=design.by,
                cluster=cluster,
                within=design.within,
                stratum_of=stratum_of[cluster],
                stratum=stratum,
            )


def _used(table: RatingTable, column: JudgeColumn, options: JudgedOptions) -> JudgeColumn:
    """The column with unscored replies treated as the options ask."""
    return (
        column
        if options.unscored_as is None or table.level == "spans"
        else column.count_unscored_as(_code(table, options.unscored_as), table)
    )


def _differences(
    table: RatingTable, columns: Sequence[JudgeColumn], options: JudgedOptions
) -> list[JudgeDifferenceDocument]:
    """Every two judges on the items that both scored, paired."""
    found = compare_judges(
        table,
        {column.name: column.codes for column in columns},
        most=MOST_COMPARED,
        bootstrap=options.bootstrap,
        confidence=options.confidence,
        seed=options.seed,
    )
    return [difference.to_json() for difference in found]


def list_groups(
    table: RatingTable, columns: Sequence[JudgeColumn], groups: Sequence[str], options: JudgedOptions
) -> list[ItemGroupDocument]:
    """People's agreement in each group of items, and each judge's beside it, in the order of the groups' names."""
    of_people = group_tiers(
        table, groups, bootstrap=options.bootstrap, confidence=options.confidence, seed=options.seed
    )
    of_judges = {
        column.name: {
            one.group: _leave_out(one.agreement.to_json(), column.count_held_out(np.array(groups) == one.group))
            for one in compute_agreement_by(
                table,
                column.codes,
                groups,
                judge_name=column.name,
                unscored=column.unscored,
                scores=column.scores,
                bootstrap=options.bootstrap,
                confidence=options.confidence,
                seed=options.seed,
            )
        }
        for column in columns
    }
    return [
        {
            "group": one.group,
            "n_items": one.n_items,
            "fleiss_kappa": one.fleiss_kappa.to_json(),
            "percent_agreement": one.percent_agreement.to_json(),
            "judges": {name: _select_of_group(found[one.group]) for name, found in of_judges.items()},
        }
        for one in of_people
    ]


def compute_annotators(
    table: RatingTable, columns: Sequence[JudgeColumn], kinds: Sequence[str | None], options: JudgedOptions
) -> AnnotatorGroupsDocument:
    """Agreement of the people of each kind with each other, and each judge's with them. No group names a person."""
    grouped = group_raters(table, kinds)
    within = agreement_within(
        table, grouped, bootstrap=options.bootstrap, confidence=options.confidence, seed=options.seed
    )
    return {
        "least_people": LEAST_RATERS,
        "people": grouped.n_raters,
        "answered": grouped.n_grouped,
        "groups_left_out": grouped.withheld,
        "groups": [
            {
                **one.to_json(),
                "judges": {
                    column.name: _select_of_group(
                        _agreement(table.select_raters(grouped.members[one.group]), column, options)
                    )
                    for column in columns
                },
            }
            for one in within
        ],
    }


def _select_of_group(found: JudgeAgreementDocument) -> JudgeOfGroupDocument:
    """What is said of a judge in a group of items, or of annotators."""
    return {
        "mean_cohen_kappa": found["mean_cohen_kappa"],
        "mean_weighted_cohen_kappa": found["mean_weighted_cohen_kappa"],
        "human_ceiling": found["human_ceiling"],
        "human_ceiling_weighted": found["human_ceiling_weighted"],
        "below_ceiling": found["below_ceiling"],
        "below_ceiling_weighted": found["below_ceiling_weighted"],
        "percent_agreement": found["percent_agreement"],
        "accuracy": found["accuracy"],
        "mae": found["mae"],
        "bias": found["bias"],
        "n_items": found["n_items"],
        "scored": found["scored"],
        "unscored": found["unscored"],
        "not_judged": found["not_judged"],
    }


def _agreement(people: RatingTable, column: JudgeColumn, options: JudgedOptions) -> JudgeAgreementDocument:
    found = judge_agreement(
        people,
        column.codes,
        judge_name=column.name,
        unscored=column.unscored,
        scores=column.scores,
        bootstrap=options.bootstrap,
        confidence=options.confidence,
        seed=options.seed,
    )
    return _leave_out(found.to_json(), column.count_held_out())


def _leave_out(found: JudgeAgreementDocument, held_out: int) -> JudgeAgreementDocument:
    """The same without so many held-out items, which are no items of the judge: not even ones that it did not judge."""
    return {**found, "n_items": found["n_items"] - held_out, "not_judged": found["not_judged"] - held_out}


def _judge(table: RatingTable, column: JudgeColumn, options: JudgedOptions) -> JudgeDocument:
    used = _used(table, column, options)
    return {
        **_agreement(table, used, options),
        "alt_test": _alt_test(table, used, options),
        "unscored": int(column.unscored.sum()),
        "unscored_as": options.unscored_as,
        "kind": column.kind,
        "run": column.run,
        "reads": VERDICTS if used.scores is None else SCORES,
        "score_sources": dict(column.sources),
    }


def _span_judge(table: RatingTable, column: JudgeColumn, options: JudgedOptions) -> JudgeDocument:
    found = judge_span_agreement(
        table,
        column.codes,
        column.unscored,
        judge_name=column.name,
        bootstrap=options.bootstrap,
        confidence=options.confidence,
        seed=options.seed,
    )
    held_out = column.count_held_out()
    return {
        **found,
        "n_items": found["n_items"] - held_out,
        "not_judged": found["not_judged"] - held_out,
        "kind": column.kind,
        "run": column.run,
        "reads": VERDICTS,
        "score_sources": {},
        "unscored_as": None,
        "alt_test": None,
        "confusion": None,
        "not_for": {"alt_test": explain_missing("alt_test", "spans")},
    }


def _alt_test(table: RatingTable, column: JudgeColumn, options: JudgedOptions) -> AltTestDocument | None:
    """May the judge stand in for a person? None with fewer than two annotators: nobody can be left out."""
    if table.n_raters < 2:
        return None
    return alt_test(table, column.codes, epsilon=options.epsilon, confidence=options.confidence).to_json()


def _code(table: RatingTable, value: str) -> int:
    """Where the value stands on the scale. Raises InputError where it does not."""
    scale = [str(category) for category in table.categories]
    if value not in scale:
        raise InputError(
            "{value!r} is not on the scale ({scale})", field="unscored-as", value=value, scale=", ".join(scale)
        )
    return scale.index(value)


def _warnings(columns: Sequence[JudgeColumn], options: JudgedOptions) -> Iterable[NoteDocument]:
    for column in columns:
        if unscored := int(column.unscored.sum()):
            treated = "left out of its figures" if options.unscored_as is None else f"counted as {options.unscored_as}"
            yield note("unscored_replies", f"{column.name}: {unscored} replies held no usable verdict; {treated}.")
        if column.stale:
            yield note("stale_judgments", f"{column.name}: items edited after it judged them: {column.stale}.")
        if held_out := column.count_held_out():
            yield note("held_out", f"{column.name}: {held_out} held-out items {HELD_OUT}.")
        if not column.finished:
            done = int((column.codes != MISSING).sum())
            yield note("run_unfinished", f"{column.name}: its run is not finished; {done} items are scored so far.")
        if column.kind.endswith(RULE):
            yield note(column.kind.replace(" ", "_"), f"{column.name} is a {column.kind}: a rule, not a model.")


def _conventions(columns: Sequence[JudgeColumn], options: JudgedOptions) -> list[NoteDocument]:
    if not columns:
        return []
    counted = "" if options.unscored_as is None else f" Here they are counted as {options.unscored_as}, as asked."
    weighted = [note("score", SCORE)] if any(column.scores is not None for column in columns) else []
    return [note("unscored", UNSCORED + counted), note("verdict", VERDICT), *weighted]


def note(code: str, message: str) -> NoteDocument:
    """A warning or a convention: a code that never changes its meaning, and a sentence."""
    return {"code": code, "message": message}
