"""Options that the commands about benchmarks share."""

from __future__ import annotations

from django.core.management.base import CommandParser

from annotation.agreement.services.tiers import chance_from, cuts_from
from annotation.stats.bands import Cuts
from annotation.stats.tiers import Chance


def add_tiers(parser: CommandParser) -> None:
    """How votes become tiers."""
    parser.add_argument("--criterion", default="preference", metavar="KEY", help="the choice (default: %(default)s)")
    parser.add_argument("--cuts", default="0.4,0.6,0.8", help="kappas that end contested, hard, medium (%(default)s)")
    parser.add_argument("--chance", default="uniform", help="uniform or margins (%(default)s)")
    parser.add_argument("--min-votes", type=int, default=2, help="a case with fewer has no gold (%(default)s)")


def tiers_of(options: dict[str, object]) -> tuple[Cuts, Chance]:
    return cuts_from(str(options["cuts"])), chance_from(str(options["chance"]))
