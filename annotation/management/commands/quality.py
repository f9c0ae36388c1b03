"""`quality`: each annotator of a study as an instrument, and who should be looked at."""

from __future__ import annotations

from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand, format_estimate
from annotation.quality.queries import quality
from annotation.quality.queries.quality import QualityDocument
from annotation.stats.result_types import EstimateDocument
from annotation.studies.queries.studies import study_called
from core.accounts.models.users import User


class AnnotatorQualityDocument(TypedDict):
    annotator: str
    name: str
    kind: str
    ratings: int
    signs: list[str]
    seconds_an_item: float | None
    too_fast: float | None
    unread: float | None
    gold_accuracy: EstimateDocument | None
    self_consistency: EstimateDocument | None


class StudyQualityDocument(QualityDocument):
    annotators: list[AnnotatorQualityDocument]


class Command(ConcordCommand[StudyQualityDocument]):
    help = "How each annotator rates: signs of carelessness, gold accuracy and self-consistency, errors by criterion."
    example = "quality --study pilot --json"
    exports = "annotators"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or address of the study")

    def run(self, *, study: str, **_: object) -> StudyQualityDocument:
        found = study_called(study)
        rows = quality.load_study(found)
        people = User.objects.in_bulk([row.annotator for row in rows], field_name="username")
        return {
            **quality.document(found),
            "annotators": [
                {
                    "annotator": row.annotator,
                    "name": str(people[row.annotator]),
                    "kind": people[row.annotator].kind,
                    "ratings": row.rated,
                    "signs": list(row.signs),
                    "seconds_an_item": row.pace.seconds if row.pace else None,
                    "too_fast": row.pace.too_fast if row.pace else None,
                    "unread": row.pace.unread if row.pace else None,
                    "gold_accuracy": row.accuracy.overall.to_json() if row.accuracy else None,
                    "self_consistency": row.consistency.overall.to_json() if row.consistency else None,
                }
                for row in rows
            ],
        }

    def write_text(self, document: StudyQualityDocument) -> None:
        for key, found in document["criteria"].items():
            if sides := found["sides"]:
                self.stdout.write(f"{key}: position bias {format_estimate(sides['effect'])} ({sides['unit']})")
        if not document["annotators"]:
            self.stdout.write(f"Nobody has rated {document['study']} yet.")
        for one in document["annotators"]:
            kind = "" if one["kind"] == User.Kind.PERSON else f" ({one['kind']})"
            self.stdout.write(f"{one['name']}{kind}: {one['ratings']} answers; {'; '.join(one['signs']) or 'no signs'}")
            for name, known in (("gold accuracy", one["gold_accuracy"]), ("self consistency", one["self_consistency"])):
                if known:
                    interval = f"{known['low']:.2f} to {known['high']:.2f}"
                    self.stdout.write(f"  {name} {known['value']:.2f} ({interval}), n {known['n_items']}")
