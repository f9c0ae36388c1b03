"""`manage.py messages`: what annotators ask about items, and an answer to one of them."""

from __future__ import annotations

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand, Listing
from annotation.studies.queries.messages import list_newest
from annotation.studies.queries.studies import people_called, study_called
from annotation.workbench.options import ThreadAnswer
from annotation.workbench.services import item_messages
from core.errors import InputError
from core.options.fields import add_arguments, read_arguments


class Command(ConcordCommand[Listing]):
    help = "What annotators ask about the items of a study, newest first; with --answer, answer one of them."
    example = 'messages --study pilot --answer 17 --annotator bob --text "The second offer counts."'

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or address of the study")
        parser.add_argument("--answer", type=int, metavar="POSITION", help="position of the item")
        add_arguments(parser, ThreadAnswer, text="", annotator="")

    def run(self, *, study: str, answer: int | None, **options: object) -> Listing:
        found = study_called(study)
        if answer is not None:
            item = found.items.filter(position=answer).first()
            if item is None:
                raise InputError("{study} has no item {number}.", field="answer", study=found, number=answer)
            given = ThreadAnswer(**read_arguments(ThreadAnswer, options))
            (annotator,) = people_called([given.annotator], "annotator")
            item_messages.write(by=None, study=found, item=item, annotator=annotator, text=given.text)
        elif options["text"]:
            raise InputError("--text belongs to --answer", field="text")
        return [
            {
                "item": one.item.position if one.item.study_id == found.pk else None,
                "annotator": one.annotator.username,
                "author": one.author.username if one.author else None,
                "kind": one.kind,
                "text": one.text,
                "at": one.created_at.isoformat(),
                "waiting": one.author_id == one.annotator_id,
            }
            for one in list_newest(found).select_related("item", "annotator", "author")
        ]

    def write_text(self, document: Listing) -> None:
        for one in document:
            state = "waits" if one["waiting"] else "answered"
            self.stdout.write(f"item {one['item']}, {one['annotator']} ({state}): {one['text'] or 'flagged'}")
        if not document:
            self.stdout.write("Nobody has asked anything.")
