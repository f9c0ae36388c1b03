"""A study as a folder that Hugging Face's `datasets` loads: a card, items and labels as Parquet, and what was asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from annotation.agreement.services import rewrites
from annotation.agreement.services.exports import FORMATS
from annotation.benchmarks.services import datasheets
from annotation.corpus.exchange.hf_folder import STUDY
from annotation.corpus.exchange.registry import EXCHANGES, Exchange
from annotation.studies.models.studies import Item, Study
from annotation.studies.queries.exchange import build_head, build_record, iterate_items, to_document
from core.files.writing import Member, load_arrow, move_below, table_pieces
from core.read_snapshot import read_snapshot
from judging.runs.services import exports, tool_files
from judging.runs.services.tool_files import write_below

KEY, TITLE = "hf", "Hugging Face dataset"
ITEMS = [
    ("item_id", "string"),
    ("item_source", "string"),
    ("position", "int64"),
    ("stratum", "string"),
    ("inclusion_probability", "float64"),
    ("record", "string"),
]
"""`record` is the dialogue or pair as a line of Concord's own JSONL."""


def members(study: Study) -> Iterator[Member]:
    """The files of the folder. Raises InputError, before the first is asked for, without pyarrow."""
    load_arrow()
    return _members(study)


def _members(study: Study) -> Iterator[Member]:
    labels = exports.load_labels(study)
    yield "data/items.parquet", table_pieces(map(build_row, iterate_items(study)), ITEMS)
    yield "data/labels.parquet", FORMATS["parquet"].pieces(labels)
    yield STUDY, [json.dumps(to_document(build_head(study)), ensure_ascii=False).encode()]
    yield "README.md", [card(study, study.items.count(), len(labels.people), len(labels.judges)).encode()]


def list_tools(study: Study) -> list[Exchange]:
    """The tools that can hold the study: its kind of items, and of responses two an item."""
    tools = [one for one in EXCHANGES.values() if one.files and study.kind in one.kinds]
    return [] if tool_files.has_other_than_pairs(study) else tools


def package(study: Study, tool: str) -> Iterator[Member] | None:
    """The files for that tool, in a folder that names study and tool; None where studies of that kind have none."""
    exchange = next((one for one in list_tools(study) if one.key == tool), None)
    if tool == KEY:
        found = members(study)
    elif tool == rewrites.KEY and rewrites.has_rewrites(study):
        found = rewrites.members(study)
    elif exchange is not None:
        found = tool_files.members(study, exchange)
    else:
        return None
    return move_below(f"{study.slug}-{tool}", found)


def write(study: Study, folder: Path) -> list[Path]:
    """Write the folder, each file as a whole or not at all. Raises InputError where that cannot be written."""
    with read_snapshot():
        return [write_below(folder / name, pieces) for name, pieces in members(study)]


def build_row(item: Item) -> tuple[object, ...]:
    """A row of `ITEMS`."""
    record = build_record(item)
    told = json.dumps(record, ensure_ascii=False)
    return record["id"], record["source"], item.position, item.stratum, item.inclusion_probability, told


def card(study: Study, n_items: int, n_people: int, n_judges: int) -> str:
    """The dataset's card, whose head names the two tables."""
    head = build_head(study)
    scales = [
        (scale.key, scale.question, scale.level, ", ".join(scale.values) or "any number", scale.unit)
        for scale in head.scales
    ]
    lines = [
        "---",
        "configs:",
        "- config_name: labels",
        "  data_files: data/labels.parquet",
        "  default: true",
        "- config_name: items",
        "  data_files: data/items.parquet",
        f"pretty_name: {json.dumps(head.name, ensure_ascii=False)}",
        "---",
        "",
        f"# {head.name}",
        "",
        head.description or "No description was given.",
        "",
        f"{n_items:,} items; {n_people:,} labels of people and {n_judges:,} of judges. `labels` has one row for each",
        "answer of one rater to one criterion; `item_id` and `item_source` name the item, whose text is in `items`.",
        "A rater whose `excluded` is true does not count in the study's figures. `rater_kind` tells people, imported",
        "and simulated annotators, judges and baselines apart. No licence is stated here: add that of the material.",
        "",
        datasheets.rows(("criterion", "question", "level", "values", "asked of"), scales),
    ]
    return "\n".join(lines) + "\n"
