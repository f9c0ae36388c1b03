"""`recalibrate`: apply the maps that calibration fitted, as a judge of its own."""

from __future__ import annotations

from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from annotation.studies.queries.studies import study_called
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import assessment, recalibration
from judging.assessment.services.assessment import AssessmentRequest


class RecalibratedDocument(TypedDict):
    """The run of a recalibrated judge, which judge it is of, and the maps by criterion key."""

    run: int
    study: str
    judge: str
    of: str
    maps: dict[str, object]
    counts: dict[str, int]


class Command(ConcordCommand[RecalibratedDocument]):
    help = "Apply calibration to the run of a judge: new scores that name what they are made of, as a new judge."
    example = 'recalibrate --study "My study" --judge gpt-4'

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or slug")
        parser.add_argument("--judge", required=True, metavar="NAME", help="that has judged the study")
        parser.add_argument("--name", default="", help="of the recalibrated judge (NAME recalibrated)")
        parser.add_argument("--anyway", action="store_true", help="also maps that raise the mean absolute error")

    def run(self, *, study: str, judge: str, name: str, anyway: bool, **_: object) -> RecalibratedDocument:
        evidence = StudyData.load(study_called(study))
        found = assessment.assess_judge(
            by=None, evidence=evidence.load_judge(evidence.judge(judge)), asked=AssessmentRequest()
        )
        run = recalibration.apply(by=None, found=found, name=name, anyway=anyway)
        return {
            "run": run.pk,
            "study": run.study.name,
            "judge": str(run.judge),
            "of": run.judge.parameters["of"],
            "maps": run.judge.parameters["maps"],
            "counts": {"judgments": run.judgments.count(), "scored": run.judgments.exclude(value="").count()},
        }

    def write_text(self, document: RecalibratedDocument) -> None:
        counts, maps = document["counts"], ", ".join(document["maps"])
        self.stdout.write(
            f"Run {document['run']} of {document['judge']} on {document['study']}: {counts['judgments']} judgments, "
            f"{counts['scored']} with a score, on {maps}."
        )
