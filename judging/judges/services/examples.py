"""Few-shot examples of a judge: items that people have settled, drawn from the development part and from nowhere else.

An item is settled by an adjudication, or by gold: enough people, not contested, not tied; where a criterion is asked of
turns or responses, each of them is, and of one item no more than one is drawn. An example is kept whole
among a version's parameters, so that a version never changes. Before a version is saved, each of its examples is made
again from the database and has to be the same: what is not in the development part, was not settled so, or also stands
in the held-out part is refused, whoever put it there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext as _

from annotation.agreement.services import tiers
from annotation.stats.gold import gold
from annotation.stats.orders import LETTERS
from annotation.stats.table import MISSING
from annotation.studies.models.labels import Adjudication
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.queries import ratings
from annotation.studies.queries.ratings import PeoplesRatings
from annotation.studies.queries.scales import has_open_scale
from annotation.studies.queries.units import to_position, to_turn, unit
from core.accounts.models.users import User
from core.accounts.permissions import sees
from core.errors import InputError
from judging.judges import prompts
from judging.judges.providers.base import Example
from judging.judges.queries import study_items
from judging.judges.queries.contents import build_content
from judging.judges.queries.study_items import find_closed

MOST = 20
"""Examples a criterion."""

Document = dict[str, object]


def draw_examples(
    study: Study, criteria: Sequence[Criterion], n: int, *, seed: int = 0, items: Sequence[int | str] = ()
) -> list[Document]:
    """Examples for each criterion: ``n`` of its settled items, values of the scale in turn, or the ``items`` named.

    A turn or response is named by its item's position and its number, "17.2". Raises InputError where nothing is held
    out, where a criterion has no categories, or fewer settled items in the development part, or where an item that is
    named is none of them.
    """
    check_example_count(n)
    if other := next((one for one in criteria if has_open_scale(one)), None):
        raise InputError("examples are verdicts on categories; {name} has none", field="criteria", name=other.name)
    settled = load_settled_items(study, criteria)
    found = []
    for place, criterion in enumerate(criteria):
        there = settled[criterion.pk]
        rng = np.random.default_rng([seed, place])
        chosen = _named(there, items, criterion) if items else _in_turn(there, n, criterion, rng)
        read = items_at(study, [to_position(name) for name in chosen])
        for k, name in enumerate(chosen):
            item, turn = read[to_position(name)], to_turn(name)
            found.append(_example(criterion, item, there[name], order="" if turn else _order(item, k), turn=turn))
    return found


def check_example_count(n: int) -> None:
    """Raise InputError unless so many examples a criterion may be asked for."""
    if not 1 <= n <= MOST:
        raise InputError("must be from 1 to {most}", field="examples", most=MOST)


@dataclass(frozen=True)
class SettledItem:
    """What people settled of one item, turn or response: the value, and why where somebody said so."""

    value: str
    why: str = ""


def load_settled_items(study: Study, criteria: Sequence[Criterion]) -> dict[int, dict[str, SettledItem]]:
    """By criterion id and name (`annotation.studies.queries.units`), what the newest adjudication says of each item,
    turn or response that may be an example, else its gold.

    Items of the development part whose content is nowhere in the held-out part. InputError where nothing is held out:
    then nothing would be left to tell whether the new version is better.
    """
    split = study_items.find_hold_out(study)
    if split is None:
        raise InputError(
            "nothing of {study} is held out: hold a part out first, so that the new version can be judged on "
            "items that its examples do not come from",
            field="study",
            study=study,
        )
    closed = {asked_of: find_closed(study, split, asked_of) for asked_of in {one.unit for one in criteria}}
    found = {one.criterion.pk: load_gold(one) for one in ratings.load_criteria(study, criteria)}
    oldest_first = Adjudication.objects.filter(criterion__in=criteria).order_by("created_at", "pk")
    for pk, *place, value, why in oldest_first.values_list("criterion_id", "item__position", "turn", "value", "reason"):
        found[pk][unit(*place)] = SettledItem(value, why.strip())
    return {
        one.pk: {name: settled for name, settled in found[one.pk].items() if name not in closed[one.unit]}
        for one in criteria
    }


def load_gold(given: PeoplesRatings) -> dict[str, SettledItem]:
    """By name, the gold that follows from people's answers: of enough of them, not contested, not tied."""
    if not given.table.n_items:
        return {}
    found, values = gold(given.table, tiers=tiers.load_tiers(given)), given.criterion.values
    rows = zip(given.table.items, found.codes.tolist(), strict=True)
    return {name: SettledItem(values[code]) for name, code in rows if code != MISSING}


