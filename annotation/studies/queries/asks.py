"""How the rating page asks a criterion: the categories as keys, responses as the sides of the screen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from django.utils.translation import gettext as _, gettext_noop

from annotation.stats.orders import TIE, name_parts, to_place
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation, Draft
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries.answer_formats import to_given
from annotation.studies.queries.items import Highlight
from core.accounts.models.users import User

TIE_KEY = "0"
SUFFIXES = {
    "values": "",
    "unscored": "-unscored",
    "notes": "-note",
    "evidence": "-evidence",
    "versions": "-version",
}
"""Kinds of answers, and what follows an ask's name in the name of their input."""


class AskCondition(TypedDict):
    """What an ask waits for as the page has it: the name of the other's input, and its values."""

    name: str
    values: list[str]


MUCH, SLIGHTLY = gettext_noop("much"), gettext_noop("slightly")
STEPS = (("A", MUCH), ("A", SLIGHTLY), ("B", SLIGHTLY), ("B", MUCH))
"""Choices where the study asks how strong a preference is, from one end to the other; their keys are 1 to 4."""


@dataclass(frozen=True)
class Ask:
    """One answer that is asked for: on a criterion, of the whole item (turn 0), or of one turn or response of it.

    A response is told by the `side` it is shown on; `turn` is its number.
    """

    criterion: Criterion
    turn: int = 0
    side: str = ""
    name: str = field(init=False, compare=False)
    """Of its input; a key has no full stop, so that no two are called the same."""

    def __post_init__(self) -> None:
        about = self.side or self.turn
        object.__setattr__(self, "name", f"{self.criterion.key}.{about}" if about else self.criterion.key)

    @property
    def about(self) -> str:
        """What of the item it is about, in words; empty of the whole."""
        if self.side:
            return _("response %(side)s") % {"side": self.side}
        return _("turn %(turn)s") % {"turn": self.turn} if self.turn else ""

    @property
    def title(self) -> str:
        return f"{self.criterion.name}, {self.about}" if self.about else self.criterion.name


def asks(slot: Assignment, criteria: Iterable[Criterion]) -> list[Ask]:
    """All that is asked of the slot's item: first turn by turn, then of the whole and of responses.

    The item's texts are read only where a criterion is asked of turns.
    """
    found = [ask for criterion in criteria for ask in list_asks(slot, criterion)]
    return sorted(found, key=lambda one: float("inf") if one.side or not one.turn else one.turn)


def list_asks(slot: Assignment, criterion: Criterion) -> list[Ask]:
    if criterion.of_responses:
        return [Ask(criterion, int(number), side) for side, number in slot.sides.items()]
    if criterion.compares and len(slot.order) == 1:
        return []
    return [Ask(criterion, turn) for turn in (criterion.turns_of(slot.item) if criterion.of_turns else [0])]


SHOWN = (
    *("key", "name", "question", "guideline", "guideline_version"),
    *("help", "examples", "type", "limits", "unit", "is_required"),
)
"""What of a criterion its page shows as it is."""


def build_shown_criterion(slot: Assignment, criterion: Criterion) -> dict[str, object]:
    """The criterion with a key of the keyboard for each category; of a preference these are A, B and perhaps a tie."""
    return {**build_shown_question(slot, criterion), "categories": list_shown_categories(slot, criterion)}


def build_shown_question(slot: Assignment, criterion: Criterion) -> dict[str, object]:
    """The criterion without its categories."""
    return {name: getattr(criterion, name) for name in SHOWN} | {"only_if": describe_condition(slot, criterion)}


def list_shown_categories(slot: Assignment, criterion: Criterion) -> list[dict[str, object]]:
    if is_preference(slot.study, criterion):
        return sides(slot, criterion)
    return [{**one, "key": cap} for one, cap in zip(criterion.categories, keycaps(criterion.values), strict=True)]


def is_preference(study: Study, criterion: Criterion) -> bool:
    """Whether one of an item's responses is chosen."""
    return study.kind == Study.Kind.PAIR and criterion.is_preference


def describe_condition(slot: Assignment, criterion: Criterion) -> str:
    """When the criterion is asked, in words; empty if always."""
    there = find_condition(slot.study, criterion)
    if there is None:
        return ""
    values = [str(value) for value in (criterion.condition or {})["values"]]
    shown = [to_side(slot, value) for value in values] if is_preference(slot.study, there) else values
    names = shown if is_preference(slot.study, there) else [there.label_of(value) for value in values]
    return _("Only if %(criterion)s is %(values)s.") % {"criterion": there.name, "values": _(" or ").join(names)}


