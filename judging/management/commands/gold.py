"""`gold`: the value that each item is taken to have, and where it comes from."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandParser

from annotation.agreement.options import GoldOptions
from annotation.agreement.result_types import GoldDocument, NoResultDocument
from annotation.agreement.services import gold
from annotation.management.base import ConcordCommand, format_columns
from annotation.stats.result_types import GoldHead, GoldItems
from annotation.stats.table import Level
from annotation.studies.queries import ratings
from annotation.studies.queries.studies import study_called
from core.options.fields import add_arguments, read_arguments
from judging.management.commands.agreement import (
    CriteriaDocument,
    add_source,
    check_source,
    compute_criteria,
    read_file,
    split_criteria,
)

AnyGold = CriteriaDocument[GoldDocument | NoResultDocument] | GoldDocument | GoldItems | NoResultDocument
"""Of several criteria, of one, or of a file."""


class Command(ConcordCommand[AnyGold]):
    help = "The gold of items: votes, Dawid and Skene, the difficulty model, or adjudicated; of a study or a CSV file."
    example = "gold ratings.csv --method dawid_skene\n  python manage.py gold --study PandaLM --json"

    def arguments(self, parser: CommandParser) -> None:
        add_source(parser)
        parser.add_argument("--criterion", metavar="KEY", help="of the study; all by default")
        add_arguments(parser, GoldOptions)

    def run(
        self, *, file: Path | None, study: str, criterion: str | None, level: Level | None, categories: str | None,
        **options: object,
    ) -> AnyGold:  # fmt: skip
        check_source(file, study, {"criterion": criterion}, {"level": level, "categories": categories})
        chosen = GoldOptions(**read_arguments(GoldOptions, options))
        if file:
            return gold.compute_table(read_file(file, level, categories).table, chosen)
        called = study_called(study)
        found = {one.criterion.key: one for one in ratings.load_study(called)}
        return compute_criteria(called, found, criterion, lambda one: gold.compute_criterion(called, one, chosen))

    def write_text(self, document: AnyGold) -> None:
        for name, found in split_criteria(document).items():
            self.stdout.write("\n".join([*([name] if name else []), lines(found)]))


def lines(found: GoldHead | NoResultDocument) -> str:
    """Numbers of items by where their gold comes from, or why they have none, or why there is none of such answers."""
    if "counts" not in found:
        return found["reason"]
    return format_columns([[name, str(n)] for name, n in found["counts"].items()])
