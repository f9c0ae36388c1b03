"""Measures of the datasets as the tables of PersonaLens (arXiv 2506.09902), with the printed numbers beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.documents import Row
from judging.assessment.agreement_types import CriterionAgreementDocument
from judging.assessment.options import JudgedOptions
from judging.assessment.services import agreement
from judging.assessment.services.agreement import StudyRatings
from simulation.results.measure_types import (
    DialogueMeasuresDocument,
    MeasuresDocument,
    MeasureTableDocument,
    ProfileMeasuresDocument,
)
from simulation.results.published import load_table

SECOND = {"education", "marital_status", "english_proficiency", "region"}
"""Fields of Table 7; all others stand in Table 6."""

FIRST_OF_TABLE_9 = "Messaging"
UNSAID = {"N/A": "Prefer not to say"}
"""How the data and the paper's tables spell the same value."""

CAPTIONS = {
    "1": "Tasks, and pairs of user and task, by domain; a task of several domains counts in each",
    "6": "Demographics of all profiles: counts and percent",
    "7": "Demographics of all profiles: counts and percent",
    "8": "Preference types: possible and generated values, and how evenly these are spread",
    "9": "Preference types: possible and generated values, and how evenly these are spread",
    "10": "How varied the words of dialogues are",
}


def domains(measures: ProfileMeasuresDocument) -> list[Row]:
    return [dict(one) for one in measures["domains"]]


def demographics(measures: ProfileMeasuresDocument, *, second: bool) -> list[Row]:
    return [
        {
            "field": one["field"],
            "value": share["value"],
            "n": share["n"],
            "percent": 100 * share["n"] / measures["profiles"],
        }
        for one in measures["demographics"]
        if (one["field"] in SECOND) is second
        for share in one["shares"]
    ]


def preferences(measures: ProfileMeasuresDocument, *, second: bool) -> list[Row]:
    names = ("domain", "type", "is_categorical", "n_possible", "generated", "n", "profiles", "occurring", "possible")
    kept: list[Mapping[str, object]] = [
        one for one in measures["preferences"] if (one["domain"] >= FIRST_OF_TABLE_9) is second
    ]
    return [{name: one[name] for name in names} for one in kept]


def diversity(measures: DialogueMeasuresDocument) -> list[Row]:
    return [
        {
            "side": side,
            "tasks": tasks,
            "dialogues": one["dialogues"],
            "words": one["pooled"]["n_tokens"],
            **{f"{name}_pooled": found for name, found in one["pooled"].items() if name in one["by_dialogue"]},
            **{f"{name}_by_dialogue": found for name, found in one["by_dialogue"].items()},
            "self_bleu": one["self_bleu"],
        }
        for side, by_tasks in measures["diversity"].items()
        for tasks, one in by_tasks.items()
    ]


PROFILE_ROWS: dict[str, Callable[[ProfileMeasuresDocument], list[Row]]] = {
    "1": domains,
    "6": lambda measures: demographics(measures, second=False),
    "7": lambda measures: demographics(measures, second=True),
    "8": lambda measures: preferences(measures, second=False),
    "9": lambda measures: preferences(measures, second=True),
}
KINDS = {**dict.fromkeys(PROFILE_ROWS, "profiles"), "10": "dialogues"}
"""What each table is of."""

KEYS = {
    "5": ("criterion",),
    "1": ("domain",),
    "6": ("field", "value"),
    "7": ("field", "value"),
    "8": ("domain", "type"),
    "9": ("domain", "type"),
}
"""The columns that a row has in common with a printed one. Rows of Table 10 are other datasets."""


def table(number: str, measures: MeasuresDocument, *, with_published: bool = False) -> MeasureTableDocument:
    """Make a table of measures."""
    rows = diversity(measures) if "diversity" in measures else PROFILE_ROWS[number](measures)
    found: MeasureTableDocument = {"table": number, "caption": CAPTIONS[number], "rows": rows}
    return add_printed_rows(number, found) if with_published else found


def add_printed_rows(number: str, table: MeasureTableDocument) -> MeasureTableDocument:
    """The table with what is printed beside each row, and the printed rows that have no like here."""
    printed, by_key = load_table(f"table_{number}"), load_printed_rows(number)
    keys = [build_key(number, row) for row in table["rows"]]
    rows = [
        {**row, **({"published": select_own_columns(number, by_key.get(key))} if key else {})}
        for key, row in zip(keys, table["rows"], strict=True)
    ]
    others = [row for key, row in by_key.items() if key not in keys]
    return {
        **table,
        "rows": rows,
        "published": {"source": printed["source"], "caption": printed["caption"], "others": others},
    }


def load_printed_rows(number: str) -> dict[tuple[str, ...], Row]:
    """The printed rows by what tells them apart."""
    printed = load_table(f"table_{number}")
    rows = [dict(zip(printed["columns"], values, strict=True)) for values in printed["rows"]]
    return {tuple(row[name] for name in KEYS.get(number, printed["columns"][:1])): row for row in rows}


def select_own_columns(number: str, row: Row | None) -> Row:
    """What a printed row says besides what tells it apart; None for each number that is not printed."""
    names = [name for name in load_table(f"table_{number}")["columns"] if name not in KEYS.get(number, ())]
    return {name: row[name] if row else None for name in names}


def build_key(number: str, row: Row) -> tuple[str, ...]:
    return tuple(UNSAID.get(str(row[name]), str(row[name])) for name in KEYS.get(number, ()))


HUMAN_CHECK = "Judge and people: mean of the judge's Cohen kappas with each person, and Fleiss kappa of the people"


def table_5(*, by: User | None, study: Study, with_published: bool = False) -> MeasureTableDocument:
    """Make the table of a study: a row for each criterion and judge, kappas unweighted as in the paper.

    Intervals and weights are those of the study's agreement: an item drawn with a smaller chance counts more.
    """
    options = JudgedOptions()
    run = agreement.load_or_compute(
        by=by, study=study, options=options, ratings=StudyRatings.from_options(study, options)
    )
    rows = [row for key, found in run.result["criteria"].items() for row in human_check_rows(key, found)]
    table: MeasureTableDocument = {"table": "5", "study": study.name, "caption": HUMAN_CHECK, "rows": rows}
    return add_printed_rows("5", table) if with_published else table


def human_check_rows(key: str, found: CriterionAgreementDocument) -> list[Row]:
    """A row for each judge; one without a judge where there is none."""
    people = {
        "items": found["n_items"],
        "raters": found["n_raters"],
        "fleiss_kappa": found["coefficients"]["fleiss_kappa"],
        "percent_agreement": found["coefficients"]["percent_agreement"],
    }
    judges: list[Row] = [
        {"judge": name, "mean_cohen_kappa": one["mean_cohen_kappa"]} for name, one in found["judges"].items()
    ]
    return [{"criterion": key, **one, **people} for one in judges or [{"judge": None, "mean_cohen_kappa": None}]]
