"""The files that can be uploaded: what each holds, what must be told besides, and which import reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.utils.translation import gettext_noop

from annotation.benchmarks.imports import personafeedback
from annotation.corpus.exchange.registry import EXCHANGES
from annotation.corpus.formats.base import ChatFormat
from annotation.corpus.formats.registry import CHAT_FORMATS
from annotation.corpus.imports import records
from annotation.corpus.parsing.mappings import ColumnMapping
from annotation.corpus.queries import load_mapping
from annotation.studies.imports import ratings
from core.accounts.models.projects import Project
from core.accounts.models.users import User
from core.files.input_files import InputFile
from core.files.outcome import Outcome
from judging.runs.imports import pandalm, personalens, ratings as judge_ratings, study_packages
from judging.runs.imports.mapped import load_mapped

Load = Callable[..., Outcome]
OWN = gettext_noop("Concord's own files")
TOOLS = gettext_noop("Other annotation tools")
DATASETS = gettext_noop("Published data sets")
TABLE = "table"
"""Key of the format that is any table; pages have a way of their own to it."""

ELSEWHERE = {
    "labelstudio": (
        gettext_noop(
            "JSON as Label Studio exports it (not JSON-MIN): people's annotations, and predictions as judges' labels."
        ),
        '[{"id": 1, "data": {"dialogue": [...]}, "annotations": [...], "predictions": [...]}]',
    ),
    "argilla": (
        gettext_noop("JSON records as Argilla writes them: people's responses, and suggestions as judges' labels."),
        '[{"id": "1", "fields": {"chat": [...]}, "responses": {...}, "suggestions": {...}}]',
    ),
    "doccano": (
        gettext_noop("JSONL as doccano exports it, one file an annotator: texts with labels."),
        '{"id": 1, "text": "…", "label": ["naturalness: 4"]}',
    ),
    "potato": (
        gettext_noop("A ZIP file of a Potato project: its data files, and everybody's annotations below it."),
        "data_files/items.json, annotation_output/anna/user_state.json, …",
    ),
    "votes": (
        gettext_noop(
            "JSON Lines or Parquet as MT-Bench and Chatbot Arena publish it: one vote a row, of a person or of a judge."
        ),
        '{"question_id": 81, "model_a": "…", "model_b": "…", "winner": "model_a", "judge": "…", "turn": 1, …}',
    ),
    "hf": (
        gettext_noop("A ZIP file of the folder that Concord writes for Hugging Face: items and labels as Parquet."),
        "data/items.parquet, data/labels.parquet, study.json",
    ),
    "inspect": (
        gettext_noop("A log of inspect_ai (.json or .eval): each sample is a dialogue, each scorer a judge."),
        "logs/2026-…_task_….eval",
    ),
}
"""Of files of other tools that can be uploaded: what they hold, and how they look."""
FOLDERS = ("potato", "hf")
"""Those that come as one ZIP file."""


@dataclass(frozen=True)
class Format:
    """`fields` are asked for beside the file; `load` takes them with `by`, `file` and `on_error`.

    Those in `optional` may be left out. A `folder` comes as one ZIP file, and `load` gets the place where it was
    unpacked. Pages show it under `group`.
    """

    key: str
    title: str
    about: str
    example: str
    fields: tuple[str, ...]
    load: Load
    folder: bool = False
    group: str = OWN
    optional: tuple[str, ...] = ()

    @property
    def told(self) -> tuple[str, ...]:
        """All that may be told besides the file."""
        return (*self.fields, *self.optional)


def drop_project(load: Load) -> Load:
    """The import of what belongs to no project."""

    def load_material(*, project: Project | None = None, **given: object) -> Outcome:  # noqa: ARG001
        return load(**given)

    return load_material


def iterate_records(kind: str) -> Load:
    return drop_project(partial(records.load, kind=kind))


def find_exchange_format(key: str) -> Format:
    load = partial(study_packages.load, format=key)
    about, example = ELSEWHERE[key]
    return Format(key, EXCHANGES[key].title, about, example, ("study", "source"), load, key in FOLDERS, TOOLS)


def find_chat_format(one: ChatFormat) -> Format:
    load = partial(load_mapped, mapping=ColumnMapping(format=one.key))
    about = f"{one.about} JSON, JSON Lines or Parquet; described at {one.specification}."
    return Format(one.key, one.title, about, one.example, ("source",), load, group=one.group)


def import_table(*, by: User | None, mapping: str, project: Project | None = None, **given: Any) -> Outcome:
    return load_mapped(by=by, mapping=load_mapping(by, mapping, project), project=project, **given)


def import_benchmark(*, file: InputFile, benchmark: str, **given: Any) -> Outcome:
    return personafeedback.load(folder=file.path, name=benchmark or personafeedback.NAME, **given)


def import_folder(load: Load) -> Load:
    """The import of a folder, as one of a file that was unpacked there."""

    def load_file(*, file: InputFile, **given: object) -> Outcome:
        return load(folder=file.path, **given)

    return load_file


FORMATS: dict[str, Format] = {
    found.key: found
    for found in (
        Format(
            "dialogues",
            gettext_noop("Dialogues"),
            gettext_noop(
                "JSONL, one dialogue on each line. Needed: id and turns, each with role (user, assistant, system or "
                "tool) "
                "and content: text, or parts as in OpenAI's messages, with tool_calls. Pictures and sounds are "
                "files that "
                "lie with the JSONL file in one ZIP file. Optional: profile_id, task_id, situation, assistant_model, "
                "condition."
            ),
            '{"id": "d1", "profile_id": "p1", "turns": [{"role": "user", "content": "…"}, '
            '{"role": "assistant", "content": "…"}]}',
            ("source",),
            iterate_records("dialogues"),
        ),
        Format(
            "pairs",
            gettext_noop("Response pairs"),
            gettext_noop(
                "JSONL, one question on each line. Needed: id, question, response_1, response_2, each text or "
                "parts; or "
                "responses, a list of 1 to 12 texts, objects with text and model, or dialogues. Pictures and sounds "
                "lie with the JSONL file in one ZIP file. Optional: profile_id, context, model_1, model_2, kind, "
                "tier, and "
                "label (a number or tie), which annotators never see."
            ),
            '{"id": "r1", "profile_id": "p1", "question": "…", "response_1": "…", "response_2": "…"}',
            ("source",),
            iterate_records("pairs"),
        ),
        Format(
            "profiles",
            gettext_noop("Profiles"),
            gettext_noop(
                "JSONL, one person on each line. Needed: id. Optional: name, persona, demographics, preferences, "
                "interests, interactions, memories."
            ),
            '{"id": "p1", "name": "…", "persona": "…", "preferences": {"Restaurants": {"Cuisine": ["Thai"]}}}',
            ("source",),
            iterate_records("profiles"),
        ),
        Format(
            "tasks",
            gettext_noop("Tasks"),
            gettext_noop(
                "JSONL, one task on each line. Needed: id, description. Optional: intent, goal, domains, "
                "preference_types."
            ),
            '{"id": "t1", "description": "The user wants a table for two.", "domains": ["Restaurants"]}',
            ("source",),
            iterate_records("tasks"),
        ),
        Format(
            "scenarios",
            gettext_noop("Scenarios"),
            gettext_noop(
                "JSONL, one on each line: who has which task. Needed: profile_id, task_id. Optional: situation."
            ),
            '{"profile_id": "p1", "task_id": "t1", "situation": {"Location": "at home"}}',
            ("source",),
            drop_project(records.load_scenarios),
        ),
        Format(
            "ratings",
            gettext_noop("People's ratings"),
            gettext_noop(
                "CSV, one label on each line, with the columns item, rater, value, and criterion where the study has "
                "several. Optional: reason (why there is no value), order (AB or BA, as it was shown)."
            ),
            "item,rater,criterion,value",
            ("study",),
            ratings.load,
        ),
        Format(
            "judgments",
            gettext_noop("A judge's ratings"),
            gettext_noop(
                "CSV, one label on each line, with the columns item, value, and criterion where the study has several. "
                "Optional: reason, order (AB or BA), repeat (1, 2, …), explanation. An empty value counts as unscored."
            ),
            "item,criterion,value,reason",
            ("study", "judge"),
            judge_ratings.load,
        ),
        *(find_chat_format(one) for one in CHAT_FORMATS.values()),
        *(find_exchange_format(key) for key in ELSEWHERE),
        Format(
            "benchmark",
            gettext_noop("Benchmark"),
            gettext_noop(
                "A ZIP file of a benchmark that Concord released, or of a folder in PersonaFeedback's layout."
            ),
            "general/easy.jsonl, general/hard.jsonl, persona/…",
            ("benchmark",),
            import_benchmark,
            folder=True,
            group=DATASETS,
        ),
        Format(
            "personalens",
            "PersonaLens",
            gettext_noop("A ZIP file of PersonaLens' folder: profiles, tasks and scenarios."),
            "profile/user0/profile.json, profile/user0/tasks.json, task/Flights/task.jsonl, …",
            (),
            import_folder(personalens.load),
            folder=True,
            group=DATASETS,
        ),
        Format(
            "pandalm",
            "PandaLM",
            gettext_noop(
                "A ZIP file of PandaLM's test set with the files of its two judges: it becomes the closed study "
                "PandaLM."
            ),
            "testset-v1.json, gpt-3.5-turbo-testset-v1.json, pandalm-7b-testset-v1.json",
            (),
            import_folder(pandalm.load),
            folder=True,
            group=DATASETS,
        ),
        Format(
            TABLE,
            gettext_noop("Any table, by a mapping"),
            gettext_noop(
                "CSV, TSV, Excel, JSON, JSON Lines, Parquet. The mapping says which column is what: its JSON, or "
                "its name."
            ),
            '{"kind": "pairs", "columns": {"question": "prompt", "response_1": "a", "response_2": "b"}}',
            ("mapping",),
            import_table,
            optional=("source", "study", "judge"),
        ),
    )
}
