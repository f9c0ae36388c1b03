"""Adjudication: a person's decision on an item, with what it was made from. Rows are only added."""

from __future__ import annotations

from collections import Counter

from django.db import transaction

from annotation.stats.by_level import explain_missing
from annotation.studies.models.labels import Adjudication
from annotation.studies.models.studies import Criterion, Item
from annotation.studies.parsing.answers import AnswerFormat, parse_answer
from annotation.studies.queries.scales import has_open_scale
from annotation.workbench.queries.adjudication import list_answers
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError

LONGEST_REASON = 10_000


def check_value(item: Item, criterion: Criterion, value: str) -> str:
    """The value in its canonical form. Raises InputError where it is no answer to the criterion."""
    if not has_open_scale(criterion):
        if value not in criterion.values:
            raise InputError(
                "{value!r} is not on the scale of {name}.", field="value", value=value, name=criterion.name
            )
        return value
    asked = AnswerFormat(criterion.type, criterion.values, criterion.limits, item.response_numbers)
    try:
        return parse_answer(asked, value).value
    except InputError as error:
        raise InputError(error.message, field="value") from error


@audited("item.adjudicate", on="item", says=("criterion", "turn"))
def decide(*, by: User, item: Item, criterion: Criterion, value: str, reason: str = "", turn: int = 0) -> Adjudication:
    """Give the item, or one turn of it, its gold value on a criterion.

    A later decision replaces an earlier one, which stays on record.
    Kept with it: the answers that were there, so that one can tell later what the gold label was made from.
    """
    if criterion.study_id != item.study_id:
        raise InputError("This study has no such criterion.", field="criterion")
    if turn not in criterion.turns_of(item):
        raise InputError(
            "{name} is not asked of turn {turn} of this item.", field="turn", name=criterion.name, turn=turn
        )
    if reason_against := explain_missing("adjudication", criterion.level):
        raise InputError(reason_against, field="criterion")
    value = check_value(item, criterion, value)
    if len(reason) > LONGEST_REASON or "\0" in reason:
        raise InputError(
            "Say it in at most {longest_reason:,} characters.", field="reason", longest_reason=LONGEST_REASON
        )
    with transaction.atomic():
        answers = list_answers(item, criterion, turn)
        method = Adjudication.Method.ADJUDICATED if answers else Adjudication.Method.STATED
        counts = Counter(one.value for one in answers if one.value)
        return Adjudication.objects.create(
            item=item,
            criterion=criterion,
            turn=turn,
            value=value,
            reason=reason.strip(),
            method=method,
            basis={"answers": dict(counts), "unscored": sum(not one.value for one in answers)},
            guideline_version=criterion.guideline_version,
            decided_by=by,
        )
