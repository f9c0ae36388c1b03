"""`manage.py release`: release a benchmark, and write it to a folder."""

from __future__ import annotations

from pathlib import Path
from typing import final

from django.core.management.base import CommandParser

from annotation.benchmarks.queries import benchmarks
from annotation.benchmarks.result_types import BenchmarkDocument
from annotation.benchmarks.services import releasing, versions
from annotation.management.base import ConcordCommand, Listing
from core.files.writing import output_path, refuse_stdout


@final
class ReleaseDocument(BenchmarkDocument):
    """A release that was written nowhere."""


@final
class WrittenDocument(BenchmarkDocument):
    folder: str
    files: Listing
    digest: str


class Command(ConcordCommand[ReleaseDocument | WrittenDocument]):
    help = (
        "Release a benchmark, so that it does not change any more, and with -o write it to a folder: PersonaFeedback's "
        "layout ({kind}/{tier}.jsonl and persona/) with votes and kappa, Parquet, a Hugging Face card, a datasheet. "
        "import_benchmark reads it back."
    )
    example = "release trips-1 -o trips-1/"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="its address, or its name for the newest version")
        parser.add_argument("-o", "--output", type=output_path, metavar="FOLDER", help="a new or an empty folder")

    def run(self, *, benchmark: str, output: Path | None, **_: object) -> ReleaseDocument | WrittenDocument:
        refuse_stdout(output, "folder")
        found = benchmarks.find_benchmark(benchmark)
        if not found.is_released:
            found = versions.release(by=None, benchmark=found)
        document = benchmarks.row(found).to_json()
        if output is None:
            return document
        written = releasing.write(benchmark=found, folder=output)
        return {**document, "folder": str(output), "files": written["cases"], "digest": written["digest"]}

    def write_text(self, document: ReleaseDocument | WrittenDocument) -> None:
        self.stdout.write(f"{document['slug']} is released: {document['counting']} cases.")
        if "files" in document:
            for file in document["files"]:
                self.stdout.write(f"  {document['folder']}/{file['path']}: {file['records']}")
