"""Options that the commands about benchmarks share."""

from __future__ import annotations

from django.core.management.base import CommandParser

from annotation.agreement.services.tiers import parse_chance, parse_cuts
from annotation.stats.bands import Cuts
from annotation.stats.tiers import Chance


def add_tiers(parser: CommandParser) -> None:
    """How votes become tiers."""
    parser.add_argument("--criterion", default="preference", metavar="KEY", help="the choice (default: %(default)s)")
    parser.add_argument("--cuts", default="0.4,0.6,0.8", help="kappas that end contested, hard, medium (%(default)s)")
    parser.add_argument("--chance", default="uniform", help="uniform or margins (%(default)s)")
    parser.add_argument("--min-votes", type=int, default=2, help="a case with fewer has no gold (%(default)s)")


def parse_tiers(options: dict[str, object]) -> tuple[Cuts, Chance]:
    return parse_cuts(str(options["cuts"])), parse_chance(str(options["chance"]))
