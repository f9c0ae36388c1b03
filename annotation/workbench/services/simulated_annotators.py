"""Simulated annotators: labels drawn from stated levels with stated noise. Never to be taken for people."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

import numpy as np
import scipy
from django.db import transaction
from django.utils import timezone

from annotation.stats.simulated import simulate_ratings, uneven_accuracies
from annotation.stats.table import FloatArray, IntArray, Level
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion, Study
from annotation.workbench.services.assignments import choose_order
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.hashing import content_hash
from core.statements import update_alike

Truth = Mapping[str, Mapping[str, str]]

UNEVENNESS = 2.0
"""Log odds of being right by which an item differs from one that is a standard deviation harder."""


@dataclass(frozen=True)
class SimulatedAnnotator:
    """A name, and how often the annotator gives an item's stated level rather than another one, mean over items."""

    name: str
    accuracy: float


@transaction.atomic
@audited("study.simulate_labels", on="study", says=("annotators", "seed"))
def rate(
    *,
    by: User | None,  # noqa: ARG001
    study: Study,
    truth: Truth,
    annotators: Sequence[SimulatedAnnotator],
    seed: int,
    but: Collection[str] = (),
) -> int:
    """Let each simulated annotator fill one open slot of every item; return the number of labels.

    `truth` maps the external id of an item to criterion key -> value; the items of `but` stay without a label. The
    same seed gives the same labels. On each criterion items are drawn to be easy or hard for all annotators alike.
    """
    criteria = study.asked
    if parts := [criterion for criterion in criteria if criterion.unit != Criterion.Unit.ITEM]:
        raise InputError(
            f"Simulated annotators rate whole items, and {parts[0]} is asked of {parts[0].part_noun}s.", field="study"
        )
    if others := [criterion.name for criterion in criteria if not criterion.can_be_known]:
        raise InputError(
            f"Simulated annotators choose categories, and {others[0]} is answered otherwise.", field="study"
        )
    everything = _list_open_assignments(study)
    items = sorted({slot.item.external_id for slot in everything})
    slots = [slot for slot in everything if slot.item.external_id not in but]
    labels: list[Annotation] = []
    taken: list[Assignment] = []
    now = timezone.now()
    for number, annotator in enumerate(annotators):
        mine = _first_of_each_item(slots, taken)
        user = _account(study, annotator)
        for criterion in criteria:
            rng = np.random.default_rng([seed, number, criterion.position])
            chances = dict(zip(items, compute_accuracies(items, criterion, annotator.accuracy, seed), strict=True))
            accuracy = np.array([chances[slot.item.external_id] for slot in mine])
            labels += _labels(mine, criterion, truth, accuracy, rng)
        taken += [_submitted(slot, user, place, now) for place, slot in enumerate(mine, start=1)]
    update_alike(taken, ["annotator_id", "state", "order", "started_at", "submitted_at", "leased_until"])
    Annotation.objects.bulk_create(labels, batch_size=500)
    return len(labels)


def _list_open_assignments(study: Study) -> list[Assignment]:
    slots = study.assignments.filter(state=Assignment.State.OPEN).select_related(
        "study", "item__dialogue", "item__pair"
    )
    return list(slots.order_by("rank", "slot"))


def _first_of_each_item(slots: Sequence[Assignment], taken: Sequence[Assignment]) -> list[Assignment]:
    gone = {slot.pk for slot in taken}
    first: dict[int, Assignment] = {}
    for slot in slots:
        if slot.pk not in gone:
            first.setdefault(slot.item_id, slot)
    return list(first.values())


def _account(study: Study, annotator: SimulatedAnnotator) -> User:
    user, made = User.objects.get_or_create(
        username=f"{annotator.name}@{study.slug}",
        defaults={
            "kind": User.Kind.SIMULATED,
            "display_name": f"{annotator.name} ({annotator.accuracy:.0%} accurate)",
        },
    )
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    study.annotators.add(user)
    return user


def compute_accuracies(
    items: Sequence[str], criterion: Criterion, accuracy: float, seed: int, unevenness: float = UNEVENNESS
) -> FloatArray:
    """(n,) how probable the stated level is on each item, by an ease that does not depend on the rater."""
    return uneven_accuracies(draw_ease(items, criterion, seed), accuracy, unevenness)


def draw_ease(items: Sequence[str], criterion: Criterion, seed: int) -> FloatArray:
    """(n,) how easy each of these items is on a criterion: quantiles of a normal variable, dealt out by chance."""
    rank = np.argsort(np.argsort([content_hash([seed, criterion.key, item]) for item in items]))
    return np.asarray(scipy.special.ndtri((rank + 0.5) / max(len(items), 1)))


def _labels(
    slots: Sequence[Assignment], criterion: Criterion, truth: Truth, accuracy: FloatArray, rng: np.random.Generator
) -> list[Annotation]:
    values = criterion.values
    codes = to_stated_codes([slot.item.external_id for slot in slots], criterion, truth)
    level = cast(Level, criterion.level)  # the database allows only these four
    drawn = simulate_ratings(codes, n_categories=len(values), level=level, accuracy=accuracy, rng=rng)
    return [
        Annotation(
            assignment=slot,
            criterion=criterion,
            value=values[int(code)],
            guideline_version=criterion.guideline_version,
        )
        for slot, code in zip(slots, drawn, strict=True)
    ]


def to_stated_codes(items: Sequence[str], criterion: Criterion, truth: Truth) -> IntArray:
    """(n,) the place of each item's stated level on the scale."""
    return np.array([criterion.values.index(_stated(item, criterion, truth)) for item in items], dtype=np.int64)


def _stated(external_id: str, criterion: Criterion, truth: Truth) -> str:
    try:
        value = truth[external_id][criterion.key]
    except KeyError:
        raise InputError(f"no stated level of {criterion.key} for item {external_id}") from None
    if value not in criterion.values:
        raise InputError(f"the stated level {value!r} of item {external_id} is not on the scale of {criterion.key}")
    return value


def _submitted(slot: Assignment, user: User, number: int, now: datetime) -> Assignment:
    slot.annotator, slot.state = user, Assignment.State.SUBMITTED
    slot.order = choose_order(user, slot.study, number, slot.item)
    slot.started_at = slot.submitted_at = now
    slot.leased_until = None
    return slot
