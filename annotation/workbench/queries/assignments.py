"""One slot, as save-and-next reads it: first without the texts of its item, then the item that is shown next.

Sixty people wait for these at once, so that the statements are written out (`core.statements`).
"""

from __future__ import annotations

from annotation.corpus.models import Dialogue, Profile, ResponsePair, Scenario, Task
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Item, Study
from annotation.studies.queries import criteria
from core.accounts.models.users import User
from core.statements import Columns, load

SLOT, STUDY = Columns(Assignment), Columns(Study)

HELD = f"""
SELECT
    {criteria.STAMP}, EXISTS (SELECT 1 FROM annotation_webhook WHERE ended_at IS NULL),
    {SLOT.render("annotation_assignment")}, {STUDY.render("annotation_study")}
FROM annotation_assignment JOIN annotation_study ON annotation_study.id = annotation_assignment.study_id
WHERE annotation_assignment.id = %(slot)s AND annotation_assignment.annotator_id = %(me)s
"""  # noqa: S608 # nosec B608 # names of columns; what comes from outside are parameters

ITEM = Columns(Item)
DIALOGUE = Columns(Dialogue, "id", "scenario_id", "turns")
RESPONSES = ("n_responses", "response_1", "response_2", "further")
PAIR = Columns(ResponsePair, "id", "profile_id", "question", "context", *RESPONSES, "parts")
SCENARIO = Columns(Scenario, "id", "profile_id", "task_id", "situation")
PROFILE = Columns(Profile, "id", "persona", "demographics", "preferences", "interactions", "memories")
TASK = Columns(Task, "id", "description", "intent", "goal", "domains", "preference_types")

OF_DIALOGUE = f"""
SELECT {ITEM.render("item")}, {DIALOGUE.render("dialogue")}, {SCENARIO.render("scenario")}, {PROFILE.render("profile")},
    {TASK.render("task")}
FROM annotation_item AS item
JOIN annotation_dialogue AS dialogue ON dialogue.id = item.dialogue_id
LEFT JOIN annotation_scenario AS scenario ON scenario.id = dialogue.scenario_id
LEFT JOIN annotation_profile AS profile ON profile.id = scenario.profile_id
LEFT JOIN annotation_task AS task ON task.id = scenario.task_id
WHERE item.id = %(item)s
"""  # noqa: S608 # nosec B608 # as above

OF_PAIR = f"""
SELECT {ITEM.render("item")}, {PAIR.render("pair")}, {PROFILE.render("profile")}
FROM annotation_item AS item
JOIN annotation_responsepair AS pair ON pair.id = item.pair_id
LEFT JOIN annotation_profile AS profile ON profile.id = pair.profile_id
WHERE item.id = %(item)s
"""  # noqa: S608 # nosec B608 # as above


def find_held(annotator: User, pk: int) -> Assignment | None:
    """A slot that they hold or have submitted, with its study and what that asks, but without the item's texts."""
    found = load(HELD, {"slot": pk, "me": annotator.pk}, SLOT, STUDY)
    if found is None:
        return None
    slot: Assignment
    study: Study
    stamp, is_watched, slot, study = found
    study.asked = criteria.load_criteria(study, stamp or 0)
    slot.study, slot.is_watched = study, bool(is_watched)
    return slot


def load_texts(slot: Assignment) -> Assignment:
    """The slot with all that the page shows of its item, in one query; only what its kind of item has is read."""
    is_pair, named = slot.study.kind == Study.Kind.PAIR, {"item": slot.item_id}
    parts = (PAIR, PROFILE) if is_pair else (DIALOGUE, SCENARIO, PROFILE, TASK)
    found = load(OF_PAIR if is_pair else OF_DIALOGUE, named, ITEM, *parts)
    if found is None:
        raise Item.DoesNotExist
    if is_pair:
        item, pair, profile = found
        pair.profile, item.pair, item.dialogue = profile, pair, None
    else:
        item, dialogue, scenario, profile, task = found
        if scenario:
            scenario.profile, scenario.task = profile, task
        dialogue.scenario, item.dialogue, item.pair = scenario, dialogue, None
    slot.item = item
    return slot
