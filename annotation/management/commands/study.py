"""`manage.py study`: create a study."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.management.lists import split_names
from annotation.studies.criteria import TEMPLATES, default_keys
from annotation.studies.models.studies import Study
from annotation.studies.queries.context import PARTS
from annotation.studies.services import studies


class Command(ConcordCommand):
    makes_roots = True
    help = "Create a study: a kind of item, the criteria asked of each, and how many people rate it."
    example = 'study "Pilot" --kind dialogue --criteria task_completion personalization --overlap 3'

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--kind", choices=Study.Kind.values, default=Study.Kind.DIALOGUE)
        parser.add_argument("--criteria", nargs="+", help=f"among {', '.join(TEMPLATES)}; default: published ones")
        parser.add_argument("--each-turn", nargs="+", default=[], metavar="KEY", help="criteria asked of each turn")
        parser.add_argument("--overlap", type=int, default=3, help="annotators per item (default 3)")
        parser.add_argument(
            "--most-overlap",
            type=int,
            metavar="N",
            help="adaptive overlap: ask about items whose tier is unclear again, up to N annotators",
        )
        parser.add_argument("--shown", nargs="*", help=f"context beside an item, among {', '.join(PARTS['dialogue'])}")
        parser.add_argument("--allow-tie", action="store_true", help="offer a tie between two responses")
        parser.add_argument("--instructions", default="", help="shown to annotators")
        parser.add_argument(
            "--cluster",
            default="",
            metavar="NAME",
            help="what dependent items share: by default their profile, else their question; none, a grouping, or a "
            "key of their source",
        )
        parser.add_argument("--seed", type=int, default=0, help="of the order of items and of the order A/B")

    def run(self, **options: Any) -> dict[str, Any]:
        kind = options["kind"]
        study = studies.create(
            by=None,
            name=options["name"],
            kind=kind,
            criteria=split_names(options["criteria"]) or default_keys(kind),
            each_turn=split_names(options["each_turn"]) or [],
            overlap=options["overlap"],
            most_overlap=options["most_overlap"],
            shown=None if options["shown"] is None else split_names(options["shown"]),
            allow_tie=options["allow_tie"],
            seed=options["seed"],
            instructions=options["instructions"],
            clustering=options["cluster"],
        )
        return {
            "study": study.name,
            "slug": study.slug,
            "kind": study.kind,
            "state": study.state,
            "criteria": list(study.criteria.values_list("key", flat=True)),
            "each_turn": [one.key for one in study.criteria.all() if one.of_turns],
            "overlap": study.overlap,
            "most_overlap": study.most_overlap,
            "is_adaptive": study.is_adaptive,
            "shown": study.shown,
            "seed": study.seed,
            "clustering": study.clustering,
        }

    def say(self, document: dict[str, Any]) -> None:
        self.stdout.write(f"Created the study {document['study']!r} ({document['slug']}), a draft without items.")
        self.stdout.write(f"Criteria: {', '.join(document['criteria'])}. Next: manage.py sample {document['slug']}")
