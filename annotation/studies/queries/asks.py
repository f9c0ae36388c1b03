"""How the rating page asks a criterion: the categories as keys, a pair's as the sides of the screen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.studies.models.labels import Annotation, Draft
from annotation.studies.models.studies import Assignment, Criterion, Item, Study
from core.accounts.models.users import User

TIE, TIE_KEY = "tie", "0"
SUFFIXES = {
    "values": "",
    "unscored": "-unscored",
    "notes": "-note",
    "evidence": "-evidence",
    "versions": "-version",
}
"""Kinds of answers, and what follows an ask's name in the name of their input."""

STEPS = (("A", "much"), ("A", "slightly"), ("B", "slightly"), ("B", "much"))
"""Choices where the study asks how strong a preference is, from one end to the other; their keys are 1 to 4."""

Mark = dict[str, Any]


@dataclass(frozen=True)
class Ask:
    """One answer that is asked for: on a criterion, of the whole item (turn 0) or of one turn of it."""

    criterion: Criterion
    turn: int = 0
    name: str = field(init=False, compare=False)
    """Of its input; a key has no full stop, so that no two are called the same."""

    def __post_init__(self) -> None:
        name = f"{self.criterion.key}.{self.turn}" if self.turn else self.criterion.key
        object.__setattr__(self, "name", name)

    @property
    def title(self) -> str:
        return f"{self.criterion.name}, turn {self.turn}" if self.turn else self.criterion.name


def asks(slot: Assignment, criteria: Iterable[Criterion]) -> list[Ask]:
    """All that is asked of the slot's item: first turn by turn, then of the whole.

    The item's texts are read only where a criterion is asked of turns.
    """
    found = [Ask(criterion, turn) for criterion in criteria for turn in list_turns(slot, criterion)]
    return sorted(found, key=lambda one: one.turn or float("inf"))


def list_turns(slot: Assignment, criterion: Criterion) -> list[int]:
    return criterion.turns_of(slot.item) if criterion.of_turns else [0]


def build_shown_criterion(slot: Assignment, criterion: Criterion) -> dict[str, Any]:
    """The criterion with a key of the keyboard for each category; a pair's categories are A, B and perhaps a tie."""
    asked = {name: getattr(criterion, name) for name in ("key", "name", "question", "guideline", "guideline_version")}
    if slot.study.kind == Study.Kind.PAIR:
        return {**asked, "categories": sides(slot, criterion)}
    caps = keycaps(criterion.values)
    return {**asked, "categories": [{**one, "key": cap} for one, cap in zip(criterion.categories, caps, strict=True)]}


def sides(slot: Assignment, criterion: Criterion) -> list[dict[str, Any]]:
    """A and B in that order, whichever response they are, each by its strength if that is asked; the tie after them."""
    by_side = {to_side(slot, str(category["value"])): category for category in criterion.categories}
    choices = [(side, side, side, f"{side} is better") for side in ("A", "B")]
    if slot.study.asks_strength:
        choices = [
            (side, f"{side}:{strength}", str(key), f"{side} {strength}")
            for key, (side, strength) in enumerate(STEPS, start=1)
        ]
    return [
        {**by_side[side], "value": value, "key": key, "label": label}
        for side, value, key, label in [*choices, (TIE, TIE, TIE_KEY, "Tie")]
        if side in by_side
    ]


def to_side(slot: Assignment, value: str) -> str:
    """A stored value as the page asks for it: a pair's response by the side it is shown on, all else as it is."""
    if slot.study.kind != Study.Kind.PAIR or not slot.order:
        return value
    return {slot.response_for(side): side for side in ("A", "B")}.get(value, value)


def keycaps(values: Sequence[str]) -> list[str]:
    """One key per value: the value itself, or its first letter, or its place in the scale."""
    for caps in (values, [value[:1].lower() for value in values]):
        if len(set(caps)) == len(caps) and all(len(cap) == 1 for cap in caps):
            return list(caps)
    return [str(place) for place, _ in enumerate(values, start=1)]


def answers_so_far(
    slot: Assignment, asked: Iterable[Ask], stored: Mapping[tuple[int, int], Annotation]
) -> dict[str, str]:
    """What is stored for the slot, by the names of the page's inputs. `stored` is by criterion's id and turn."""
    answers = {}
    for ask in asked:
        if found := stored.get((ask.criterion.pk, ask.turn)):
            side = to_side(slot, found.value)
            answers[ask.name] = f"{side}:{found.strength}" if found.strength else side
            answers[f"{ask.name}-unscored"] = found.unscored_reason
            answers[f"{ask.name}-note"] = found.note
            answers[f"{ask.name}-evidence"] = to_shown(slot, found.evidence)
    return answers


def load_entered(slot: Assignment, annotator: User, asked: Iterable[Ask]) -> tuple[dict[str, str], Draft | None]:
    """What they have said of the item so far, the draft over the labels, and that draft. At most two queries."""
    answers = {}
    if slot.state == Assignment.State.SUBMITTED:
        labels = {(found.criterion_id, found.turn): found for found in Annotation.objects.filter(assignment=slot)}
        answers = answers_so_far(slot, asked, labels)
    draft = None
    if slot.may_have_draft:
        draft = Draft.objects.filter(assignment=slot, annotator=annotator, decided_at=None).first()
    return {**answers, **(draft.content if draft else {})}, draft


def input_names(asked: Iterable[Ask]) -> list[str]:
    """Names of all inputs of the page that hold answers."""
    return [f"{ask.name}{suffix}" for ask in asked for suffix in SUFFIXES.values()]


def group_by_kind(asked: Sequence[Ask], content: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """What is in the page's inputs as `annotations.submit` takes it, without what is empty."""
    return {
        kind: {ask.name: text for ask in asked if (text := content.get(f"{ask.name}{suffix}", ""))}
        for kind, suffix in SUFFIXES.items()
    }


def list_texts(item: Item) -> dict[str, str]:
    """The texts of an item in which words can be marked, by their names; with line ends as a browser has them."""
    if item.dialogue is not None:
        found = {f"turn-{number}": turn["content"] for number, turn in enumerate(item.dialogue.turns, start=1)}
    elif pair := item.pair:
        found = {"question": pair.question, "context": pair.context}
        found |= {"response-1": pair.response_1, "response-2": pair.response_2}
    else:
        found = {}
    return {name: text.replace("\r\n", "\n").replace("\r", "\n") for name, text in found.items()}


def to_shown(assignment: Assignment, marks: list[Mark]) -> str:
    """Stored marks as the page has them: a response by its side."""
    if not marks:
        return ""
    sides = {f"response-{assignment.response_for(side)}": side for side in ("A", "B")} if assignment.order else {}
    return json.dumps(
        [{"part": sides.get(one["part"], one["part"]), "start": one["start"], "end": one["end"]} for one in marks]
    )
