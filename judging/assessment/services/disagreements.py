"""Where a judge and people part: item by item, on what may be looked at freely, never on the held-out part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict

import numpy as np

from annotation.stats.bands import TIERS
from annotation.stats.estimate import number_or_none
from annotation.stats.table import MISSING, BoolArray, FloatArray
from annotation.studies.models.studies import Criterion
from annotation.studies.queries.units import to_position, to_turn
from core.errors import InputError
from judging.assessment.agreement_types import DisagreementSourcesDocument
from judging.assessment.queries.assessment_data import JudgeData
from judging.assessment.queries.disagreements import Written, WrittenTexts
from judging.judges.queries.study_items import HELD_OUT
from judging.stats.assessment_data import AssessmentData
from judging.stats.observed import to_scores

SORTS = ("size", "confidence", "position")
"""By which the list can be sorted, the smallest first; with a minus the largest. What has no confidence comes last."""

LARGEST_FIRST = "-size"
ROUNDING = 1e-9


class DifferingDocument(TypedDict):
    """A disagreement as JSON types."""

    item: int
    turn: int
    criterion: str
    tier: str | None
    people: dict[str, str]
    label: str | float
    adjudicated: bool
    judge: str
    size: float
    confidence: float | None


class WrittenDifferingDocument(DifferingDocument, WrittenTexts):
    """The same with what people and the judge wrote."""


class DisagreementsDocument(TypedDict):
    """Where a judge and people part: numbers by criterion key, then each item; a command adds why people differ."""

    study: str
    judge: str
    part: str
    criteria: dict[str, dict[str, int]]
    disagreements: list[WrittenDifferingDocument]
    differing: NotRequired[dict[str, DisagreementSourcesDocument]]


@dataclass(frozen=True)
class Disagreement:
    """An item, turn or response on which the judge's verdict is not people's label.

    Attributes
    ----------
    position, turn, criterion
        Which item, the turn or response of it, from 1 (0 is the whole item), and on what.
    tier
        Of difficulty; empty without one.
    label
        People's: the adjudicated or most frequent value, or the mean of their scores.
    adjudicated
        Whether the label was decided by a person on purpose.
    verdict
        The judge's value.
    size
        Steps between the two, in units of the scale; 1 on a scale without an order.
    confidence
        Of the judge, NaN where it tells none.
    people
        (annotator, value) of everybody who rated the item.
    """

    position: int
    turn: int
    criterion: str
    tier: str
    label: str | float
    adjudicated: bool
    verdict: str
    size: float
    confidence: float
    people: tuple[tuple[str, str], ...]

    def to_json(self) -> DifferingDocument:
        """As JSON types."""
        return {
            "item": self.position,
            "turn": self.turn,
            "criterion": self.criterion,
            "tier": self.tier or None,
            "people": dict(self.people),
            "label": self.label,
            "adjudicated": self.adjudicated,
            "judge": self.verdict,
            "size": self.size,
            "confidence": number_or_none(self.confidence),
        }


@dataclass(frozen=True)
class DisagreementCounts:
    """On one criterion: items with a label that the judge scored, those it differs on, and those without a verdict."""

    compared: int
    differing: int
    unscored: int
    examples: int

    def to_json(self) -> dict[str, int]:
        """As JSON types."""
        return {
            "compared": self.compared,
            "differing": self.differing,
            "unscored": self.unscored,
            "examples": self.examples,
        }


def counts(evidence: JudgeData) -> dict[str, DisagreementCounts]:
    """By criterion key. What is unscored is no disagreement, and is counted beside."""
    found = {}
    for key, one in evidence.evidence.items():
        both = _settled(one) & (one.said.codes != MISSING)
        unscored = int((_settled(one) & one.said.unscored).sum())
        found[key] = DisagreementCounts(
            int(both.sum()), int(find_differing(one).sum()), unscored, evidence.examples.get(key, 0)
        )
    return found


def list_disagreements(
    evidence: JudgeData, *, criterion: str = "", tier: str = "", sort: str = "-size"
) -> list[Disagreement]:
    """The disagreements, narrowed and sorted. InputError where there is no such criterion, tier or order.

    The held-out part is refused: who reads its items one by one can no longer be judged on it.
    """
    if evidence.part == HELD_OUT:
        raise InputError("the items of the held-out part are not shown one by one", field="part")
    if tier and tier not in TIERS:
        raise InputError("{tier!r} is not one of {tiers}", field="tier", tier=tier, tiers=", ".join(TIERS))
    chosen = [one.key for one in criteria_called(evidence, criterion)]
    rows = [row for key in chosen for row in _rows(key, evidence.evidence[key]) if tier in ("", row.tier)]
    return sorted(rows, key=_order(sort))


def criteria_called(evidence: JudgeData, key: str, *, field: str = "criterion") -> list[Criterion]:
    """The criterion of that key among those that the judge rated; all without a key. InputError where there is none."""
    if key:
        evidence.check_criterion(key, field=field)
    elif not evidence.criteria:
        evidence.check_judged()
    return [one for one in evidence.criteria if key in ("", one.key)]


def _order(sort: str) -> Callable[[Disagreement], tuple[object, ...]]:
    name, sign = sort.removeprefix("-"), -1 if sort.startswith("-") else 1
    if name not in SORTS:
        raise InputError(
            "{sort!r} is not an order; there are {sorts}, each also with a minus",
            field="sort",
            sort=sort,
            sorts=", ".join(SORTS),
        )

    def key(one: Disagreement) -> tuple[object, ...]:
        value = float(getattr(one, name))
        known = not np.isnan(value)
        return (not known, sign * value if known else 0.0, one.position, one.turn, one.criterion)

    return key


def _settled(one: AssessmentData) -> BoolArray:
    """(n,) items with one label of people: on a tie there is none to differ from."""
    return np.asarray(one.labelled & ~(one.people.tied if one.people.counted else False))


def find_differing(one: AssessmentData) -> BoolArray:
    """(n,) labelled items whose verdict is another value than people's label, or than the ones next to their mean."""
    given = _settled(one) & (one.said.codes != MISSING)
    if one.people.counted:
        return np.asarray(given & (one.said.codes != one.people.consensus))
    scale = one.table.scores
    with np.errstate(invalid="ignore"):
        nearest = np.abs(scale[None, :] - one.people.mean[:, None]).min(axis=1)
        return np.asarray(given & (_distance(one) > nearest + ROUNDING))


