"""What judges said of a study's items: per criterion, one verdict of each judge per item.

A judge may have run several times, several times per item and in both orders. Agreement with people is asked of the
verdict that one would use, so:

- a judge speaks through its newest finished run that covers the criterion, or else through its newest run; runs on
  single turns do not count, since people rate whole items;
- only the first repeat counts (the others are for the audit of consistency);
- where it saw a pair in both orders, the verdicts have to name the same response, or the item is unscored.

Beside the verdict there can be a score on the same item, a mean over the scale: there all repeats and orders count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.db.models.functions import Coalesce

from annotation.models import Criterion, Study
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, RatingTable
from judging.models import JudgeRun, Judgment
from judging.queries.requests import as_numbers, spec_of
from judging.stats.weighted_scores import Opinion, WeightedScore, weighted_score

ORDERS_DISAGREE = "its verdicts in the two orders disagree"


@dataclass(frozen=True)
class Verdict:
    """A judge's one answer on an item: a value on the scale, or the reason why there is none.

    `weighted` is its score as a mean over the scale, where that was asked for and the scale has an order; `stale`
    says that the item was edited since.
    """

    value: str
    unscored_reason: str
    weighted: WeightedScore | None = None
    stale: bool = False


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
    verdicts
        By item position.
    """

    name: str
    kind: str
    run_id: int
    finished: bool
    verdicts: Mapping[int, Verdict]

    def codes(self, table: RatingTable) -> IntArray:
        """The verdicts on the table's items as positions on its scale, -1 where there is none."""
        place = {str(category): code for code, category in enumerate(table.categories)}
        return np.array([place[v.value] if v and v.value else MISSING for v in self._on(table)], dtype=np.int64)

    def unscored(self, table: RatingTable) -> BoolArray:
        """On which of the table's items its reply held no verdict. An item it was not asked about is not among them."""
        return np.array([v is not None and not v.value for v in self._on(table)], dtype=bool)

    def scores(self, table: RatingTable) -> FloatArray:
        """(n_items,) the weighted scores on the table's items, NaN where there is no verdict or no such score."""
        return np.array([v.weighted.score if v and v.value and v.weighted else np.nan for v in self._on(table)])

    def stale(self, table: RatingTable) -> int:
        """On how many of the table's items it judged an older text."""
        return sum(v is not None and v.stale for v in self._on(table))

    def sources(self, table: RatingTable) -> dict[str, int]:
        """On how many of the table's items the score rests on probabilities, on repeats, or on the verdict alone."""
        found = Counter(v.weighted.source for v in self._on(table) if v and v.value and v.weighted)
        return dict(sorted(found.items()))

    def _on(self, table: RatingTable) -> list[Verdict | None]:
        return [self.verdicts.get(int(item)) for item in table.items]


def of_study(
    study: Study, *, only: Criterion | None = None, with_scores: bool = False
) -> dict[int, tuple[JudgesRatings, ...]]:
    """By criterion id (all, or the one named), the judges in the order of their names. Three queries.

    With scores, each verdict has its weighted score beside it, which takes one query more.
    """
    runs = runs_that_count(study)
    pks = {run.pk for run in runs.values()}
    verdicts = _verdicts(pks, only)
    if with_scores:
        _add_scores(verdicts, pks, [only] if only else list(study.criteria.all()))
    ratings: dict[int, list[JudgesRatings]] = defaultdict(list)
    for (_, criterion_id), run in sorted(runs.items(), key=lambda entry: (entry[1].judge.name, entry[1].judge.version)):
        if said := verdicts.get((run.pk, criterion_id)):
            judge = run.judge
            ratings[criterion_id].append(
                JudgesRatings(str(judge), judge.kind, run.pk, run.finished_at is not None, said)
            )
    return {criterion_id: tuple(judges) for criterion_id, judges in ratings.items()}


def runs_that_count(study: Study) -> dict[tuple[int, int], JudgeRun]:
    """By judge and criterion, the run through which the judge speaks. Two queries."""
    runs = JudgeRun.objects.filter(study=study, every_turn=False).select_related("judge").prefetch_related("criteria")
    newest_last = sorted(runs, key=lambda run: (run.finished_at is not None, run.created_at, run.pk))
    return {(run.judge_id, criterion.pk): run for run in newest_last for criterion in run.criteria.all()}


def _verdicts(run_ids: Iterable[int], only: Criterion | None) -> dict[tuple[int, int], dict[int, Verdict]]:
    """By run and criterion: the verdict on each item position."""
    replies: dict[tuple[int, int], dict[int, list[Verdict]]] = defaultdict(lambda: defaultdict(list))
    asked = {} if only is None else {"criterion": only}
    first = Judgment.objects.filter(run_id__in=run_ids, repeat=1, **asked).order_by("item__position", "order")
    now = Coalesce("item__dialogue__content_hash", "item__pair__content_hash")
    fields = first.values_list("run_id", "criterion_id", "item__position", "value", "unscored_reason", "item_hash", now)
    for run_id, criterion_id, position, value, reason, saw, is_now in fields.iterator(chunk_size=5000):
        verdict = Verdict(value, reason, stale=saw not in ("", is_now))
        replies[run_id, criterion_id][position].append(verdict)
    return {
        key: {position: of_both_orders(said) for position, said in by_item.items()} for key, by_item in replies.items()
    }


def _add_scores(
    verdicts: Mapping[tuple[int, int], dict[int, Verdict]], run_ids: Iterable[int], criteria: Sequence[Criterion]
) -> None:
    """Set the weighted score beside each verdict on a scale with an order, from all repeats and orders."""
    numbers = {criterion.pk: as_numbers(spec_of(criterion)) for criterion in criteria}
    ordered = [pk for pk, found in numbers.items() if found]
    said: dict[tuple[int, int], dict[int, list[Opinion]]] = defaultdict(lambda: defaultdict(list))
    rows = Judgment.objects.filter(run_id__in=run_ids, criterion_id__in=ordered, turn=0).exclude(value="")
    fields = rows.values_list("run_id", "criterion_id", "item__position", "value", "details__distribution")
    for run_id, criterion_id, position, value, shares in fields.iterator(chunk_size=5000):
        said[run_id, criterion_id][position].append(Opinion(value, shares or {}))
    for key, by_item in said.items():
        for position, opinions in by_item.items():
            if (verdict := verdicts.get(key, {}).get(position)) is not None:
                found = weighted_score(opinions, numbers[key[1]])
                verdicts[key][position] = replace(verdict, weighted=found)


def of_both_orders(said: Sequence[Verdict]) -> Verdict:
    """One verdict from those on one item in one or two orders: the value that all scored ones share."""
    values = {verdict.value for verdict in said if verdict.value}
    if len(values) > 1:
        return Verdict("", ORDERS_DISAGREE, stale=any(verdict.stale for verdict in said))
    return next((verdict for verdict in said if verdict.value), said[0])
