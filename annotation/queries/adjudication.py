"""What people disagree on, most of all first, and what was said of one such item, without saying by whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.models import Adjudication, Annotation, Criterion, Draft, Item, Study
from annotation.queries import ratings
from annotation.queries.units import position_of, turn_of, unit
from annotation.stats.bands import tier_of
from annotation.stats.table import RatingTable
from annotation.stats.tiers import item_kappas

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
        Steps of the scale between the lowest and the highest answer.
    kappa, tier
        Of the item alone, against chance with equally probable answers.
    decision
        The newest adjudication's value as it is called on the scale; empty before the first.
    """

    position: int
    turn: int
    answers: tuple[tuple[str, int], ...]
    spread: int
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


def disputes(criterion: Criterion) -> list[Dispute]:
    """The disputed items of a criterion: least agreement first, then the widest spread. Three queries."""
    table = ratings.of_criterion(criterion).table
    decided = decisions(criterion)
    kappas = item_kappas(table, 1 / max(table.n_categories, 1)) if table.n_items else np.empty(0)
    found = [
        dispute(table, row, float(kappas[row]), criterion, decided)
        for row in range(table.n_items)
        if (table.counts[row] > 0).sum() > 1
    ]
    return sorted(found, key=lambda one: (one.kappa, -one.spread, one.position, one.turn))


def dispute(table: RatingTable, row: int, kappa: float, criterion: Criterion, decided: dict[str, str]) -> Dispute:
    given = np.flatnonzero(table.counts[row] > 0)
    name = table.items[row]
    labels = [criterion.label_of(str(value)) for value in table.categories]
    return Dispute(
        position=position_of(name),
        turn=turn_of(name),
        answers=tuple((labels[code], int(table.counts[row][code])) for code in given),
        spread=int(given[-1] - given[0]),
        kappa=kappa,
        tier=tier_of(kappa) or "",
        decision=criterion.label_of(decided[name]) if name in decided else "",
    )


def decisions(criterion: Criterion) -> dict[str, str]:
    """By the name of the item, or of a turn of it, in the rating table: the value of its newest adjudication."""
    oldest_first = Adjudication.objects.filter(criterion=criterion).order_by("created_at", "pk")
    rows = oldest_first.values_list("item__position", "turn", "value")
    return {unit(position, turn): value for position, turn, value in rows}


def submitted(item: Item, criterion: Criterion, turn: int = 0) -> list[Annotation]:
    """What people answered, in an order that differs from item to item, so that letters do not give anybody away."""
    of_item = Annotation.objects.counting().filter(assignment__item=item)
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
        for place, one in enumerate(submitted(item, criterion, turn))
    ]


def late(study: Study) -> list[Draft]:
    """Answers that came too late and wait for a decision, oldest first."""
    waiting = Draft.objects.filter(assignment__study=study, state=Draft.State.LATE)
    return list(waiting.select_related("assignment", "annotator").order_by("saved_at", "pk"))
