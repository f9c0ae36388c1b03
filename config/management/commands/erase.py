"""`erase`: a person's account becomes a number without a person."""

from __future__ import annotations

import sys
from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.recruitment.services import withdrawn
from config.erasure import erasing
from config.erasure.erasing import load_about
from core.accounts.queries import find_account


class ErasureDocument(TypedDict):
    did: bool
    notes: bool
    username: str
    number: str
    labels: int
    studies: list[str]
    refused: str


class Command(ConcordCommand[ErasureDocument]):
    help = (
        "Take name, e-mail, password and all else that says who somebody is out of an account, for good. Labels and "
        "decisions stay, under a number. Says what it would do; with --do, does it."
    )
    example = "erase bob --do"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--notes", action="store_true", help="also what they wrote beside labels")
        parser.add_argument("--do", action="store_true", help="erase; without, nothing is changed")

    def run(self, *, username: str, notes: bool, do: bool, **_: object) -> ErasureDocument:
        person = find_account(username, field="username")
        found = load_about(by=None, person=person)
        if do:
            erasing.erase_person(by=None, person=person, notes=notes)
            if problem := withdrawn.problem():
                sys.stderr.write(f"{problem}\n")
        return {
            "did": do,
            "notes": notes,
            "username": found.username,
            "number": found.number,
            "labels": found.labels,
            "studies": list(found.studies),
            "refused": found.refused,
        }

    def write_text(self, document: ErasureDocument) -> None:
        username, number, labels = document["username"], document["number"], document["labels"]
        if document["did"]:
            self.stdout.write(f"{username} is {number} now. {labels:,} labels stay.")
            return
        self.stdout.write(
            f"{username} would become {number}. {labels:,} labels in "
            f"{len(document['studies'])} studies stay, under that number."
        )
        self.stdout.write(document["refused"] or "Nothing was changed. With --do it is erased.")
