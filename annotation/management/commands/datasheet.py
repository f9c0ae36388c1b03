"""`manage.py datasheet`: what somebody must know who uses a benchmark."""

from __future__ import annotations

from django.core.management.base import CommandParser

from annotation.agreement.options import ResamplingOptions
from annotation.benchmarks.queries import benchmarks
from annotation.benchmarks.result_types import DatasheetDocument
from annotation.benchmarks.services import datasheets
from annotation.management.base import ConcordCommand
from core.options.fields import add_arguments, read_arguments


class Command(ConcordCommand[DatasheetDocument]):
    help = "The datasheet of a benchmark as Markdown, or with --json as data: raters, their agreement, tiers."
    example = "datasheet trips-1 > trips-1.md"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="its address, or its name for the newest version")
        add_arguments(parser, ResamplingOptions)

    def run(self, *, benchmark: str, **options: object) -> DatasheetDocument:
        asked = ResamplingOptions(**read_arguments(ResamplingOptions, options))
        found = benchmarks.find_benchmark(benchmark)
        return datasheets.datasheet(found, bootstrap=asked.bootstrap, seed=asked.seed)

    def write_text(self, document: DatasheetDocument) -> None:
        self.stdout.write(datasheets.to_markdown(document))