def items_at(study: Study, positions: Collection[int]) -> dict[int, Item]:
    """The items at these positions with all that their examples hold. One query."""
    whole = study.items.select_related(
        "dialogue__scenario__profile", "dialogue__scenario__task", "pair__profile", "study"
    )
    return {item.position: item for item in whole.filter(position__in=positions)}


def _named(there: Mapping[str, SettledItem], items: Sequence[int | str], criterion: Criterion) -> list[str]:
    noun = criterion.part_noun
    names = list(dict.fromkeys(map(str, items)))
    for name in names:
        if name not in there:
            how = _("; name it by item and {noun}, such as {name}.2").format(noun=_(noun), name=name)
            raise InputError(
                "{noun} {name} is not a settled {noun} of the development part on {key}{how}",
                field="items",
                noun=_(noun),
                name=name,
                key=criterion.key,
                how="" if noun == "item" or "." in name else how,
            )
    return names


def _in_turn(there: Mapping[str, SettledItem], n: int, criterion: Criterion, rng: np.random.Generator) -> list[str]:
    """Names drawn so that the values of the scale come up in turn, as long as they have items; one of each item."""
    if (n_items := len({to_position(name) for name in there})) < n:
        if criterion.unit == Criterion.Unit.ITEM:
            settled = _("settled items")
        else:
            settled = _("items with settled responses") if criterion.of_responses else _("items with settled turns")
        raise InputError(
            "{key} has {n_items} {settled} in the development part, fewer than {n}: label or "
            "adjudicate more, or ask for fewer examples",
            field="examples",
            key=criterion.key,
            n_items=n_items,
            settled=settled,
            n=n,
        )
    by_value: dict[str, list[str]] = {value: [] for value in criterion.values}
    for name in sorted(there, key=lambda name: (to_position(name), to_turn(name))):
        by_value.setdefault(there[name].value, []).append(name)
    piles = [[names[k] for k in rng.permutation(len(names))] for names in by_value.values() if names]
    piles = [piles[k] for k in rng.permutation(len(piles))]
    found: dict[int, str] = {}
    while len(found) < n:
        for pile in piles:
            while pile and to_position(pile[-1]) in found:
                pile.pop()
            if pile:
                name = pile.pop()
                found[to_position(name)] = name
    return list(found.values())[:n]


def _order(item: Item, place: int) -> str:
    """Responses stand turned by one place more each time, so that the examples favour none."""
    if item.pair is None:
        return ""
    straight = LETTERS[: item.pair.n_responses]
    turned = place % len(straight)
    return straight[turned:] + straight[:turned]


def _example(criterion: Criterion, item: Item, settled: SettledItem, *, order: str, turn: int = 0) -> Document:
    study = item.study
    of_part = {"turn": turn} if turn else {}
    return {
        "study": study.slug,
        "item": item.position,
        "source": item.subject.source,
        "external_id": item.external_id,
        "content_hash": item.subject.content_hash,
        "criterion": criterion.key,
        "order": order,
        "material": prompts.build_example_placeholders(build_content(item, study.shown, order, turn=turn)),
        "value": settled.value,
        "why": settled.why,
        **of_part,
    }


def check(examples: Sequence[Document], *, seen_by: User | None = None) -> None:
    """Raise InputError unless each is, word for word, a settled item of the development part of its study."""
    by_study: dict[str, list[Example]] = defaultdict(list)
    for one in [Example.model_construct(None, **each) for each in examples]:
        by_study[one.study].append(one)
    for slug, given in by_study.items():
        study = Study.objects.filter(slug=slug).first()
        if study is None or not sees(seen_by, study):
            raise InputError("an example is of the study {slug!r}, which is not there", field="parameters", slug=slug)
        criteria = {criterion.key: criterion for criterion in study.criteria.all()}
        settled, read = (
            load_settled_items(study, list(criteria.values())),
            items_at(study, [one.item for one in given]),
        )
        for one in given:
            criterion, item, turn = criteria.get(one.criterion), read.get(one.item), one.turn
            there = settled[criterion.pk].get(unit(one.item, turn)) if criterion else None
            if (
                criterion is None
                or item is None
                or there is None
                or _example(criterion, item, there, order=one.order, turn=turn) != one.model_dump(exclude_unset=True)
            ):
                raise InputError(
                    "the example on {criterion}, item {item} of {study}, is not what was settled there in the "
                    "development part: draw the examples again",
                    field="parameters",
                    criterion=one.criterion,
                    item=one.item,
                    study=study,
                )
