"""`manage.py questions`: what annotators are asked about themselves."""

from __future__ import annotations

from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.recruitment.queries import DemographicPromptDocument, list_questions
from annotation.recruitment.services import demographics
from annotation.studies.queries.studies import study_called
from core.errors import InputError


class QuestionsDocument(TypedDict):
    study: str
    questions: list[DemographicPromptDocument]
    answers_erased: int | None


class Command(ConcordCommand[QuestionsDocument]):
    help = "List the questions about the person that a study asks (answers only as counts), add one, or remove one."
    example = 'questions --study pilot --add "Age" --options 18-29 30-44 45-64 65+'

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or address of the study")
        parser.add_argument("--add", metavar="TEXT", help="ask this")
        parser.add_argument("--options", nargs="+", default=[], help='answers to it, beside "prefer not to say"')
        parser.add_argument("--key", default="", help="its name in results; default: from its text")
        parser.add_argument("--remove", metavar="KEY", help="ask this no more, and erase what was answered")

    def run(
        self, *, study: str, add: str | None, options: list[str], key: str, remove: str | None, **_: object
    ) -> QuestionsDocument:
        found, erased = study_called(study), None
        if add:
            demographics.add_question(by=None, study=found, text=add, options=options, key=key)
        elif options or key:
            raise InputError("--options and --key belong to --add", field="add")
        if remove:
            question = found.demographic_questions.filter(key=remove).first()
            if question is None:
                raise InputError("{study} has no question {name!r}.", field="remove", study=found, name=remove)
            erased = demographics.remove_question(by=None, question=question)
        return {
            "study": found.name,
            "questions": [one.to_json() for one in list_questions(found)],
            "answers_erased": erased,
        }

    def write_text(self, document: QuestionsDocument) -> None:
        for one in document["questions"]:
            counts = ", ".join(f"{answer}: {n}" for answer, n in one["counts"].items())
            hidden = (
                f"; {one['not_shown']} answers of fewer than {one['least_people']} people" if one["not_shown"] else ""
            )
            self.stdout.write(f"{one['key']}: {one['text']} ({one['answered']} answered) {counts}{hidden}".rstrip())
