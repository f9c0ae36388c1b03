"""`export`: the labels of a study as a file."""

from __future__ import annotations

from pathlib import Path
from typing import NotRequired, TypedDict

from django.core.management.base import CommandParser

from annotation.agreement.services import exports as files, rewrites
from annotation.agreement.services.item_tiers import ItemTiers
from annotation.corpus.exchange.registry import EXCHANGES, exchange_named
from annotation.management.base import ConcordCommand
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Study
from annotation.studies.queries.labels import count_left_out
from annotation.studies.queries.studies import study_called
from core.errors import InputError
from core.files.writing import output_path, refuse_stdout
from core.read_snapshot import read_snapshot
from judging.assessment.services import rules
from judging.runs.services import exports, hf_dataset, tool_files

NO_LABELS = "There are no labels yet: the file has no rows. --format hf writes the items, with labels or without."
"""Said on stderr. A row is a label; items without one would be read as answers that are missing."""


KNOWN = (*files.FORMATS, hf_dataset.KEY, rewrites.KEY, *(key for key, one in EXCHANGES.items() if one.files))


class LabelsFileDocument(TypedDict):
    """Where labels were written, how many of whom, and how many were left out, by purpose."""

    study: str
    format: str
    path: str
    files: NotRequired[list[str]]
    people: int
    judges: int
    purposes: NotRequired[list[str]]
    not_shown_there: NotRequired[list[str]]
    left_out: dict[str, int]


class Command(ConcordCommand[LabelsFileDocument]):
    help = "Write all labels of a study, of people and of judges, one row each. Whole file or none."
    example = "export --study PandaLM --format csv -o pandalm.csv"
    exports = "labels"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or slug")
        parser.add_argument("--format", default="csv", help=f"one of {', '.join(KNOWN)}; other tools' make a folder")
        parser.add_argument(
            "--purposes",
            nargs="+",
            choices=Assignment.Purpose.values,
            default=["rating"],
            help="which answers of people: ratings alone by default, so that nothing else gets into an analysis",
        )
        parser.add_argument(
            "--tiers", action="store_true", help="fill the columns on each item's tier by the difficulty model"
        )
        parser.add_argument(
            "-o", "--output", required=True, type=output_path, metavar="PATH", help="where to; - is standard output"
        )

    def run(
        self, *, study: str, format: str, output: Path, purposes: list[str], tiers: bool, **_: object
    ) -> LabelsFileDocument:
        if format not in KNOWN:
            known = ", ".join(KNOWN)
            raise InputError("{format!r} is not one of {known}", field="format", format=format, known=known)
        if format not in files.FORMATS:
            if tiers:
                fit = ", ".join(files.FORMATS)
                raise InputError("goes with {formats}, not with {format}", field="tiers", formats=fit, format=format)
            return self.export_package(study, format, output)
        fmt = files.format_named(format)
        called = study_called(study)
        rules.lock_rules(by=None, study=called)
        known_tiers = ItemTiers.read(called, patient=True) if tiers else None
        labels = exports.load_labels(called, purposes, tiers=known_tiers)
        files.write(labels, fmt, output)
        if not labels:
            self.stderr.write(NO_LABELS)
        return {
            "study": called.name,
            "format": fmt.name,
            "path": str(output),
            "people": len(labels.people),
            "judges": len(labels.judges),
            "purposes": purposes,
            "left_out": count_left_out(called, purposes),
        }

    def export_package(self, name: str, format: str, output: Path) -> LabelsFileDocument:
        study = study_called(name)
        refuse_stdout(output, "folder")
        rules.lock_rules(by=None, study=study)
        unseen: list[str] = []
        if format == hf_dataset.KEY:
            written = hf_dataset.write(study, output)
        elif format == rewrites.KEY:
            written = write_rewrites(study, output)
        else:
            exchange = exchange_named(format, writing=True)
            written, unseen = tool_files.write(study, exchange, output), list(exchange.unseen)
        labels = exports.load_labels(study)
        return {
            "study": study.name,
            "format": format,
            "path": str(output),
            "files": [str(path) for path in written],
            "people": len(labels.people),
            "judges": len(labels.judges),
            "not_shown_there": unseen,
            "left_out": count_left_out(study),
        }

    def write_text(self, document: LabelsFileDocument) -> None:
        self.stdout.write(
            f"{document['people']} labels of people and {document['judges']} of judges written to {document['path']}"
        )
        if unseen := document.get("not_shown_there"):
            self.stdout.write(f"Carried for Concord, but not shown by the other tool: {', '.join(unseen)}.")
        for purpose, number in document["left_out"].items():
            self.stdout.write(f"Left out: {number} answers of purpose {purpose} (see --purposes).")


def write_rewrites(study: Study, folder: Path) -> list[Path]:
    """Write the files of rewrites. Raises InputError where the study asks for none."""
    if not rewrites.has_rewrites(study):
        raise InputError("{study} asks for no rewrites", field="format", study=study)
    with read_snapshot():
        return [tool_files.write_below(folder / name, pieces) for name, pieces in rewrites.members(study)]
