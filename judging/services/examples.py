"""Few-shot examples of a judge: items that people have settled, drawn from the development part and from nowhere else.

An example is kept whole among a version's parameters, so that a version never changes. Before a version is saved, each
of its examples is made again from the database and has to be the same: what is not in the development part, was not
adjudicated so, or also stands in the held-out part is refused, whoever put it there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from annotation.errors import InputError
from annotation.models import Adjudication, Criterion, Item, Study, User
from annotation.walls import sees
from judging import prompts
from judging.queries import hold_out
from judging.queries.material import leaks, material
from judging.queries.requests import content_of

MOST = 20
"""Examples a criterion."""

Document = dict[str, Any]


def drawn(
    study: Study, criteria: Sequence[Criterion], n: int, *, seed: int = 0, items: Sequence[int] = ()
) -> list[Document]:
    """Examples for each criterion: ``n`` of its settled items, values of the scale in turn, or the ``items`` named.

    Raises InputError where nothing is held out, where a criterion has fewer settled items in the development part, or
    where an item that is named is none of them.
    """
    check_number(n)
    settled = settled_items(study, criteria)
    found = []
    for place, criterion in enumerate(criteria):
        there = settled[criterion.pk]
        rng = np.random.default_rng([seed, place])
        chosen = _named(there, items, criterion) if items else _in_turn(there, n, criterion, rng)
        found += [
            _example(study, criterion, there[position], order=_order(study, k)) for k, position in enumerate(chosen)
        ]
    return found


def check_number(n: int) -> None:
    """Raise InputError unless so many examples a criterion may be asked for."""
    if not 1 <= n <= MOST:
        raise InputError(f"must be from 1 to {MOST}", field="examples")


def settled_items(study: Study, criteria: Sequence[Criterion]) -> dict[int, dict[int, Adjudication]]:
    """By criterion id and position, the newest adjudication of each item that may be an example.

    Items of the development part whose content is nowhere in the held-out part. InputError where nothing is held out:
    then nothing would be left to tell whether the new version is better.
    """
    split = hold_out.split_of(study)
    if split is None:
        raise InputError(
            f"nothing of {study} is held out: hold a part out first, so that the new version can be judged on items "
            "that it was not made with",
            field="study",
        )
    closed = hold_out.positions(study) | twins(study, leaks(study, split))
    found: dict[int, dict[int, Adjudication]] = defaultdict(dict)
    oldest_first = Adjudication.objects.filter(criterion__in=criteria).order_by("created_at", "pk")
    for one in oldest_first.select_related(
        "item__dialogue__scenario__profile", "item__dialogue__scenario__task", "item__pair__profile"
    ):
        if one.item.position not in closed:
            found[one.criterion_id][one.item.position] = one
    return found


def twins(study: Study, leaking: Sequence[int]) -> frozenset[int]:
    """Positions of the items that have the content of one of these."""
    if not leaking:
        return frozenset()
    read = material(study)
    texts = dict(zip(map(int, read.names), read.fingerprints, strict=True))
    shared = {texts[position] for position in leaking}
    return frozenset(position for position, text in texts.items() if text in shared)


def _named(there: Mapping[int, Adjudication], items: Sequence[int], criterion: Criterion) -> list[int]:
    for position in items:
        if position not in there:
            raise InputError(
                f"item {position} is no adjudicated item of the development part on {criterion.key}", field="items"
            )
    return list(dict.fromkeys(items))


def _in_turn(there: Mapping[int, Adjudication], n: int, criterion: Criterion, rng: np.random.Generator) -> list[int]:
    """Positions drawn so that the values of the scale come up in turn, as long as they have items."""
    if len(there) < n:
        raise InputError(
            f"{criterion.key} has {len(there)} adjudicated items in the development part, fewer than {n}: "
            "adjudicate more, or ask for fewer examples",
            field="examples",
        )
    by_value: dict[str, list[int]] = {value: [] for value in criterion.values}
    for position in sorted(there):
        by_value.setdefault(there[position].value, []).append(position)
    piles = [list(rng.permutation(positions)) for positions in by_value.values() if positions]
    piles = [piles[k] for k in rng.permutation(len(piles))]
    found: list[int] = []
    while len(found) < n:
        piles = [pile for pile in piles if pile]
        found += [int(pile.pop()) for pile in piles]
    return found[:n]


def _order(study: Study, place: int) -> str:
    """A pair's responses stand in either order in turn, so that the examples favour no side."""
    return "" if study.kind != Study.Kind.PAIR else ("AB", "BA")[place % 2]


def _example(study: Study, criterion: Criterion, settled: Adjudication, *, order: str) -> Document:
    item: Item = settled.item
    return {
        "study": study.slug,
        "item": item.position,
        "source": item.subject.source,
        "external_id": item.external_id,
        "content_hash": item.subject.content_hash,
        "criterion": criterion.key,
        "order": order,
        "material": prompts.example_material(content_of(item, study.shown, order)),
        "value": settled.value,
        "why": settled.reason.strip(),
    }


def check(examples: Sequence[Document], *, seen_by: User | None = None) -> None:
    """Raise InputError unless each is, word for word, a settled item of the development part of its study."""
    by_study: dict[str, list[Document]] = defaultdict(list)
    for one in examples:
        by_study[one["study"]].append(one)
    for slug, given in by_study.items():
        study = Study.objects.filter(slug=slug).first()
        if study is None or not sees(seen_by, study):
            raise InputError(f"an example is of the study {slug!r}, which is not there", field="parameters")
        criteria = {criterion.key: criterion for criterion in study.criteria.filter(unit=Criterion.Unit.ITEM)}
        settled = settled_items(study, list(criteria.values()))
        for one in given:
            criterion = criteria.get(one["criterion"])
            there = settled[criterion.pk].get(one["item"]) if criterion else None
            if criterion is None or there is None or _example(study, criterion, there, order=one["order"]) != one:
                raise InputError(
                    f"the example on {one['criterion']}, item {one['item']} of {study}, is not what was adjudicated "
                    "there in the development part: draw the examples anew",
                    field="parameters",
                )
