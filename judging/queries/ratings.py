"""What judges said of a study's items: per criterion, one verdict of each judge per item.

A judge may have run several times, several times per item and in both orders. Agreement with people is asked of the
verdict that one would use, so:

- a judge speaks through its newest finished run that covers the criterion, or else through its newest run, among those
  on what people rate: whole items, or single turns where the criterion is asked of turns; probe runs, whose items are
  altered, are none of them, nor are runs of an evaluation, which show the model something else than people saw;
- only the first repeat counts (the others are for the audit of consistency);
- where it saw a pair in both orders, the verdicts have to name the same response, or the item is unscored;
- on held-out items nobody reads here what it said: there a judge is put beside people only by a look on record.

Beside the verdict there can be a score on the same item, a mean over the scale: there all repeats and orders count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.db.models.functions import Coalesce

from annotation.models import Criterion, Study
from annotation.queries.units import position_of, unit
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray, RatingTable
from judging.models import JudgeRun, Judgment
from judging.models.run import JudgmentQuerySet
from judging.providers.base import OWN_EXAMPLE
from judging.queries import hold_out
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
        By the name of the item, or turn, in people's rating table.
    held_out
        How many of its items are left out of the verdicts because they are held out.
    """

    name: str
    kind: str
    run_id: int
    finished: bool
    verdicts: Mapping[str, Verdict]
    held_out: int = 0

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
        return [self.verdicts.get(item) for item in table.items]


def of_study(
    study: Study, *, only: Criterion | None = None, with_scores: bool = False
) -> dict[int, tuple[JudgesRatings, ...]]:
    """By criterion id (all, or the one named), the judges in the order of their names. Four queries.

    With scores, each verdict has its weighted score beside it, which takes one query more; so does a held-out part.
    """
    runs, masked = runs_that_count(study), hold_out.positions(study)
    pks = {run.pk for run in runs.values()}
    verdicts = _verdicts(pks, only)
    if with_scores:
        _add_scores(verdicts, pks, [only] if only else list(study.criteria.all()))
    ratings: dict[int, list[JudgesRatings]] = defaultdict(list)
    for (_, criterion_id), run in sorted(runs.items(), key=lambda entry: (entry[1].judge.name, entry[1].judge.version)):
        if said := verdicts.get((run.pk, criterion_id)):
            judge, shown = run.judge, {at: verdict for at, verdict in said.items() if position_of(at) not in masked}
            ratings[criterion_id].append(
                JudgesRatings(
                    name=str(judge),
                    kind=judge.kind,
                    run_id=run.pk,
                    finished=run.finished_at is not None,
                    verdicts=shown,
                    held_out=len(said) - len(shown),
                )
            )
    return {criterion_id: tuple(judges) for criterion_id, judges in ratings.items()}


def runs_that_count(study: Study) -> dict[tuple[int, int], JudgeRun]:
    """By judge and criterion, the run through which the judge speaks. Two queries."""
    return speaking(runs_of(study))


def runs_of(study: Study) -> list[JudgeRun]:
    """The study's runs, of every kind. Two queries."""
    return list(JudgeRun.objects.filter(study=study).select_related("judge").prefetch_related("criteria"))


def speaking(runs: Iterable[JudgeRun]) -> dict[tuple[int, int], JudgeRun]:
    """By judge and criterion, the run of these through which the judge speaks: never a probe run."""
    ordinary = [run for run in runs if run.kind == JudgeRun.Kind.ORDINARY]
    newest_last = sorted(ordinary, key=lambda run: (run.finished_at is not None, run.created_at, run.pk))
    return {(run.judge_id, criterion.pk): run for run in newest_last for criterion in fitting(run)}


def fitting(run: JudgeRun) -> list[Criterion]:
    """The run's criteria that people rate by the same unit: the whole item, or each turn."""
    return [criterion for criterion in run.criteria.all() if criterion.of_turns == run.every_turn]


def judged(run_ids: Iterable[int]) -> JudgmentQuerySet:
    """The runs' judgments. A judge is not asked about its own examples: what stands in their place is left out."""
    return Judgment.objects.filter(run_id__in=run_ids).exclude(unscored_reason=OWN_EXAMPLE.unscored)


def _verdicts(run_ids: Iterable[int], only: Criterion | None) -> dict[tuple[int, int], dict[str, Verdict]]:
    """By run and criterion: the verdict on each item or turn."""
    replies: dict[tuple[int, int], dict[str, list[Verdict]]] = defaultdict(lambda: defaultdict(list))
    asked = {} if only is None else {"criterion": only}
    first = judged(run_ids).filter(repeat=1, **asked).order_by("item__position", "turn", "order")
    now = Coalesce("item__dialogue__content_hash", "item__pair__content_hash")
    fields = first.values_list(
        "run_id", "criterion_id", "item__position", "turn", "value", "unscored_reason", "item_hash", now
    )
    for run_id, criterion_id, position, turn, value, reason, saw, is_now in fields.iterator(chunk_size=5000):
        verdict = Verdict(value, reason, stale=saw not in ("", is_now))
        replies[run_id, criterion_id][unit(position, turn)].append(verdict)
    return {key: {name: of_both_orders(said) for name, said in by_unit.items()} for key, by_unit in replies.items()}


def _add_scores(
    verdicts: Mapping[tuple[int, int], dict[str, Verdict]], run_ids: Iterable[int], criteria: Sequence[Criterion]
) -> None:
    """Set the weighted score beside each verdict on a scale with an order, from all repeats and orders."""
    numbers = {criterion.pk: as_numbers(spec_of(criterion)) for criterion in criteria}
    ordered = [pk for pk, found in numbers.items() if found]
    said: dict[tuple[int, int], dict[str, list[Opinion]]] = defaultdict(lambda: defaultdict(list))
    rows = Judgment.objects.filter(run_id__in=run_ids, criterion_id__in=ordered).exclude(value="")
    fields = rows.values_list("run_id", "criterion_id", "item__position", "turn", "value", "details__distribution")
    for run_id, criterion_id, position, turn, value, shares in fields.iterator(chunk_size=5000):
        said[run_id, criterion_id][unit(position, turn)].append(Opinion(value, shares or {}))
    for key, by_unit in said.items():
        for name, opinions in by_unit.items():
            if (verdict := verdicts.get(key, {}).get(name)) is not None:
                found = weighted_score(opinions, numbers[key[1]])
                verdicts[key][name] = replace(verdict, weighted=found)


def of_both_orders(said: Sequence[Verdict]) -> Verdict:
    """One verdict from those on one item in one or two orders: the value that all scored ones share."""
    values = {verdict.value for verdict in said if verdict.value}
    if len(values) > 1:
        return Verdict("", ORDERS_DISAGREE, stale=any(verdict.stale for verdict in said))
    return next((verdict for verdict in said if verdict.value), said[0])
