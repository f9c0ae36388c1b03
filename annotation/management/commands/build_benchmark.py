"""`manage.py build_benchmark`: a benchmark from the votes of a study and of its filter rounds."""

from __future__ import annotations

from django.core.management.base import CommandParser

from annotation.benchmarks.options import NewBenchmark
from annotation.benchmarks.queries import benchmarks
from annotation.benchmarks.result_types import BenchmarkDocument
from annotation.benchmarks.services import building, datasheets, versions
from annotation.benchmarks.services.building import BuildOptions
from annotation.management.base import ConcordCommand
from annotation.studies.queries.studies import study_called
from core.options.fields import add_arguments, parse_shares, read_arguments, split_names


class Command(ConcordCommand[BenchmarkDocument]):
    help = (
        "Make a benchmark of all items of a study, and of the studies in which they were asked again: gold by majority "
        "with its votes, tiers, splits. What was dropped or has no gold is kept on record, excluded with its reason."
    )
    example = 'build_benchmark pilot "Trips" --version-name 1 --split dev=0.2 test=0.8 --release'

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="name or address of the first study")
        add_arguments(parser, NewBenchmark, but=("study", "splits"))
        parser.add_argument(
            "--split",
            nargs="+",
            default=[],
            metavar="NAME=SHARE",
            help="shares that sum to 1; a persona, or a response, is in one split only",
        )
        parser.add_argument("--release", action="store_true", help="release it at once: it does not change any more")

    def run(self, *, study: str, split: list[str], release: bool, **options: object) -> BenchmarkDocument:
        given = read_arguments(NewBenchmark, options, but=("study", "splits"))
        parent = given.pop("parent", None)
        splits = parse_shares(split_names(split))
        made = building.build(
            by=None,
            study=study_called(study),
            parent=benchmarks.find_benchmark(parent) if parent else None,
            options=BuildOptions.from_options({**given, "splits": splits}),
            **{name: given[name] for name in ("name", "version", "notes")},
        )
        if release:
            made = versions.release(by=None, benchmark=made)
        return benchmarks.row(made).to_json()

    def write_text(self, document: BenchmarkDocument) -> None:
        tiers = ", ".join(f"{n} {tier or 'without a tier'}" for tier, n in document["tiers"].items())
        self.stdout.write(f"Made {document['slug']} ({document['state']}): {document['counting']} cases ({tiers}).")
        if document["excluded"]:
            self.stdout.write(f"{document['excluded']} more are excluded, each with its reason.")
        if sure := datasheets.tiers_by_model(document["made"]):
            self.stdout.write(sure)
