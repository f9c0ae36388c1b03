"""Versions of a criterion's guideline: which there were, what changed between two, and which one labels rest on."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count
from django.utils.translation import gettext as _, gettext_noop

from annotation.stats.table import IntArray, RatingTable
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation, Draft
from annotation.studies.models.studies import Criterion, GuidelineVersion, Study
from annotation.studies.queries.asks import SUFFIXES, Ask
from annotation.studies.queries.criteria import describe_rest
from annotation.studies.queries.preferences import read_by_order

Piece = tuple[str, str]
"""Whether it is "same", "gone" or "new", and the text."""

WORDS = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True)
class Change:
    """What is different between two versions of a criterion: (what, its text in pieces), only what differs."""

    name: str
    before: int
    after: int
    reason: str
    parts: tuple[tuple[str, tuple[Piece, ...]], ...]


@dataclass(frozen=True)
class Version:
    """One version as the researcher's page shows it, with what it changed and how many labels rest on it."""

    row: GuidelineVersion
    change: Change | None
    labels: int
    is_current: bool


def pieces(before: str, after: str) -> tuple[Piece, ...]:
    """The words of both texts in order: what stayed, what went and what came."""
    old, new = WORDS.findall(before), WORDS.findall(after)
    found: list[Piece] = []
    for what, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            found.append(("same", "".join(old[i:j])))
            continue
        found += [(kind, text) for kind, text in (("gone", "".join(old[i:j])), ("new", "".join(new[k:m]))) if text]
    return tuple(found)


def compare_versions(name: str, before: GuidelineVersion, after: GuidelineVersion) -> Change:
    """What a later version says differently."""
    texts = [(_("Question"), before.question, after.question), (_("Guideline"), before.guideline, after.guideline)]
    old = {str(one["value"]): one.get("guideline", "") for one in before.categories}
    texts += [(str(one["label"]), old.get(str(one["value"]), ""), one.get("guideline", "")) for one in after.categories]
    texts += [(_(title), spell(before.rest, key), spell(after.rest, key)) for key, title in TITLES.items()]
    parts = tuple((what, pieces(was, now)) for what, was, now in texts if was != now)
    return Change(name, before.version, after.version, after.reason, parts)


TITLES = {
    "name": gettext_noop("Name"),
    "help": gettext_noop("Help"),
    "examples": gettext_noop("Examples"),
    "limits": gettext_noop("Limits"),
    "is_required": gettext_noop("Required"),
    "condition": gettext_noop("Only if"),
}


def spell(rest: Mapping[str, object], key: str) -> str:
    """A part of a version in words; empty where it says nothing."""
    value = rest.get(key)
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) if value else ""


def current(criterion: Criterion) -> GuidelineVersion:
    """What is asked now, as a row that need not be stored."""
    return GuidelineVersion(
        criterion=criterion,
        version=criterion.guideline_version,
        question=criterion.question,
        guideline=criterion.guideline,
        categories=criterion.categories,
        rest=describe_rest(criterion),
        created_by=criterion.study.created_by,
        created_at=criterion.study.created_at,
    )


def history(criterion: Criterion) -> list[Version]:
    """All versions, newest first. Two queries."""
    rows = list(criterion.guideline_versions.select_related("created_by")) or [current(criterion)]
    labels = labels_by_version(criterion.study, [criterion]).get(criterion.pk, {})
    earlier = [None, *rows]
    return [
        Version(
            row,
            compare_versions(criterion.name, was, row) if was else None,
            labels.get(row.version, 0),
            row.version == criterion.guideline_version,
        )
        for was, row in reversed(list(zip(earlier, rows, strict=False)))
    ]


def labels_by_version(study: Study, criteria: Sequence[Criterion]) -> dict[int, dict[int, int]]:
    """By criterion id, how many labels that count were given under each version. One query."""
    counted = (
        Annotation.objects.only_counting()
        .filter(assignment__study=study, criterion__in=criteria)
        .order_by("criterion_id", "guideline_version")
        .values_list("criterion_id", "guideline_version")
        .annotate(n=Count("pk"))
    )
    found: dict[int, dict[int, int]] = {}
    for criterion, version, n in counted:
        found.setdefault(criterion, {})[version] = n
    return found


def versions_given(criterion: Criterion, table: RatingTable) -> IntArray | None:
    """(n, r) under which version each rating of the table was given; None where there was only one. Two queries."""
    if criterion.guideline_version == 1:
        return None
    versions: IntArray = read_by_order(criterion, table, "guideline_version")[0]
    return versions


def news(slot: Assignment, before: Assignment | None, asks: Sequence[Ask], draft: Draft | None = None) -> list[Change]:
    """What the annotator has to be told: criteria that say something else than when they last answered them.

    That was on this item if they have answered or begun it, or else on the item that they handed in `before`. No query
    as long as nothing was ever edited, two otherwise.
    """
    edited = {ask.criterion.pk: ask.criterion for ask in asks if ask.criterion.guideline_version > 1}
    if not edited:
        return []
    known = {pk: version for pk, version in load_seen_versions(slot, before, asks, draft).items() if pk in edited}
    rows = {
        (one.criterion_id, one.version): one
        for one in GuidelineVersion.objects.filter(criterion__in=edited).defer("created_by")
    }
    found = []
    for pk, criterion in edited.items():
        was = rows.get((pk, known.get(pk, criterion.guideline_version)))
        if was and was.version < criterion.guideline_version:
            now = rows.get((pk, criterion.guideline_version)) or current(criterion)
            found.append(compare_versions(criterion.name, was, now))
    return found


def load_seen_versions(
    slot: Assignment, before: Assignment | None, asks: Sequence[Ask], draft: Draft | None
) -> Mapping[int, int]:
    """By criterion id, the version under which they answered last."""
    base = slot if slot.state == Assignment.State.SUBMITTED else before
    labels: dict[int, int] = {}
    if base is not None:
        given = Annotation.objects.filter(assignment=base).order_by("guideline_version")
        labels = dict(given.values_list("criterion_id", "guideline_version"))
    return {**labels, **read_versions(draft.content if draft else {}, asks)}


def read_versions(content: Mapping[str, str], asks: Sequence[Ask]) -> dict[int, int]:
    """By criterion id, the versions that a draft was written under."""
    named = [(ask.criterion.pk, content.get(f"{ask.name}{SUFFIXES['versions']}", "")) for ask in asks]
    return {pk: int(text) for pk, text in named if text.isascii() and text.isdecimal() and len(text) < 6}
