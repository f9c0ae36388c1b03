"""`experiment_results`: every table and figure of an experiment, under the numbers of PersonaLens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from django.core.management.base import CommandParser

from annotation.agreement.options import IntervalOptions
from annotation.management.base import ConcordCommand, format_columns
from core.csv_files import csv_text
from core.errors import InputError
from core.files.writing import output_path, write_file
from core.options.fields import add_arguments, read_arguments
from judging.judges.models import Judge
from simulation.experiments.models import Experiment
from simulation.experiments.queries import experiment_called
from simulation.results.queries.judgments import list_experiment_judges
from simulation.results.result_types import (
    ExperimentDocument,
    RanksDocument,
    SettingsDocument,
    TableDocument,
    TableFigure,
)
from simulation.results.services import differences, results
from simulation.results.services.data import Filters
from simulation.results.services.published_rows import add_published
from simulation.results.services.ranks import rank_document
from simulation.results.services.sheet import NUMBERS


class Command(ConcordCommand[ExperimentDocument | RanksDocument | SettingsDocument]):
    help = (
        "Print what an experiment found: tables 3, 4, 10, 12, 13 and figures 4 and 5 of PersonaLens, differences "
        "within scenario, persona drift, and how dialogues went. Intervals resample profiles. The same dialogues and "
        "verdicts are computed once."
    )
    example = "experiment_results 'First trial' --table 3 --condition base --published --json"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the experiment's name or number")
        parser.add_argument("--table", type=int, metavar="N", help="only this table of the paper: 3, 4, 10, 12 or 13")
        parser.add_argument("--figure", type=int, metavar="N", help="only this figure of the paper: 4 or 5")
        parser.add_argument("--differences", action="store_true", help="only differences within the same scenario")
        parser.add_argument(
            "--against-paper", action="store_true", help="only the settings beside those of PersonaLens: what differs"
        )
        parser.add_argument("--judge", default="", metavar="NAME", help="whose verdicts (the judge that said most)")
        parser.add_argument("--assistant", default="", metavar="NAME", help="only dialogues with this assistant")
        parser.add_argument("--condition", default="", metavar="KEY", help="only dialogues under this condition")
        parser.add_argument(
            "--tasks", default="", choices=["single", "multi"], help="tasks of one domain or of several"
        )
        parser.add_argument("--domain", default="", help="only tasks that are about this domain")
        parser.add_argument("--turn", type=int, metavar="N", help="verdicts on this reply of the assistant, from 1")
        parser.add_argument("--published", action="store_true", help="the numbers that PersonaLens printed, beside")
        parser.add_argument("--against", default="", metavar="NAME", help="changes of rank in another experiment")
        parser.add_argument("--against-judge", default="", metavar="NAME", help="changes of rank by another judge")
        add_arguments(parser, IntervalOptions)
        parser.add_argument("--csv", action="store_true", help="a row for each figure, as CSV")
        parser.add_argument("-o", "--output", type=output_path, metavar="FILE", help="write the CSV there")

    def run(
        self, *, name: str, judge: str, against: str, against_judge: str, against_paper: bool, published: bool,
        csv: bool, output: Path | None, **options: object,
    ) -> ExperimentDocument | RanksDocument | SettingsDocument:  # fmt: skip
        experiment = experiment_called(name)
        if against_paper:
            if csv or output:
                raise InputError("Settings are not figures: print them, or take --json.", field="against_paper")
            return differences.document(experiment)
        asked = results.judge_called(list_experiment_judges(experiment), judge)
        filters = Filters.parse(options)
        chosen = IntervalOptions(**read_arguments(IntervalOptions, options))
        if against or against_judge:
            other = choose_compared(experiment, against, against_judge)
            ranks = rank_document((experiment, asked), other, chosen, filters)
            return {**ranks, "tables": {key: ranks["tables"][key] for key in choose_tables(ranks, options)}}
        found = results.load_or_compute(experiment, asked, chosen, filters, patient=True)
        if not found or not found["dialogues"]:
            raise InputError("No dialogue of {experiment} has ended yet.", field="name", experiment=experiment)
        shown = add_published(found) if published else found
        tables = {key: shown["tables"][key] for key in choose_tables(shown, options)}
        numbers = {number: key for number, key in shown["numbers"].items() if key in tables}
        return {**shown, "tables": tables, "numbers": numbers}

    def write_document(
        self, document: ExperimentDocument | RanksDocument | SettingsDocument, **options: object
    ) -> None:
        output = options["output"]
        if "settings" in document or not (options["csv"] or output):
            super().write_document(document, **options)
            return
        table = csv_text(results.csv_rows(document))
        if isinstance(output, Path):
            write_file(output, table.encode())
            self.stderr.write(f"Written: {output}")
        else:
            self.stdout.write(table, ending="")

    def write_text(self, document: ExperimentDocument | RanksDocument | SettingsDocument) -> None:
        if "settings" in document:
            self.write_settings(document)
            return
        self.stdout.write(
            f"{document['name']}: {document['dialogues']:,} dialogues ended, {document['regular']:,} of them normally. "
            f"Judge: {document['judge'] or 'none yet'}."
        )
        for table in document["tables"].values():
            number = f"{table['number']}. " if table["number"] else ""
            self.stdout.write(f"\n{number}{table['title']}" + (f" ({table['note']})" if table["note"] else ""))
            self.stdout.write(format_columns(list(lines(table)), indent=""))

    def write_settings(self, document: SettingsDocument) -> None:
        for line in document["warnings"]:
            self.stdout.write(f"Warning: {line}")
        words = {True: "yes", False: "no", None: "not known"}
        rows = [[one["setting"], one["paper"], one["here"], words[one["same"]]] for one in document["settings"]]
        self.stdout.write(format_columns([["Setting", "Paper", "Here", "Same"], *rows], indent=""))


def choose_compared(experiment: Experiment, against: str, judge: str) -> tuple[Experiment, Judge | None]:
    """The other experiment, or the same one, and its judge: the one that is named, else the one that said most."""
    other = experiment_called(against) if against else experiment
    return other, results.judge_called(list_experiment_judges(other), judge)


def choose_tables(document: ExperimentDocument | RanksDocument, options: Mapping[str, object]) -> list[str]:
    """The keys of the tables that are asked for, all where none is. Raises InputError for one that is not there."""
    asked = [
        *([("table", f"Table {options['table']}")] if options["table"] is not None else []),
        *([("figure", f"Figure {options['figure']}")] if options["figure"] is not None else []),
    ]
    for field, number in asked:
        if number not in NUMBERS.values():
            there = ", ".join(NUMBERS.values())
            raise InputError(
                "{number} is not a result of an experiment; there are: {there}.",
                field=field,
                number=number,
                there=there,
            )
        if number not in document["numbers"]:
            raise InputError(
                "{number} is empty: {explain_empty}.", field=field, number=number, explain_empty=explain_empty(document)
            )
    found = [document["numbers"][number] for _, number in asked]
    if options["differences"]:
        if "turns" not in document:
            raise InputError("Differences and changes of rank are asked for apart.", field="differences")
        if "differences" not in document["tables"]:
            raise InputError("There are no two conditions or assistants with verdicts to compare.", field="differences")
        found.append("differences")
    return found or list(document["tables"])


def explain_empty(document: ExperimentDocument | RanksDocument) -> str:
    if "turns" not in document:
        return "no two of its rows are in both"
    if document["judge"] is None:
        return "no judge has rated these dialogues"
    return "a judge has to rate single turns for it" if not document["turns"] else "no dialogue is left by the filters"


def lines(table: TableDocument) -> Iterable[list[str]]:
    """Head and rows of a table as texts."""
    yield [*([table["group"]] if table["group"] else []), table["row"], *(one["name"] for one in table["columns"])]
    for row in table["rows"]:
        cells = [to_words(row["cells"][one["key"]], one["digits"]) for one in table["columns"]]
        yield [*([row["group"]] if table["group"] else []), row["name"], *cells]


def to_words(cell: TableFigure, digits: int) -> str:
    """A figure with its interval and how many dialogues it rests on; a dash where it is not defined."""
    if cell["value"] is None:
        return "-"
    ends = "" if cell["low"] is None else f" [{cell['low']:.{digits}f}, {cell['high']:.{digits}f}]"
    return f"{cell['value']:.{digits}f}{ends}" + (f" n={cell['n_items']}" if cell["n_items"] is not None else "")
