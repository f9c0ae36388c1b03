"""`gold`: the value that each item is taken to have, and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from annotation.agreement.options import GoldOptions
from annotation.agreement.result_types import NoResultDocument
from annotation.agreement.services import gold
from annotation.management import text
from annotation.management.base import ConcordCommand
from annotation.stats.result_types import GoldHead
from annotation.studies.queries import ratings
from annotation.studies.queries.studies import study_called
from core.errors import InputError
from core.options.fields import add_arguments, read_arguments
from judging.management.commands.agreement import add_source, check_source, read_file


class Command(ConcordCommand):
    help = "The gold of items: votes, Dawid and Skene, the difficulty model, or adjudicated; of a study or a CSV file."
    example = "gold ratings.csv --method dawid_skene\n  python manage.py gold --study PandaLM --json"

    def arguments(self, parser: CommandParser) -> None:
        add_source(parser)
        parser.add_argument("--criterion", metavar="KEY", help="of the study; all by default")
        add_arguments(parser, GoldOptions)

    def run(self, **options: Any) -> Mapping[str, object]:
        check_source(options, only_study=("criterion",), only_file=("level", "categories"))
        chosen = GoldOptions(**read_arguments(GoldOptions, options))
        if options["file"]:
            return gold.compute_table(read_file(options["file"], options["level"], options["categories"]).table, chosen)
        study, key = study_called(options["study"]), options["criterion"]
        found = {one.criterion.key: one for one in ratings.load_study(study)}
        if key is not None and key not in found:
            raise InputError(
                "no criterion is called {key!r}; there are {found}", field="criterion", key=key, found=", ".join(found)
            )
        wanted = [key] if key is not None else list(found)
        documents = {name: gold.compute_criterion(study, found[name], chosen) for name in wanted}
        return documents[wanted[0]] if len(wanted) == 1 else {"study": study.name, "criteria": documents}

    def say(self, document: Any) -> None:
        for name, found in document.get("criteria", {document.get("criterion") or "": document}).items():
            self.stdout.write("\n".join([*([name] if name else []), lines(found)]))


def lines(found: GoldHead | NoResultDocument) -> str:
    """Numbers of items by where their gold comes from, or why they have none, or why there is none of such answers."""
    if "counts" not in found:
        return found["reason"]
    return text.columns([[name, str(n)] for name, n in found["counts"].items()])
