"""`escalate`: a study of what a judge cannot be relied upon for."""

from __future__ import annotations

from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.studies.queries.studies import study_called
from core.options.fields import add_arguments, read_arguments
from judging.assessment.options import NewEscalation
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import assessment, escalation
from judging.assessment.services.assessment import AssessmentRequest


class EscalatedDocument(TypedDict):
    """A study of what is escalated, and the least confidence that is kept, by criterion key."""

    study: str
    slug: str
    items: int
    thresholds: dict[str, float | None]


class Command(ConcordCommand[EscalatedDocument]):
    help = "Make a study of the items whose verdicts are not sure enough, for people to decide."
    example = 'escalate --study "My study" --judge gpt-4 --target 0.9 --name "Escalated to people"'

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or slug")
        parser.add_argument("--judge", required=True, metavar="NAME", help="that has judged the study")
        parser.add_argument("--name", required=True, help="of the new study")
        add_arguments(parser, NewEscalation, but=("name",))

    def run(self, *, study: str, judge: str, **options: object) -> EscalatedDocument:
        evidence = StudyData.load(study_called(study))
        found = assessment.assess_judge(
            by=None, evidence=evidence.load_judge(evidence.judge(judge)), asked=AssessmentRequest()
        )
        made = escalation.escalate(by=None, found=found, **read_arguments(NewEscalation, options))
        return {
            "study": made.target.name,
            "slug": made.target.slug,
            "items": made.target.items.count(),
            "thresholds": made.thresholds,
        }

    def write_text(self, document: EscalatedDocument) -> None:
        self.stdout.write(
            f"{document['study']}: {document['items']} items are escalated to people. Assign annotators next."
        )
