"""What annotators will see of a study that is not made yet. Nothing here is saved."""

from __future__ import annotations

from typing import Any

from annotation.corpus.models import Dialogue, ResponsePair
from annotation.studies.criteria import RUBRICS, default_keys
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.new_study_forms import CHOSEN, OWN, PUBLISHED, StudyForm
from annotation.studies.queries.context import panels
from annotation.studies.queries.sample_items import build_criteria, build_free_assignment, invent_item
from annotation.studies.queries.sampling_frame import count_matching
from annotation.studies.services.rubrics import read_rubric_for
from annotation.studies.services.studies import list_template_fields
from annotation.workbench.forms import RatingForm
from core.errors import InputError


def build_preview(form: StudyForm, step: str) -> dict[str, Any]:
    """What the template shows beside a step: the first item, the questions, and how many ratings it will take."""
    form.is_valid()
    given = form.cleaned_data
    study = Study(kind=form.kind, name=given.get("name", ""), shown=given.get("shown") or [])
    study.instructions, study.asks_strength = given.get("instructions", ""), given.get("asks_strength", False)
    study.content_form = given.get("content_form") or Study.ContentForm.RENDERED
    matching, record = count_matching(form.kind, {name: given.get(f"filter_{name}") for name in form.names})
    drawn = min(given.get("size") or 0, matching) if given.get("method") != "all" else matching
    overlap = given.get("overlap") or 0
    found: dict[str, Any] = {"matching": matching, "drawn": drawn, "ratings": drawn * overlap, "given": given}
    if step != "people":
        found |= build_item_context(study, record)
    problem, criteria = list_criteria(form, study)
    slot = build_first_assignment(study, record, criteria)
    rows = RatingForm(slot=slot, criteria=criteria, entered={}).rows() if criteria else []
    return found | {"study": study, "rows": rows, "criteria": criteria, "problem": problem}


def build_item_context(study: Study, record: Any) -> dict[str, Any]:
    slot = build_first_assignment(study, record, [])
    item = slot.item
    return {
        "is_invented": record is None,
        "dialogue": item.dialogue,
        "pair": item.pair,
        "sides": slot.build_shown_responses() if item.pair else {},
        "panels": panels(item, study.shown),
    }


def build_first_assignment(
    study: Study, record: Dialogue | ResponsePair | None, criteria: list[Criterion]
) -> Assignment:
    """A slot that nobody holds, on the first item or, where there is none, on an invented one."""
    study.asked = criteria
    item = Item(study=study, position=1, **{study.kind: record}) if record else invent_item(study)
    return build_free_assignment(study, item)


def list_criteria(form: StudyForm, study: Study) -> tuple[str, list[Criterion]]:
    """What is asked as it stands in the form, or why that cannot be asked; nothing while nothing is chosen."""
    given = form.cleaned_data
    template = given.get("template", PUBLISHED)
    keys = default_keys(form.kind) if template == PUBLISHED else given.get("criteria") or []
    try:
        if template not in (PUBLISHED, CHOSEN):
            return "", list_of_rubric(study, template, given.get("rubric"))
        if not keys:
            return "", []
        each_turn, allow_tie = given.get("each_turn") or [], given.get("allow_tie", False)
        fields = list_template_fields(form.kind, keys, allow_tie=allow_tie, each_turn=each_turn)
    except InputError as error:
        return error.message, []
    return "", [Criterion(pk=-place, study=study, position=place, **one) for place, one in enumerate(fields, start=1)]


def list_of_rubric(study: Study, template: str, own: Any) -> list[Criterion]:
    if template == OWN:
        return build_criteria(study, read_rubric_for(study.kind, own)) if own else []
    return build_criteria(study, RUBRICS[template])
