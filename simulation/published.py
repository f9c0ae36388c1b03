"""The numbers that the authors of PersonaLens printed, table by table, as facts with their citation. Pure.

Source: "PersonaLens: A Benchmark for Personalization Evaluation in Conversational AI Assistants" (2025),
arXiv 2506.09902. Task completion is printed in percent, and so it stands here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

SOURCE = "PersonaLens, arXiv 2506.09902"

Rows = tuple[tuple[Any, ...], ...]

_BY_TASKS = ("task_completion", "personalization", "naturalness_assistant", "coherence_assistant")

_TABLES: dict[str, tuple[str, tuple[str, ...], Rows]] = {
    "table_3": (
        "Assistants in the base condition, 50 users, tasks of one (sd) and of several (md) domains",
        ("assistant", *(f"{tasks}_{name}" for tasks in ("sd", "md") for name in _BY_TASKS)),
        (
            ("Claude 3 Haiku", 95.95, 2.20, 3.77, 4.62, 75.65, 1.98, 3.78, 4.66),
            ("Claude 3.5 Haiku", 91.53, 2.32, 4.01, 4.86, 70.85, 2.18, 4.08, 4.88),
            ("Claude 3 Sonnet", 95.98, 2.13, 3.86, 4.71, 77.49, 2.01, 3.84, 4.79),
            ("Llama 3.1 8B Instruct", 89.55, 2.14, 3.90, 4.68, 77.00, 2.03, 3.64, 4.33),
            ("Llama 3.1 70B Instruct", 90.80, 2.21, 4.11, 4.86, 83.03, 2.22, 4.02, 4.89),
            ("Mistral 7B Instruct", 88.52, 1.93, 3.49, 4.38, 74.54, 1.86, 3.18, 4.07),
            ("Mixtral 8x7B Instruct", 91.38, 2.04, 3.88, 4.76, 78.35, 2.00, 3.77, 4.67),
        ),
    ),
    "table_4": (
        "Conditions, assistant Claude 3 Sonnet, tasks of one (sd) and of several (md) domains",
        ("condition", *(f"{tasks}_{name}" for tasks in ("sd", "md") for name in _BY_TASKS[:2])),
        (
            ("vanilla", 92.93, 2.16, 75.40, 2.08),
            ("base", 95.98, 2.13, 77.49, 2.01),
            ("base+D", 95.52, 2.16, 77.86, 2.05),
            ("base+I", 96.83, 2.59, 81.30, 2.32),
            ("base+S", 95.74, 2.20, 77.61, 2.06),
            ("base+all", 96.31, 2.57, 82.66, 2.31),
        ),
    ),
    "table_10": (
        "Diversity of dialogue sets; not printed: speakers, tokenizer, base of the logarithm, pooled or by dialogue",
        ("dataset", "dialogues", "dist_1", "dist_2", "ent_4", "self_bleu"),
        (
            ("SGD", 16142, 0.179, 0.538, 8.311, 0.964),
            ("M2M", 3008, 0.057, 0.290, 7.922, 0.955),
            ("PersonaChatGen", 1649, 0.165, 0.523, 8.261, 0.970),
            ("Taskmaster-1", 7708, 0.207, 0.644, 8.384, 0.949),
            ("MultiWOZ", 8438, 0.158, 0.505, 8.345, 0.966),
            ("CCPE-M", 502, 0.175, 0.571, 8.414, 0.961),
            ("MG-ShopDial", 64, 0.234, 0.653, 8.199, 0.935),
            ("LAPS", 1406, 0.227, 0.676, 8.597, 0.952),
            ("PersonaLens - SD", 98115, 0.362, 0.805, 8.725, 0.905),
            ("PersonaLens - MD", 24018, 0.333, 0.781, 8.720, 0.911),
        ),
    ),
    "table_12": (
        "The user agent (Claude 3 Sonnet) with each assistant, tasks of one domain",
        ("assistant", "sd_naturalness_user", "sd_coherence_user"),
        (
            ("Claude 3 Haiku", 4.17, 4.77),
            ("Claude 3.5 Haiku", 4.45, 4.85),
            ("Claude 3 Sonnet", 4.12, 4.72),
            ("Llama 3.1 8B Instruct", 4.43, 4.91),
            ("Llama 3.1 70B Instruct", 4.53, 4.91),
            ("Mistral 7B Instruct", 4.33, 4.81),
            ("Mixtral 8x7B Instruct", 4.49, 4.87),
        ),
    ),
    "table_13": (
        "Size of the dialogues of 50 users, assistant Claude 3 Sonnet; not printed: whether a turn is a message",
        ("metric", "sd", "md"),
        (
            ("dialogues", 3283, 813),
            ("turns_per_dialogue", 4.74, 5.64),
            ("tokens_per_turn", 149.87, 149.32),
        ),
    ),
}


def published(table: str) -> Mapping[str, Any]:
    """Return caption, columns, rows and source of a printed table such as `table_3`. KeyError for one not here."""
    caption, columns, rows = _TABLES[table]
    return MappingProxyType({"caption": caption, "columns": columns, "rows": rows, "source": SOURCE})


def is_published(table: str) -> bool:
    """Whether the numbers of a table are here. Those of Figures 4 and 5 cannot be read in the source."""
    return table in _TABLES
