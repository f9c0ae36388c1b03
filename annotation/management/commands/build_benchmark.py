"""`manage.py build_benchmark`: a benchmark from the votes of a study and of its filter rounds."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.agreement.services.difficulty import parse_model_cuts
from annotation.benchmarks.queries import benchmarks
from annotation.benchmarks.services import building, markdown, versions
from annotation.benchmarks.services.building import TIERS_FROM, BuildOptions
from annotation.management.base import ConcordCommand
from annotation.management.benchmarks import add_tiers, parse_tiers
from annotation.studies.queries.studies import study_called
from core.files.shares import parse_shares
from core.options.fields import split_names


class Command(ConcordCommand):
    help = (
        "Make a benchmark of all items of a study, and of the studies in which they were asked again: gold by majority "
        "with its votes, tiers, splits. What was dropped or has no gold is kept on record, excluded with its reason."
    )
    example = 'build_benchmark pilot "Trips" --version-name 1 --split dev=0.2 test=0.8 --release'

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="name or address of the first study")
        parser.add_argument("name", help="of the benchmark")
        parser.add_argument("--version-name", default="1", metavar="VERSION", help="(default: %(default)s)")
        parser.add_argument("--parent", default="", help="the benchmark that it follows")
        add_tiers(parser)
        parser.add_argument("--tiers", choices=TIERS_FROM, default="counted", help=tiers_help())
        parser.add_argument(
            "--agreement-cuts",
            default="0.6,0.75,0.9",
            help="of the model: probabilities to agree up to which a case is contested, hard, medium (%(default)s)",
        )
        parser.add_argument("--pool", action="store_true", help="count the votes of all rounds with the same texts")
        parser.add_argument(
            "--split",
            nargs="+",
            default=[],
            metavar="NAME=SHARE",
            help="shares that sum to 1; a persona, or a response, is in one split only",
        )
        parser.add_argument(
            "--split-tolerance", type=float, default=0.1, help="how far a split may be from its share (%(default)s)"
        )
        parser.add_argument("--by-question", action="store_true", help="keep a question in one split too")
        parser.add_argument("--seed", type=int, default=0, help="of the splits")
        parser.add_argument("--notes", default="")
        parser.add_argument("--release", action="store_true", help="release it at once: it does not change any more")

    def run(self, **options: Any) -> dict[str, Any]:
        cuts, chance = parse_tiers(options)
        made = building.build(
            by=None,
            study=study_called(options["study"]),
            name=options["name"],
            version=options["version_name"],
            parent=benchmarks.find_benchmark(options["parent"]) if options["parent"] else None,
            notes=options["notes"],
            options=BuildOptions(
                criterion=options["criterion"],
                tiers=options["tiers"],
                cuts=cuts,
                chance=chance,
                agreement_cuts=parse_model_cuts(options["agreement_cuts"]),
                min_votes=options["min_votes"],
                pooled=options["pool"],
                splits=parse_shares(split_names(options["split"])),
                split_tolerance=options["split_tolerance"],
                by_question=options["by_question"],
                seed=options["seed"],
            ),
        )
        if options["release"]:
            made = versions.release(by=None, benchmark=made)
        return benchmarks.row(made).to_json()

    def say(self, document: dict[str, Any]) -> None:
        tiers = ", ".join(f"{n} {tier or 'without a tier'}" for tier, n in document["tiers"].items())
        self.stdout.write(f"Made {document['slug']} ({document['state']}): {document['counting']} cases ({tiers}).")
        if document["excluded"]:
            self.stdout.write(f"{document['excluded']} more are excluded, each with its reason.")
        if sure := markdown.tiers_by_model(document["made"]):
            self.stdout.write(sure)


def tiers_help() -> str:
    """What each choice means."""
    return "; ".join(f"{name}: {about}" for name, about in TIERS_FROM.items()) + " (%(default)s)"
