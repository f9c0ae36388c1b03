"""What a run said, as columns, with what its judgments can be grouped and resampled by."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.db.models import Case, F, Value, When
from django.db.models.functions import Coalesce

from annotation.corpus.models import Task
from annotation.stats.table import BoolArray, FloatArray, IntArray
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries import columns
from annotation.studies.queries.items import GROUPINGS, group_name
from annotation.studies.queries.units import TURNS
from core.errors import InputError
from judging.judges.queries.contents import find_turns
from judging.runs.models.runs import JudgeRun

DOMAIN = "domain"
IN_ORDER = {"": 0, "AB": 1, "BA": 2}


@dataclass(frozen=True, eq=False)
class ScoredRun:
    """Judgments of a run as columns, by item, turn, repeat and order.

    Attributes
    ----------
    criterion, position
        (n,) key of the criterion, and the item's place in the study.
    codes
        (n,) positions on the criterion's scale; `columns.UNSCORED` where there is no verdict, `columns.ELSEWHERE` for
        one that is not on the scale.
    reasons
        (n,) which of `reason_names` says why there is no verdict; -1 where there is one.
    scores
        (n,) mean over the scale, where the judge told probabilities; NaN elsewhere.
    turns
        (n,) the turn that it is of, counted from 1 among those of the side that the criterion is asked of (the
        assistant's where it is of whole items), or the response; 0 for the whole item.
    groups
        (n,) which of `group_names`, in the order of the alphabet, the item is of.
    clusters
        (n,) whose item it is: the same number for the same profile, one of its own where no profile is known.
    """

    criterion: IntArray
    position: IntArray
    codes: IntArray
    reasons: IntArray
    scores: FloatArray
    turns: IntArray
    groups: IntArray
    clusters: IntArray
    reason_names: tuple[str, ...]
    group_names: tuple[str, ...]

    def select_criterion(self, criterion: Criterion) -> ScoredRun:
        """Those on one criterion."""
        return self._where(self.criterion == criterion.pk)

    def _where(self, chosen: BoolArray) -> ScoredRun:
        if chosen.all():
            return self
        names = ("criterion", "position", "codes", "reasons", "scores", "turns", "groups", "clusters")
        return replace(self, **{name: getattr(self, name)[chosen] for name in names})


def load_run(run: JudgeRun, *, by: str) -> ScoredRun:
    """In a constant number of queries. InputError where items cannot be grouped so."""
    if by not in GROUPINGS:
        raise InputError(
            "items cannot be grouped by {by!r}; choose one of {groupings}",
            field="by",
            by=by,
            groupings=", ".join(GROUPINGS),
        )
    there, criteria = run.judgments.only_items(), list(run.criteria.all())
    why = sorted(there.filter(value="").order_by().values_list("unscored_reason", flat=True).distinct())
    scores, (position, criterion, codes, reasons, turns, repeats, orders) = columns.read_scored(
        there,
        "score",
        "item__position",
        "criterion_id",
        columns.code(criteria),
        _place("unscored_reason", why),
        "turn",
        "repeat",
        _place("order", list(IN_ORDER)),
    )
    if ((codes == columns.UNSCORED) & (reasons < 0)).any():  # a reason that came up meanwhile
        return load_run(run, by=by)
    order = np.lexsort((orders, repeats, turns, position))
    group, names, cluster = _items(run.study, by, int(position.max(initial=0)))
    position, turns = position[order], turns[order]
    users = [one.pk for one in criteria if one.unit == Criterion.Unit.USER_TURN]
    return ScoredRun(
        criterion=criterion[order],
        position=position,
        codes=codes[order],
        reasons=reasons[order],
        scores=scores[order],
        turns=_count_by_side(run, users, criterion[order], position, turns) if run.every_turn else turns,
        groups=group[position],
        clusters=cluster[position],
        reason_names=tuple(why),
        group_names=names,
    )


def _place(field: str, names: Sequence[str]) -> Case:
    """Which of the names it is, counted by the database; -1 for none of them."""
    return Case(*(When(**{field: name}, then=Value(k)) for k, name in enumerate(names)), default=Value(-1))


def _count_by_side(
    run: JudgeRun, users: Sequence[int], criterion: IntArray, position: IntArray, turns: IntArray
) -> IntArray:
    """Places of turns in the dialogue as places among the turns of the side that each criterion is asked of: the user's
    where it is one of `users`."""
    is_users = np.isin(criterion, users)
    places = load_turn_places(run)
    units, row = np.unique((position * TURNS + turns) * 2 + is_users, return_inverse=True)
    found = []
    for number in units.tolist():
        (at, turn), side = divmod(number // 2, TURNS), number % 2
        found.append(max(1, bisect_right(places[at][side], turn)) if turn else 0)
    return np.array(found, dtype=np.int64)[row]


def load_turn_places(run: JudgeRun) -> dict[int, tuple[tuple[int, ...], tuple[int, ...]]]:
    """By item position, where the assistant's and the user's turns stand in the dialogue."""
    dialogues = run.study.items.order_by("position").values_list("position", "dialogue__turns")
    return {
        position: (find_turns(turns), find_turns(turns, "user"))
        for position, turns in dialogues.iterator(chunk_size=500)
    }


def _items(study: Study, by: str, last: int) -> tuple[IntArray, tuple[str, ...], IntArray]:
    """By item position up to `last`: its group, the groups' names in order, and its cluster."""
    profile = Coalesce("dialogue__scenario__profile", "pair__profile", 0)
    task = F("dialogue__scenario__task") if by == DOMAIN else Value(0)
    rows = study.items.filter(position__lte=last)
    position, profiles, tasks = columns.read(rows, "position", profile, Coalesce(task, 0))
    groups, cluster = np.zeros((2, last + 1), dtype=np.int64)
    cluster[position] = np.where(profiles > 0, profiles, -position)
    if by == DOMAIN:
        pks, which = np.unique(tasks, return_inverse=True)
        domains = dict(Task.objects.filter(pk__in=pks.tolist()).values_list("pk", "domains"))
        called = [group_name(domains.get(pk)) for pk in pks.tolist()]
        place = {name: k for k, name in enumerate(sorted(set(called)))}
        groups[position] = np.array([place[name] for name in called], dtype=np.int64)[which]
    else:
        members = columns.load_positions_by(rows, GROUPINGS[by], "position")
        place = {name: k for k, name in enumerate(sorted({group_name(text) for text in members}))}
        for text, found in members.items():
            groups[found] = place[group_name(text)]
    return groups, tuple(place), cluster
