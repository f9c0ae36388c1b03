"""`manage.py study`: create a study."""

from __future__ import annotations

from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.studies.criteria import RUBRICS
from annotation.studies.models.studies import Study
from annotation.studies.options import NewStudy
from annotation.studies.parsing.rubric_files import read_rubric, to_document
from annotation.studies.queries.context import find_missing_context
from annotation.studies.services import studies
from core.accounts.models.projects import Project
from core.files.input_files import InputFile
from core.options.fields import add_arguments, read_arguments


class StudyDocument(TypedDict):
    study: str
    slug: str
    kind: str
    state: str
    criteria: list[str]
    each_turn: list[str]
    overlap: int
    most_overlap: int | None
    is_adaptive: bool
    shown: list[str]
    content_form: str
    seed: int
    clustering: str
    warnings: list[str]


class Command(ConcordCommand[StudyDocument]):
    makes_roots = True
    help = "Create a study: a kind of item, the criteria asked of each, and how many people rate it."
    example = 'study "Pilot" --kind dialogue --criteria task_completion personalization --overlap 3'

    def arguments(self, parser: CommandParser) -> None:
        add_arguments(parser, NewStudy, but=("rubric",), kind=Study.Kind.DIALOGUE.value)
        parser.add_argument(
            "--rubric",
            metavar="FILE",
            help=f"criteria of your own from a .toml, .yaml or .json; or a template: {', '.join(RUBRICS)}",
        )

    def run(self, *, rubric: str | None, project: Project | None, **options: object) -> StudyDocument:
        given = read_arguments(NewStudy, options, but=("rubric",))
        if rubric:
            found = RUBRICS.get(rubric) or read_rubric(InputFile.from_path(rubric))
            given |= {"rubric": to_document(found), "kind": found.kind or given["kind"]}
        study = studies.create(by=None, project=project, **given)
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
            "content_form": study.content_form,
            "seed": study.seed,
            "clustering": study.clustering,
            "warnings": find_missing_context(study),
        }

    def write_text(self, document: StudyDocument) -> None:
        slug = document["slug"]
        self.stdout.write(f"Created the study {document['study']!r} ({slug}), a draft without items.")
        self.stdout.write(f"Criteria: {', '.join(document['criteria'])}. Next: manage.py sample {slug}")
        for warning in document["warnings"]:
            self.stdout.write(f"! {warning}")
