"""`measures`: who the users are, how evenly their preferences are spread, how varied the words of dialogues are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand, format_columns, format_estimate
from annotation.studies.queries.studies import study_called
from core.documents import Row
from core.errors import InputError
from core.files.writing import output_path, write_file
from simulation.results import charts
from simulation.results.measure_types import (
    AllMeasuresDocument,
    FigureDocument,
    MeasuresDocument,
    MeasureTableDocument,
    ProfileMeasuresDocument,
)
from simulation.results.services import measure_tables, measures
from simulation.results.services.measure_tables import KINDS, table_5


class Command(ConcordCommand[MeasureTableDocument | AllMeasuresDocument | FigureDocument]):
    help = (
        "Measure a source's profiles and dialogues: domains, demographics, evenness of preferences, variety of words. "
        "The tables and the figure are numbered as in PersonaLens (arXiv 2506.09902)."
    )
    example = "measures --source personalens --table 8 --published"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--source", default="", help="of profiles and of dialogues; by default the largest of each")
        part = parser.add_mutually_exclusive_group()
        part.add_argument("--table", choices=[*KINDS, "5"], help="only this table; 5, the human check, of --study")
        part.add_argument("--figure", choices=["3"], help="only this figure: demographics as bars, an SVG document")
        parser.add_argument("--study", metavar="NAME", help="of table 5: whose people and judges are compared")
        parser.add_argument("--published", action="store_true", help="the printed numbers beside them")
        parser.add_argument(
            "-o", "--output", type=output_path, help="where to write the figure; standard output by default"
        )

    def run(
        self, *, source: str, table: str | None, figure: str | None, study: str | None, published: bool,
        output: Path | None, **_: object,
    ) -> MeasureTableDocument | AllMeasuresDocument | FigureDocument:  # fmt: skip
        if (table == "5") != bool(study):
            raise InputError("Table 5 and --study belong together.", field="study")
        if output and not figure:
            raise InputError("Only a figure is written to a file: give --figure too.", field="output")
        if study:
            return table_5(by=None, study=study_called(study), with_published=published)
        kinds = [KINDS[table]] if table else ["profiles"] if figure else measures.KINDS
        found = {kind: load_measures(kind, source) for kind in kinds}
        check(found, source)
        if figure and (profiles := found["profiles"]) and "demographics" in profiles:
            return self.figure(profiles, output)
        numbers = [table] if table else list(KINDS)
        tables = [
            measure_tables.table(one, of, with_published=published) for one in numbers if (of := found[KINDS[one]])
        ]
        return tables[0] if table else document(found, tables)

    def figure(self, profiles: ProfileMeasuresDocument, output: Path | None) -> FigureDocument:
        fields = charts.figure_3(profiles["demographics"])
        if not fields:
            raise InputError(
                "The profiles of {profiles!r} have no demographics to draw.",
                field="figure",
                profiles=profiles["source"],
            )
        svg = charts.svg(charts.bars, fields, charts.FILE)
        if output:
            write_file(output, svg.encode())
        return {"figure": "3", "fields": fields, "svg": svg, "file": str(output) if output else None}

    def write_text(self, document: MeasureTableDocument | AllMeasuresDocument | FigureDocument) -> None:
        if "svg" in document:
            self.stdout.write(f"Wrote {document['file']}." if document["file"] else document["svg"])
            return
        for one in document["tables"].values() if "tables" in document else [document]:
            rows = format_columns(list(lines(one["rows"]))) or "  The source has nothing of this."
            self.stdout.write(f"Table {one['table']}. {one['caption']}\n{rows}\n")
            if "published" in one:
                self.stdout.write(f"  Published: {one['published']['source']}. {one['published']['caption']}.\n")
                self.stdout.write(format_columns(list(lines(one["published"]["others"]))))


def load_measures(kind: str, source: str) -> MeasuresDocument | None:
    """The measures of the source, by default the one with most; None where it has nothing of the kind."""
    there = dict(measures.KINDS[kind].sources())
    chosen = source or max(there, key=lambda name: there[name], default="")
    return measures.measures(kind, chosen, patient=True) if chosen in there else None


def check(found: Mapping[str, object], source: str) -> None:
    """Raise InputError where nothing was found."""
    if not any(found.values()):
        there = sorted({name for kind in found for name, _ in measures.KINDS[kind].sources()})
        kinds = " or ".join(found)
        named = f" of {source!r}" if source else ""
        raise InputError(
            "There are no {kinds}{named}; there are: {there}.",
            field="source",
            kinds=kinds,
            named=named,
            there=", ".join(there) or "none",
        )


def document(
    found: Mapping[str, MeasuresDocument | None], tables: Sequence[MeasureTableDocument]
) -> AllMeasuresDocument:
    """All measures, the tables by their numbers among them."""
    measured, spoken = found["profiles"], found["dialogues"]
    types = measured["preferences"] if measured and "preferences" in measured else []
    profiles, dialogues = dict(measured or {}), dict(spoken or {})
    return {
        "profiles": {name: profiles[name] for name in ("source", "profiles", "seed", "bootstrap") if profiles},
        "evenness": {f"{one['domain']} · {one['type']}": one for one in types},
        "dialogues": {name: value for name, value in dialogues.items() if name != "diversity"},
        "diversity": spoken["diversity"] if spoken and "diversity" in spoken else {},
        "tables": {one["table"]: one for one in tables},
    }


def lines(rows: Sequence[Row]) -> Iterator[list[str]]:
    """The names of the columns, and each row; printed numbers stand behind the own ones."""
    if not rows:
        return
    names = [name for name in rows[0] if name != "published"]
    printed = list(rows[0].get("published", ()))
    yield [name.replace("_", " ") for name in names] + [f"published {name}" for name in printed]
    for row in rows:
        yield [cell(row[name]) for name in names] + [cell(row["published"][name]) for name in printed]


def cell(value: object) -> str:
    if isinstance(value, Mapping):
        return format_estimate(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
