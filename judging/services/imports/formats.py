"""The files that can be uploaded: what each holds, what must be told besides, and which import reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from annotation.models import User
from annotation.parsing.files import InputFile
from annotation.parsing.problems import OnError
from annotation.services.imports import ratings, records
from annotation.services.imports.outcome import Outcome
from judging.services.imports import ratings as judge_ratings

Load = Callable[..., Outcome]


@dataclass(frozen=True)
class Format:
    """`fields` are asked for beside the file; `load` takes them with `by`, `file` and `on_error`."""

    key: str
    title: str
    about: str
    example: str
    fields: tuple[str, ...]
    load: Load


def records_of(kind: str) -> Load:
    def load(*, by: User | None, file: InputFile, source: str, on_error: OnError) -> Outcome:
        return records.load(by=by, kind=kind, file=file, source=source, on_error=on_error)

    return load


FORMATS: dict[str, Format] = {
    found.key: found
    for found in (
        Format(
            "dialogues",
            "Dialogues",
            "JSONL, one dialogue on each line. Needed: id and turns, each with role (user or assistant) and content. "
            "Optional: profile_id, task_id, situation, assistant_model, condition.",
            '{"id": "d1", "profile_id": "p1", "turns": [{"role": "user", "content": "…"}, '
            '{"role": "assistant", "content": "…"}]}',
            ("source",),
            records_of("dialogues"),
        ),
        Format(
            "pairs",
            "Response pairs",
            "JSONL, one pair on each line. Needed: id, question, response_1, response_2. Optional: profile_id, "
            "context, model_1, model_2, kind, tier, and label (1, 2 or tie), which annotators never see.",
            '{"id": "r1", "profile_id": "p1", "question": "…", "response_1": "…", "response_2": "…"}',
            ("source",),
            records_of("pairs"),
        ),
        Format(
            "profiles",
            "Profiles",
            "JSONL, one person on each line. Needed: id. Optional: name, persona, demographics, preferences, "
            "interests, interactions, memories.",
            '{"id": "p1", "name": "…", "persona": "…", "preferences": {"Restaurants": {"Cuisine": ["Thai"]}}}',
            ("source",),
            records_of("profiles"),
        ),
        Format(
            "tasks",
            "Tasks",
            "JSONL, one task on each line. Needed: id, description. Optional: intent, goal, domains, preference_types.",
            '{"id": "t1", "description": "The user wants a table for two.", "domains": ["Restaurants"]}',
            ("source",),
            records_of("tasks"),
        ),
        Format(
            "ratings",
            "People's ratings",
            "CSV, one label on each line, with the columns item, rater, value, and criterion where the study has "
            "several. Optional: reason (why there is no value), order (AB or BA, as it was shown).",
            "item,rater,criterion,value",
            ("study",),
            ratings.load,
        ),
        Format(
            "judgments",
            "A judge's ratings",
            "CSV, one label on each line, with the columns item, value, and criterion where the study has several. "
            "Optional: reason, order (AB or BA), repeat (1, 2, …), explanation. An empty value counts as unscored.",
            "item,criterion,value,reason",
            ("study", "judge"),
            judge_ratings.load,
        ),
    )
}
