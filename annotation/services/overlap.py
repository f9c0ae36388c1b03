"""Asking about some items once more: those that a researcher names, or in an adaptive study those that are unclear.

What is asked for is one more slot of an item. Slots are added under the lock of their study, only to items that have no
rating to come, and never beyond the study's limit; the constraint of one slot per item and number is the last guard.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from celery import current_app
from django.core.cache import cache
from django.db import IntegrityError, transaction
from kombu.exceptions import OperationalError

from annotation.errors import InputError
from annotation.models import Assignment, OverlapRound, Study, User
from annotation.queries import overlap, ratings
from annotation.queries.moment import one_moment
from annotation.queries.overlap import ItemSlots
from annotation.queries.preferences import preferences
from annotation.queries.ratings import PeoplesRatings
from annotation.services import webhooks
from annotation.services.acts import act, saving
from annotation.services.studies import LARGEST_OVERLAP, OPEN, RATING, batches, insert_slots
from annotation.services.turns import alone
from annotation.stats.difficulty.adaptive import WORTH, worth_asking
from annotation.stats.difficulty.latent import NoConvergenceError
from annotation.stats.difficulty.preferences import Shown
from annotation.stats.queueing import lot
from annotation.stats.table import RatingTable

logger = logging.getLogger(__name__)

TASK = "annotation.ask_unclear"
SWEPT = 60
AB, BA = Assignment.Order.AB.value, Assignment.Order.BA.value


@dataclass(frozen=True)
class Told:
    """What the difficulty model says of an item: whether another rating is worth it, and whether its tier is clear."""

    asks: bool
    is_clear: bool


@act("study.ask_more", on="study", says=("positions",))
def ask_more(*, by: User | None, study: Study, positions: Collection[int]) -> int:  # noqa: ARG001
    """Ask for one more rating of the items at these positions. Returns of how many.

    Left out are items that wait for a rating already, and in an adaptive study those that have as many as one may.
    Elsewhere the study's limit rises with them.
    """
    with transaction.atomic():
        locked = Study.objects.select_for_update().get(pk=study.pk)
        if locked.state != Study.State.OPEN:
            raise InputError(f"{study} is {locked.get_state_display()}: open it to ask for ratings.", field="study")
        most = locked.limit if locked.is_adaptive else LARGEST_OVERLAP
        there = overlap.slots_by_item(locked, list(positions))
        if unknown := sorted(set(positions) - there.keys()):
            raise InputError(f"{study} has no item {unknown[0]} with ratings.", field="positions")
        asked = add_slots(locked, there.values(), most)
        highest = max((one.n + 1 for one in asked), default=0)
        if highest > locked.limit:
            Study.objects.filter(pk=study.pk).update(most_overlap=highest)
    return len(asked)


def add_slots(study: Study, items: Iterable[ItemSlots], most: int) -> list[ItemSlots]:
    """One more slot for each of the items that wait for none and have fewer than ``most``. Returns those."""
    asked = [one for one in items if not one.n_open and one.n < most]
    slots = [(study.pk, one.item, RATING, one.last + 1, one.position, OPEN, order_of_next(study, one)) for one in asked]
    for part in batches(slots):
        insert_slots(part)
    return asked


def order_of_next(study: Study, one: ItemSlots) -> str:
    """Which response of a pair is shown as A: the one that was it less often, by lot where both were as often."""
    if study.kind != Study.Kind.PAIR:
        return Assignment.Order.NONE.value
    if 2 * one.n_ab == one.n:
        return (AB, BA)[lot(study.seed, "order of", one.position, one.n) % 2]
    return BA if 2 * one.n_ab > one.n else AB


def submitted(slot: Assignment) -> None:
    """A rating was handed in: let a worker look at an adaptive study. If the broker is away, a worker's sweep does."""
    if slot.study.is_adaptive and slot.purpose == Assignment.Purpose.RATING:
        transaction.on_commit(lambda: send([slot.study_id]))


