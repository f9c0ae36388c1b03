"""The items of a study that share something: what people or a judge said of them, or how contested they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from annotation.agreement.services import tiers
from annotation.agreement.services.tiers import TierOptions, parse_chance, parse_cuts
from annotation.stats.bands import TIERS
from annotation.stats.majority import Majority, majority
from annotation.stats.table import MISSING, BoolArray, IntArray, RatingTable
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries import ratings as people
from annotation.studies.queries.units import to_position, to_turn
from core.errors import InputError
from judging.assessment.queries import ratings as judges
from judging.assessment.services.comparison import JudgeColumn
from judging.judges.queries import hold_out

TIED, UNSCORED = "tied", "unscored"
"""In place of a value: people chose two categories equally often; the judge's reply held no verdict."""


@dataclass(frozen=True)
class ItemFilter:
    """What the items on a list have in common, in the words of the page's address. Empty means any.

    Attributes
    ----------
    criterion
        Key; the study's first criterion where none is given.
    majority
        A value of the scale, or tied.
    judge, value
        A judge, and its value or unscored.
    tier
        Easy, medium, hard or contested.
    cuts, chance
        How tiers are made, where not in the usual way.
    """

    criterion: str = ""
    majority: str = ""
    judge: str = ""
    value: str = ""
    tier: str = ""
    cuts: str = ""
    chance: str = ""

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> ItemFilter:
        """From the query of an address."""
        return cls(**{field.name: query.get(field.name, "").strip() for field in fields(cls)})

    def to_query(self) -> dict[str, str]:
        """What of it is given, for an address."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name))}

    @property
    def narrows(self) -> bool:
        """Whether it leaves any item out."""
        return bool(self.majority or (self.judge and self.value) or self.tier)

    def tier_options(self) -> TierOptions:
        """How tiers are made. Raises InputError where cuts or chance make no sense."""
        usual = TierOptions(draws=0)
        cuts = parse_cuts(self.cuts) if self.cuts else usual.cuts
        return TierOptions(cuts, parse_chance(self.chance) if self.chance else usual.chance, draws=0)


@dataclass(frozen=True, eq=False)
class RatedItems:
    """What people and judges said on one criterion, item by item.

    Attributes
    ----------
    criterion
        The criterion.
    table
        People's ratings; its items are positions.
    judges
        The judges' verdicts on them.
    most
        The majority of each item.
    tiers
        By item, its tier, that of a person above the computed one; None where it has none.
    masked
        Positions of held-out items, on which no judge's verdict is read.
    """

    criterion: Criterion
    table: RatingTable
    judges: tuple[JudgeColumn, ...]
    most: Majority
    tiers: tuple[str | None, ...]
    masked: frozenset[int] = frozenset()

    @classmethod
    def read(
        cls, study: Study, criterion: Criterion, options: TierOptions, only: Sequence[int] | None = None
    ) -> RatedItems:
        """In nine queries; ten where a part is held out. Those at the positions in `only`, or all."""
        rated = people.load_criterion(criterion, positions=only)
        table = rated.table
        said = judges.load_study(study, only=criterion, positions=only).get(criterion.pk, ())
        columns = tuple(JudgeColumn.from_verdicts(judge, table) for judge in said)
        holding = tuple(tiers.load_tiers(rated, options))
        return cls(criterion, table, columns, majority(table), holding, hold_out.positions(study))

    def positions(self, wanted: ItemFilter) -> list[int]:
        """Of the items that the filter lets through, in order. Raises InputError where it names what is not there."""
        kept = np.ones(self.table.n_items, dtype=bool)
        for mask in self._masks(wanted):
            kept &= mask
        names = [name for name, keep in zip(self.table.items, kept, strict=True) if keep]
        return list(dict.fromkeys(map(to_position, names)))

    def _masks(self, wanted: ItemFilter) -> Iterable[BoolArray]:
        if wanted.majority:
            tied = wanted.majority == TIED
            yield self.most.tied if tied else self.most.codes == self._code(wanted.majority, "majority")
        if wanted.judge:
            column = self._judge(wanted.judge)
            if wanted.value:
                unscored = wanted.value == UNSCORED
                yield column.unscored if unscored else column.codes == self._code(wanted.value, "value")
        elif wanted.value:
            raise InputError("a judge's value needs a judge", field="judge")
        if wanted.tier:
            if wanted.tier not in TIERS:
                raise InputError(f"{wanted.tier!r} is not one of {', '.join(TIERS)}", field="tier")
            yield np.array([tier == wanted.tier for tier in self.tiers], dtype=bool)

    def _code(self, value: str, field: str) -> int:
        scale = self.criterion.values
        if value not in scale:
            raise InputError(f"{value!r} is not on the scale ({', '.join(scale)})", field=field)
        return scale.index(value)

    def _judge(self, name: str) -> JudgeColumn:
        found = next((column for column in self.judges if column.name == name), None)
        if found is None:
            known = ", ".join(column.name for column in self.judges) or "none yet"
            raise InputError(f"no judge called {name!r} has rated this criterion; there are: {known}", field="judge")
        return found

    def summary(self, positions: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
        """By position, for the item or each of its turns: counts of people's values, majority, tier, judges' values."""
        wanted = set(positions)
        found: dict[int, list[dict[str, Any]]] = {}
        for row, name in enumerate(self.table.items):
            if (position := to_position(name)) in wanted:
                found.setdefault(position, []).append(self._summary(row))
        return found

    def _summary(self, row: int) -> dict[str, Any]:
        counts = zip(self.criterion.categories, self.table.counts[row].astype(int).tolist(), strict=True)
        return {
            "turn": to_turn(self.table.items[row]),
            "counts": [{"label": category["label"], "n": n} for category, n in counts if n],
            "majority": self._label(self.most.codes, row),
            "tied": bool(self.most.tied[row]),
            "tier": self.tiers[row] or "",
            "judges": [self._verdict(column, row) for column in self.judges],
        }

    def _verdict(self, column: JudgeColumn, row: int) -> dict[str, Any]:
        label = self._label(column.codes, row)
        masked = to_position(self.table.items[row]) in self.masked
        reason = "held out" if masked else "the reply held no verdict" if column.unscored[row] else "not judged"
        return {"label": label, "reason": reason, "differs": label != "" and column.codes[row] != self.most.codes[row]}

    def _label(self, codes: IntArray, row: int) -> str:
        code = int(codes[row])
        return "" if code == MISSING else str(self.criterion.categories[code]["label"])


def find_criterion(study: Study, key: str) -> Criterion | None:
    """The study's criterion of this key, its first one for an empty key; None where it has no criterion at all.

    Raises InputError where there are criteria but not this one.
    """
    criteria = list(study.criteria.all())
    if not key:
        return criteria[0] if criteria else None
    for criterion in criteria:
        if criterion.key == key:
            return criterion
    raise InputError(
        f"no criterion is called {key!r}; there are {', '.join(c.key for c in criteria)}", field="criterion"
    )
