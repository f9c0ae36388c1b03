"""The items of a study as calibration sees them: what is known of each, in which part it is, and what leaks between.

An item's place in the columns is by its position in the study; the parts are what may be looked at freely and what is
held out. Where a criterion is asked of turns or responses, each of them is a row: of its item it has the cluster, the
stratum, the probability and the groups; its length, its text and who wrote it are its own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.stats.table import BoolArray
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.queries.dependence import (
    CLUSTER_OF_DIALOGUE,
    CLUSTER_OF_PAIR,
    name_cluster_of_dialogue,
    name_cluster_of_pair,
    read_dependence,
)
from annotation.studies.queries.units import unit as name_unit
from core.errors import InputError
from core.hashing import content_hash
from judging.judges.models import HoldOut
from judging.stats.clusters import draw_held_out
from judging.stats.observed import ItemColumns

MOST_GROUPS = 30
"""A grouping with more groups than this says nothing of any of them."""

LEAST_IN_GROUP = 10

ALL, DEVELOPMENT, HELD_OUT = "all", "development", "held-out"
PARTS = (ALL, DEVELOPMENT, HELD_OUT)

SEVERAL, NOT_KNOWN = "several", "(not known)"
ITEM_FIELDS = {
    Study.Kind.DIALOGUE: (
        "dialogue__turns",
        *CLUSTER_OF_DIALOGUE,
        "dialogue__assistant_model",
        "dialogue__condition",
        "dialogue__scenario__task__domains",
        "dialogue__scenario__profile__demographics",
    ),
    Study.Kind.PAIR: (
        "pair__response_1",
        "pair__response_2",
        *CLUSTER_OF_PAIR,
        "pair__model_1",
        "pair__model_2",
        "pair__n_responses",
        "pair__further",
        "pair__kind",
        "pair__source_tier",
        "pair__profile__demographics",
    ),
}


def select_part(items: ItemColumns, split: HoldOut | None, part: str) -> ItemColumns:
    """The items of one part. InputError where the study has no such part."""
    known = (DEVELOPMENT, HELD_OUT) if split else (ALL,)
    if part not in known:
        raise InputError(
            "{part!r} is not a part of this study; there is {known}", field="part", part=part, known=" and ".join(known)
        )
    if split is None:
        return items
    masked = outside(split, items.split_units)
    return items.subset(masked if part == HELD_OUT else ~masked)


def leaks(study: Study, split: HoldOut) -> list[int]:
    """Positions of held-out items whose content also stands in the development part. One query."""
    items = load_texts(study)
    masked = outside(split, items.split_units)
    seen = {text for text, out in zip(items.fingerprints, masked, strict=True) if not out}
    rows = zip(items.names, items.fingerprints, masked, strict=True)
    return [int(name) for name, text, out in rows if out and text in seen]


def find_closed(study: Study, split: HoldOut, unit: str) -> frozenset[str]:
    """Names of the items, turns or responses whose content stands in the held-out part. One query."""
    items = load_texts(study, unit)
    masked = outside(split, items.split_units)
    closed = {text for text, out in zip(items.fingerprints, masked, strict=True) if out}
    return frozenset(name for name, text in zip(items.names, items.fingerprints, strict=True) if text in closed)


def load_texts(study: Study, unit: str = Criterion.Unit.ITEM) -> ItemColumns:
    """The study's items in their order, or the turns or responses of each. Two queries or three; of a text no more is
    kept than what is known of it."""
    dependence = read_dependence(study)
    fields = ITEM_FIELDS[Study.Kind(study.kind)]
    found = study.items.order_by("position").values_list("position", "inclusion_probability", "stratum", *fields)
    read = _of_dialogue if study.kind == Study.Kind.DIALOGUE else _of_pair
    positions, names, inclusion, strata, facts = [], [], [], [], []
    for position, probability, stratum, *texts in found.iterator(chunk_size=2000):
        for number, fact in read(unit, *texts):
            positions.append(position)
            names.append(name_unit(position, number))
            inclusion.append(probability)
            strata.append(stratum or NOT_KNOWN)
            facts.append(fact)
    groups = {"stratum": tuple(strata), **_groups([fact.groups for fact in facts])}
    return ItemColumns(
        names=tuple(names),
        inclusion=np.array(inclusion, dtype=float),
        clusters=dependence.clusters_at(positions),
        split_units=tuple(fact.split_unit for fact in facts),
        length=np.array([fact.length for fact in facts], dtype=float),
        assistants=tuple(fact.assistant for fact in facts),
        opponents=tuple(fact.opponent for fact in facts),
        groups={name: column for name, column in groups.items() if _tells_apart(column)},
        fingerprints=tuple(fact.fingerprint for fact in facts),
        design=dependence.design_of(unit),
        strata=dependence.strata_at(positions),
    )


@dataclass(frozen=True)
class _Facts:
    split_unit: str
    length: float
    assistant: str
    opponent: str
    groups: Mapping[str, str]
    fingerprint: str


def _of_dialogue(
    unit: str,
    turns: Sequence[Mapping[str, str]],
    profile_source: str | None,
    profile: str | None,
    source: str,
    name: str,
    assistant: str,
    condition: str,
    domains: Sequence[str] | None,
    demographics: object,
) -> Iterator[tuple[int, _Facts]]:
    """The dialogue, or the turns of one side with their numbers."""
    said_by_assistant = sum(len(turn["content"]) for turn in turns if turn["role"] == "assistant")
    domain = SEVERAL if len(domains or ()) > 1 else "".join(domains or ())
    groups = {"assistant": assistant, "condition": condition, "domain": domain, **_demographics(demographics)}
    cluster = name_cluster_of_dialogue(profile_source, profile, source, name)
    said = [[turn["role"], _plain(turn["content"])] for turn in turns]
    whole = _Facts(cluster, _log(said_by_assistant), assistant, "", groups, content_hash(said))
    if unit == Criterion.Unit.ITEM:
        yield 0, whole
        return
    role = unit.removesuffix("_turn")
    author = assistant if role == "assistant" else ""
    for number, turn in enumerate(turns, start=1):
        if turn["role"] == role:  # what was said before is a part of what is judged
            text = content_hash(said[:number])
            yield number, replace(whole, length=_log(len(turn["content"])), assistant=author, fingerprint=text)


def _of_pair(
    unit: str,
    one: str,
    two: str,
    profile_source: str | None,
    profile: str | None,
    question: str,
    context: str,
    model_1: str,
    model_2: str,
    n: int,
    further: Sequence[Mapping[str, str]],
    kind: str,
    tier: str,
    demographics: object,
) -> Iterator[tuple[int, _Facts]]:
    """The pair, or its responses with their numbers."""
    groups = {"kind": kind, "source tier": tier, **_demographics(demographics)}
    cluster = name_cluster_of_pair(profile_source, profile, question, context)
    asked = [profile_source, profile, _plain(question), _plain(context)]
    if unit == Criterion.Unit.ITEM:
        models = " / ".join(sorted(filter(None, (model_1, model_2))))
        text = content_hash([*asked, _plain(one), _plain(two)])
        length = math.log(max(len(one), 1) / max(len(two), 1))
        yield 0, _Facts(cluster, length, model_1, model_2, {"assistants": models, **groups}, text)
        return
    written = [(one, model_1), (two, model_2), *((more["text"], more.get("model", "")) for more in further)]
    for number, (said, model) in enumerate(written[:n], start=1):
        text = content_hash([*asked, _plain(said)])
        yield number, _Facts(cluster, _log(len(said)), model, "", {"assistant": model, **groups}, text)


def _log(characters: int) -> float:
    return math.log(max(characters, 1))


def _plain(text: str) -> str:
    """Without what does not make two texts different: case and white space."""
    return " ".join(text.lower().split())


def _demographics(found: object) -> dict[str, str]:
    """Of the user, what is a single word or number."""
    if not isinstance(found, Mapping):
        return {}
    return {f"user: {key}": str(value) for key, value in found.items() if isinstance(value, str | int | float)}


def _groups(rows: Sequence[Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: tuple(row.get(name) or NOT_KNOWN for row in rows) for name in names}


def _tells_apart(column: Sequence[str]) -> bool:
    """Whether a grouping has two groups that are large enough to be compared, and not so many that none is."""
    sizes = Counter(column)
    return len(sizes) <= MOST_GROUPS and sum(n >= LEAST_IN_GROUP for n in sizes.values()) > 1


def find_hold_out(study: Study) -> HoldOut | None:
    """How the study is split; None where nothing is held out. One query."""
    return HoldOut.objects.filter(study=study).first()


def outside(split: HoldOut, clusters: Sequence[str]) -> BoolArray:
    """(n,) whether each item, told by its cluster, is held out."""
    drawn = draw_held_out(clusters, split.share, split.seed).tolist()
    return np.array([split.settled.get(name, out) for name, out in zip(clusters, drawn, strict=True)], dtype=bool)


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
    is_pair = study.kind == Study.Kind.PAIR
    name, fields = (
        (name_cluster_of_pair, CLUSTER_OF_PAIR) if is_pair else (name_cluster_of_dialogue, CLUSTER_OF_DIALOGUE)
    )
    return [(position, name(*told)) for position, *told in study.items.values_list("position", *fields)]
