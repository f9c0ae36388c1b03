"""What the authors of PersonaLens printed, table by table, and how they set up their experiments: facts, cited. Pure.

Source: "PersonaLens: A Benchmark for Personalization Evaluation in Conversational AI Assistants" (2025),
arXiv 2506.09902. Task completion is printed in percent, and so it stands here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypedDict

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
    "table_1": (
        "Tasks and scenarios by domain, a task of several in each; from Sports on the printed scenarios slip by a row",
        ("domain", "tasks", "scenarios"),
        (
            ("Alarm", 8, 9630),
            ("Books", 9, 12706),
            ("Buses", 8, 1655),
            ("Calendar", 23, 24611),
            ("Events", 11, 13225),
            ("Finance", 7, 7066),
            ("Flights", 6, 3351),
            ("Games", 7, 5987),
            ("Hotels", 7, 5293),
            ("Media", 10, 12877),
            ("Messaging", 12, 12706),
            ("Movies", 7, 9473),
            ("Music", 8, 11888),
            ("Rental Cars", 5, 3017),
            ("Restaurants", 16, 18079),
            ("Services", 6, 6112),
            ("Shopping", 6, 9847),
            ("Sports", 7, 3464),
            ("Train", 7, 7029),
            ("Travel", 6, 1655),
        ),
    ),
    "table_5": (
        "100 dialogues, three people: mean Cohen kappa of the judge with each person, and Fleiss kappa of the people",
        ("criterion", "mean_cohen_kappa", "fleiss_kappa"),
        (
            ("task_completion", 0.78, 0.865),
            ("personalization", 0.52, 0.75),
            ("naturalness_user", 0.559, 0.682),
            ("naturalness_assistant", 0.61, 0.756),
            ("coherence_user", 0.738, 0.821),
            ("coherence_assistant", 0.65, 0.748),
        ),
    ),
    "table_6": (
        "Demographics of the 1,500 profiles",
        ("field", "value", "n", "percent"),
        (
            ("age", "25-34 years old", 454, 30.3),
            ("age", "18-24 years old", 297, 19.8),
            ("age", "35-44 years old", 237, 15.8),
            ("age", "45-54 years old", 208, 13.9),
            ("age", "55-64 years old", 197, 13.1),
            ("age", "65+ years old", 106, 7.1),
            ("age", "Prefer not to say", 1, 0.1),
            ("gender", "Male", 757, 50.5),
            ("gender", "Female", 718, 47.9),
            ("gender", "Non-binary / third gender", 21, 1.4),
            ("gender", "Prefer not to say", 4, 0.3),
            ("ethnicity", "White", 969, 64.6),
            ("ethnicity", "Black / African", 122, 8.1),
            ("ethnicity", "Hispanic / Latino", 121, 8.1),
            ("ethnicity", "Asian", 95, 6.3),
            ("ethnicity", "Mixed", 68, 4.5),
            ("ethnicity", "Middle Eastern / Arab", 14, 0.9),
            ("ethnicity", "Indigenous / First Peoples", 8, 0.5),
            ("ethnicity", "Other", 17, 1.1),
            ("ethnicity", "Prefer not to say", 86, 5.7),
            ("religion", "Non-religious", 762, 50.8),
            ("religion", "Christian", 487, 32.5),
            ("religion", "Agnostic", 71, 4.7),
            ("religion", "Jewish", 42, 2.8),
            ("religion", "Muslim", 31, 2.1),
            ("religion", "Spiritual", 18, 1.2),
            ("religion", "Buddhist", 12, 0.8),
            ("religion", "Folk religion", 6, 0.4),
            ("religion", "Hindu", 5, 0.3),
            ("religion", "Sikh", 3, 0.2),
            ("religion", "Other", 4, 0.3),
            ("religion", "Prefer not to say", 59, 3.9),
            ("employment_status", "Working full-time", 712, 47.5),
            ("employment_status", "Working part-time", 265, 17.7),
            ("employment_status", "Student", 191, 12.7),
            ("employment_status", "Unemployed, seeking work", 113, 7.5),
            ("employment_status", "Retired", 104, 6.9),
            ("employment_status", "Homemaker / Stay-at-home parent", 46, 3.1),
            ("employment_status", "Unemployed, not seeking work", 46, 3.1),
            ("employment_status", "Prefer not to say", 23, 1.5),
        ),
    ),
    "table_7": (
        "Demographics of the 1,500 profiles; not printed: which country makes the region",
        ("field", "value", "n", "percent"),
        (
            ("education", "University Bachelors Degree", 637, 42.5),
            ("education", "Graduate / Professional degree", 241, 16.1),
            ("education", "Some University but no degree", 236, 15.7),
            ("education", "Completed Secondary School", 209, 13.9),
            ("education", "Vocational", 125, 8.3),
            ("education", "Some Secondary", 24, 1.6),
            ("education", "Completed Primary School", 16, 1.1),
            ("education", "Some Primary", 3, 0.2),
            ("education", "Prefer not to say", 9, 0.6),
            ("marital_status", "Never been married", 870, 58.0),
            ("marital_status", "Married", 463, 30.9),
            ("marital_status", "Divorced / Separated", 123, 8.2),
            ("marital_status", "Widowed", 21, 1.4),
            ("marital_status", "Prefer not to say", 23, 1.5),
            ("english_proficiency", "Native speaker", 886, 59.1),
            ("english_proficiency", "Fluent", 405, 27.0),
            ("english_proficiency", "Advanced", 160, 10.7),
            ("english_proficiency", "Intermediate", 42, 2.8),
            ("english_proficiency", "Basic", 7, 0.5),
            ("region", "US", 338, 22.5),
            ("region", "Europe", 313, 20.9),
            ("region", "UK", 292, 19.5),
            ("region", "Latin America and the Caribbean", 146, 9.7),
            ("region", "Australia and New Zealand", 129, 8.6),
            ("region", "Africa", 118, 7.9),
            ("region", "Asia", 60, 4.0),
            ("region", "Northern America", 50, 3.3),
            ("region", "Middle East", 50, 3.3),
            ("region", "Oceania", 1, 0.1),
            ("region", "Prefer not to say", None, 0.2),
        ),
    ),
    "table_8": (
        "Evenness of preference types, 1,500 profiles; some of the rows",
        ("domain", "type", "is_categorical", "n_possible", "generated", "evenness"),
        (
            ("Alarm", "Alarm Time Preference", True, 48, 14, 0.72),
            ("Alarm", "Alarm Sound Preference", True, 4, 4, 0.65),
            ("Alarm", "Alarm Recurring Preference", True, 3, 3, 0.31),
            ("Books", "Genre", True, 11, 11, 0.85),
            ("Books", "Favourite Authors", False, None, 291, 0.78),
            ("Books", "Favourite Books", False, None, 571, 0.82),
            ("Books", "Favourite Book Series", False, None, 276, 0.76),
            ("Buses", "Departure Time Preference", True, 4, 4, 0.58),
            ("Calendar", "Event Type Preference", False, None, 189, 0.66),
            ("Calendar", "Notification Preference", True, 3, 3, 0.72),
            ("Events", "Event Type Preference", True, 32, 32, 0.84),
            ("Events", "Group Size Preference", True, 4, 4, 0.69),
            ("Events", "Days of Week Preference", True, 10, 4, 0.21),
            ("Finance", "News Sources", True, 14, 14, 0.78),
            ("Finance", "Financial Company", False, None, 748, 0.77),
            ("Flights", "Layover Preference", True, 3, 2, 1.0),
            ("Flights", "Departure Time Preference", True, 3, 3, 0.68),
            ("Games", "Gaming Platforms", True, 5, 5, 0.82),
            ("Games", "Multiplayer Preference", True, 3, 3, 0.81),
            ("Games", "Gaming Frequency", False, None, 67, 0.59),
            ("Hotels", "Hotel Chains Preference", True, 11, 11, 0.69),
            ("Hotels", "Amenity Preference", True, 30, 30, 0.69),
            ("Hotels", "Location Preference", True, 29, 28, 0.75),
            ("Media", "Favourite Actors and Directors", False, None, 401, 0.77),
            ("Media", "Favourite Media", False, None, 676, 0.81),
        ),
    ),
    "table_9": (
        "Evenness of preference types, 1,500 profiles; some of the rows",
        ("domain", "type", "is_categorical", "n_possible", "generated", "evenness"),
        (
            ("Messaging", "Communication Style", True, 4, 4, 0.13),
            ("Messaging", "Frequent Contact", False, None, 45, 0.55),
            ("Movies", "Favorite Actors and Directors", False, None, 348, 0.76),
            ("Music", "Favorite Artists", False, None, 742, 0.85),
            ("Music", "Favorite Bands", False, None, 616, 0.83),
            ("Music", "Favorite Albums", False, None, 1393, 0.87),
            ("Rental Cars", "Car Type Preference", True, 8, 8, 0.84),
            ("Rental Cars", "Additional Feature Preference", True, 9, 8, 0.85),
            ("Restaurants", "Cuisine Preference", True, 25, 25, 0.71),
            ("Restaurants", "Dietary Restrictions", True, 9, 9, 0.56),
            ("Restaurants", "Ambiance Preference", True, 4, 4, 0.52),
            ("Services", "Appointment Time Preference", True, 3, 3, 0.96),
            ("Services", "Location Preference", False, None, 93, 0.54),
            ("Shopping", "Brand Preference", False, None, 663, 0.79),
            ("Sports", "Favorite Sports", True, 35, 35, 0.74),
            ("Sports", "Favorite Team", False, None, 857, 0.85),
            ("Train", "Amenity Preference", True, 4, 4, 0.91),
            ("Travel", "Duration Preference", True, 5, 5, 0.58),
            ("Travel", "Group Size Preference", True, 4, 3, 0.88),
            ("Travel", "Frequent Travel Destination", False, None, 345, 0.79),
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


class PrintedTable(TypedDict):
    """A table as it is printed, its rows in the order of its columns."""

    caption: str
    columns: tuple[str, ...]
    rows: Rows
    source: str


def load_table(table: str) -> PrintedTable:
    """Return caption, columns, rows and source of a printed table such as `table_3`. KeyError for one not here."""
    caption, columns, rows = _TABLES[table]
    return {"caption": caption, "columns": columns, "rows": rows, "source": SOURCE}


def is_published(table: str) -> bool:
    """Return whether the numbers of a table are here. Those of Figures 4 and 5 cannot be read in the source."""
    return table in _TABLES


@dataclass(frozen=True, slots=True)
class Side:
    """A model's part: its name as printed, its temperature, and the most tokens of a reply."""

    models: tuple[str, ...]
    temperature: float
    max_tokens: int


USER = Side(("Claude 3 Sonnet",), 0.5, 800)
ASSISTANT = Side(tuple(row[0] for row in load_table("table_3")["rows"]), 0.0, 800)
JUDGE = Side(("Claude 3.5 Sonnet 20241022",), 0.0, 4000)
REPEATS = 1
TURN_LEVEL = "one call for all turns, each scored in sight of later ones"
STRATEGY = "vanilla"
CONDITIONS = ("vanilla", "base", "base+D", "base+I", "base+S", "base+all")
"""Of the ablation; all other results are of base."""

EXCHANGES = {"single": 20, "multi": 30}
USERS, SINGLE_SCENARIOS, MULTI_SCENARIOS = 50, 3283, 813
"""A sample of users, with all scenarios that their masks allow."""


def is_model(name: str, printed: str) -> bool:
    """Return whether a provider's name of a model, such as claude-3-sonnet-20240229, is of the one printed."""
    there, wanted = words(name), words(printed)
    return any(there[at : at + len(wanted)] == wanted for at in range(len(there)))


def words(name: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", name.lower())
