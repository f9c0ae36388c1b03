"""What a run asks of each item: the criteria of the study that fit the unit, and the unit that fits the criteria."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from django.utils.translation import gettext as _, gettext_noop

from annotation.studies.models.studies import Criterion, Study
from core.errors import InputError
from judging.runs.models.runs import JudgeRun

Unit = JudgeRun.Unit


def check_comparable(study: Study, chosen: Sequence[Criterion], order_policy: str, unit: str) -> None:
    """InputError where one response alone is to be compared, or shown in both orders."""
    if unit == Unit.RESPONSE and order_policy == JudgeRun.OrderPolicy.BOTH:
        raise InputError("Each response is shown alone, so there are no two orders.", field="order_policy")
    compares = next((one.name for one in chosen if one.compares), "")
    both = order_policy == JudgeRun.OrderPolicy.BOTH
    if (compares or both) and study.items.filter(pair__n_responses=1).exists():
        what = compares or _("Asking in both orders")
        raise InputError(
            "{what} takes two responses, and items of {study} have one.", field="criteria", what=what, study=study
        )


def choose_criteria(study: Study, keys: Sequence[str] | None) -> tuple[Criterion, ...]:
    """The study's criteria with these keys, in the study's order."""
    there = {criterion.key: criterion for criterion in study.criteria.all()}
    if not there:
        raise InputError("{study} has no criteria.", field="criteria", study=study)
    if unknown := [key for key in keys or () if key not in there]:
        raise InputError(
            "{unknown!r} is not a criterion of {study}; there are {there}.",
            field="criteria",
            unknown=unknown[0],
            study=study,
            there=", ".join(there),
        )
    if keys is not None and not keys:
        raise InputError("A run needs at least one criterion.", field="criteria")
    return tuple(criterion for key, criterion in there.items() if keys is None or key in keys)


def choose_unit(chosen: Sequence[Criterion], unit: str | None, *, every_turn: bool) -> str:
    """The unit that is named. Without one it is the response where all criteria are asked of it, else the item."""
    if every_turn and unit not in (None, Unit.TURN):
        raise InputError("A run rates every turn or {label}: choose one of them.", field="unit", label=Unit(unit).label)
    if every_turn:
        return Unit.TURN
    return unit or (Unit.RESPONSE if all(one.of_responses for one in chosen) else Unit.ITEM)


def select_turn_criteria(study: Study, chosen: Sequence[Criterion], *, named: bool) -> tuple[Criterion, ...]:
    """The criteria that an assistant's turn can be asked about. InputError where the study or a named one cannot."""
    if study.kind != Study.Kind.DIALOGUE:
        raise InputError("{study} holds response pairs, which have no turns.", field="unit", study=study)
    of_the_user = [criterion for criterion in chosen if is_about_user(criterion)]
    if of_the_user and named:
        raise InputError(
            "{name} is about the user's turns, and the assistant's are asked about.",
            field="criteria",
            name=of_the_user[0].name,
        )
    left = tuple(criterion for criterion in chosen if criterion not in of_the_user)
    if not left:
        raise InputError("{study} has no criterion that is about the assistant.", field="criteria", study=study)
    return left


def is_about_user(criterion: Criterion) -> bool:
    """Whether it is about the user's turns: it says so, or its name does where it is asked of whole dialogues."""
    if criterion.of_turns:
        return criterion.unit == Criterion.Unit.USER_TURN
    return criterion.key.endswith("_user")


def select_item_criteria(study: Study, chosen: Sequence[Criterion], *, named: bool) -> tuple[Criterion, ...]:
    """The criteria that people are asked of whole items. InputError where a named one, or every one, is not."""
    of_responses = [criterion for criterion in chosen if criterion.of_responses]
    of_turns = [criterion for criterion in chosen if criterion.of_turns]
    left = tuple(criterion for criterion in chosen if criterion.unit == Criterion.Unit.ITEM)
    if of_responses and (named or not left):
        raise InputError(
            "{name} of {study} is asked of each response: let the judge rate every response, in a run of its own.",
            field="criteria",
            name=of_responses[0].name,
            study=study,
        )
    if of_turns and (named or not left):
        if of_turns[0].unit == Criterion.Unit.USER_TURN:
            said = gettext_noop(
                "{name} of {study} is asked of the user's turns: import judgments of these, since judges here rate the "
                "assistant's."
            )
        else:
            said = gettext_noop("{name} of {study} is asked of turns: let the judge rate every turn of the assistant.")
        raise InputError(said, field="criteria", name=of_turns[0].name, study=study)
    return left


def select_response_criteria(study: Study, chosen: Sequence[Criterion], *, named: bool) -> tuple[Criterion, ...]:
    """The criteria that people are asked of each response. InputError where the study or a named one has another
    unit."""
    if study.kind != Study.Kind.PAIR:
        raise InputError("{study} holds dialogues, which have no responses.", field="unit", study=study)
    others = [criterion for criterion in chosen if not criterion.of_responses]
    left = tuple(criterion for criterion in chosen if criterion.of_responses)
    if others and named:
        raise InputError(
            "{name} of {study} is asked of the whole item: let the judge rate whole items, in a run of its own.",
            field="criteria",
            name=others[0].name,
            study=study,
        )
    if not left:
        raise InputError("{study} has no criterion that is asked of each response.", field="criteria", study=study)
    return left


SELECT: Mapping[str, Callable[..., tuple[Criterion, ...]]] = {
    Unit.ITEM: select_item_criteria,
    Unit.TURN: select_turn_criteria,
    Unit.RESPONSE: select_response_criteria,
}
