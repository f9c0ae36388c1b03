"""The folder that Concord writes for Hugging Face's `datasets`: items and labels as Parquet, and the study's head.

`data/items.parquet` has each item's record, `data/labels.parquet` a row for each answer, `study.json` what was asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from annotation.corpus.exchange.dataset import ExchangedAnswer, Naming, Package, Rated, Scale
from annotation.corpus.exchange.reading import collect_package
from annotation.corpus.formats.base import Row
from core.files.input_files import InputFile, Problems
from core.files.json_text import parse_json
from core.files.tables.arrow import read_json_file, read_parquet

ITEMS, LABELS, STUDY = "data/items.parquet", "data/labels.parquet", "study.json"
IMPORTED = "imported"
SAME = ("value", "order", "note", "strength", "active_seconds", "guideline_version")
"""Columns of a label that an answer has under the same name."""


def read(file: InputFile, problems: Problems, naming: Naming, known: Mapping[str, Scale]) -> Package:
    """The study in the folder. InputError names what is missing, or the item."""
    for name in (ITEMS, LABELS):
        if not (file.path / name).is_file():
            raise file.error("has no {name}; a folder that Concord wrote for Hugging Face is expected", name=name)
    answers = group_answers((row.values for row in read_parquet(file, file.path / LABELS)), naming)
    told = read_json_file(file, file.path / STUDY)
    rows = ((f"item {row.line}", row.values) for row in read_parquet(file, file.path / ITEMS))
    return collect_package(file, problems, rows, lambda one, _: to_rated(one, answers, told), known)


def to_rated(row: Row, answers: Mapping[tuple[str, str], list[ExchangedAnswer]], told: Mapping[str, object]) -> Rated:
    """An item with its answers; what the study asks stands with the first."""
    facts = {"position": row["position"], "stratum": row["stratum"], "inclusion": row["inclusion_probability"]}
    if told and row["position"] == 1:
        facts["study"] = told
    return Rated(parse_json(row["record"]), tuple(answers.get((row["item_source"], row["item_id"]), ())), facts)


def group_answers(labels: Iterable[Row], naming: Naming) -> dict[tuple[str, str], list[ExchangedAnswer]]:
    """The answers by source and id of their item. Those of excluded annotators do not count, and are left out."""
    found: dict[tuple[str, str], list[ExchangedAnswer]] = defaultdict(list)
    runs: dict[str, list[int]] = defaultdict(list)
    for row in labels:
        if not row["excluded"]:
            found[row["item_source"], row["item_id"]].append(to_answer(row, runs, naming))
    return found


def to_answer(row: Row, runs: dict[str, list[int]], naming: Naming) -> ExchangedAnswer:
    """A row as an answer; further runs of a judge get names of their own."""
    rater, run = str(row["rater"]), row["judge_run"]
    if run is not None and run not in runs[rater]:
        runs[rater].append(run)
    place = runs[rater].index(run) + 1 if run is not None else 1
    named = rater.rpartition("@")[0] or rater if str(row["rater_kind"]).startswith(IMPORTED) else rater
    told: dict[str, object] = {name: row[name] for name in SAME if row[name] is not None}
    return ExchangedAnswer.from_extras(
        {**told, "evidence": parse_json(row["evidence"]) if row["evidence"] else ()},
        rater=named if place == 1 else f"{named} (run {place})",
        criterion=row["criterion"],
        reason=row["unscored_reason"] or "",
        of_judge=run is not None or rater in naming.judges,
        turn=row["turn"] or 0,
        repeat=row["repeat"] or 1,
        submitted_at=row["submitted_at"] or "",
    )
