"""`disputes`: what is to be decided by a person, where people disagree or where a judge contradicts them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypedDict, final

from django.core.management.base import CommandParser

from annotation.agreement.result_types import NoResultDocument
from annotation.agreement.services.tiers import describe_missing
from annotation.management.base import ConcordCommand
from annotation.stats.table import IntArray
from annotation.studies.queries.studies import study_called
from annotation.workbench.queries import adjudication
from annotation.workbench.queries.adjudication import Dispute
from core.documents import Row, Rows, build_numbered_rows
from core.errors import InputError
from judging.assessment.services import rules
from judging.assessment.services.against_majority import Contradiction, contradictions
from judging.assessment.services.items import find_criterion


@final
class DisputesDocument(TypedDict):
    """Items to be decided, how many of them are open, and what a part of them is called."""

    study: str
    criterion: str
    part: str
    open: int
    items: Rows


class Command(ConcordCommand[DisputesDocument | NoResultDocument]):
    help = "Items to be decided: people disagree on them, or with --against-majority a judge contradicts their label."
    example = "disputes --study Pilot --criterion personalization --against-majority --judge gpt-4 --json"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", required=True, help="name or slug")
        parser.add_argument("--criterion", default="", metavar="KEY", help="by default the study's first")
        parser.add_argument("--against-majority", action="store_true", help="what judges contradict people on")
        parser.add_argument("--judge", default="", metavar="NAME", help="only this one; with --against-majority")

    def run(
        self, *, study: str, criterion: str, judge: str, against_majority: bool, **_: object
    ) -> DisputesDocument | NoResultDocument:
        called = study_called(study)
        if judge and not against_majority:
            raise InputError("--judge belongs to --against-majority", field="judge")
        asked = find_criterion(called, criterion)
        if asked is None:
            raise InputError("{study} has no criterion", field="criterion", study=called)
        if missing := describe_missing("adjudication", called, asked):
            return missing
        found: Sequence[Dispute] | Sequence[Contradiction]
        if against_majority:
            rules.lock_rules(by=None, study=called)
            found = contradictions(called, asked, judge=judge)
            waiting = sum(not one.decision for one in found)
        else:
            found = disputes = adjudication.disputes(asked)
            waiting = disputes.open
        items = build_numbered_rows(len(found), partial(rows, found))
        return {"study": called.name, "criterion": asked.key, "part": asked.part_noun, "open": waiting, "items": items}

    def write_text(self, document: DisputesDocument | NoResultDocument) -> None:
        if "items" not in document:
            self.stdout.write(document["reason"])
            return
        self.stdout.write(f"{len(document['items'])} items, {document['open']} not decided yet")
        for one in document["items"]:
            answers = ", ".join(f"{n} x {label}" for label, n in one["answers"])
            turn = f", {document['part']} {one['turn']}" if one["turn"] else ""
            self.stdout.write(f"item {one['position']}{turn}: {answers}; {one['decision'] or 'open'}")


def rows(found: Sequence[Dispute] | Sequence[Contradiction], which: IntArray) -> list[Row]:
    """Those of them as JSON types."""
    chosen = (found[place] for place in which.tolist())
    return [{**vars(one), "decision": one.decision or None, "tier": one.tier or None} for one in chosen]
