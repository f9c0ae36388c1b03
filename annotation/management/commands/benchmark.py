"""`manage.py benchmark`: the benchmarks that there are, and one of them."""

from __future__ import annotations

from typing import TypedDict, final

from django.core.management.base import CommandParser

from annotation.benchmarks.queries import benchmarks
from annotation.benchmarks.result_types import BenchmarkDocument
from annotation.management.base import ConcordCommand, format_columns


@final
class BenchmarksDocument(TypedDict):
    benchmarks: list[BenchmarkDocument]


class Command(ConcordCommand[BenchmarkDocument | BenchmarksDocument]):
    help = "List the benchmarks with their numbers of cases, or tell all about one of them."
    example = "benchmark PersonaFeedback --json"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", nargs="?", help="its address, or its name for the newest version")

    def run(self, *, benchmark: str | None, **_: object) -> BenchmarkDocument | BenchmarksDocument:
        if benchmark:
            return benchmarks.row(benchmarks.find_benchmark(benchmark)).to_json()
        return {"benchmarks": [row.to_json() for row in benchmarks.rows()]}

    def write_text(self, document: BenchmarkDocument | BenchmarksDocument) -> None:
        found = [document] if "slug" in document else document["benchmarks"]
        if not found:
            self.stdout.write("No benchmark yet: import_pairs PATH --format personafeedback, or build_benchmark.")
            return
        rows = [["address", "state", "cases", "excluded", "tiers"]]
        rows += [
            [
                one["slug"],
                one["state"],
                str(one["cases"]),
                str(one["excluded"]),
                ", ".join(f"{n} {tier or 'without'}" for tier, n in one["tiers"].items()),
            ]
            for one in found
        ]
        self.stdout.write(format_columns(rows))
