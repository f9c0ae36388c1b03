"""Preferences between two responses: strengths of pairs, with ties and the order in which a person saw them.

A pair's strength x is by how many log odds its first response is preferred. A person of consistency c who is drawn by b
to the response shown first says category k with probability proportional to exp(s_k (c x + b o) + v_k): the q scores s
run from 1/2 (the first response) to -1/2, v is the same for k and q - 1 - k, o is 1 where the first response was shown
first and -1 where the other was. Two categories: Bradley and Terry (1952), Biometrika 39:324-345. With a tie:
Davidson (1970), JASA 65:317-328, nu = exp v. More: Agresti (1992), Applied Statistics 41:287-297. Strengths are normal
with mean m plus, where systems have names, the difference of theirs.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy

from annotation.stats.difficulty.latent import FINE, FLOOR, Tables, blocks, normal_nodes
from annotation.stats.orders import TIE
from annotation.stats.table import MISSING, FloatArray, IntArray, RatingTable

ORDER_SD, CONSISTENCY_SD = 1.0, 0.5
"""Priors of people: of b, and of the logarithm of c."""
SPREAD_AT, SPREAD_SD = np.log(2.0), 1.0
"""Prior of the logarithm of the strengths' standard deviation."""
MEAN_SD = SYSTEM_SD = 2.0
"""Priors of m and of the strengths of systems: hold what the comparisons do not tell apart."""
TIES_SD = 3.0
"""Prior of v: holds a category that nobody chose."""

LEAST_PAIRS = 10
"""A system in fewer pairs has no strength of its own."""


@dataclass(frozen=True, eq=False)
class Shown:
    """How pairs were shown, beside a table of preferences.

    Attributes
    ----------
    order
        (n, r) 1 where a person saw the first response first, -1 where the other, 0 where that is not known.
    systems
        By item, who made the first and the second response; empty where they have no names.
    """

    order: IntArray
    systems: Sequence[tuple[str, str]] = ()

    def take(self, rows: IntArray, columns: IntArray) -> "Shown":
        """Of these items and people."""
        systems = [self.systems[row] for row in rows.tolist()] if self.systems else ()
        return Shown(self.order[np.ix_(rows, columns)], systems)


def preference_order(table: RatingTable) -> tuple[int, ...] | None:
    """The codes of a preference from the first response to the second, the tie between; None on other scales.

    A nominal scale is one where one of its three categories is the tie.
    """
    names = [str(category).strip().lower() for category in table.categories]
    if table.level != "nominal" or len(names) != 3 or TIE not in names:
        return None
    tie = names.index(TIE)
    first, second = (code for code in range(3) if code != tie)
    return first, tie, second


def split_by_strength(table: RatingTable, strength: IntArray) -> RatingTable:
    """The preferences from "1 much" to "2 much"; as they are where somebody does not say by how much.

    ``strength`` (n, r) is 2 for much better and 1 for slightly better; of a tie nobody is asked.
    """
    order = preference_order(table) or (0, 1)
    prefers = (table.codes == order[0]) | (table.codes == order[-1])
    if not prefers.any() or (strength[prefers] == 0).any():
        return table
    first, *tie, second = [str(table.categories[code]) for code in order]
    scale = (f"{first} much", f"{first} slightly", *tie, f"{second} slightly", f"{second} much")
    slight = strength == 1
    codes = np.where(table.codes == order[0], slight, len(scale) - 1 - slight)
    codes = np.where(prefers, codes, np.where(table.codes == MISSING, MISSING, 2))
    return replace(table, codes=codes, categories=scale, level="ordinal", values=None)


