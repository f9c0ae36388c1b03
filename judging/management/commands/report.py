"""`report`: a study's report as one file."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.studies.queries.studies import study_called
from core.files.writing import output_path, write_file
from judging.assessment.agreement_types import LeftOutDocument
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.report_types import ReportRulesDocument
from judging.assessment.services import report
from judging.management.commands.audit import add_rules, parse_rules, rule_changes
from judging.management.commands.calibrate import list_left_out


class WrittenReportDocument(TypedDict):
    """The file of a report, the decisions by judge, and how far these go."""

    study: str
    file: str
    judges: dict[str, str | None]
    left_out: list[LeftOutDocument]
    rules_on_record: ReportRulesDocument


class Command(ConcordCommand[WrittenReportDocument]):
    help = "The report of a study: one archive for a paper (zip), PDF, HTML, LaTeX tables, BibTeX or JSON."
    example = "report --study PandaLM --format html -o pandalm.html"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or slug")
        parser.add_argument("--format", choices=list(report.FORMATS), default="html", help="of the file (html)")
        parser.add_argument(
            "-o", "--output", type=output_path, required=True, metavar="FILE", help="where to; - is standard output"
        )
        add_rules(parser)

    def run(
        self, *, study: str, format: str, output: Path, rule: list[tuple[str, str]], reason: str, **_: object
    ) -> WrittenReportDocument:
        evidence = StudyData.load(study_called(study))
        parse_rules(evidence.study, rule, reason)
        document = report.build_report(by=None, evidence=evidence)
        written = report.FORMATS[format][1](document)
        write_file(output, written if isinstance(written, bytes) else written.encode())
        return {
            "study": document["study"]["name"],
            "file": str(output),
            "judges": {name: found["decision"] for name, found in document["judges"].items()},
            "left_out": document["left_out"],
            "rules_on_record": document["rules_on_record"],
        }

    def write_text(self, document: WrittenReportDocument) -> None:
        for name, decision in document["judges"].items():
            self.stdout.write(f"{name}: {decision}")
        self.stdout.write("".join(list_left_out(document["left_out"])), ending="")
        self.stdout.write("".join(rule_changes(document["rules_on_record"])), ending="")
        self.stdout.write(f"written: {document['file']}")
