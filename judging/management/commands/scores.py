"""`scores`: what a judge's run found."""

from __future__ import annotations

from collections.abc import Iterator

from django.core.management.base import CommandParser

from annotation.agreement.options import IntervalOptions
from annotation.management.base import ConcordCommand, format_columns, format_estimate
from annotation.studies.queries.items import GROUPINGS
from core.errors import InputError
from core.options.fields import add_arguments, read_arguments
from judging.assessment.options import SCORES, VERDICTS
from judging.assessment.queries.scores import DOMAIN
from judging.assessment.score_types import CriterionScoresDocument, ScoreCountsDocument, ScoresDocument
from judging.assessment.services import scores
from judging.runs.models.runs import JudgeRun


class Command(ConcordCommand[ScoresDocument]):
    help = (
        "Means and distributions of a judge's run, over all, by group, and by turn or response where these were judged."
    )
    example = "scores 3 --by domain --json"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", type=int, metavar="RUN", help="number of the run")
        parser.add_argument("--by", choices=list(GROUPINGS), default=DOMAIN, help="how items are grouped")
        parser.add_argument(
            "--read",
            choices=[VERDICTS, SCORES],
            default=VERDICTS,
            help="what means are of: verdicts, or scores by the judge's probabilities (verdict)",
        )
        add_arguments(parser, IntervalOptions)

    def run(self, *, run: int, by: str, read: str, **options: object) -> ScoresDocument:
        found = JudgeRun.objects.filter(pk=run).select_related("judge", "study").first()
        if found is None:
            raise InputError("There is no run {number}.", field="run", number=run)
        chosen = IntervalOptions(**read_arguments(IntervalOptions, options))
        return scores.compute_run(found, by=by, reads=read, options=chosen)

    def write_text(self, document: ScoresDocument) -> None:
        self.stdout.write(f"Run {document['run']} of {document['judge']} on {document['study']}")
        for one in document["criteria"].values():
            self.stdout.write("\n".join(["", *criterion(one, document["by"], document["unit"])]))


def criterion(one: CriterionScoresDocument, by: str, unit: str) -> Iterator[str]:
    """Lines on one criterion."""
    unscored = sum(one["unscored"].values())
    yield f"{one['name']}: {one['scored']} verdicts on {one['n_items']} items, {unscored} unscored"
    rows = [["all", format_estimate(one["overall"]), *format_counts(one)]]
    rows += [
        [f"{by} {group['group']}", format_estimate(group["estimate"]), *format_counts(group)] for group in one["groups"]
    ]
    rows += [
        [f"{unit} {turn['turn']}", format_estimate(turn["estimate"]), *format_counts(turn)] for turn in one["turns"]
    ]
    yield format_columns([["", one["measure"] or "no mean", *one["counts"]], *rows])


def format_counts(counted: ScoreCountsDocument) -> list[str]:
    """How many of each value."""
    return [str(n) for n in counted["counts"].values()]