def _distance(one: AssessmentData) -> FloatArray:
    """(n,) steps between people's label and the verdict; NaN where either is missing."""
    if not one.people.counted:
        return np.asarray(np.abs(one.people.mean - to_scores(one.said.codes, one.table.scores)))
    if not one.table.has_scores:
        return np.ones(one.material.n)
    ordered = one.table.scores
    return np.asarray(np.abs(to_scores(one.people.consensus, ordered) - to_scores(one.said.codes, ordered)))


def _rows(key: str, one: AssessmentData) -> Sequence[Disagreement]:
    sizes, tiers, scale = _distance(one), one.people.tiers, [str(value) for value in one.table.categories]
    return [_row(key, one, row, sizes, tiers, scale) for row in np.flatnonzero(find_differing(one)).tolist()]


def _row(
    key: str, one: AssessmentData, row: int, sizes: FloatArray, tiers: Sequence[str], scale: Sequence[str]
) -> Disagreement:
    table, people = one.table, one.people
    adjudicated = bool(people.gold[row] != MISSING)
    label = scale[people.consensus[row]] if people.counted or adjudicated else round(float(people.mean[row]), 6)
    said = zip(table.raters, table.codes[row].tolist(), strict=True)
    return Disagreement(
        position=to_position(one.material.names[row]),
        turn=to_turn(one.material.names[row]),
        criterion=key,
        tier=tiers[row],
        label=label,
        adjudicated=adjudicated,
        verdict=scale[one.said.codes[row]],
        size=float(sizes[row]),
        confidence=float(one.said.confidence[row]) if one.said.confidence_from else np.nan,
        people=tuple((name, scale[code]) for name, code in said if code != MISSING),
    )


def document(evidence: JudgeData, rows: Sequence[Disagreement], said: Written) -> DisagreementsDocument:
    """What `disagreements` prints; ``said`` holds what people and the judge wrote, by position, turn and criterion."""
    return {
        "study": evidence.study.name,
        "judge": str(evidence.judge),
        "part": evidence.part,
        "criteria": {key: one.to_json() for key, one in counts(evidence).items()},
        "disagreements": [{**row.to_json(), **said[row.position, row.turn, row.criterion]} for row in rows],
    }
