"""Which items of a study are held out: there a judge is put beside people only by a look on record.

What is never split is what items share by themselves, a user or a question, whatever clustering the study names: naming
another one moves no item.
"""

from __future__ import annotations

from collections.abc import Sequence

from annotation.stats.table import BoolArray
from annotation.studies.models.studies import Item, Study
from annotation.studies.queries.dependence import load_dialogue, load_pair
from judging.judges.models.hold_out import HoldOut
from judging.stats.hold_out import draw_held_out


def find_hold_out(study: Study) -> HoldOut | None:
    """How the study is split; None where nothing is held out. One query."""
    return HoldOut.objects.filter(study=study).first()


def outside(split: HoldOut, clusters: Sequence[str]) -> BoolArray:
    """(n,) whether each item, told by its cluster, is held out."""
    return draw_held_out(clusters, split.share, split.seed)


def positions(study: Study) -> frozenset[int]:
    """Of the held-out items; none where the study is not split. One query, or two."""
    split = find_hold_out(study)
    if split is None:
        return frozenset()
    rows = _clusters(study)
    masked = outside(split, [cluster for _, cluster in rows])
    return frozenset(position for (position, _), out in zip(rows, masked, strict=True) if out)


def holds(item: Item) -> bool:
    """Whether the item is held out in its study. One query, or two."""
    return item.position in positions(item.study)


def _clusters(study: Study) -> list[tuple[int, str]]:
    """Position and cluster of every item."""
    if study.kind == Study.Kind.DIALOGUE:
        rows = study.items.values_list("position", "dialogue__scenario__profile_id", "dialogue_id")
        return [(position, load_dialogue(profile, pk)) for position, profile, pk in rows]
    pairs = study.items.values_list("position", "pair__profile_id", "pair__question", "pair__context")
    return [(position, load_pair(profile, question, context)) for position, profile, question, context in pairs]
