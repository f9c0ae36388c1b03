"""What people disagree on, most of all first, and what was said of one such item, without saying by whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from django.db.models import Count, QuerySet

from annotation.stats.bands import find_tier
from annotation.stats.table import BoolArray, IntArray, RatingTable
from annotation.stats.tiers import chance_agreement, item_kappas
from annotation.studies.models.labels import Adjudication, Annotation, Draft
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.queries import ratings
from annotation.studies.queries.scales import name_label
from annotation.studies.queries.studies import is_large
from annotation.studies.queries.units import to_position, to_turn, unit
from core.accounts.models.users import User
from core.accounts.permissions import DECIDING, filter_visible

WINDOW, AHEAD = 500, 10
"""Items of a large study that are read at once for the next one to be decided, and how often."""

VOICES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Dispute:
    """An item, or a turn of it, on which people gave more than one answer to a criterion.

    Attributes
    ----------
    position, turn
        Of the item in the study; of what was rated, 0 for the whole item.
    answers
        (label, number of people) in scale order, without answers that nobody gave.
    spread
        Steps of the scale between the lowest and the highest answer; None on a scale without an order.
    kappa, tier
        Of the item alone, against chance with equally probable answers.
    decision
        The newest adjudication's value as it is called on the scale; empty before the first.
    """

    position: int
    turn: int
    answers: tuple[tuple[str, int], ...]
    spread: int | None
    kappa: float
    tier: str
    decision: str


@dataclass(frozen=True)
class Voice:
    """One person's answer, under a letter that says nothing of who it is."""

    name: str
    label: str
    unscored_reason: str
    strength: str
    note: str
    evidence: tuple[str, ...]


class Disputes(Sequence[Dispute]):
    """The disputed items of a criterion, of which only those are put into words that are looked at.

    Least agreement comes first, then the widest spread, then the order of the items.
    """

    def __init__(self, criterion: Criterion, table: RatingTable, decided: Mapping[str, str]) -> None:
        self.criterion, self.table, self.decided = criterion, table, decided
        self.labels = [name_label(criterion, str(value)) for value in table.categories]
        given = table.counts > 0
        disputed = np.flatnonzero(given.sum(axis=1) > 1)
        kappas = item_kappas(table, chance_agreement(table, "uniform"))[disputed] if disputed.size else np.empty(0)
        self.has_order = table.has_scores
        spreads = steps(given[disputed]) if self.has_order else np.zeros(disputed.size, dtype=np.int64)
        order = np.lexsort([-spreads, kappas])
        self.rows, self.kappas, self.spreads = disputed[order], kappas[order], spreads[order]

    def __len__(self) -> int:
        return int(self.rows.size)

    @overload
    def __getitem__(self, which: int) -> Dispute: ...
    @overload
    def __getitem__(self, which: slice) -> list[Dispute]: ...
    def __getitem__(self, which: int | slice) -> Dispute | list[Dispute]:
        if isinstance(which, slice):
            return [self._dispute(place) for place in range(*which.indices(len(self)))]
        return self._dispute(range(len(self))[which])

    @property
    def open(self) -> int:
        """How many are not decided yet."""
        return len(self) - sum(self.table.items[row] in self.decided for row in self.rows.tolist() if self.decided)

    def find_undecided(self, position: int, turn: int) -> Dispute | None:
        """The first one that is not decided, and is not this one."""
        done = {*self.decided, unit(position, turn)}
        names = (self.table.items[row] for row in self.rows.tolist())
        return next((self._dispute(place) for place, name in enumerate(names) if name not in done), None)

    def _dispute(self, place: int) -> Dispute:
        row, kappa = self.rows[place], float(self.kappas[place])
        name, counts = self.table.items[row], self.table.counts[row]
        decision = self.decided.get(name)
        return Dispute(
            position=to_position(name),
            turn=to_turn(name),
            answers=tuple((self.labels[code], int(counts[code])) for code in np.flatnonzero(counts)),
            spread=int(self.spreads[place]) if self.has_order else None,
            kappa=kappa,
            tier=find_tier(kappa) or "",
            decision="" if decision is None else self.criterion.label_of(decision),
        )


def steps(given: BoolArray) -> IntArray:
    """(n,) steps of the scale between the lowest and the highest of the answers that were given (n, q)."""
    if not given.size:
        return np.zeros(len(given), dtype=np.int64)
    lowest, highest = given.argmax(axis=1), given.shape[1] - 1 - given[:, ::-1].argmax(axis=1)
    return np.asarray(highest - lowest)


def disputes(criterion: Criterion) -> Disputes:
    """The disputed items of a criterion: least agreement first, then the widest spread. Three queries."""
    return Disputes(criterion, ratings.load_criterion(criterion).table, decisions(criterion))


def find_next_dispute(criterion: Criterion, position: int, turn: int) -> Dispute | None:
    """The next one to be decided, most disputed first; of a large study the next among the items that follow."""
    if not is_large(criterion.study):
        return disputes(criterion).find_undecided(position, turn)
    decided = decisions(criterion)
    for start in range(position, position + AHEAD * WINDOW, WINDOW):
        some = ratings.load_criterion(criterion, positions=range(start, start + WINDOW)).table
        if found := Disputes(criterion, some, decided).find_undecided(position, turn):
            return found
    return None


def decisions(criterion: Criterion) -> dict[str, str]:
    """By the name of the item, or of a turn of it, in the rating table: the value of its newest adjudication."""
    oldest_first = Adjudication.objects.filter(criterion=criterion).order_by("created_at", "pk")
    rows = oldest_first.values_list("item__position", "turn", "value")
    return {unit(position, turn): value for position, turn, value in rows}


def list_answers(item: Item, criterion: Criterion, turn: int = 0) -> list[Annotation]:
    """What people answered, in an order that differs from item to item, so that letters do not give anybody away."""
    of_item = Annotation.objects.only_counting().filter(assignment__item=item)
    found = of_item.filter(criterion=criterion, turn=turn).order_by("pk")
    rows = list(found)
    order = np.random.default_rng([item.study.seed, item.position]).permutation(len(rows))
    return [rows[index] for index in order]


def voices(item: Item, criterion: Criterion, turn: int = 0) -> list[Voice]:
    """Everybody's answer with note and evidence, anonymous."""
    return [
        Voice(
            name=VOICES[place % len(VOICES)],
            label=criterion.label_of(one.value) if one.value else "",
            unscored_reason=one.unscored_reason,
            strength=one.get_strength_display(),
            note=one.note,
            evidence=tuple(mark["text"] for mark in one.evidence),
        )
        for place, one in enumerate(list_answers(item, criterion, turn))
    ]


def late(study: Study) -> list[Draft]:
    """Answers that came too late and wait for a decision, oldest first."""
    waiting = Draft.objects.filter(assignment__study=study, state=Draft.State.LATE)
    return list(waiting.select_related("assignment__item", "annotator").order_by("saved_at", "pk"))


def to_decide(user: User, roles: tuple[str, ...] = DECIDING) -> QuerySet[Study]:
    """Studies that somebody decides in, with `n_decided` adjudications, newest first."""
    studies = Study.objects.filter(known_for=None).exclude(state=Study.State.DRAFT)
    counted = studies.annotate(n_decided=Count("items__adjudications")).select_related("project")
    return filter_visible(user, counted, roles=roles).order_by("-created_at", "-pk")
