"""Few-shot examples of a judge: items that people have settled, drawn from the development part and from nowhere else.

An item is settled by an adjudication, or by gold: enough people, not contested, not tied. An example is kept whole
among a version's parameters, so that a version never changes. Before a version is saved, each of its examples is made
again from the database and has to be the same: what is not in the development part, was not settled so, or also stands
in the held-out part is refused, whoever put it there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.agreement.services import tiers
from annotation.stats.gold import gold
from annotation.stats.orders import LETTERS
from annotation.stats.table import MISSING
from annotation.studies.models.labels import Adjudication
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.queries import ratings
from annotation.studies.queries.ratings import PeoplesRatings
from annotation.studies.queries.scales import has_open_scale
from core.accounts.models.users import User
from core.accounts.permissions import sees
from core.errors import InputError
from judging.judges import prompts
from judging.judges.queries import study_items
from judging.judges.queries.contents import build_content
from judging.judges.queries.study_items import leaks, load_texts

MOST = 20
"""Examples a criterion."""

Document = dict[str, Any]


def draw_examples(
    study: Study, criteria: Sequence[Criterion], n: int, *, seed: int = 0, items: Sequence[int] = ()
) -> list[Document]:
    """Examples for each criterion: ``n`` of its settled items, values of the scale in turn, or the ``items`` named.

    Raises InputError where nothing is held out, where a criterion has no categories, or fewer settled items in the
    development part, or where an item that is named is none of them.
    """
    check_example_count(n)
    if other := next((one for one in criteria if has_open_scale(one)), None):
        raise InputError(f"examples are verdicts on categories; {other.name} has none", field="criteria")
    settled = load_settled_items(study, criteria)
    found = []
    for place, criterion in enumerate(criteria):
        there = settled[criterion.pk]
        rng = np.random.default_rng([seed, place])
        chosen = _named(there, items, criterion) if items else _in_turn(there, n, criterion, rng)
        read = items_at(study, chosen)
        found += [
            _example(criterion, read[position], there[position], order=_order(read[position], k))
            for k, position in enumerate(chosen)
        ]
    return found


def check_example_count(n: int) -> None:
    """Raise InputError unless so many examples a criterion may be asked for."""
    if not 1 <= n <= MOST:
        raise InputError(f"must be from 1 to {MOST}", field="examples")


@dataclass(frozen=True)
class SettledItem:
    """What people settled of one item: the value, and why where somebody said so."""

    value: str
    why: str = ""


def load_settled_items(study: Study, criteria: Sequence[Criterion]) -> dict[int, dict[int, SettledItem]]:
    """By criterion id and position, what the newest adjudication says of each item that may be an example, else its
    gold.

    Items of the development part whose content is nowhere in the held-out part. InputError where nothing is held out:
    then nothing would be left to tell whether the new version is better.
    """
    split = study_items.find_hold_out(study)
    if split is None:
        raise InputError(
            f"nothing of {study} is held out: hold a part out first, so that the new version can be judged on items "
            "that its examples do not come from",
            field="study",
        )
    closed = study_items.positions(study) | find_duplicates(study, leaks(study, split))
    found = {one.criterion.pk: load_gold(one) for one in ratings.load_criteria(study, criteria)}
    oldest_first = Adjudication.objects.filter(criterion__in=criteria).order_by("created_at", "pk")
    for pk, position, value, why in oldest_first.values_list("criterion_id", "item__position", "value", "reason"):
        found[pk][position] = SettledItem(value, why.strip())
    return {
        pk: {position: one for position, one in there.items() if position not in closed} for pk, there in found.items()
    }


def load_gold(given: PeoplesRatings) -> dict[int, SettledItem]:
    """By position, the gold that follows from people's answers: of enough of them, not contested, not tied."""
    if not given.table.n_items:
        return {}
    found, values = gold(given.table, tiers=tiers.load_tiers(given)), given.criterion.values
    rows = zip(given.positions, found.codes.tolist(), strict=True)
    return {position: SettledItem(values[code]) for position, code in rows if code != MISSING}


def items_at(study: Study, positions: Collection[int]) -> dict[int, Item]:
    """The items at these positions with all that their examples hold. One query."""
    whole = study.items.select_related(
        "dialogue__scenario__profile", "dialogue__scenario__task", "pair__profile", "study"
    )
    return {item.position: item for item in whole.filter(position__in=positions)}


def find_duplicates(study: Study, leaking: Sequence[int]) -> frozenset[int]:
    """Positions of the items that have the content of one of these."""
    if not leaking:
        return frozenset()
    read = load_texts(study)
    texts = dict(zip(map(int, read.names), read.fingerprints, strict=True))
    shared = {texts[position] for position in leaking}
    return frozenset(position for position, text in texts.items() if text in shared)


def _named(there: Mapping[int, SettledItem], items: Sequence[int], criterion: Criterion) -> list[int]:
    for position in items:
        if position not in there:
            raise InputError(
                f"item {position} is no settled item of the development part on {criterion.key}", field="items"
            )
    return list(dict.fromkeys(items))


def _in_turn(there: Mapping[int, SettledItem], n: int, criterion: Criterion, rng: np.random.Generator) -> list[int]:
    """Positions drawn so that the values of the scale come up in turn, as long as they have items."""
    if len(there) < n:
        raise InputError(
            f"{criterion.key} has {len(there)} settled items in the development part, fewer than {n}: label or "
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


def _order(item: Item, place: int) -> str:
    """Responses stand turned by one place more each time, so that the examples favour none."""
    if item.pair is None:
        return ""
    straight = LETTERS[: item.pair.n_responses]
    turned = place % len(straight)
    return straight[turned:] + straight[:turned]


def _example(criterion: Criterion, item: Item, settled: SettledItem, *, order: str) -> Document:
    study = item.study
    return {
        "study": study.slug,
        "item": item.position,
        "source": item.subject.source,
        "external_id": item.external_id,
        "content_hash": item.subject.content_hash,
        "criterion": criterion.key,
        "order": order,
        "material": prompts.build_example_placeholders(build_content(item, study.shown, order)),
        "value": settled.value,
        "why": settled.why,
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
        settled, read = (
            load_settled_items(study, list(criteria.values())),
            items_at(study, [one["item"] for one in given]),
        )
        for one in given:
            criterion, item = criteria.get(one["criterion"]), read.get(one["item"])
            there = settled[criterion.pk].get(one["item"]) if criterion else None
            if (
                criterion is None
                or item is None
                or there is None
                or _example(criterion, item, there, order=one["order"]) != one
            ):
                raise InputError(
                    f"the example on {one['criterion']}, item {one['item']} of {study}, is not what was settled "
                    "there in the development part: draw the examples again",
                    field="parameters",
                )
