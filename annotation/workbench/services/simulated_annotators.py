"""Simulated annotators: labels drawn from stated levels with stated noise. Never to be taken for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import scipy
from django.db import transaction
from django.utils import timezone

from annotation.stats.simulated import simulate_ratings, uneven_accuracies
from annotation.stats.table import FloatArray, Level
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Assignment, Criterion, Study
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError

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
def rate(*, by: User | None, study: Study, truth: Truth, annotators: Sequence[SimulatedAnnotator], seed: int) -> int:  # noqa: ARG001
    """Let each simulated annotator fill one open slot of every item; return the number of labels.

    `truth` maps the external id of an item to criterion key -> value. The same seed gives the same labels. On each
    criterion items are drawn to be easy or hard for all annotators alike.
    """
    criteria = list(study.criteria.all())
    if of_turns := [criterion.name for criterion in criteria if criterion.of_turns]:
        raise InputError(f"Simulated annotators rate whole items, and {of_turns[0]} is asked of turns.", field="study")
    slots = _list_open_assignments(study)
    labels: list[Annotation] = []
    taken: list[Assignment] = []
    for number, annotator in enumerate(annotators):
        mine = _first_of_each_item(slots, taken)
        user = _account(study, annotator)
        for criterion in criteria:
            rng = np.random.default_rng([seed, number, criterion.position])
            labels += _labels(mine, criterion, truth, _accuracies(mine, criterion, annotator, seed), rng)
        taken += [_submitted(slot, user) for slot in mine]
    Assignment.objects.bulk_update(
        taken, ["annotator", "state", "started_at", "submitted_at", "leased_until"], batch_size=200
    )
    Annotation.objects.bulk_create(labels, batch_size=500)
    return len(labels)


def _list_open_assignments(study: Study) -> list[Assignment]:
    slots = study.assignments.filter(state=Assignment.State.OPEN).select_related("item__dialogue", "item__pair")
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


def _accuracies(
    slots: Sequence[Assignment], criterion: Criterion, annotator: SimulatedAnnotator, seed: int
) -> FloatArray:
    """(n,) how probable the stated level is on each item, by an ease that does not depend on the annotator."""
    order = np.random.default_rng([seed, criterion.position]).permutation(len(slots))
    ease = scipy.special.ndtri((order + 0.5) / max(len(slots), 1))
    return uneven_accuracies(ease, annotator.accuracy, UNEVENNESS)


def _labels(
    slots: Sequence[Assignment], criterion: Criterion, truth: Truth, accuracy: FloatArray, rng: np.random.Generator
) -> list[Annotation]:
    values = criterion.values
    codes = np.array([values.index(_stated(slot, criterion, truth)) for slot in slots], dtype=np.int64)
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


def _stated(slot: Assignment, criterion: Criterion, truth: Truth) -> str:
    external_id = slot.item.external_id
    try:
        value = truth[external_id][criterion.key]
    except KeyError:
        raise InputError(f"no stated level of {criterion.key} for item {external_id}") from None
    if value not in criterion.values:
        raise InputError(f"the stated level {value!r} of item {external_id} is not on the scale of {criterion.key}")
    return value


def _submitted(slot: Assignment, user: User) -> Assignment:
    now = timezone.now()
    slot.annotator, slot.state = user, Assignment.State.SUBMITTED
    slot.started_at = slot.submitted_at = now
    slot.leased_until = None
    return slot
