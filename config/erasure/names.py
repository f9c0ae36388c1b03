"""Takes a username out of results, in which raters are known by it.

Results stay as they were otherwise. A username is replaced only where a result names a rater, so that nobody's name can
change a figure: a person may be called "mean".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime

from django.db.models import Model, QuerySet

from annotation.agreement.models import TierOverride
from annotation.benchmarks.models import BenchmarkCase, FilterRound
from annotation.studies.models.labels import Adjudication, AgreementRun
from annotation.studies.models.studies import Study
from core.accounts.models.tokens import IdempotentWrite
from core.accounts.models.users import User
from judging.assessment.models.assessment import AuditRun, CalibrationRun

BY_RATER = ("per_annotator", "per_annotator_weighted", "per_annotator_ceiling")
"""Objects whose keys are raters."""

RATERS = ("rater", "annotator", "backwards")
"""Where a text, or a list of texts, is a rater."""

TELLING_RATERS = (
    *("idle_raters", "identical_raters", "pairs_without_items", "pairs_left_out", "raters_left_out"),
    *("undefined_pairs", "inverted_scale"),
)
"""Codes of warnings whose message lists raters."""


def replace_in_results(person: User, new: str, studies: QuerySet[Study]) -> None:
    """Put `new` in place of the username of `person` wherever something is kept that names them."""
    old = person.username
    for model in (AgreementRun, CalibrationRun, AuditRun):
        rewrite(
            model,
            model._base_manager.filter(study__in=studies),
            "result",
            lambda result: rename_rater(result, old, new),
        )
    rewrite(IdempotentWrite, IdempotentWrite.objects.all(), "answer", lambda answer: everywhere(answer, person, new))
    rewrite_histories(person, new)


def rewrite(model: type[Model], rows: QuerySet[Model], column: str, change: Callable[..., object]) -> None:
    """Change a column of JSON where `change` gives something else. Few rows at a time are read: results are long."""
    for pk, before in rows.order_by("pk").values_list("pk", column).iterator(chunk_size=10):
        after = change(before)
        if after != before:
            model._base_manager.filter(pk=pk).update(**{column: after})


def rename_rater(value: object, old: str, new: str, under: str = "") -> object:
    """A result with another name for one rater; `under` is the key that `value` stands under."""
    if isinstance(value, list):
        return [rename_rater(one, old, new, under) for one in value]
    if isinstance(value, dict):
        if under == "pairs":
            value = {**value, **{side: new for side in ("a", "b") if value.get(side) == old}}
        if value.get("code") in TELLING_RATERS:
            return {**value, "message": replace_in_sentence(value["message"], old, new)}
        return {rename_key(key, under, old, new): rename_rater(part, old, new, key) for key, part in value.items()}
    return new if under in RATERS and value == old else value


def rename_key(key: str, under: str, old: str, new: str) -> str:
    return new if under in BY_RATER and key == old else key


def replace_in_sentence(text: str, old: str, new: str) -> str:
    """The name as a whole word; a full stop behind it may be the end of the sentence."""
    return re.sub(rf"(?<![\w.@+-]){re.escape(old)}(?![\w@+-]|\.\w)", new, text)


def everywhere(value: object, person: User, new: str) -> object:
    """The kept answer of a request, which names accounts in many places."""
    if isinstance(value, list):
        return [everywhere(one, person, new) for one in value]
    if isinstance(value, dict):
        return {key: everywhere(part, person, new) for key, part in value.items()}
    return new if value and value in (person.username, person.display_name) else value


def rewrite_histories(person: User, new: str) -> None:
    """Who decided on a case of a benchmark stands in its history, by the name that pages showed then.

    Several people may be shown by one name. A step is theirs if it is of a moment at which they decided.
    """
    theirs = {at.isoformat() for at in list_decision_times(person)}

    def change(history: list[dict[str, object]]) -> list[dict[str, object]]:
        return [{**step, "by": new} if step.get("by") and step.get("at") in theirs else step for step in history]

    if theirs:
        rewrite(BenchmarkCase, BenchmarkCase._base_manager.exclude(history=[]), "history", change)


def list_decision_times(person: User) -> Iterator[datetime]:
    """The moments at which they decided on items."""
    for model in (TierOverride, Adjudication):
        yield from model._base_manager.filter(decided_by=person).values_list("created_at", flat=True)
    yield from FilterRound.objects.filter(outcomes__decided_by=person).distinct().values_list("created_at", flat=True)
