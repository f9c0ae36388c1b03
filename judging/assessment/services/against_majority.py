"""Where a judge contradicts people's label: items for somebody to look at again and decide.

People's label is their majority; on ordered scales it is their median, and between two medians nothing contradicts.

Held-out items are no part of it: on them no verdict of a judge is read (see `judging.assessment.queries.hold_out`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext as _

from annotation.agreement.services.tiers import TierOptions
from annotation.stats.majority import compute_majority, compute_medians
from annotation.stats.table import MISSING, FloatArray, IntArray
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries.scales import name_label
from annotation.studies.queries.units import to_position, to_turn
from annotation.workbench.queries.adjudication import decisions
from core.errors import InputError
from judging.assessment.services.items import RatedItems


@dataclass(frozen=True)
class Contradiction:
    """An item, or a turn of it, on which at least one judge names another category than people do.

    Attributes
    ----------
    position, turn
        Of the item in the study; of what was rated, 0 for the whole item.
    answers
        (label, number of people) in scale order, without answers that nobody gave.
    judges
        Names of those that contradict.
    steps
        Of the scale, between people's median and the judge that is furthest from it; None on a scale without an order.
    tier
        Of the item, by people's answers; empty where it has none.
    decision
        The newest adjudication's value as it is called on the scale; empty before the first.
    """

    position: int
    turn: int
    answers: tuple[tuple[str, int], ...]
    judges: tuple[str, ...]
    steps: int | None
    tier: str
    decision: str


def contradictions(study: Study, criterion: Criterion, *, judge: str = "") -> list[Contradiction]:
    """Those of one judge, or of any: undecided first, then the most steps apart. Eight queries, nine with a hold-out.

    Raises InputError where no judge of that name has rated the criterion.
    """
    rated, decided = RatedItems.read(study, criterion, TierOptions(draws=0)), decisions(criterion)
    columns = [column for column in rated.judges if judge in ("", column.name)]
    if judge and not columns:
        known = ", ".join(column.name for column in rated.judges) or _("none yet")
        raise InputError(
            "no judge called {judge!r} has rated this criterion; there are: {known}",
            field="judge",
            judge=judge,
            known=known,
        )
    ordered = rated.table.has_scores
    apart = {column.name: _apart(column.codes, rated.table.counts, ordered=ordered) for column in columns}
    labels = [name_label(criterion, str(value)) for value in rated.table.categories]
    found = []
    for row, name in enumerate(rated.table.items):
        by = {judge: int(steps[row]) for judge, steps in apart.items() if steps[row]}
        if not by:
            continue
        counts = rated.table.counts[row]
        found.append(
            Contradiction(
                position=to_position(name),
                turn=to_turn(name),
                answers=tuple((labels[code], int(counts[code])) for code in np.flatnonzero(counts > 0)),
                judges=tuple(by),
                steps=max(by.values()) if ordered else None,
                tier=rated.tiers[row] or "",
                decision=criterion.label_of(decided[name]) if name in decided else "",
            )
        )
    return sorted(found, key=lambda one: (bool(one.decision), -(one.steps or 0), one.position, one.turn))


def _apart(said: IntArray, counts: FloatArray, *, ordered: bool) -> IntArray:
    """(n_items,) steps between a judge's code and people's label, 1 without an order; 0 where one of them has none."""
    lower, upper = compute_medians(counts) if ordered else [compute_majority(counts)] * 2
    steps = np.maximum(np.maximum(lower - said, said - upper), 0) if ordered else (said != lower).astype(np.int64)
    return np.where((said == MISSING) | (lower == MISSING), 0, steps)
