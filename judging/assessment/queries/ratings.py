"""What judges said of a study's items: per criterion, one verdict of each judge per item.

A judge may have run several times, several times per item and in both orders. Agreement with people is asked of the
verdict that one would use, so:

- a judge speaks through its newest finished run that covers the criterion, or else through its newest run, among those
  on what people rate: whole items, or turns or responses where the criterion is asked of them; probe runs, whose items
  are altered, are none of them, nor are runs of an evaluation, which show the model something else than people saw;
- only the first repeat counts (the others are for the audit of consistency);
- where it saw a pair in both orders, the verdicts have to name the same response, or the item is unscored;
- on held-out items nobody reads here what it said: there a judge is put beside people only by a look on record.

Beside the verdict there can be a score on the same item, a mean over the scale: there all repeats and orders count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Coalesce

from annotation.stats.labels import Label
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, RatingTable
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries import columns, items
from annotation.studies.queries.scales import Scale, has_open_scale, load_scales, to_label
from annotation.studies.queries.units import TURNS, number_units, parse_names
from judging.judges.providers.base import OWN_EXAMPLE
from judging.judges.queries import study_items
from judging.judges.queries.contents import build_spec, to_numbers
from judging.runs.models.runs import JudgeRun, Judgment, JudgmentQuerySet
from judging.stats.weighted_scores import Opinion, WeightedScore, compute_weighted_score

ORDERS_DISAGREE = "its verdicts in the two orders disagree"

Kind = TypeVar("Kind", bound=np.generic)


@dataclass(frozen=True)
class CombinedVerdict:
    """A judge's one answer on an item: a value on the scale, or the reason why there is none."""

    value: str
    unscored_reason: str


