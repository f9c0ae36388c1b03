"""`panel`: combine finished runs of several judges into the judgments of a panel."""

from __future__ import annotations

from typing import TypedDict

from django.core.management.base import CommandParser

from annotation.management.base import ConcordCommand
from core.errors import InputError
from core.options.model import LARGEST
from judging.runs.models.runs import JudgeRun
from judging.runs.services import panels as services
from judging.stats import panels


class PanelDocument(TypedDict):
    """The run of a panel."""

    run: int
    study: str
    judge: str
    method: str
    members: list[str]
    result: dict[str, object]
    counts: dict[str, int]


class Command(ConcordCommand[PanelDocument]):
    help = "Combine finished runs of several judges, or the repeats of one, into a run of a panel, a judge of its own."
    example = "panel Jury --runs 3,5,8 --by dawid_skene"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the panel's name")
        parser.add_argument("--runs", required=True, metavar="ID,…", help="the members' runs")
        parser.add_argument(
            "--by", "--method", dest="method", choices=panels.METHODS, default=panels.MAJORITY, help="how (majority)"
        )

    def run(self, *, name: str, runs: str, method: str, **_: object) -> PanelDocument:
        run = services.combine(by=None, name=name, runs=find_runs(runs), method=method)
        return {
            "run": run.pk,
            "study": run.study.name,
            "judge": str(run.judge),
            "method": method,
            "members": run.judge.parameters["members"],
            "result": run.result,
            "counts": {"judgments": run.judgments.count(), "scored": run.judgments.exclude(value="").count()},
        }

    def write_text(self, document: PanelDocument) -> None:
        counts = document["counts"]
        self.stdout.write(
            f"Run {document['run']} of {document['judge']} ({', '.join(document['members'])}) on {document['study']}: "
            f"{counts['judgments']} judgments, {counts['scored']} with a verdict."
        )


def find_runs(text: str) -> list[JudgeRun]:
    """The runs of these ids."""
    try:
        ids = [int(part) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise InputError("{text!r} are not ids of runs, such as 3,5,8.", field="runs", text=text) from error
    found = JudgeRun.objects.filter(pk__in=[one for one in ids if one <= LARGEST])
    runs = list(found.select_related("judge", "study").prefetch_related("criteria"))
    if missing := sorted(set(ids) - {run.pk for run in runs}):
        raise InputError("There is no run {missing}.", field="runs", missing=missing[0])
    return runs
