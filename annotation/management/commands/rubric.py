"""`manage.py rubric`: check a rubric file, write the rubric of a study or a template, change a study's rubric."""

from __future__ import annotations

from argparse import SUPPRESS
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand, to_words
from annotation.studies.criteria import RUBRICS
from annotation.studies.parsing.rubric_files import FORMATS, read_rubric, to_document, write_rubric
from annotation.studies.parsing.rubrics import Rubric
from annotation.studies.queries.criteria import load_rubric
from annotation.studies.queries.studies import study_called
from annotation.studies.services import rubrics
from core.files.input_files import InputFile
from core.files.writing import output_path, write_file


class Command(ConcordCommand[dict[str, object]]):
    help = "Check a rubric file; write the rubric of a study or of a template; change the rubric of a study."
    example = 'rubric change Pilot rubric.toml --reason "A criterion for tone"'

    def arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="check|export|templates|change")
        check = verbs.add_parser("check", help="say whether a file is a rubric, and what it asks")
        check.add_argument("file", type=Path, help=".toml, .yaml or .json")
        export = verbs.add_parser("export", help="write what a study asks")
        export.add_argument("study", help="name or slug")
        templates = verbs.add_parser("templates", help="list the rubrics that come with Concord, or write one")
        templates.add_argument("name", nargs="?", choices=list(RUBRICS), help="the template to write")
        for one in (export, templates):
            one.add_argument("--format", choices=FORMATS, default="toml")
            one.add_argument("-o", "--output", type=output_path, help="where to; standard output by default")
        change = verbs.add_parser(
            "change", help="ask what a file says from now on; labels keep what they were given on"
        )
        change.add_argument("study", help="name or slug")
        change.add_argument("file", type=Path)
        change.add_argument("--reason", default="", help="needed once labels rest on the rubric")
        for one in (check, export, templates, change):
            one.add_argument("--json", action="store_true", default=SUPPRESS, help="as before the verb")

    def run(self, *, verb: str, **options: object) -> dict[str, object]:
        return VERBS[verb](**options)

    def write_text(self, document: dict[str, object]) -> None:
        if isinstance(text := document.get("text"), str):
            self.stdout.write(text, ending="")
        elif isinstance(templates := document.get("templates"), list):
            for one in templates:
                self.stdout.write(f"{one['template']}: {one['name']}, {one['kind']}. {to_words(one['criteria'])}")
        else:
            for name, value in document.items():
                if value:
                    self.stdout.write(f"{name.replace('_', ' ')}: {to_words(value)}")


def check(*, file: Path, **_: object) -> dict[str, object]:
    return describe(read_rubric(InputFile.from_path(file)))


def describe(rubric: Rubric) -> dict[str, object]:
    types = {one.key: one.type for one in rubric.criteria}
    return {"name": rubric.name, "kind": rubric.kind, "criteria": list(types), "types": types}


def export(*, study: str, format: str, output: Path | None, json: bool, **_: object) -> dict[str, object]:
    return write(load_rubric(study_called(study)), format, output, as_document=json)


def list_templates(*, name: str | None, format: str, output: Path | None, json: bool, **_: object) -> dict[str, object]:
    if name:
        return write(RUBRICS[name], format, output, as_document=json)
    return {"templates": [{"template": key, **describe(one)} for key, one in RUBRICS.items()]}


def write(rubric: Rubric, form: str, output: Path | None, *, as_document: bool) -> dict[str, object]:
    """The rubric as a text, or where it was written to."""
    text = write_rubric(rubric, form)
    if output is None:
        return {"rubric": to_document(rubric)} if as_document else {"text": text}
    write_file(output, text.encode())
    return {"written": str(output), "criteria": [one.key for one in rubric.criteria]}


def change(*, study: str, file: Path, reason: str, **_: object) -> dict[str, object]:
    rubric, found = read_rubric(InputFile.from_path(file)), study_called(study)
    done = rubrics.change(by=None, study=found, rubric=to_document(rubric), reason=reason)
    return {"study": found.name, **asdict(done)}


Verb = Callable[..., dict[str, object]]
VERBS: dict[str, Verb] = {"check": check, "export": export, "templates": list_templates, "change": change}
