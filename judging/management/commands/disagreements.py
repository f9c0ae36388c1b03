"""`disagreements`: where a judge and people part, item by item, on what may be looked at freely."""

from __future__ import annotations

from collections.abc import Iterator

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand, format_columns, format_estimate
from annotation.stats.bands import TIERS
from annotation.studies.queries.studies import study_called
from annotation.studies.queries.units import unit
from core.errors import InputError
from judging.assessment.agreement_types import DisagreementSourcesDocument
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.queries.disagreements import load_written
from judging.assessment.services import disagreement_sources, disagreements, rules
from judging.assessment.services.disagreements import SORTS, DisagreementsDocument


class Command(ConcordCommand[DisagreementsDocument]):
    help = (
        "The items on which a judge says another value than people, with people's notes and evidence and the judge's "
        "explanation. Where a part is held out, those of the development part; the others are never listed."
    )
    example = 'disagreements --study "My study" --judge gpt-4 --criterion personalization --limit 20'

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or slug")
        parser.add_argument("--judge", required=True, metavar="NAME", help="that has judged the study")
        parser.add_argument("--criterion", default="", metavar="KEY", help="all by default")
        parser.add_argument("--tier", default="", choices=["", *TIERS], help="of difficulty; all by default")
        parser.add_argument(
            "--sort",
            default="-size",
            metavar="ORDER",
            help=f"{', '.join(SORTS)}; with a minus the largest first, as in --sort=-size, which is usual",
        )
        parser.add_argument(
            "--explain",
            action="store_true",
            help="also how far the judge is from people's answers, and why people differ",
        )
        parser.add_argument("--limit", type=int, default=None, metavar="N", help="no more than so many")

    def run(
        self, *, study: str, judge: str, criterion: str, tier: str, sort: str, explain: bool, limit: int | None,
        **_: object,
    ) -> DisagreementsDocument:  # fmt: skip
        if limit is not None and limit < 1:
            raise InputError("must be at least 1", field="limit")
        evidence = StudyData.load(study_called(study))
        mine = evidence.load_judge(evidence.judge(judge))
        rules.lock(by=None, study=evidence.study)
        rows = disagreements.list_disagreements(mine, criterion=criterion, tier=tier, sort=sort)[:limit]
        said = load_written(evidence.study, mine.criteria, mine.runs, [(row.position, row.turn) for row in rows])
        found = disagreements.document(mine, rows, said)
        if explain:
            found["differing"] = disagreement_sources.compute_judge(mine, criterion)
        return found

    def write_text(self, document: DisagreementsDocument) -> None:
        for key, n in document["criteria"].items():
            self.stdout.write(
                f"{key}: {document['judge']} differs on {n['differing']} of {n['compared']} items with a label; "
                f"{n['unscored']} unscored, {n['examples']} its own examples"
            )
        for key, found in document.get("differing", {}).items():
            self.stdout.write("\n".join([f"{key}:", *lines(found)]))
        rows = [
            [
                unit(one["item"], one["turn"]),
                one["criterion"],
                one["tier"] or "-",
                str(one["label"]),
                one["judge"],
                f"{one['size']:g}",
            ]
            for one in document["disagreements"]
        ]
        if rows:
            self.stdout.write(format_columns([["item", "criterion", "tier", "people", "judge", "size"], *rows]))


def lines(found: DisagreementSourcesDocument) -> Iterator[str]:
    """Distances, sources, camps and sets of one criterion."""
    rows = [
        [name.replace("_", " "), *(format_estimate(one[part]) for part in ("judge", "person", "difference"))]
        for name, one in found["distance"].items()
    ]
    yield format_columns([["distance from people's answers", "judge", "a person", "difference"], *rows])
    if why := found["sources"]["reason"]:
        yield f"  why people differ: not told, {why}"
    else:
        parts = [[name, format_estimate(found["sources"][name])] for name in disagreement_sources.SOURCES]
        yield format_columns([["disagreement of two people", "0 to 1"], *parts])
    yield f"  camps of taste: {disagreement_sources.camps_in_words(found['taste'])}"
    yield f"  answers about the verdict: {disagreement_sources.sets_in_words(found['sets'])}"