@dataclass(frozen=True, eq=False)
class Preferences:
    """The model of some people and q symmetric categories, over columns: a person, an order, a pair of systems.

    Attributes
    ----------
    person, order
        (columns,) who answers, and o.
    contrast
        (columns, systems) 1 for the system of the first response, -1 for that of the second.
    own_strength
        Whether pairs differ in strength beyond their systems; without it and with ``with_priors`` off the fit is
        Davidson's by maximum likelihood.
    """

    person: IntArray
    order: IntArray
    contrast: FloatArray
    n_categories: int
    own_strength: bool = True
    with_priors: bool = True
    n_nodes: int = FINE
    people: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "people", int(self.person.max()) + 1)

    @property
    def n_people(self) -> int:
        """Number of columns."""
        return len(self.person)

    @property
    def has_order(self) -> bool:
        """Whether somebody's order is known."""
        return bool(self.order.any())

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of ties, orders, consistencies (all but the last), m, systems (all but the last), spread."""
        ties, alone = (self.n_categories - 1) // 2, int(self.own_strength)
        systems = max(self.contrast.shape[1] - 1, 0)
        return (ties, self.people * self.has_order, (self.people - 1) * alone, alone, systems, alone)

    def finer(self) -> "Preferences":
        return self

    def start(self, counts: FloatArray) -> FloatArray:  # noqa: ARG002 - the protocol's
        free = np.zeros(sum(self.sizes))
        if self.own_strength:
            free[-1] = SPREAD_AT
        return free

    @cached_property
    def _nodes(self) -> tuple[FloatArray, FloatArray]:
        return normal_nodes(self.n_nodes) if self.own_strength else (np.zeros(1), np.zeros(1))

    @cached_property
    def scores(self) -> FloatArray:
        """(q,) s."""
        return np.linspace(0.5, -0.5, self.n_categories)

    @cached_property
    def design(self) -> FloatArray:
        """(q, ties) which v a category has: those of the two ends are 0."""
        q = self.n_categories
        found = np.zeros((q, (q - 1) // 2))
        for tie in range(found.shape[1]):
            found[[tie + 1, q - 2 - tie], tie] = 1.0
        return found

    def orders(self, free: FloatArray) -> FloatArray:
        """(people,) b, 0 where no order is known."""
        own = blocks(free, self.sizes)[1]
        return own if len(own) else np.zeros(self.people)

    def consistencies(self, free: FloatArray) -> FloatArray:
        """(people,) c."""
        own = blocks(free, self.sizes)[2]
        steep: FloatArray = np.exp(np.append(own, -own.sum())) if self.own_strength else np.ones(self.people)
        return steep

    def systems(self, free: FloatArray) -> FloatArray:
        """(systems,) log odds by which each is preferred to their mean."""
        own = blocks(free, self.sizes)[4]
        return np.append(own, -own.sum()) if self.contrast.shape[1] else own

    def contrast_of(self, part: int) -> FloatArray:
        """(people, f) that takes the parameters to the orders (1) or the logarithms of consistencies (2)."""
        size, start = self.sizes[part], sum(self.sizes[:part])
        found = np.zeros((self.people, sum(self.sizes)))
        if size:
            found[:, start : start + size] = np.eye(self.people) if part == 1 else _all_but_last(size)
        return found

    def tables(self, free: FloatArray) -> Tables:
        lean = self._lean(free)[0]
        logits = self.scores[:, None] * lean[:, None, :] + (self.design @ blocks(free, self.sizes)[0])[:, None]
        return Tables(self._nodes[1], np.maximum(scipy.special.softmax(logits, axis=1), FLOOR))

    def _lean(self, free: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(columns, N) c x + b o; (columns, N) x; (columns, 1) c."""
        _, _, _, mean, _, spread = blocks(free, self.sizes)
        at = self.contrast @ self.systems(free) if self.contrast.shape[1] else np.zeros(self.n_people)
        wide = np.exp(spread[0]) * self._nodes[0] + mean[0] if self.own_strength else np.zeros(1)
        x = at[:, None] + wide
        steep = self.consistencies(free)[self.person][:, None]
        return steep * x + (self.orders(free)[self.person] * self.order)[:, None], x, steep

    def gradient(self, free: FloatArray, tables: Tables, expected: FloatArray, totals: FloatArray) -> FloatArray:  # noqa: ARG002
        _, x, steep = self._lean(free)
        left = expected - expected.sum(axis=1, keepdims=True) * tables.p
        in_lean = np.einsum("jkn,k->jn", left, self.scores)
        of_column = in_lean.sum(axis=1)
        by_person = [np.bincount(self.person, values, self.people) for values in
                     (of_column * self.order, (in_lean * steep * x).sum(axis=1))]  # fmt: skip
        in_strength = in_lean * steep
        systems = in_strength.sum(axis=1) @ self.contrast
        found = [left.sum(axis=(0, 2)) @ self.design]
        if self.has_order:
            found.append(by_person[0])
        if self.own_strength:
            found += [by_person[1][:-1] - by_person[1][-1], in_strength.sum(keepdims=True).ravel()]
        if self.contrast.shape[1]:
            found.append(systems[:-1] - systems[-1])
        if self.own_strength:
            found.append(np.exp(free[-1:]) * float((in_strength @ self._nodes[0]).sum()))
        return np.concatenate(found)

    def penalty(self, free: FloatArray) -> tuple[float, FloatArray]:
        if not self.with_priors:
            return 0.0, np.zeros(len(free))
        value, slopes = 0.0, []
        sds = (TIES_SD, ORDER_SD, CONSISTENCY_SD, MEAN_SD, SYSTEM_SD, SPREAD_SD)
        for part, (own, sd) in enumerate(zip(blocks(free, self.sizes), sds, strict=True)):
            centred = own - SPREAD_AT if part == 5 else own
            last = -centred.sum() if part in (2, 4) else 0.0  # they add up to 0
            value -= 0.5 * float(centred @ centred + last**2) / sd**2
            slopes.append(-(centred - last) / sd**2)
        return value, np.concatenate(slopes)