@dataclass(frozen=True, eq=False)
class OrderVerdicts:
    """Verdicts as columns, one entry for each item, turn or response, in their order.

    Attributes
    ----------
    units
        (n,) numbers of the rows (`annotation.studies.queries.units`), ascending.
    codes
        (n,) positions on the criterion's scale; -1 where the replies held no verdict, or two that disagree.
    stale
        (n,) whether the item was edited since.
    weighted
        By unit, the score as a mean over the scale, where that was asked for and the scale has an order.
    scale
        What the codes are places on, where the criterion has an open scale.
    """

    units: IntArray
    codes: IntArray
    stale: BoolArray
    weighted: Mapping[int, WeightedScore] = field(default_factory=dict)
    scale: Scale | None = None

    def codes_on(self, categories: Sequence[Label]) -> IntArray:
        """(n,) the codes on a table's scale. An answer that came after the table was read is none yet."""
        if self.scale is None or self.scale == categories:
            return self.codes
        place = {category: code for code, category in enumerate(categories)}
        known = np.array([*(place.get(label, MISSING) for label in self.scale), MISSING], dtype=np.int64)
        return known[self.codes]

    def mask(self, masked: frozenset[int]) -> OrderVerdicts:
        """Those on items that are not at these positions."""
        if not masked:
            return self
        kept = ~np.isin(self.units // TURNS, list(masked))
        return replace(self, units=self.units[kept], codes=self.codes[kept], stale=self.stale[kept])


@dataclass(frozen=True)
class JudgesRatings:
    """What one judge said on one criterion.

    Attributes
    ----------
    name
        The judge with its version.
    kind
        Judge, or baseline judge or scripted judge where it is no model.
    run_id
        The run that is looked at.
    finished
        Whether that run is finished; its verdicts are a part of what will be there otherwise.
    said
        Its verdicts, one entry for each item, turn or response that it was asked about, in their order.
    masked
        Positions of held-out items, on which there are no verdicts here.
    """

    name: str
    kind: str
    run_id: int
    finished: bool
    said: OrderVerdicts
    masked: frozenset[int] = frozenset()

    def codes(self, table: RatingTable) -> IntArray:
        """The verdicts on the table's items as positions on its scale, -1 where there is none."""
        return self._on(table, self.said.codes_on(table.categories), MISSING)

    def find_unscored(self, table: RatingTable) -> BoolArray:
        """On which of the table's items its reply held no verdict. An item it was not asked about is not among them."""
        return self._on(table, self.said.codes < 0, fill=False)

    def find_held_out(self, table: RatingTable) -> BoolArray:
        """(n_items,) which of the table's items are held out."""
        return np.isin(parse_names(table.items) // TURNS, list(self.masked))

    def scores(self, table: RatingTable) -> FloatArray:
        """(n_items,) the weighted scores on the table's items, NaN where there is no verdict or no such score."""
        return np.array([one.score if one else np.nan for one in self._weighted(table)])

    def stale(self, table: RatingTable) -> int:
        """On how many of the table's items it judged an older text."""
        return int(self._on(table, self.said.stale, fill=False).sum())

    def sources(self, table: RatingTable) -> dict[str, int]:
        """On how many of the table's items the score rests on probabilities, on repeats, or on the verdict alone."""
        return dict(sorted(Counter(one.source for one in self._weighted(table) if one).items()))

    def _weighted(self, table: RatingTable) -> list[WeightedScore | None]:
        """Of the table's items on which there is a verdict and such a score."""
        units, verdict = parse_names(table.items).tolist(), self.codes(table) != MISSING
        return [self.said.weighted.get(unit) if there else None for unit, there in zip(units, verdict, strict=True)]

    def _on(self, table: RatingTable, what: npt.NDArray[Kind], fill: int) -> npt.NDArray[Kind]:
        """What there is on the table's items, in their order; `fill` where it was not asked about one."""
        if not self.said.units.size:
            return np.full(table.n_items, fill)
        units = parse_names(table.items)
        place = np.minimum(np.searchsorted(self.said.units, units), self.said.units.size - 1)
        return np.where(self.said.units[place] == units, what[place], fill)


def load_study(
    study: Study,
    *,
    only: Criterion | None = None,
    with_scores: bool = False,
    positions: Sequence[int] | None = None,
    run: int | None = None,
) -> dict[int, tuple[JudgesRatings, ...]]:
    """By criterion id (all, or the one named), the judges in the order of their names. Five queries.

    With scores, each verdict has its weighted score beside it, which takes one query more; so does a held-out part.
    With the number of an ordinary run, its judge speaks through that one, whatever came after it.
    """
    runs, masked = runs_that_count(study, named=run), study_items.positions(study)
    pks = {one.pk for one in runs.values()}
    criteria = [only] if only else list(study.criteria.all())
    said = _load_verdicts(pks, criteria, positions)
    if with_scores:
        _add_scores(said, pks, criteria)
    ratings: dict[int, list[JudgesRatings]] = defaultdict(list)
    for (_, criterion_id), one in sorted(runs.items(), key=lambda entry: (entry[1].judge.name, entry[1].judge.version)):
        if found := said.get((one.pk, criterion_id)):
            ratings[criterion_id].append(
                JudgesRatings(
                    name=str(one.judge),
                    kind=one.judge.kind,
                    run_id=one.pk,
                    finished=one.finished_at is not None,
                    said=found.mask(masked),
                    masked=masked,
                )
            )
    return {criterion_id: tuple(judges) for criterion_id, judges in ratings.items()}


def runs_that_count(study: Study, *, named: int | None = None) -> dict[tuple[int, int], JudgeRun]:
    """By judge and criterion, the run through which the judge speaks; of one judge the run `named`. Two queries."""
    every = list_runs(study)
    return choose_runs(every) | choose_runs(run for run in every if run.pk == named)


def list_runs(study: Study) -> list[JudgeRun]:
    """The study's runs, of every kind. Two queries."""
    return list(JudgeRun.objects.filter(study=study).select_related("judge").prefetch_related("criteria"))


def choose_runs(runs: Iterable[JudgeRun]) -> dict[tuple[int, int], JudgeRun]:
    """By judge and criterion, the run of these through which the judge speaks: never a probe run."""
    ordinary = [run for run in runs if run.kind == JudgeRun.Kind.ORDINARY]
    newest_last = sorted(ordinary, key=lambda run: (run.finished_at is not None, run.created_at, run.pk))
    return {(run.judge_id, criterion.pk): run for run in newest_last for criterion in list_fitting_criteria(run)}


def list_fitting_criteria(run: JudgeRun) -> list[Criterion]:
    """The run's criteria that people rate by the same unit: the whole item, each turn or each response."""
    return [one for one in run.criteria.all() if find_unit(one) == run.unit]


def find_unit(criterion: Criterion) -> str:
    """The unit of the runs that a criterion's labels are put beside."""
    if criterion.of_turns:
        return JudgeRun.Unit.TURN
    return JudgeRun.Unit.RESPONSE if criterion.of_responses else JudgeRun.Unit.ITEM


def list_judgments(run_ids: Iterable[int]) -> JudgmentQuerySet:
    """The runs' judgments. A judge is not asked about its own examples: what stands in their place is left out."""
    return Judgment.objects.filter(run_id__in=run_ids).exclude(unscored_reason=OWN_EXAMPLE.unscored)


def _load_verdicts(
    run_ids: Iterable[int], criteria: Sequence[Criterion], positions: Sequence[int] | None = None
) -> dict[tuple[int, int], OrderVerdicts]:
    """By run and criterion: the verdict on each item or turn. One query, as columns; two at some positions."""
    found_at = {} if positions is None else {"item__in": items.ids(criteria[0].study_id, positions)}
    of_choices = [one for one in criteria if not has_open_scale(one)]
    open_ones = [one for one in criteria if has_open_scale(one)]
    found = _load_open(run_ids, open_ones, found_at) if open_ones else {}
    if open_ones and not of_choices:
        return found
    now = Coalesce("item__dialogue__content_hash", "item__pair__content_hash")
    stale = Case(When(~Q(item_hash="") & ~Q(item_hash=F("now")), then=Value(1)), default=Value(0))
    place, turns, runs, asked, codes, edited = columns.read(
        list_judgments(run_ids).filter(repeat=1, criterion__in=of_choices, **found_at).alias(now=now),
        "item__position",
        "turn",
        "run_id",
        "criterion_id",
        columns.code(of_choices),
        stale,
    )
    if (codes == columns.ELSEWHERE).any():
        raise ValueError("a judgment has a value that is not on the scale of its criterion")
    units = number_units(place, turns)
    for run in np.unique(runs).tolist():
        for criterion in np.unique(asked[runs == run]).tolist():
            mine = (runs == run) & (asked == criterion)
            found[run, criterion] = combine_orders(units[mine], codes[mine], edited[mine] > 0)
    return found


def _load_open(
    run_ids: Iterable[int], criteria: Sequence[Criterion], found_at: Mapping[str, object]
) -> dict[tuple[int, int], OrderVerdicts]:
    """The same of criteria with an open scale, row by row. One query besides those of the scales."""
    scales, by_id = load_scales(criteria), {one.pk: one for one in criteria}
    codes = {pk: {label: code for code, label in enumerate(scale)} for pk, scale in scales.items()}
    now = Coalesce("item__dialogue__content_hash", "item__pair__content_hash")
    rows = list_judgments(run_ids).filter(repeat=1, criterion__in=criteria, **found_at).annotate(now=now)
    fields = ("run_id", "criterion_id", "item__position", "turn", "value", "content", "item_hash", "now")
    by_run: dict[tuple[int, int], list[tuple[int, int, bool]]] = defaultdict(list)
    for run, pk, position, turn, value, content, seen, hash_now in rows.values_list(*fields).iterator(chunk_size=5000):
        code = codes[pk].get(to_label(by_id[pk], value, content), MISSING) if value else columns.UNSCORED
        by_run[run, pk].append((position * TURNS + turn, code, bool(seen) and seen != hash_now))
    return {
        (run, pk): replace(combine_orders(*_as_columns(each)), scale=scales[pk]) for (run, pk), each in by_run.items()
    }


def _as_columns(rows: Sequence[tuple[int, int, bool]]) -> tuple[IntArray, IntArray, BoolArray]:
    units, codes, stale = zip(*rows, strict=True)
    return np.array(units, dtype=np.int64), np.array(codes, dtype=np.int64), np.array(stale, dtype=bool)


def combine_orders(units: IntArray, codes: IntArray, stale: BoolArray) -> OrderVerdicts:
    """One verdict for each unit from those in one or two orders: the value that all scored ones share."""
    rows, row = np.unique(units, return_inverse=True)
    lowest, highest = np.full(rows.size, np.iinfo(np.int64).max), np.full(rows.size, MISSING)
    scored = codes >= 0
    np.minimum.at(lowest, row[scored], codes[scored])
    np.maximum.at(highest, row[scored], codes[scored])
    edited = np.zeros(rows.size, dtype=bool)
    edited[row[stale]] = True
    return OrderVerdicts(rows, np.where(lowest == highest, highest, MISSING), edited)


def _add_scores(
    said: dict[tuple[int, int], OrderVerdicts], run_ids: Iterable[int], criteria: Sequence[Criterion]
) -> None:
    """Set the weighted scores beside the verdicts on a scale with an order, from all repeats and orders."""
    numbers = {criterion.pk: to_numbers(build_spec(criterion)) for criterion in criteria}
    ordered = [pk for pk, found in numbers.items() if found]
    opinions: dict[tuple[int, int], dict[int, list[Opinion]]] = defaultdict(lambda: defaultdict(list))
    rows = Judgment.objects.filter(run_id__in=run_ids, criterion_id__in=ordered).exclude(value="")
    fields = rows.values_list("run_id", "criterion_id", "item__position", "turn", "value", "details__distribution")
    for run_id, criterion_id, position, turn, value, shares in fields.iterator(chunk_size=5000):
        opinions[run_id, criterion_id][position * TURNS + turn].append(Opinion(value, shares or {}))
    for key, by_unit in opinions.items():
        if key in said:
            scores = {unit: compute_weighted_score(given, numbers[key[1]]) for unit, given in by_unit.items()}
            said[key] = replace(said[key], weighted={unit: one for unit, one in scores.items() if one})


def combine_verdicts(said: Sequence[CombinedVerdict]) -> CombinedVerdict:
    """One verdict from those on one item in one or two orders: the value that all scored ones share."""
    values = {verdict.value for verdict in said if verdict.value}
    if len(values) > 1:
        return CombinedVerdict("", ORDERS_DISAGREE)
    return next((verdict for verdict in said if verdict.value), said[0])
