"""`manage.py study`: create a study."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.studies.models.studies import Study
from annotation.studies.options import NewStudy
from annotation.studies.services import studies
from core.options.fields import add_arguments, read_arguments


class Command(ConcordCommand):
    makes_roots = True
    help = "Create a study: a kind of item, the criteria asked of each, and how many people rate it."
    example = 'study "Pilot" --kind dialogue --criteria task_completion personalization --overlap 3'

    def arguments(self, parser: CommandParser) -> None:
        add_arguments(parser, NewStudy, kind=Study.Kind.DIALOGUE.value)

    def run(self, **options: Any) -> dict[str, Any]:
        study = studies.create(by=None, **read_arguments(NewStudy, options))
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