def _all_but_last(size: int) -> FloatArray:
    return np.vstack([np.eye(size), -np.ones(size)])


def expand_columns(codes: IntArray, shown: Shown, n_categories: int) -> tuple[Preferences, IntArray]:
    """The model of a table's people, and its codes (n, columns) spread over who answered what shown how."""
    rows, people = np.nonzero(codes != MISSING)
    often = Counter(name for pair in shown.systems for name in set(pair) if name)
    names = sorted(name for name, n in often.items() if n >= LEAST_PAIRS)
    pairs = [pair if set(pair) <= set(names) else ("", "") for pair in shown.systems] or [("", "")] * len(codes)
    kinds = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
    kind = np.array([kinds[pair] for pair in pairs], dtype=np.int64)
    keys, column = np.unique(
        np.column_stack([people, shown.order[rows, people], kind[rows]]), axis=0, return_inverse=True
    )
    spread = np.full((len(codes), len(keys)), MISSING, dtype=np.int64)
    spread[rows, column.ravel()] = codes[rows, people]
    place = {name: number for number, name in enumerate(names)}
    contrasts = np.zeros((len(kinds), len(names)))
    for (first, second), number in kinds.items():
        if first and first != second:
            contrasts[number, place[first]], contrasts[number, place[second]] = 1.0, -1.0
    return Preferences(keys[:, 0], keys[:, 1], contrasts[keys[:, 2]], n_categories), spread


def fresh_answers(model: Preferences, free: FloatArray, share: FloatArray, contrast: FloatArray) -> FloatArray:
    """(q, N) answers of a fresh person, drawn by ``share`` (people,), to pairs of systems ``contrast`` (systems,).

    Half see one response first and half the other, where orders matter.
    """
    sides = (1, -1) if model.has_order else (0,)
    people = np.tile(np.arange(model.people), len(sides))
    order = np.repeat(sides, model.people)
    everybody = replace(model, person=people, order=order, contrast=np.tile(contrast, (len(people), 1)))
    if not model.has_order:
        return np.asarray(np.einsum("j,jkn->kn", share, everybody.tables(free).p))
    return np.asarray(np.einsum("j,jkn->kn", np.tile(share, 2) / 2, everybody.tables(free).p))
