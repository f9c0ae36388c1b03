"""Studies made of some items of another one, that ask the same of people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from annotation.studies.models.studies import Criterion, Item, Sample, Study
from annotation.studies.services import studies
from core.accounts.models.users import User
from core.hashing import content_hash

BATCH = 2000


def like(*, by: User | None, source: Study, name: str, overlap: int, description: str) -> Study:
    """A draft with the criteria of the source. Raises InputError where the name is taken or a number makes no sense."""
    studies.check_numbers(overlap, source.seed)
    made = Study(
        project_id=source.project_id,
        name=studies.clean_name(name),
        slug=studies.free_slug(name),
        kind=source.kind,
        overlap=overlap,
        shown=source.shown,
        asks_strength=source.asks_strength,
        content_form=source.content_form,
        instructions=source.instructions,
        description=description,
        seed=source.seed,
        created_by=by,
    )
    studies.save_new(made)
    fields = ("key", "name", "question", "guideline", "level", "categories", "position", "guideline_version", "unit")
    Criterion.objects.bulk_create(
        Criterion(study=made, **{field: getattr(criterion, field) for field in fields})
        for criterion in source.criteria.all()
    )
    return made


def fill(
    *,
    by: User | None,
    source: Study,
    made: Study,
    probabilities: Mapping[int, float],
    method: str,
    frame_size: int,
    seed: int,
    filters: Mapping[str, Any],
) -> None:
    """The source's items at these positions, each with the probability that it had of being taken.

    They come in an order of their own, so that nobody can tell by it how doubtful they are.
    """
    there = list(source.items.filter(position__in=list(probabilities)).order_by("position"))
    sample = Sample.objects.create(
        study=made,
        method=method,
        filters=dict(filters),
        frame_size=frame_size,
        size=len(there),
        seed=seed,
        input_hash=content_hash([item.content_hash for item in there]),
        created_by=by,
    )
    order = np.random.default_rng([made.seed, made.pk]).permutation(len(there))
    Item.objects.bulk_create(
        (
            Item(
                study=made,
                sample=sample,
                dialogue_id=there[index].dialogue_id,
                pair_id=there[index].pair_id,
                position=position,
                stratum=there[index].stratum,
                inclusion_probability=probabilities[there[index].position],
                content_hash=there[index].content_hash,
            )
            for position, index in enumerate(order, start=1)
        ),
        batch_size=BATCH,
    )


def rows(source: Study, made: Study, names: Mapping[int, int]) -> list[int]:
    """For each item of the new study, in order, its row among the source's items (``names``: row by position); -1
    where it is in another part."""
    column = f"{source.kind}_id"
    position = dict(source.items.values_list(column, "position"))
    theirs = made.items.order_by("position").values_list(column, flat=True)
    return [names.get(position[pk], -1) for pk in theirs]
