"""`manage.py model_keys`: the keys of models that a project keeps."""

from __future__ import annotations

import getpass
import sys
from typing import NotRequired, TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from core.accounts.models.projects import Project
from core.accounts.queries import find_project
from core.errors import InputError
from judging.judges.models import ModelKey
from judging.judges.services import keys


class ModelKeysDocument(TypedDict):
    """The keys of a project; without one, how many keys of the site were encrypted again."""

    project: str | None
    keys: NotRequired[list[dict[str, str | bool]]]
    sealed: NotRequired[int]
    unreadable: NotRequired[int]


class Command(ConcordCommand[ModelKeysDocument]):
    help = "List a project's model keys, keep one (from standard input), forget one, or encrypt all again."
    example = "model_keys default --keep https://api.openai.com < key.txt"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", nargs="?", default="", metavar="PROJECT", help="its address or name")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--keep", metavar="ADDRESS", help="the key for it comes from standard input, or is asked for")
        what.add_argument("--forget", metavar="ADDRESS")
        what.add_argument(
            "--reseal",
            action="store_true",
            help="seal every key and second factor of the site with its first secret",
        )
        parser.add_argument("--note", default="", help="beside a key that is kept")

    def run(
        self, *, name: str, keep: str | None, forget: str | None, reseal: bool, note: str, **_: object
    ) -> ModelKeysDocument:
        if reseal:
            done = keys.reseal(by=None)
            return {"project": None, "sealed": done["sealed"], "unreadable": done["unreadable"]}
        project = find_project(name) if name else Project.find_or_create_default()
        if keep:
            keys.keep(by=None, project=project, address=keep, key=read_key(), note=note)
        if forget:
            keys.drop(by=None, key=find_key(project, forget))
        return {"project": project.slug, "keys": describe_keys(project)}

    def write_text(self, document: ModelKeysDocument) -> None:
        if document["project"] is None:
            self.stdout.write(f"{document['sealed']} encrypted again, {document['unreadable']} cannot be read.")
            return
        for one in document["keys"]:
            self.stdout.write(f"{one['address']}{'' if one['readable'] else ' (cannot be read here)'}  {one['note']}")
        if not document["keys"]:
            self.stdout.write(f"{document['project']} keeps no keys: those of the environment are used.")


def read_key() -> str:
    """Never an argument, which every account of the machine could read."""
    return getpass.getpass("Key: ") if sys.stdin.isatty() else sys.stdin.read()


def find_key(project: Project, address: str) -> ModelKey:
    found = ModelKey.objects.filter(project=project, origin=keys.to_origin(address)).first()
    if found is None:
        raise InputError("{project} keeps no key for {address}.", field="forget", project=project, address=address)
    return found


def describe_keys(project: Project) -> list[dict[str, str | bool]]:
    rows = ModelKey.objects.filter(project=project)
    return [{"address": row.origin, "note": row.note, "readable": keys.is_readable(row)} for row in rows]
