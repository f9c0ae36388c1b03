"""The items of a study that share something: what people or a judge said of them, or how contested they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np
from django.utils.translation import gettext as _

from annotation.agreement.services import tiers
from annotation.agreement.services.tiers import TierOptions, parse_chance, parse_cuts
from annotation.stats.bands import TIERS
from annotation.stats.by_level import explain_missing
from annotation.stats.majority import Majority, majority
from annotation.stats.table import MISSING, BoolArray, IntArray, RatingTable
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries import items, ratings as people
from annotation.studies.queries.scales import name_label
from annotation.studies.queries.units import to_position, to_turn
from core.errors import InputError
from judging.assessment.queries import ratings as judges
from judging.assessment.services.comparison import JudgeColumn
from judging.judges.queries import study_items

TIED, UNSCORED = "tied", "unscored"
"""In place of a value: people chose two categories equally often; the judge's reply held no verdict."""

SCORED, AGREES, DIFFERS = OUTCOMES = ("scored", "agrees", "differs")
"""A judge's verdict is there, is the majority of people, or is another value than it."""

SEVERAL, AGREE, DISAGREE = PEOPLE = ("several", "agree", "disagree")
"""Two people or more rated; they gave one value, or more than one."""


@dataclass(frozen=True)
class ItemFilter:
    """What the items on a list have in common, in the words of the page's address. Empty means any.

    Attributes
    ----------
    criterion
        Key; the study's first criterion where none is given.
    majority
        A value of the scale, or tied.
    people
        How people rated: one of `PEOPLE`.
    annotator
        Usernames, separated by commas: of people who all rated it.
    judge, value
        A judge, and its value or unscored.
    run
        In place of a judge: the number of a run, that counts or not.
    outcome
        What the judge's verdict is beside the majority: one of `OUTCOMES`.
    by, group
        A grouping of items, and the group.
    at
        Positions, separated by commas.
    tier
        Easy, medium, hard or contested.
    cuts, chance
        How tiers are made, where not in the usual way.
    """

    criterion: str = ""
    majority: str = ""
    people: str = ""
    annotator: str = ""
    judge: str = ""
    value: str = ""
    run: str = ""
    outcome: str = ""
    by: str = ""
    group: str = ""
    at: str = ""
    tier: str = ""
    cuts: str = ""
    chance: str = ""

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> ItemFilter:
        """From the query of an address."""
        return cls(**{one.name: query.get(one.name, "").strip() for one in fields(cls)})

    def to_query(self) -> dict[str, str]:
        """What of it is given, for an address."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name))}

    @property
    def narrows(self) -> bool:
        """Whether it leaves any item out."""
        of_judge = (self.judge or self.run) and (self.value or self.outcome)
        return bool(of_judge or self.majority or self.people or self.annotator or self.group or self.at or self.tier)

    @property
    def run_id(self) -> int | None:
        """The run that is asked for. Raises InputError where it is not a number."""
        return parse_number(self.run, "run") if self.run else None

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
    groups
        By position, the group of each item, where a grouping was asked for.
    """

    criterion: Criterion
    table: RatingTable
    judges: tuple[JudgeColumn, ...]
    most: Majority
    tiers: tuple[str | None, ...]
    masked: frozenset[int] = frozenset()
    groups: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        study: Study,
        criterion: Criterion,
        options: TierOptions,
        only: Sequence[int] | None = None,
        *,
        run: int | None = None,
        by: str = "",
    ) -> RatedItems:
        """In nine queries; ten where a part is held out. Those at the positions in `only`, or all.

        With a run, its judge speaks through that one; with a grouping, the group of each item is read too.
        """
        rated = people.load_criterion(criterion, positions=only)
        table = rated.table
        said = judges.load_study(study, only=criterion, positions=only, run=run).get(criterion.pk, ())
        columns = tuple(JudgeColumn.from_verdicts(judge, table) for judge in said)
        holding = tuple(tiers.load_tiers(rated, options))
        groups = items.groups(study, by) if by else {}
        return cls(criterion, table, columns, compute_most(table), holding, study_items.positions(study), groups)

    def positions(self, wanted: ItemFilter) -> list[int]:
        """Of the items that the filter lets through, in order. Raises InputError where it names what is not there.

        Where it names nothing but positions, also those that nobody has rated.
        """
        if wanted.at and not replace(wanted, at="").narrows:
            return sorted({parse_number(one, "at") for one in wanted.at.split(",")})
        kept = np.ones(self.table.n_items, dtype=bool)
        for mask in self._masks(wanted):
            kept &= mask
        names = [name for name, keep in zip(self.table.items, kept, strict=True) if keep]
        return list(dict.fromkeys(map(to_position, names)))

    def _masks(self, wanted: ItemFilter) -> Iterable[BoolArray]:
        if wanted.majority:
            tied = wanted.majority == TIED
            yield self.most.tied if tied else self.most.codes == self._code(wanted.majority, "majority")
        if wanted.people:
            yield self._of_people(wanted.people)
        for username in filter(None, wanted.annotator.split(",")):
            yield self._rated_by(username)
        if wanted.judge or wanted.run:
            yield from self._of_judge(self.find_judge(wanted), wanted)
        elif wanted.value or wanted.outcome:
            raise InputError("a judge's value needs a judge", field="judge")
        if wanted.group:
            yield self._at(position for position, group in self.groups.items() if group == wanted.group)
        if wanted.at:
            yield self._at(parse_number(one, "at") for one in wanted.at.split(","))
        if wanted.tier:
            check_choice(wanted.tier, TIERS, "tier")
            yield np.array([tier == wanted.tier for tier in self.tiers], dtype=bool)

    def _of_people(self, asked: str) -> BoolArray:
        check_choice(asked, PEOPLE, "people")
        counts = self.table.counts
        several, values = self.table.ratings_per_item > 1, (counts > 0).sum(axis=1)
        masks = {SEVERAL: several, AGREE: several & (values == 1), DISAGREE: values > 1}
        return np.asarray(masks[asked])

    def _rated_by(self, username: str) -> BoolArray:
        if username not in self.table.raters:
            raise InputError(
                "nobody called {username!r} has rated this criterion", field="annotator", username=username
            )
        return np.asarray(self.table.codes[:, self.table.raters.index(username)] != MISSING)

    def _of_judge(self, column: JudgeColumn, wanted: ItemFilter) -> Iterable[BoolArray]:
        if wanted.value:
            unscored = wanted.value == UNSCORED
            yield column.unscored if unscored else column.codes == self._code(wanted.value, "value")
        if wanted.outcome:
            check_choice(wanted.outcome, OUTCOMES, "outcome")
            scored, most = column.codes != MISSING, self.most.codes
            both = scored & (most != MISSING)
            masks = {AGREES: both & (column.codes == most), DIFFERS: both & (column.codes != most)}
            yield np.asarray(masks.get(wanted.outcome, scored & (self.table.ratings_per_item > 0)))

    def _at(self, positions: Iterable[int]) -> BoolArray:
        these = set(positions)
        return np.array([to_position(name) in these for name in self.table.items], dtype=bool)

    def _code(self, value: str, field: str) -> int:
        scale = [str(category) for category in self.table.categories]
        if value not in scale:
            raise InputError(
                "{value!r} is not on the scale ({scale})", field=field, value=value, scale=", ".join(scale)
            )
        return scale.index(value)

    def find_judge(self, wanted: ItemFilter) -> JudgeColumn:
        """The judge, or the run, that is asked for. Raises InputError where it has not rated the criterion."""
        run = wanted.run_id
        found = [one for one in self.judges if (one.run == run if run else one.name == wanted.judge)]
        if found:
            return found[0]
        known = ", ".join(column.name for column in self.judges) or _("none yet")
        if run:
            raise InputError(
                "no run {run} has rated this criterion; there are: {known}", field="run", run=run, known=known
            )
        raise InputError(
            "no judge called {judge!r} has rated this criterion; there are: {known}",
            field="judge",
            judge=wanted.judge,
            known=known,
        )

    def summary(self, positions: Sequence[int]) -> dict[int, list[dict[str, object]]]:
        """By position, for the item or each of its turns: counts of people's values, majority, tier, judges' values."""
        wanted = set(positions)
        found: dict[int, list[dict[str, object]]] = {}
        for row, name in enumerate(self.table.items):
            if (position := to_position(name)) in wanted:
                found.setdefault(position, []).append(self._summary(row))
        return found

    def _summary(self, row: int) -> dict[str, object]:
        counts = self._counts(row)
        return {
            "turn": to_turn(self.table.items[row]),
            "counts": counts,
            "majority": self._label(self.most.codes, row),
            "tied": bool(self.most.tied[row]),
            "tier": self.tiers[row] or "",
            "judges": [self._verdict(column, row) for column in self.judges],
        }

    def _counts(self, row: int) -> list[dict[str, object]]:
        """What people answered, in the order of the scale, and how many of them."""
        given = Counter(code for code in self.table.codes[row].tolist() if code != MISSING)
        named = [(name_label(self.criterion, str(self.table.categories[code])), n) for code, n in sorted(given.items())]
        return [{"label": label, "n": n} for label, n in named]

    def _verdict(self, column: JudgeColumn, row: int) -> dict[str, object]:
        label = self._label(column.codes, row)
        masked = to_position(self.table.items[row]) in self.masked
        answered = _("the reply held no verdict") if column.unscored[row] else _("not judged")
        reason = _("held out") if masked else answered
        return {"label": label, "reason": reason, "differs": label != "" and column.codes[row] != self.most.codes[row]}

    def _label(self, codes: IntArray, row: int) -> str:
        code = int(codes[row])
        return "" if code == MISSING else name_label(self.criterion, str(self.table.categories[code]))


def parse_number(text: str, name: str) -> int:
    """A whole number of an address. Raises InputError that names the field."""
    if not (text.strip().isascii() and text.strip().isdecimal()):
        raise InputError("{text!r} is not a number", field=name, text=text)
    return int(text)


def check_choice(value: str, known: Sequence[str], name: str) -> None:
    """Raise InputError where the value is none of those that there are."""
    if value not in known:
        raise InputError("{value!r} is not one of {known}", field=name, value=value, known=", ".join(known))


def compute_most(table: RatingTable) -> Majority:
    """The majority of each item; none where answers are not counted."""
    if explain_missing("adjudication", table.level) is None:
        return majority(table)
    nobody = np.zeros(table.n_items, dtype=bool)
    nothing = np.full(table.n_items, MISSING, dtype=np.int64)
    return Majority(nothing, nobody, table.ratings_per_item == 0, np.full(table.n_items, np.nan))


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
        "no criterion is called {key!r}; there are {criteria}",
        field="criterion",
        key=key,
        criteria=", ".join(c.key for c in criteria),
    )