def send(studies: Iterable[int]) -> None:
    """A task for each study."""
    try:
        for key in studies:
            current_app.send_task(TASK, args=[key])
    except OperationalError:
        logger.exception("The broker cannot be reached. Unclear items are asked about once a worker can reach it.")


def send_due() -> int:
    """Tasks for the adaptive studies that are due, once in `SWEPT` seconds on the whole site. Returns how many."""
    if not cache.add("overlap-swept", True, SWEPT):
        return 0
    due = [study.pk for study in overlap.adaptive_studies() if overlap.is_due(study)]
    send(due)
    return len(due)


def ask_unclear(study_id: int) -> int:
    """Look at a study for as long as a look is due, unless somebody is at it. Returns how many looks that were.

    It may run at any time, and any number of times.
    """
    looks = 0
    while study := overlap.adaptive_studies().filter(pk=study_id).first():
        if not overlap.is_due(study):
            break
        with alone(f"overlap-{study_id}") as is_mine:
            if not is_mine or look(by=None, study=study) is None:
                break
        looks += 1
    return looks


@act("study.ask_unclear", on="study", prepares=True)
def look(*, by: User | None, study: Study) -> OverlapRound | None:  # noqa: ARG001
    """Fit the difficulty model and ask once more about each item that is worth it. None if it was done meanwhile."""
    with one_moment():  # people rate meanwhile
        n_ratings = overlap.ratings_asked_for(study)["submitted"]
        there = overlap.slots_by_item(study)
        criteria = [(one, *preferences(one)) for one in ratings.of_study(study)]
    told, reasons = decide(criteria, there, study.limit)
    try:
        with saving() as done:
            done.result = found = save_round(study, n_ratings, there, told, reasons)
    except IntegrityError:  # another worker decided on the same ratings
        return None
    if not found.n_asked:
        webhooks.finished(study)
    return found


def decide(
    criteria: Iterable[tuple[PeoplesRatings, RatingTable, Shown | None]], there: Mapping[int, ItemSlots], most: int
) -> tuple[dict[int, Told], list[str]]:
    """What the model says of each item that it could be fitted for, by position; and why it could not be fitted.

    `criteria` are what people said, with what the model is fitted to. An item is asked about again if it is worth it on
    one criterion or turn; it is clear if it is so on all.
    """
    told, reasons = dict[int, Told](), []
    for found, table, shown in criteria:
        left = np.array([max(most - there[position].n, 0) for position in found.positions], dtype=np.int64)
        try:
            worth = worth_asking(table, left, shown=shown)
        except NoConvergenceError as why:
            reasons.append(f"{found.criterion.name}: {why}.")
            continue
        columns = (found.positions, worth.is_fitted.tolist(), worth.asks.tolist(), worth.is_clear.tolist())
        for position, is_fitted, asks, is_clear in zip(*columns, strict=True):
            if is_fitted:
                before = told.get(position, Told(asks=False, is_clear=True))
                told[position] = Told(before.asks or asks, before.is_clear and is_clear)
    return told, reasons


def save_round(
    study: Study, n_ratings: int, there: Mapping[int, ItemSlots], told: Mapping[int, Told], reasons: Sequence[str]
) -> OverlapRound:
    """Add the slots, and keep what was decided. Raises IntegrityError if that was done for the same ratings already."""
    locked = Study.objects.select_for_update().get(pk=study.pk)
    wanted = [position for position, one in told.items() if one.asks]
    now = overlap.slots_by_item(locked, wanted) if wanted else {}
    asked = {one.position for one in add_slots(locked, now.values(), locked.limit)} if locked.is_adaptive else set()
    decided = [
        (one, there[position]) for position, one in told.items() if position not in asked and not there[position].n_open
    ]
    unclear = [slots.n >= study.limit for one, slots in decided if not one.is_clear]
    return OverlapRound.objects.create(
        study=study,
        n_ratings=n_ratings,
        n_asked=len(asked),
        n_clear=len(decided) - len(unclear),
        n_enough=unclear.count(False),
        n_full=unclear.count(True),
        n_waiting=sum(1 for one in there.values() if one.n_open),
        price=WORTH,
        reason=" ".join(reasons),
    )
