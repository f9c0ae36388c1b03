"""Studies made of some items of another one, that ask the same of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from annotation.stats.table import IntArray
from annotation.studies.models.studies import Criterion, Item, Sample, Study
from annotation.studies.queries.units import to_position, to_turn, unit
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
    fields = [field.name for field in Criterion._meta.concrete_fields if field.name not in ("id", "study")]
    Criterion.objects.bulk_create(
        Criterion(study=made, **{field: getattr(criterion, field) for field in fields})
        for criterion in source.criteria.all()
    )
    return made


def make(
    *,
    by: User | None,
    source: Study,
    name: str,
    overlap: int,
    description: str,
    probabilities: Mapping[int, float],
    method: str,
    frame_size: int,
    seed: int,
    filters: Mapping[str, object],
) -> Study:
    """A draft that is like the source, with its items at these positions, each with its probability of being taken.

    They come in an order of their own, so that nobody can tell by it how doubtful they are.
    """
    made = like(by=by, source=source, name=name, overlap=overlap, description=description)
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
    return made


def load_positions(source: Study, made: Study) -> dict[int, int]:
    """By position in the new study, that of the same item in its source. Two queries."""
    column = f"{source.kind}_id"
    position = dict(source.items.values_list(column, "position"))
    return {there: position[pk] for there, pk in made.items.values_list("position", column)}


def find_rows(positions: Mapping[int, int], theirs: Sequence[str], mine: Sequence[str]) -> IntArray:
    """(m,) for each row of the new study, by its name, its row among the source's; -1 where it is in another part."""
    place = {name: row for row, name in enumerate(mine)}
    there = [unit(positions[to_position(name)], to_turn(name)) for name in theirs]
    return np.array([place.get(name, -1) for name in there], dtype=np.int64)
