"""`clustering`: say what dependent items of a study share."""

from __future__ import annotations

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.studies.options import Clustering
from annotation.studies.queries.dependence import read_dependence
from annotation.studies.queries.studies import study_called
from annotation.studies.services import studies
from core.options.fields import add_arguments, read_arguments


class Command(ConcordCommand[dict[str, object]]):
    help = (
        "Say what dependent items of a study share, so that every interval and test resamples them together; without a "
        "name, show what it is."
    )
    example = 'clustering "My study" batch'

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="name or slug")
        add_arguments(parser, Clustering, clustering=None)

    def run(self, *, study: str, **options: object) -> dict[str, object]:
        named = study_called(study)
        if options["clustering"] is not None:
            studies.name_clustering(by=None, study=named, **read_arguments(Clustering, options))
        found = read_dependence(named)
        clusters = None if found.clusters is None else len(set(found.clusters.values()))
        told = {"by": found.design.by, "clusters": clusters, "independent": found.in_words}
        return {"study": named.name, "clustering": named.clustering, **told}

    def write_text(self, document: dict[str, object]) -> None:
        self.stdout.write(f"{document['study']}: {document['independent']}")
