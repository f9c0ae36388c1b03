"""The items of one annotator in a study, with their state, and how they have worked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_noop

from annotation.studies.models.assignments import WORK, Assignment
from annotation.studies.models.labels import Annotation, Draft
from annotation.studies.models.messages import ItemMark, ItemMessage
from annotation.studies.models.studies import Study
from annotation.studies.queries.messages import list_newest, list_open_flags, load_thread
from annotation.workbench.queries import work
from core.accounts.models.users import User
from core.statements import row

STATES = {
    "submitted": gettext_noop("Submitted"),
    "skipped": gettext_noop("Skipped"),
    "open": gettext_noop("To do"),
    "later": gettext_noop("Marked for later"),
    "asked": gettext_noop("Asked"),
    "answered": gettext_noop("Answered"),
}
"""What the list can be narrowed to."""

LONGEST_LINE = 90
"""Characters of an item's text in the list."""


@dataclass(frozen=True)
class MyItem:
    """One item of mine. `number` is its place among those I was given."""

    assignment: Assignment
    number: int
    text: str
    states: tuple[str, ...]

    @property
    def line(self) -> str:
        """The beginning of its text."""
        return self.text if len(self.text) <= LONGEST_LINE else f"{self.text[: LONGEST_LINE - 1]}…"

    @property
    def labels(self) -> list[str]:
        return [STATES[state] for state in self.states]


@dataclass(frozen=True)
class MyStatistics:
    """How somebody has worked. `seconds` is the median of their items, `unscored` counts answers without a value."""

    submitted: int
    answers: int
    unscored: int
    seconds: float | None
    an_hour: int | None


NOTES = """
SELECT EXISTS (
    SELECT 1 FROM annotation_itemmessage
    WHERE study_id = %(study)s AND annotator_id = %(me)s AND item_id = %(item)s
), EXISTS (
    SELECT 1 FROM annotation_itemmark
    WHERE study_id = %(study)s AND annotator_id = %(me)s AND item_id = %(item)s
)
"""


def load_notes(slot: Assignment, annotator: User) -> dict[str, object]:
    """What stands beside an item of mine: its thread, whether I flagged it, and whether I marked it.

    One written-out statement, as every save asks for it, and a query where there is a thread.
    """
    has_thread, is_later = row(NOTES, {"study": slot.study_id, "me": annotator.pk, "item": slot.item_id}) or (0, 0)
    thread = load_thread(slot.study, slot.item_id, annotator) if has_thread else []
    return {"thread": thread, "is_flagged": bool(list_open_flags(thread)), "is_later": bool(is_later)}


def load_my_items(annotator: User, study: Study, *, state: str = "", query: str = "") -> list[MyItem]:
    """What I was given and have not lost, the newest first, narrowed to a state and to a text. Three queries."""
    mine = work.select_subject(study.assignments.filter(annotator=annotator, purpose__in=WORK))
    marked = ItemMark.objects.filter(study=study, annotator=annotator, item=OuterRef("item"))
    rows = mine.annotate(is_marked=Exists(marked), has_draft=Exists(drafts(annotator))).order_by("-number")
    newest = {one.item_id: one for one in list_newest(study).filter(annotator=annotator)}
    found = [
        build_item(one, newest.get(one.item_id))
        for one in rows
        if one.state != LEASED or one.has_draft or one.is_marked or one.item_id in newest
    ]
    wanted = query.casefold().strip()
    return [one for one in found if (not state or state in one.states) and wanted in one.text.casefold()]


LEASED = Assignment.State.LEASED


def drafts(annotator: User) -> QuerySet[Draft]:
    return work.drafts(annotator).filter(assignment=OuterRef("pk"))


def build_item(row: Assignment, newest: ItemMessage | None) -> MyItem:
    """An item with all that holds of it. What is only kept ready, and was never worked on, is not listed."""
    states = ["submitted" if row.submitted_at else "skipped" if row.state == Assignment.State.SKIPPED else "open"]
    if getattr(row, "is_marked", False):
        states.append("later")
    if newest:
        states.append("asked" if newest.author_id == newest.annotator_id else "answered")
    return MyItem(row, row.number or 0, read_text(row), tuple(states))


def read_text(row: Assignment) -> str:
    """What an item is known by: the question, or what was said, and the responses."""
    if pair := row.item.pair:
        return "\n".join((pair.question, pair.context, *(one.text for one in pair.responses))).strip()
    turns: Sequence[dict[str, str]] = row.item.dialogue.turns if row.item.dialogue else []
    return "\n".join(turn["content"] for turn in turns)


def find_by_number(annotator: User, study: Study, number: int) -> Assignment | None:
    """The item that I was given as the one of this number."""
    return study.assignments.filter(annotator=annotator, purpose__in=WORK, number=number).first()


def compute_statistics(annotator: User, study: Study) -> MyStatistics:
    """Their own figures. Nothing here tells checks and repeats apart. Three queries."""
    submitted = work.list_submitted(annotator, study)
    seconds = [one or 0.0 for one in submitted.values_list("active_seconds", flat=True) if one]
    said = Annotation.objects.filter(assignment__annotator=annotator, assignment__study=study)
    counts = said.filter(assignment__purpose__in=WORK).aggregate(
        answers=Count("pk"), unscored=Count("pk", filter=Q(value=""))
    )
    return MyStatistics(
        submitted=submitted.count(),
        answers=counts["answers"],
        unscored=counts["unscored"],
        seconds=median(seconds) if seconds else None,
        an_hour=work.an_hour(work.recent_seconds(annotator, study)),
    )
