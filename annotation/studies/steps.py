"""A study as one line, left to right: each step with its count, its state and the one next thing to do.

`annotation` knows of material, sample and people. What comes after them belongs to `judging`, which registers a
provider when it is loaded; a step whose page does not exist is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from django.urls import NoReverseMatch, reverse

from annotation.studies.models.studies import Study
from annotation.studies.queries.sampling_frame import list_records
from annotation.studies.queries.studies import StudyRow, study_row
from core import row_counts


@dataclass(frozen=True)
class Step:
    """One step as `components/study_line.html` shows it. `state` is done, active, running, todo or error."""

    key: str
    label: str
    count: str = ""
    state: str = "todo"
    href: str = ""
    action: str = ""
    action_href: str = ""
    current: bool = False


Provider = Callable[[Study], Iterable[Step]]
AFTER_PEOPLE = (
    ("judges", "Judges", "run_create"),
    ("agreement", "Agreement", "agreement"),
    ("tiers", "Tiers", "tiers"),
    ("calibration", "Calibration", "calibration"),
    ("report", "Report", "report"),
)
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


def later_steps(study: Study) -> list[Step]:
    """The steps after people, in order, as far as their pages exist."""
    plain = {key: Step(key, label, href=link(name, study.slug)) for key, label, name in AFTER_PEOPLE}
    told = {step.key: step for provider in _providers for step in provider(study)}
    return [step for step in (plain | told).values() if step.href]


def study_steps(study: Study, current: str = "") -> list[Step]:
    """All steps of the study, the one called `current` marked as where the reader is."""
    row = study_row(study)
    steps = [datasets_step(row), sample_step(row), people_step(row), *later_steps(study)]
    return [replace(step, current=step.key == current) for step in steps]


def datasets_step(row: StudyRow) -> Step:
    kind = row.study.kind
    there = row_counts.count_cached(("material", kind), list_records(kind).count, int)
    return Step("material", "Dataset", f"{there:,}", "done" if there else "todo", link("material"))


def sample_step(row: StudyRow) -> Step:
    here = link("study_detail", row.study.slug)
    if row.items:
        return Step("sample", "Sample", f"{row.items:,}", "done", f"{here}#sample")
    return Step("sample", "Sample", "0", "active", f"{here}#sample", "Draw", link("study_sample", row.study.slug))


def people_step(row: StudyRow) -> Step:
    here = link("study_detail", row.study.slug)
    count = f"{row.study.overlap} × {row.items:,} ({100 * row.share:.0f} %)" if row.items else ""
    state, action, anchor = people_state(row)
    return Step("people", "People", count, state, f"{here}#people", action, f"{here}#{anchor}")


def people_state(row: StudyRow) -> tuple[str, str, str]:
    """State, next action, and where on the study's page it is done."""
    if row.items and not row.people and not row.submitted:
        return "active", "Add", "add"
    if row.study.state == Study.State.DRAFT:
        return ("active", "Open", "state") if row.items else ("todo", "", "")
    if row.submitted >= row.planned:
        return ("active", "Close", "state") if row.study.state == Study.State.OPEN else ("done", "", "")
    return ("running" if row.study.state == Study.State.OPEN else "done"), "", ""
