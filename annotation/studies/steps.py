"""A study as one line, left to right: each step with its count, its state and the one next thing to do.

`annotation` knows of datasets, sample, annotators and gold. Judges, results and report belong to `judging`, which
registers a provider when it is loaded; a step whose page does not exist is not shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _, gettext_noop, ngettext

from annotation.studies.models.studies import Study
from annotation.studies.queries.disputes import count_undecided
from annotation.studies.queries.messages import count_waiting
from annotation.studies.queries.sampling_frame import list_records
from annotation.studies.queries.studies import StudyRow, list_recruiting, study_row
from core import row_counts


@dataclass(frozen=True)
class Tab:
    """One of the pages of a step."""

    label: str
    href: str
    current: bool = False


@dataclass(frozen=True)
class Step:
    """One step as `components/study_line.html` shows it. `state` is done, active, running, todo or error.

    `tabs` are its pages, which only the step has on which the reader is.
    """

    key: str
    label: str
    count: str = ""
    state: str = "todo"
    href: str = ""
    action: str = ""
    action_href: str = ""
    current: bool = False
    tabs: tuple[Tab, ...] = ()


STATES = [
    gettext_noop("done"),
    gettext_noop("active"),
    gettext_noop("running"),
    gettext_noop("todo"),
    gettext_noop("error"),
]
"""Of a step, as its line says them to who does not see it."""

Provider = Callable[[Sequence[Study]], Iterable[tuple[Study, Step]]]
"""Given studies, the steps of each; in a fixed number of queries, however many the studies are."""

AFTER_PEOPLE = (
    ("judges", gettext_noop("Judges"), "run_create"),
    ("gold", gettext_noop("Gold"), "gold"),
    ("results", gettext_noop("Results"), "results"),
    ("report", gettext_noop("Report"), "report"),
)
PAGES = {
    "people": {
        "progress": gettext_noop("Progress"),
        "quality": gettext_noop("Quality"),
        "queue": gettext_noop("Queue"),
        "coming_in": gettext_noop("Recruitment"),
        "study_messages": gettext_noop("Questions"),
    },
    "gold": {
        "tiers": gettext_noop("Tiers"),
        "gold": gettext_noop("Gold labels"),
        "adjudication": gettext_noop("Adjudication"),
    },
}
"""Step -> the pages that are its tabs, by the names of their addresses."""

_providers: list[Provider] = []


def register(provider: Provider) -> Provider:
    """Let `provider` say the counts of steps; one of the same key replaces the plain step."""
    if provider not in _providers:
        _providers.append(provider)
    return provider


def link(name: str, *args: object) -> str:
    """The address of a page, or nothing where that page is not there."""
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""


def study_steps(study: Study, current: str = "") -> list[Step]:
    """All steps of the study. `current` is where the reader is: a step, or the page of a step that has tabs."""
    ((_, steps),) = load_lines([study_row(study)])
    here = next((step for step, pages in PAGES.items() if current in pages), current)
    tabs = build_tabs(study, current)
    return [replace(step, current=True, tabs=tabs) if step.key == here else step for step in steps]


def load_lines(rows: Sequence[StudyRow]) -> list[tuple[StudyRow, list[Step]]]:
    """Each study with its steps, as far as their pages exist; in a fixed number of queries."""
    studies = [row.study for row in rows]
    ids = [study.pk for study in studies]
    waiting, undecided, recruiting = count_waiting(ids), count_undecided(ids), list_recruiting(ids)
    records = {kind: count_records(kind) for kind in {study.kind for study in studies}}
    told: dict[int, dict[str, Step]] = defaultdict(dict)
    for provider in _providers:
        for study, step in provider(studies):
            told[study.pk][step.key] = step
    found = []
    for row in rows:
        study = row.study
        people = people_step(row, waiting[study.pk], is_recruiting=study.pk in recruiting)
        plain = {key: Step(key, _(label), href=link(name, study.slug)) for key, label, name in AFTER_PEOPLE}
        later = plain | {"gold": gold_step(row, undecided[study.pk])} | told[study.pk]
        steps = [datasets_step(study.kind, records[study.kind]), sample_step(row), people, *later.values()]
        found.append((row, [step for step in steps if step.href]))
    return found


def build_tabs(study: Study, current: str) -> tuple[Tab, ...]:
    """The tabs of the step that has this page; none where a step is one page."""
    pages = next((pages for step, pages in PAGES.items() if current in (step, *pages)), {})
    found = [Tab(_(label), link(name, study.slug), name == current) for name, label in pages.items()]
    return tuple(tab for tab in found if tab.href)


def count_records(kind: str) -> int:
    """How many records of the kind there are in the datasets."""
    return row_counts.count_cached(("material", kind), list_records(kind).count, int)


def datasets_step(kind: str, there: int) -> Step:
    href = f"{link('material')}?kind={kind}s"
    if there:
        return Step("material", _("Dataset"), f"{there:,}", "done", href)
    return Step("material", _("Dataset"), "0", "active", href, _("Import"), link("import_table"))


def sample_step(row: StudyRow) -> Step:
    here = link("study_detail", row.study.slug)
    if row.items:
        return Step("sample", _("Sample"), f"{row.items:,}", "done", f"{here}#sample")
    draw = link("study_sample", row.study.slug)
    return Step("sample", _("Sample"), "0", "active", f"{here}#sample", _("Draw"), draw)


def people_step(row: StudyRow, waiting: int, *, is_recruiting: bool) -> Step:
    study = row.study
    overview = link("study_detail", study.slug)
    here = (link("progress", study.slug) if row.items else "") or f"{overview}#people"
    count = f"{study.overlap} × {row.items:,} ({100 * row.share:.0f} %)" if row.items else f"{row.people}"
    state, action, anchor = people_state(row, is_recruiting=is_recruiting)
    if waiting:
        asked = ngettext("Answer {n} question", "Answer {n} questions", waiting).format(n=waiting)
        return Step("people", _("Annotators"), count, state, here, asked, link("study_messages", study.slug))
    return Step("people", _("Annotators"), count, state, here, action, f"{overview}#{anchor}")


def people_state(row: StudyRow, *, is_recruiting: bool) -> tuple[str, str, str]:
    """State, next action, and where on the study's page it is done."""
    if row.items and not row.people and not row.submitted and not is_recruiting:
        return "active", _("Add"), "add"
    if row.study.state == Study.State.DRAFT:
        return ("active", _("Open"), "state") if row.items else ("todo", "", "")
    if row.submitted >= row.planned:
        return ("active", _("Close"), "state") if row.study.state == Study.State.OPEN else ("done", "", "")
    return ("running" if row.study.state == Study.State.OPEN else "done"), "", ""


def gold_step(row: StudyRow, undecided: int) -> Step:
    """How many answers people dispute and nobody has decided."""
    slug = row.study.slug
    here = link("gold", slug)
    if not row.submitted:
        return Step("gold", _("Gold"), _("no labels yet"), "todo", here)
    if undecided:
        disputed = _("{n:,} disputed").format(n=undecided)
        return Step("gold", _("Gold"), disputed, "active", here, _("Decide"), link("adjudication", slug))
    return Step("gold", _("Gold"), _("none disputed"), "done", here)
