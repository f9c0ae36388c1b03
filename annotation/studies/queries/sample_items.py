"""An item to show a rubric on: the study's first, or an invented one while it has none. Nothing here is saved."""

from __future__ import annotations

from annotation.corpus.models import Dialogue, ResponsePair
from annotation.stats.orders import LETTERS, name_responses
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Criterion, Item, Study
from annotation.studies.parsing.rubrics import Rubric

TURNS = [
    {"role": "user", "content": "Can you find me a quiet place for dinner on Friday?"},
    {"role": "assistant", "content": "The Garden on Mill Street is quiet, and has a table at eight. Shall I book it?"},
    {"role": "user", "content": "Yes please, for two."},
    {"role": "assistant", "content": "It is booked: Friday at eight, a table for two."},
]
PAIR = {
    "question": "How do I keep basil alive on the windowsill?",
    "response_1": "Water it from below when the top of the soil is dry, give it six hours of light, and pick the tips.",
    "response_2": "Basil is an annual herb. It likes sun. Water it.",
}
FURTHER = [
    {"text": "Basil needs warmth, light and water. Ask at a garden centre."},
    {"text": "- Light: six hours\n- Water: from below\n- Harvest: the tips"},
]
"""Responses that the invented item has where more than two are to be chosen among."""


def build_sample_assignment(study: Study, rubric: Rubric) -> Assignment:
    """A slot that nobody holds, on the first item or an invented one, whose study asks the rubric."""
    item = study.items.select_related(
        "dialogue__scenario__profile", "dialogue__scenario__task", "pair__profile"
    ).first()
    study.asked = build_criteria(study, rubric)
    named = [len(name_responses(one.values)) for one in study.asked if one.is_preference]
    item = item or invent_item(study, max(named, default=2))
    return build_free_assignment(study, item)


def build_free_assignment(study: Study, item: Item) -> Assignment:
    """A slot that nobody holds. Responses are shown in their order."""
    order = LETTERS[: item.pair.n_responses] if item.pair else ""
    return Assignment(study=study, item=item, order=order, slot=1, rank=1)


def build_criteria(study: Study, rubric: Rubric) -> list[Criterion]:
    """Criteria as rows that are told apart, and never saved."""
    given = enumerate(rubric.criteria, start=1)
    return [Criterion(pk=-place, study=study, position=place, **one.to_fields()) for place, one in given]


def invent_item(study: Study, n: int = 2) -> Item:
    """An invented item; one of responses has `n` of them, but at least two and at most four."""
    if study.kind == Study.Kind.PAIR:
        further = FURTHER[: max(0, n - 2)]
        pair = ResponsePair(
            pk=-1, external_id="example", n_responses=2 + len(further), further=further, parts={}, extra={}, **PAIR
        )
        return Item(study=study, pair=pair, position=1)
    return Item(study=study, dialogue=Dialogue(pk=-1, external_id="example", turns=TURNS), position=1)
