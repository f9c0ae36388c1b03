"""`erase`: a person's account becomes a number without a person."""

from __future__ import annotations

import sys

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.recruitment.services import withdrawn
from config.erasure import erasing
from config.erasure.erasing import load_about
from core.accounts.models.users import User
from core.errors import InputError


class Command(ConcordCommand):
    help = (
        "Take name, e-mail, password and all else that says who somebody is out of an account, for good. Labels and "
        "decisions stay, under a number. Says what it would do; with --do, does it."
    )
    example = "erase bob --do"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--notes", action="store_true", help="also what they wrote beside labels")
        parser.add_argument("--do", action="store_true", help="erase; without, nothing is changed")

    def run(self, *, username: str, notes: bool, do: bool, **_: object) -> dict[str, object]:
        person = User.objects.filter(username=username).first()
        if person is None:
            raise InputError("There is nobody called {options!r}.", field="username", options=username)
        self.found = load_about(by=None, person=person)
        if do:
            erasing.erase_person(by=None, person=person, notes=notes)
            if problem := withdrawn.problem():
                sys.stderr.write(f"{problem}\n")
        return {"did": do, "notes": notes, **self.found.to_json()}

    def say(self, document: dict[str, object]) -> None:
        found = self.found
        if document["did"]:
            self.stdout.write(f"{found.username} is {found.number} now. {found.labels:,} labels stay.")
            return
        self.stdout.write(
            f"{found.username} would become {found.number}. {found.labels:,} labels in "
            f"{len(found.studies)} studies stay, under that number."
        )
        self.stdout.write(found.refused or "Nothing was changed. With --do it is erased.")
