"""What the pages on agreement say of an agreement document: rows of tables, warnings and notes (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _, gettext_noop

from annotation.agreement.result_types import PeopleAgreementDocument
from annotation.stats.result_types import HeadlineDocument, NoteDocument
from core.sentences import translate
from judging.assessment.agreement_types import (
    AnnotatorGroupDocument,
    CriterionAgreementDocument,
    ItemGroupDocument,
    JudgeDocument,
)
from judging.assessment.options import SCORES
from judging.stats.result_types import JudgeDifferenceDocument

LEVELS = {
    "nominal": gettext_noop("Nominal scale, which has no order: no weighted kappa, ICC or distance"),
    "ordinal": gettext_noop("Ordinal scale"),
    "interval": gettext_noop("Interval scale"),
    "ratio": gettext_noop("Ratio scale"),
    "ranking": gettext_noop("Rankings; weighted kappa and alpha by Kemeny distance"),
    "set": gettext_noop("Sets of categories; weighted kappa and alpha by MASI distance"),
    "spans": gettext_noop("Marked spans; alpha by the lengths that are marked alike"),
}
"""What is said of a level."""


@dataclass(frozen=True)
class WarningSentence:
    """A sentence and the criteria that it is about."""

    message: str
    criteria: str


@dataclass(frozen=True)
class WarningKind:
    """A kind of warning, the criteria that have it, and what it says on them."""

    name: str
    criteria: str
    said: tuple[WarningSentence, ...]


def list_warnings(names: Mapping[str, str], documents: Mapping[str, PeopleAgreementDocument]) -> list[WarningKind]:
    """Each kind of warning once, with the criteria that it is about; nothing is named where there is only one."""
    kinds: dict[str, dict[str, list[str]]] = {}
    for key, document in documents.items():
        for warning in document["warnings"]:
            kind = warning["code"] if len(names) > 1 else warning["message"]
            kinds.setdefault(kind, {}).setdefault(warning["message"], []).append(names[key])
    return [
        WarningKind(
            name=translate(code.replace("_", " ").capitalize()),
            criteria=_joined(names, [name for name in names.values() if any(name in one for one in said.values())]),
            said=tuple(WarningSentence(message, _joined(names, where)) for message, where in said.items()),
        )
        for code, said in kinds.items()
    ]


def _joined(names: Mapping[str, str], some: Sequence[str]) -> str:
    if len(names) == 1:
        return ""
    return _("All criteria") if len(some) == len(names) else ", ".join(some)


def list_conventions(documents: Iterable[PeopleAgreementDocument]) -> list[NoteDocument]:
    """What the figures rest on, each said once."""
    said = {note["message"]: note for document in documents for note in document["conventions"]}
    return list(said.values())


def describe_level(document: PeopleAgreementDocument) -> str:
    level = str(document["level"])
    return _("{level}. {n} of {total} items have two ratings or more").format(
        level=_(LEVELS.get(level, level)),
        n=f"{document['n_items_pairable']:,}",
        total=f"{document['n_items']:,}",
    )


def describe_scored(held: JudgeDocument) -> str:
    said = _("{n} items scored, {unscored} replies without a usable verdict").format(
        n=f"{held['scored']:,}", unscored=f"{held['unscored']:,}"
    )
    if held["not_judged"]:
        said += _(", {n} not judged").format(n=f"{held['not_judged']:,}")
    if held["reads"] == SCORES:
        said += _("; correlations and errors from scores: {sources}").format(sources=describe_sources(held))
    return said


def describe_sources(held: JudgeDocument) -> str:
    """On how many items a judge's score rests on what."""
    by = _("{n} by {source}")
    return ", ".join(by.format(n=f"{n:,}", source=of) for of, n in held["score_sources"].items()) or _("none")


def add_judges(group: ItemGroupDocument | AnnotatorGroupDocument, headline: HeadlineDocument) -> dict[str, object]:
    """A group with each judge's headline coefficient there, and people's beside it."""
    judges = [
        {"name": name, "kappa": held[headline["judge"]], "ceiling": held[headline["ceiling"]]}
        for name, held in group["judges"].items()
    ]
    return {**group, "judges": judges}


def list_answers(document: CriterionAgreementDocument, headline: HeadlineDocument) -> dict[str, object] | None:
    found = document.get("annotator_groups")
    return None if found is None else {**found, "groups": [add_judges(group, headline) for group in found["groups"]]}


def read_difference(one: JudgeDifferenceDocument, headline: HeadlineDocument) -> dict[str, object]:
    """One judge minus another in the headline coefficient, and against the majority."""
    kappa, accuracy = (one["figures"][name]["difference"] for name in (headline["judge"], "accuracy"))
    return {**one, "kappa": kappa, "accuracy": accuracy}
