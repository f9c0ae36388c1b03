"""`manage.py filter_round`: keep, drop, ask again or revise the items of a study after their votes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.benchmarks import parsing
from annotation.benchmarks.models import FilterRound
from annotation.benchmarks.options import NewRound
from annotation.benchmarks.services import filtering
from annotation.benchmarks.services.filtering import Revision
from annotation.management.base import ConcordCommand, Listing
from annotation.stats.benchmarks.filtering import OUTCOMES, USUAL
from annotation.studies.queries.studies import study_called
from annotation.studies.services import studies
from core.files.input_files import InputFile
from core.options.fields import add_arguments, parse_pairs, read_arguments, split_names

USUALLY = ", ".join(f"{state}={outcome}".replace(" ", "_") for state, outcome in USUAL.items())


class RoundDocument(TypedDict):
    study: str
    round: int
    rule: object
    seed: int
    input_hash: str
    outcomes: dict[str, int]
    follow_up: str | None
    items: Listing


class Command(ConcordCommand[RoundDocument]):
    help = (
        "Decide the items of a study of pairs by their votes: kept, dropped, or asked again in a new study. Each is "
        "decided once, when all its slots are filled or the study is closed. --revise asks pairs again with new texts."
    )
    example = "filter_round pilot --rule contested=dropped tied=asked_again --revise better.jsonl --open"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="name or address of the study")
        parser.add_argument(
            "--rule",
            nargs="+",
            default=[],
            metavar="STATE=OUTCOME",
            help=f"where it differs from {USUALLY}; outcomes: {', '.join(one.replace(' ', '_') for one in OUTCOMES)}",
        )
        add_arguments(parser, NewRound, but=("outcomes",))
        parser.add_argument(
            "--revise", type=Path, metavar="FILE.jsonl", help="id, response_1, response_2, reason a line"
        )
        parser.add_argument("--open", action="store_true", help="open it at once")

    def run(self, *, study: str, rule: list[str], revise: Path | None, open: bool, **options: object) -> RoundDocument:
        given = read_arguments(NewRound, options, but=("outcomes",))
        outcomes = parse_pairs(split_names(rule), "rule")
        found = filtering.run(
            by=None,
            study=study_called(study),
            rule=filtering.build_rule(outcomes, given["cuts"], given["chance"], given["min_votes"], field="rule"),
            revisions=read_revisions(revise),
            **{name: given[name] for name in filtering.ASKED if name in given},
        )
        if open and found.follow_up:
            studies.open(by=None, study=found.follow_up)
        return document(found)

    def write_text(self, document: RoundDocument) -> None:
        counts = ", ".join(f"{n} {outcome}" for outcome, n in document["outcomes"].items())
        self.stdout.write(f"Round {document['round']} of {document['study']}: {counts}.")
        if follow_up := document["follow_up"]:
            self.stdout.write(f"Asked again in {follow_up}.")


def read_revisions(path: Path | None) -> dict[str, Revision]:
    if path is None:
        return {}
    records = parsing.read_revisions(InputFile.from_path(path))
    return {one.id: Revision(one.response_1, one.response_2, one.reason) for one in records}


def document(found: FilterRound) -> RoundDocument:
    rows = list(found.outcomes.select_related("item__pair", "revised_pair").order_by("item__position"))
    return {
        "study": found.study.slug,
        "round": found.number,
        "rule": found.rule,
        "seed": found.seed,
        "input_hash": found.input_hash,
        "outcomes": dict(Counter(row.outcome for row in rows)),
        "follow_up": found.follow_up.slug if found.follow_up else None,
        "items": [
            {
                "item": row.item.external_id,
                "outcome": row.outcome,
                "reason": row.reason,
                "tier": row.tier or None,
                "kappa": row.kappa,
                "votes": {"1": row.votes_1, "2": row.votes_2, "tie": row.votes_tie},
                "revised": row.revised_pair.external_id if row.revised_pair else None,
            }
            for row in rows
        ],
    }
