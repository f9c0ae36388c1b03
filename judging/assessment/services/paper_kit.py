"""What a paper needs of a study in one archive: the report in all its formats, figures, tables and references."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from core.charts import Spec
from core.csv_files import csv_text
from core.files.writing import Member, write_zip
from core.typesetting import set_pdf
from judging.assessment import calibration_charts, charts, latex, typst_report
from judging.assessment.report_tables import list_tables
from judging.assessment.report_types import ReportDocument, ReportJudgeDocument, ReportPeopleDocument

README = """The report of {study}, computed {at} by Concord {version}.

report.pdf      to read and print; its first page is the summary
report.html     the same on one page, with every table
report.json     all figures with their intervals, numbers of items and reasons
report.tex      compiles by itself: pdflatex, bibtex, pdflatex, pdflatex
tables.tex      methods and tables for \\input into a paper of any class; needs booktabs and array
references.bib  what the methods cite
methods.txt     the methods paragraph
figures/        each figure as PDF, SVG, PNG, and the numbers that it shows as CSV
tables/         each table as CSV
"""


@dataclass(frozen=True)
class ReportFigure:
    """A figure of a report: the name of its files, its caption, and how it is drawn."""

    name: str
    caption: str
    spec: Callable[..., Spec]
    rows: object

    def write(self, ending: str) -> bytes:
        """Its file of this ending, one of `charts.FIGURES`."""
        drawn = charts.FIGURES[ending](self.spec, self.rows, charts.FILE)
        return drawn.encode() if isinstance(drawn, str) else drawn


def list_figures(document: ReportDocument) -> list[ReportFigure]:
    """The figures of a report: agreement of people and judges, tiers, then each judge's calibration by criterion."""
    return [*_agreement(document), *_tiers(document), *_calibrations(document)]


def _agreement(document: ReportDocument) -> Iterator[ReportFigure]:
    who = "annotators" if document["raters"]["people"] else "simulated annotators"
    rows = [_forest_rows(key, found, who, document["judges"]) for key, found in document["people"].items()]
    if rows:
        yield ReportFigure("agreement", "Agreement by criterion; the band is the human ceiling.", charts.forest, rows)


def _forest_rows(
    key: str, found: ReportPeopleDocument, who: str, judges: Mapping[str, ReportJudgeDocument]
) -> charts.Rows:
    verdicts = {
        charts.name_judge(name, one["kind"]): one["verdicts"][key]
        for name, one in judges.items()
        if key in one["verdicts"]
    }
    people = charts.Mark.from_estimate(who, "people", found["coefficients"][found["headline"]["people"]])
    marks = [charts.Mark.from_estimate(name, "judge", one["kappa"]) for name, one in verdicts.items()]
    ceilings = [(one["human_ceiling"]["low"], one["human_ceiling"]["high"]) for one in verdicts.values()]
    known = [(low, high) for low, high in ceilings if low is not None and high is not None]
    return charts.Rows(found["name"], [people, *marks], known[0] if known else None)


def _tiers(document: ReportDocument) -> Iterator[ReportFigure]:
    counts = [(found["name"], found["expected_counts"]) for found in document["difficulty"].values() if found["method"]]
    if counts:
        yield ReportFigure("tiers", "Expected share of items by tier.", charts.tier_bars, counts)


def _calibrations(document: ReportDocument) -> Iterator[ReportFigure]:
    for judge, one in document["judges"].items():
        for key, found in one["calibration"]["criteria"].items():
            for plot in calibration_charts.PLOTS.values():
                if rows := plot.rows(found):
                    name = re.sub(r"[^a-zA-Z0-9]+", "-", f"{judge}-{key}-{plot.key}").strip("-").lower()
                    yield ReportFigure(name, f"{found['name']}, {judge}. {plot.caption}", plot.spec, rows)


@dataclass(frozen=True)
class PaperKit:
    """Everything of one report, each file made when it is asked for."""

    document: ReportDocument

    @cached_property
    def figures(self) -> list[ReportFigure]:
        """The figures, in the order of the report."""
        return list_figures(self.document)

    @cached_property
    def captions(self) -> list[tuple[str, str]]:
        """By figure its name and its caption."""
        return [(one.name, one.caption) for one in self.figures]

    def write_pdf(self) -> bytes:
        """The report as PDF, its summary on the first page."""
        drawn = {f"figures/{one.name}.pdf": one.write("pdf") for one in self.figures}
        return set_pdf(typst_report.write(self.document, self.captions), drawn)

    def write_bibtex(self) -> str:
        """What the methods cite."""
        methods = self.document["methods"]
        return latex.write_bibtex(zip(methods["keys"], methods["references"], strict=True))

    def write_archive(self, html: str, json: str) -> bytes:
        """All of it in one ZIP archive."""
        return b"".join(write_zip(self.list_files(html, json)))

    def list_files(self, html: str, json: str) -> Iterator[Member]:
        """All files, with their names in the archive."""
        study = self.document["study"]["name"]
        about = README.format(study=study, at=self.document["generated_at"], version=self.document["code_version"])
        texts = {
            "README.txt": about,
            "report.html": html,
            "report.json": json,
            "report.tex": latex.write_document(self.document, self.captions),
            "tables.tex": latex.report(self.document),
            "references.bib": self.write_bibtex(),
            "methods.txt": self.document["methods"]["text"] + "\n",
            **{f"tables/{one.label}.csv": csv_text([one.header, *one.rows]) for one in list_tables(self.document)},
        }
        yield "report.pdf", [self.write_pdf()]
        yield from ((name, [text.encode()]) for name, text in texts.items())
        for one in self.figures:
            yield from ((f"figures/{one.name}.{ending}", [one.write(ending)]) for ending in charts.FIGURES)
