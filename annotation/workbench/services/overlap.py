"""Asking about some items once more: those that a researcher names, or in an adaptive study those that are unclear.

What is asked for is one more slot of an item. Slots are added under the lock of their study, only to items that have no
rating to come, and never beyond the study's limit; the constraint of one slot per item and number is the last guard.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import numpy as np
from django.core.cache import cache
from django.db import transaction

from annotation.stats.difficulty.adaptive import WORTH, choose_items
from annotation.stats.difficulty.latent import NoConvergenceError
from annotation.stats.difficulty.preferences import Shown
from annotation.stats.table import RatingTable
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Study
from annotation.studies.options import LARGEST_OVERLAP
from annotation.studies.queries import ratings
from annotation.studies.queries.preferences import preferences
from annotation.studies.queries.ratings import PeoplesRatings
from annotation.studies.services.studies import BATCH, NOT_SHOWN, OPEN, RATING, insert_assignments
from annotation.workbench.models import OverlapRound
from annotation.workbench.queries import overlap
from annotation.workbench.queries.overlap import ItemAssignments
from annotation.workbench.services import announcements
from core.accounts.models.users import User
from core.audit.log import audit_transaction, audited
from core.batches import iterate_batches
from core.errors import InputError
from core.jobs import leases
from core.jobs.waiting import alone
from core.read_snapshot import read_snapshot

TASK = "annotation.run_overlap_rounds"
send = partial(leases.send, TASK)
SWEPT = 60
"""Seconds after which a worker looks again for rounds that are due, whatever became of their messages."""

Criteria = Sequence[tuple[PeoplesRatings, RatingTable, Shown | None]]
"""What people said, with what the difficulty model is fitted to."""


class StaleOverlapError(Exception):
    """Another round came first."""


@dataclass(frozen=True)
class OverlapDecision:
    """On one item: whether another rating is worth its price, and whether its tier is clear."""

    asks: bool
    is_clear: bool


@dataclass(frozen=True)
class RoundInput:
    """What a round read of a study at one moment; `last` is the round before."""

    last: OverlapRound | None
    n_ratings: int
    until: datetime | None
    here: tuple[int, ...]
    slots: dict[int, ItemAssignments]
    criteria: Criteria

    @classmethod
    def load(cls, study: Study) -> RoundInput:
        with read_snapshot():  # people rate meanwhile
            here = tuple(overlap.annotators_here(study))
            return cls(
                overlap.find_last_round(study),
                overlap.count_planned_ratings(study)["submitted"],
                overlap.read_until(study),
                here,
                overlap.count_assignments_by_item(study, here),
                [(one, *preferences(one)) for one in ratings.load_study(study)],
            )


@audited("study.ask_more", on="study", says=("positions",))
def ask_more(*, by: User | None, study: Study, positions: Collection[int]) -> int:  # noqa: ARG001
    """Ask for one more rating of the items at these positions. Returns of how many.

    Left out are items that wait for a rating already, and in an adaptive study those that have as many as one may.
    Elsewhere the study's limit rises with them.
    """
    with transaction.atomic():
        locked = Study.objects.select_for_update().get(pk=study.pk)
        if locked.state != Study.State.OPEN:
            raise InputError(
                "{study} is {locked}: open it to ask for ratings.",
                field="study",
                study=study,
                locked=locked.get_state_display(),
            )
        most = locked.limit if locked.is_adaptive else LARGEST_OVERLAP
        there, wanted = overlap.count_assignments_by_item(locked), sorted(set(positions))
        if unknown := [position for position in wanted if position not in there]:
            raise InputError(
                "{study} has no item {unknown} with ratings.", field="positions", study=study, unknown=unknown[0]
            )
        asked = add_assignments(locked, [there[position] for position in wanted], most)
        highest = max((one.n + 1 for one in asked), default=0)
        if highest > locked.limit:
            Study.objects.filter(pk=study.pk).update(most_overlap=highest)
    return len(asked)


def add_assignments(study: Study, items: Iterable[ItemAssignments], most: int) -> list[ItemAssignments]:
    """One more slot for each of the items that wait for none and have fewer than ``most``. Returns those."""
    asked = [one for one in items if not one.n_open and one.n < most]
    slots = [(study.pk, one.item, RATING, one.last + 1, one.position, OPEN, NOT_SHOWN) for one in asked]
    for part in iterate_batches(slots, BATCH):
        insert_assignments(part)
    return asked


def start_due_round(slot: Assignment) -> None:
    """A rating was handed in: a worker runs what is due of an adaptive study."""
    if slot.study.is_adaptive and slot.purpose == Assignment.Purpose.RATING:
        transaction.on_commit(lambda: send([slot.study_id]))


def send_due() -> int:
    """Tasks for the adaptive studies that are due, once in `SWEPT` seconds on the whole site. Returns how many."""
    if not cache.add("overlap-swept", True, SWEPT):
        return 0
    due = [study.pk for study in overlap.adaptive_studies() if overlap.is_due(study)]
    send(due)
    return len(due)


def run_rounds(study_id: int) -> int:
    """Run rounds of a study as long as one is due, unless somebody is at it. Returns how many that were.

    It may be called at any time, and any number of times.
    """
    rounds = 0
    while study := overlap.adaptive_studies().filter(pk=study_id).first():
        if not overlap.is_due(study):
            break
        with alone(f"overlap-{study_id}") as is_mine:
            if not is_mine or run_round(by=None, study=study) is None:
                break
        rounds += 1
    return rounds


@audited("study.run_overlap_round", on="study", prepares=True)
def run_round(*, by: User | None, study: Study) -> OverlapRound | None:  # noqa: ARG001
    """Fit the difficulty model, and ask once more about each item that is worth it. None if another round came first.

    The fit locks nothing.
    """
    read = RoundInput.load(study)
    decided, reasons = decide(read.criteria, read.slots, study.limit)
    try:
        with audit_transaction() as done:
            locked = Study.objects.select_for_update().get(pk=study.pk)
            if overlap.find_last_round(locked) != read.last or not locked.is_adaptive:
                raise StaleOverlapError  # noqa: TRY301 - so that no act is written
            done.result = found = save_round(locked, read, decided, reasons)
    except StaleOverlapError:
        return None
    if not found.n_asked:
        announcements.announce_finished(study)
    return found


def decide(
    criteria: Criteria, slots: Mapping[int, ItemAssignments], most: int
) -> tuple[dict[int, OverlapDecision], list[str]]:
    """By position, what is decided on each item that the model could be fitted for; and why it could not be fitted.

    An item is asked about again if it is worth it on one criterion or turn; it is clear if it is so on all.
    """
    decided, reasons = dict[int, OverlapDecision](), []
    for found, table, shown in criteria:
        left = np.array([max(most - slots[position].n, 0) for position in found.positions], dtype=np.int64)
        try:
            worth = choose_items(table, left, shown=shown)
        except NoConvergenceError as why:
            reasons.append(f"{found.criterion.name}: {why}.")
            continue
        columns = (found.positions, worth.is_fitted.tolist(), worth.asks.tolist(), worth.is_clear.tolist())
        for position, is_fitted, asks, is_clear in zip(*columns, strict=True):
            if is_fitted:
                before = decided.get(position, OverlapDecision(asks=False, is_clear=True))
                decided[position] = OverlapDecision(before.asks or asks, before.is_clear and is_clear)
    return decided, reasons


def save_round(
    study: Study, read: RoundInput, decided: Mapping[int, OverlapDecision], reasons: Sequence[str]
) -> OverlapRound:
    """Add the slots, and keep what was decided on items without ratings to come."""
    now = overlap.count_assignments_by_item(study, read.here)
    ready = {position: one for position, one in decided.items() if position in now and not now[position].n_open}
    worth = [now[position] for position, one in ready.items() if one.asks]
    short = [one for one in worth if one.n_here >= len(read.here)]
    asked = add_assignments(study, [one for one in worth if one.n_here < len(read.here)], study.limit)
    rest = [(one, now[position]) for position, one in ready.items() if not one.asks]
    unclear = [slots.n >= study.limit for one, slots in rest if not one.is_clear]
    return OverlapRound.objects.create(
        study=study,
        number=read.last.number + 1 if read.last else 1,
        n_ratings=read.n_ratings,
        read_until=read.until,
        n_annotators=len(read.here),
        n_asked=len(asked),
        n_clear=len(rest) - len(unclear),
        n_enough=unclear.count(False),
        n_full=unclear.count(True),
        n_short=len(short),
        n_waiting=sum(1 for one in read.slots.values() if one.n_open),
        price=WORTH,
        reason=" ".join(reasons),
    )
