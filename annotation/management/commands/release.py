"""`manage.py release`: release a benchmark, and write it to a folder."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandParser

from annotation.benchmarks.queries import benchmarks
from annotation.benchmarks.services import releasing, versions
from annotation.management.base import ConcordCommand, Listing
from core.files.writing import output_path, refuse_stdout


class Command(ConcordCommand):
    help = (
        "Release a benchmark, so that it does not change any more, and with -o write it to a folder: PersonaFeedback's "
        "layout ({kind}/{tier}.jsonl and persona/) with votes and kappa, Parquet, a Hugging Face card, a datasheet. "
        "import_benchmark reads it back."
    )
    example = "release trips-1 -o trips-1/"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="its address, or its name for the newest version")
        parser.add_argument("-o", "--output", type=output_path, metavar="FOLDER", help="a new or an empty folder")

    def run(self, *, benchmark: str, output: Path | None, **_: object) -> dict[str, object]:
        refuse_stdout(output, "folder")
        found = benchmarks.find_benchmark(benchmark)
        if not found.is_released:
            found = versions.release(by=None, benchmark=found)
        document: dict[str, object] = {**benchmarks.row(found).to_json()}
        if output:
            manifest = releasing.write(benchmark=found, folder=output)
            document |= {"folder": str(output), "files": manifest["cases"], "digest": manifest["digest"]}
        return document

    def tell(self, *, slug: str, counting: int, folder: str = "", files: Listing = (), **_: object) -> None:
        self.stdout.write(f"{slug} is released: {counting} cases.")
        for file in files:
            self.stdout.write(f"  {folder}/{file['path']}: {file['records']}")
