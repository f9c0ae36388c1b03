"""Simulated annotators: labels drawn from stated levels with stated noise. Never to be taken for people."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
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
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.queries.asks import Ask
from annotation.workbench.services.assignments import choose_order
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.hashing import content_hash
from core.statements import update_alike

Truth = Mapping[str, Mapping[str, str]]
Part = tuple[str, int]
"""The external id of an item, and the number of a turn or response of it, from 1; 0 is the whole item."""

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

    `truth` maps the external id of an item to criterion key -> value, with the number of the turn or response behind a
    full stop where the criterion is asked of these; the items of `but` stay without a label. The same seed gives the
    same labels. On each criterion what is rated is drawn to be easy or hard for all annotators alike.
    """
    criteria = study.asked
    if others := [criterion.name for criterion in criteria if not criterion.can_be_known]:
        raise InputError(
            "Simulated annotators choose categories, and {others} is answered otherwise.",
            field="study",
            others=others[0],
        )
    everything = _list_open_assignments(study)
    asked = {criterion.pk: list_parts((slot.item for slot in everything), criterion) for criterion in criteria}
    slots = [slot for slot in everything if slot.item.external_id not in but]
    labels: list[Annotation] = []
    taken: list[Assignment] = []
    now = timezone.now()
    for number, annotator in enumerate(annotators):
        mine = _first_of_each_item(slots, taken)
        user = _account(study, annotator)
        for criterion in criteria:
            rng = np.random.default_rng([seed, number, criterion.position])
            parts = asked[criterion.pk]
            chances = dict(zip(parts, compute_accuracies(parts, criterion, annotator.accuracy, seed), strict=True))
            labels += _labels(mine, criterion, truth, chances, rng)
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
            "display_name": f"{annotator.name} ({100 * annotator.accuracy:.0f} % accurate)",
        },
    )
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    study.annotators.add(user)
    return user


def list_parts(items: Iterable[Item], criterion: Criterion) -> list[Part]:
    """What the criterion is asked of: the items, or their turns or responses, by external id and number."""
    return sorted({(item.external_id, turn) for item in items for turn in criterion.turns_of(item)})


def compute_accuracies(
    parts: Sequence[Part], criterion: Criterion, accuracy: float, seed: int, unevenness: float = UNEVENNESS
) -> FloatArray:
    """(n,) how probable the stated level is on each of these, by an ease that does not depend on the rater."""
    return uneven_accuracies(draw_ease(parts, criterion, seed), accuracy, unevenness)


def draw_ease(parts: Sequence[Part], criterion: Criterion, seed: int) -> FloatArray:
    """(n,) how easy each of these is on a criterion: quantiles of a normal variable, dealt out by chance."""
    hashes = [content_hash([seed, criterion.key, item, *([turn] if turn else [])]) for item, turn in parts]
    rank = np.argsort(np.argsort(hashes))
    return np.asarray(scipy.special.ndtri((rank + 0.5) / max(len(parts), 1)))


def _labels(
    slots: Sequence[Assignment],
    criterion: Criterion,
    truth: Truth,
    chances: Mapping[Part, float],
    rng: np.random.Generator,
) -> list[Annotation]:
    values = criterion.values
    asked = [(slot, (slot.item.external_id, turn)) for slot in slots for turn in criterion.turns_of(slot.item)]
    codes = to_stated_codes([part for _, part in asked], criterion, truth)
    accuracy = np.array([chances[part] for _, part in asked])
    level = cast(Level, criterion.level)  # the database allows only these four
    drawn = simulate_ratings(codes, n_categories=len(values), level=level, accuracy=accuracy, rng=rng)
    return [
        Annotation(
            assignment=slot,
            criterion=criterion,
            turn=turn,
            value=values[int(code)],
            guideline_version=criterion.guideline_version,
        )
        for (slot, (_, turn)), code in zip(asked, drawn, strict=True)
    ]


def to_stated_codes(parts: Sequence[Part], criterion: Criterion, truth: Truth) -> IntArray:
    """(n,) the place of the stated level of each of these on the scale."""
    return np.array([criterion.values.index(_stated(part, criterion, truth)) for part in parts], dtype=np.int64)


def _stated(part: Part, criterion: Criterion, truth: Truth) -> str:
    external_id, turn = part
    name = Ask(criterion, turn).name
    try:
        value = truth[external_id][name]
    except KeyError:
        raise InputError(
            "no stated level of {name} for item {external_id}", name=name, external_id=external_id
        ) from None
    if value not in criterion.values:
        raise InputError(
            "the stated level {value!r} of item {external_id} is not on the scale of {name}",
            value=value,
            external_id=external_id,
            name=name,
        )
    return value


def _submitted(slot: Assignment, user: User, number: int, now: datetime) -> Assignment:
    slot.annotator, slot.state = user, Assignment.State.SUBMITTED
    slot.order = choose_order(user, slot.study, number, slot.item)
    slot.started_at = slot.submitted_at = now
    slot.leased_until = None
    return slot
