"""`judge_version`: the next version of a judge, with another prompt or with examples that people have settled."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.management.imports import read_named_texts, read_text
from annotation.studies.queries.studies import study_called
from core.errors import InputError
from core.options.fields import add_arguments, read_arguments
from judging.assessment.options import NewVersion
from judging.assessment.services import improvement
from judging.judges.services import judges


class VersionDocument(TypedDict):
    """The newest version of a judge, and its examples."""

    judge: str
    version: int
    is_new: bool
    examples: list[dict[str, object]]


class Command(ConcordCommand[VersionDocument]):
    help = (
        "Make the next version of a judge. Examples are settled items (adjudicated, or gold) of a study's development "
        "part, never of its held-out part; the judge is not asked about its own examples."
    )
    example = 'judge_version --judge gpt-4 --examples 3 --from-study "My study" --seed 7'

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--judge", required=True, metavar="NAME", help="its newest version is changed")
        add_arguments(parser, NewVersion, but=("template", "templates"), examples=None)
        parser.add_argument("--from-study", metavar="STUDY", help="that the examples are drawn from; name or slug")
        parser.add_argument(
            "--items", nargs="+", default=[], metavar="N", help="these items, by position; 17.2 is a turn or response"
        )
        parser.add_argument("--template", type=Path, metavar="FILE", help="the prompt for all criteria, in place of it")
        parser.add_argument(
            "--templates", nargs="+", default=[], metavar="KEY=FILE", help="the prompt for one criterion, each"
        )

    def run(
        self, *, judge: str, examples: int | None, from_study: str | None, items: list[str], template: Path | None,
        templates: list[str], **options: object,
    ) -> VersionDocument:  # fmt: skip
        if (examples is not None or items) and not from_study:
            raise InputError("say which study the examples are drawn from", field="from-study")
        if from_study and examples is None and not items:
            raise InputError("say how many examples, or which items", field="examples")
        if not from_study and template is None and not templates:
            raise InputError("nothing is asked for: give --examples with --from-study, --template or --templates")
        found = judges.find(judge)
        made = improvement.new_version(
            by=None,
            judge=found,
            study=study_called(from_study) if from_study else None,
            n=examples or 0,
            items=items,
            **read_arguments(NewVersion, options, but=("examples", "template", "templates")),
            template=None if template is None else read_text(template, field="template"),
            templates=read_named_texts(templates, field="templates"),
        )
        shown = [
            {name: one.get(name, 0) for name in ("study", "item", "turn", "external_id", "criterion", "value", "order")}
            for one in made.parameters.get("examples", [])
        ]
        return {"judge": made.name, "version": made.version, "is_new": made.pk != found.pk, "examples": shown}

    def write_text(self, document: VersionDocument) -> None:
        name = f"{document['judge']} v{document['version']}"
        if not document["is_new"]:
            self.stdout.write(f"nothing would change: {name} stays the newest version")
            return
        self.stdout.write(f"{name} with {len(document['examples'])} examples. Let it judge the study next.")