def find_condition(study: Study, criterion: Criterion) -> Criterion | None:
    """The criterion that this one waits for."""
    key = (criterion.condition or {}).get("criterion")
    return next((one for one in study.asked if one.key == key), None) if key else None


def to_condition(slot: Assignment, ask: Ask) -> AskCondition | None:
    """What an ask waits for; None if for nothing."""
    there = find_condition(slot.study, ask.criterion)
    if there is None:
        return None
    same = Ask(there, ask.turn, ask.side) if there.unit == ask.criterion.unit else Ask(there)
    values = [str(value) for value in (ask.criterion.condition or {})["values"]]
    shown = [to_side(slot, one) for one in values] if is_preference(slot.study, there) else values
    return {"name": same.name, "values": shown}


def is_met(condition: AskCondition, values: Mapping[str, str]) -> bool:
    """Whether an answer that is given has one of the values: of several categories, any of them."""
    given = values.get(condition["name"], "")
    return bool({given, given.partition(":")[0], *given.split("|")} & set(condition["values"]))


def sides(slot: Assignment, criterion: Criterion) -> list[dict[str, object]]:
    """A, B, … in that order, whichever response they are, and the tie after them; of two, each by its strength where
    that is asked. The keys of two are their letters; of more their numbers, as letters further on are commands."""
    by_side = {to_side(slot, str(category["value"])): category for category in criterion.categories}
    if len(slot.order) > 2:
        keys = [str(number) if number < 10 else "" for number in range(1, len(slot.order) + 1)]
        choices = [
            (side, side, key, _("%(side)s is best") % {"side": side})
            for side, key in zip(slot.sides, keys, strict=True)
        ]
    else:
        choices = [(side, side, side, _("%(side)s is better") % {"side": side}) for side in ("A", "B")]
    if asks_strength(slot):
        choices = [
            (side, f"{side}:{strength}", str(key), f"{side} {_(strength)}")
            for key, (side, strength) in enumerate(STEPS, start=1)
        ]
    return [
        {**by_side[side], "value": value, "key": key, "label": label}
        for side, value, key, label in [*choices, (TIE, TIE, TIE_KEY, _("Tie"))]
        if side in by_side
    ]


def asks_strength(slot: Assignment) -> bool:
    """Whether the item's preference is asked with its strength: where the study asks for it, of two responses."""
    return slot.study.asks_strength and len(slot.order) < 3


def to_side(slot: Assignment, value: str) -> str:
    """A stored value as the page asks for it: a response by the side it is shown on, all else as it is."""
    return to_place(value, slot.order)


COMMANDS = frozenset("gcxhqflmviuejkdsp,.?/rw")
"""Keys of the rating page's own commands: those of rate.js, `/` to search, `r` to show the source, `w` to write."""

FREE_KEYS = "1234567890ytonbza"


def keycaps(values: Sequence[str]) -> list[str]:
    """One key per value, none of which is a command: the values themselves, or their first letters, or free keys.

    A value that is one key keeps it where others need a free one; those without any are chosen by click alone.
    """
    for caps in (list(values), [value[:1].lower() for value in values]):
        if len(set(caps)) == len(caps) and all(len(cap) == 1 and cap not in COMMANDS for cap in caps):
            return caps
    own = {value for value in values if len(value) == 1 and value in FREE_KEYS}
    free = iter([key for key in FREE_KEYS if key not in own])
    return [value if value in own else next(free, "") for value in values]


def answers_so_far(
    slot: Assignment, asked: Iterable[Ask], stored: Mapping[tuple[int, int], Annotation]
) -> dict[str, str]:
    """What is stored for the slot, by the names of the page's inputs. `stored` is by criterion's id and turn."""
    answers = {}
    for ask in asked:
        if found := stored.get((ask.criterion.pk, ask.turn)):
            answers[ask.name] = render_answer(slot, ask, found)
            answers[f"{ask.name}-unscored"] = found.unscored_reason
            answers[f"{ask.name}-note"] = found.note
            answers[f"{ask.name}-evidence"] = to_shown(slot, found.evidence)
    return answers


def render_answer(slot: Assignment, ask: Ask, label: Annotation) -> str:
    """A stored answer as the page's input has it."""
    if is_preference(slot.study, ask.criterion):
        side = to_side(slot, label.value)
        return f"{side}:{label.strength}" if label.strength else side
    return to_given(slot, label, ask.criterion.type)


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


def to_shown(assignment: Assignment, marks: list[Highlight]) -> str:
    """Stored marks as the page has them: a response by its side."""
    if not marks:
        return ""
    sides = {part: side for side, part in name_parts(assignment.order).items()}
    return json.dumps(
        [{"part": sides.get(one["part"], one["part"]), "start": one["start"], "end": one["end"]} for one in marks]
    )
