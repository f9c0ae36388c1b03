"""`manage.py rubric`: check a rubric file, write the rubric of a study or a template, change a study's rubric."""

from __future__ import annotations

from argparse import SUPPRESS
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.studies.criteria import RUBRICS
from annotation.studies.parsing.rubric_files import FORMATS, read_rubric, to_document, write_rubric
from annotation.studies.parsing.rubrics import Rubric
from annotation.studies.queries.criteria import load_rubric
from annotation.studies.queries.studies import study_called
from annotation.studies.services import rubrics
from core.files.input_files import InputFile
from core.files.writing import output_path, write_file


class Command(ConcordCommand):
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

    def run(self, **options: Any) -> dict[str, object]:
        return VERBS[options["verb"]](options)

    def say(self, document: dict[str, Any]) -> None:
        if "text" in document:
            self.stdout.write(document["text"], ending="")
        elif "templates" in document:
            for one in document["templates"]:
                self.stdout.write(f"{one['template']}: {one['name']}, {one['kind']}. {', '.join(one['criteria'])}")
        else:
            for name, value in document.items():
                if value:
                    self.stdout.write(f"{name.replace('_', ' ')}: {to_words(value)}")


def to_words(value: object) -> str:
    """Say a value of a document: a list by its items, types by their criteria, and what was renamed to what."""
    if isinstance(value, dict):
        return ", ".join(f"{name} ({one})" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(" as ".join(one) if isinstance(one, tuple) else str(one) for one in value)
    return str(value)


def check(options: dict[str, Any]) -> dict[str, object]:
    return describe(read_rubric(InputFile.from_path(options["file"])))


def describe(rubric: Rubric) -> dict[str, object]:
    types = {one.key: one.type for one in rubric.criteria}
    return {"name": rubric.name, "kind": rubric.kind, "criteria": list(types), "types": types}


def export(options: dict[str, Any]) -> dict[str, object]:
    return write(load_rubric(study_called(options["study"])), options)


def list_templates(options: dict[str, Any]) -> dict[str, object]:
    if options["name"]:
        return write(RUBRICS[options["name"]], options)
    return {"templates": [{"template": name, **describe(one)} for name, one in RUBRICS.items()]}


def write(rubric: Rubric, options: dict[str, Any]) -> dict[str, object]:
    """The rubric as a text, or where it was written to."""
    text = write_rubric(rubric, options["format"])
    if options["output"] is None:
        return {"rubric": to_document(rubric)} if options["json"] else {"text": text}
    write_file(options["output"], text.encode())
    return {"written": str(options["output"]), "criteria": [one.key for one in rubric.criteria]}


def change(options: dict[str, Any]) -> dict[str, object]:
    rubric = read_rubric(InputFile.from_path(options["file"]))
    study = study_called(options["study"])
    done = rubrics.change(by=None, study=study, rubric=to_document(rubric), reason=options["reason"])
    return {"study": study.name, **asdict(done)}


VERBS = {"check": check, "export": export, "templates": list_templates, "change": change}
