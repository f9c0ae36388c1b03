"""`manage.py guideline`: the versions of a criterion's guideline, and a new one."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand, Listing
from annotation.studies.models.studies import Criterion
from annotation.studies.options import Edit
from annotation.studies.parsing.guidelines import read_guideline
from annotation.studies.queries.guidelines import Version, history
from annotation.studies.queries.studies import study_called
from annotation.studies.services import guidelines
from core.errors import InputError
from core.files.input_files import InputFile
from core.options.fields import add_arguments

IN_FILE = ("question", "guideline", "categories")


class GuidelineDocument(TypedDict):
    study: str
    criterion: str
    current: int
    versions: Listing


class Command(ConcordCommand[GuidelineDocument]):
    help = "Show the versions of a criterion's guideline; with --file, make a new one. Labels keep their version."
    example = 'guideline --study Pilot --criterion personalization --file new.toml --reason "Examples added"'

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or slug")
        parser.add_argument("--criterion", required=True, metavar="KEY")
        parser.add_argument(
            "--file",
            type=Path,
            help="a .toml with question, guideline and [[categories]], or a text with the guideline",
        )
        add_arguments(parser, Edit, but=IN_FILE, reason="")

    def run(self, *, study: str, criterion: str, file: Path | None, reason: str, **_: object) -> GuidelineDocument:
        asked = study_called(study).criteria
        found = asked.filter(key=criterion).first()
        if found is None:
            known = ", ".join(asked.values_list("key", flat=True))
            raise InputError(
                "no criterion is called {key!r}; there are {known}", field="criterion", key=criterion, known=known
            )
        if file:
            text = read_guideline(InputFile.from_path(file))
            guidelines.edit(by=None, criterion=found, reason=reason, **vars(text))
        elif reason:
            raise InputError("a reason belongs to --file", field="reason")
        return document(found)

    def write_text(self, document: GuidelineDocument) -> None:
        for one in document["versions"]:
            who = f" by {one['by']}" if one["by"] else ""
            head = f"version {one['version']}, {str(one['at'])[:16]}{who}: {one['labels']} labels"
            self.stdout.write(f"{head}. {one['reason']}".rstrip())


def document(criterion: Criterion) -> GuidelineDocument:
    """All versions, newest first, with how many labels that count were given under each."""
    return {
        "study": criterion.study.name,
        "criterion": criterion.key,
        "current": criterion.guideline_version,
        "versions": [to_json(one) for one in history(criterion)],
    }


def to_json(one: Version) -> dict[str, object]:
    row = one.row
    return {
        "version": row.version,
        "labels": one.labels,
        "by": str(row.created_by) if row.created_by else None,
        "at": row.created_at.isoformat(),
        "reason": row.reason,
        "question": row.question,
        "guideline": row.guideline,
        "categories": row.categories,
    }
