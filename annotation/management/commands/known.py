"""`known`: items with known answers, as checks among the work, as training, or as qualification."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.quality.models import KnownItem
from annotation.quality.queries import gold_questions as queries
from annotation.quality.services import gold_questions
from annotation.studies.queries.asks import Ask
from annotation.studies.queries.studies import study_called
from core.errors import InputError


class KnownAnswerDocument(TypedDict):
    value: str
    also: list[str]
    explanation: str


class KnownItemDocument(TypedDict):
    item_id: str
    item_source: str
    purpose: str
    round: int
    origin: str
    answered: int
    answers: dict[str, KnownAnswerDocument]


class KnownDocument(TypedDict):
    study: str
    new: int
    pass_mark: float | None
    items: list[KnownItemDocument]


class Command(ConcordCommand[KnownDocument]):
    help = (
        "List, name or retire items with known answers. A file has the columns item_id, criterion, value (3|4 where "
        "both are right) and explanation, and turn where a criterion is asked of turns or responses; --decided takes "
        "what somebody decided in a study, with the reasons."
    )
    example = "known pilot --purpose training --file training.csv"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="name or address of the study")
        parser.add_argument("--purpose", default="", choices=KnownItem.Purpose.values, help="what the items are for")
        parser.add_argument(
            "--round", type=int, default=1, metavar="N", help="of the qualification: ask these in the N-th try (1)"
        )
        source = parser.add_mutually_exclusive_group()
        source.add_argument("--file", type=Path, metavar="FILE.csv")
        source.add_argument("--decided", metavar="STUDY", help="take the decided items of this study")
        source.add_argument("--retire", nargs="+", default=[], metavar="ITEM", help="hand these out no more")

    def run(
        self, *, study: str, purpose: str, round: int, file: Path | None, decided: str | None, retire: list[str],
        **_: object,
    ) -> KnownDocument:  # fmt: skip
        here = study_called(study)
        before = set(here.known_items.values_list("pk", flat=True))
        if (file or decided is not None) and not purpose:
            raise InputError("Say what the items are for.", field="purpose")
        if file:
            gold_questions.add_file(by=None, study=here, path=file, purpose=purpose, number=round)
        elif decided is not None:
            source = study_called(decided)
            gold_questions.add_decided(by=None, study=here, source=source, purpose=purpose, number=round)
        for item in retire:
            gold_questions.retire(by=None, known=queries.find_gold_question(here, item, purpose))
        here.refresh_from_db()
        items = queries.load_study(here)
        return {
            "study": here.name,
            "new": sum(one.pk not in before for one in items),
            "pass_mark": here.pass_mark,
            "items": [
                {
                    "item_id": one.item.external_id,
                    "item_source": one.item.subject.source,
                    "purpose": one.purpose,
                    "round": one.round,
                    "origin": one.origin,
                    "answered": one.given,  # type: ignore[attr-defined]
                    "answers": {
                        Ask(answer.criterion, answer.turn).name: {
                            "value": answer.value,
                            "also": answer.also,
                            "explanation": answer.explanation,
                        }
                        for answer in one.answers.all()
                    },
                }
                for one in items
            ],
        }

    def write_text(self, document: KnownDocument) -> None:
        self.stdout.write(f"{len(document['items'])} items with known answers, {document['new']} of them new.")
        for one in document["items"]:
            answers = ", ".join(f"{key} {'|'.join([a['value'], *a['also']])}" for key, a in one["answers"].items())
            self.stdout.write(f"  {one['purpose']:<14} {one['item_id']}: {answers}")
