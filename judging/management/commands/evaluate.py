"""`evaluate`: let judges answer the cases of a benchmark in several settings."""

from __future__ import annotations

from typing import TypedDict

from django.core.management.base import CommandError, CommandParser

from annotation.benchmarks.models import Benchmark
from annotation.benchmarks.queries import benchmarks
from annotation.management.base import ConcordCommand
from core.errors import InputError
from core.options.fields import add_arguments, read_arguments
from judging.evaluations.options import NewEvaluation
from judging.evaluations.services import evaluations
from judging.evaluations.services.evaluations import Drawing
from judging.judges.evaluation_settings import SETTINGS, Setting
from judging.judges.models import Judge
from judging.judges.queries import workers
from judging.judges.services import judges
from judging.management.commands.judge import INTERRUPTED, describe_errors
from judging.management.long_work import NO_WORKER, wait_until_over
from judging.runs.models.evaluations import Evaluation
from judging.runs.models.runs import JudgeRun
from judging.runs.queries import runs as queries
from judging.runs.services import work

ELSEWHERE = ("judges", "settings", "embedder")
"""Options of an evaluation that this command takes in words of its own."""


class EvaluationRunsDocument(TypedDict):
    """An evaluation and the runs that were started of it."""

    benchmark: str
    evaluation: int
    number: int
    cases: int
    drawn: dict[str, object]
    runs: list[dict[str, object]]


class Command(ConcordCommand[EvaluationRunsDocument]):
    help = "Let judges choose between the responses of a benchmark's cases, in one or more settings."
    example = "evaluate personafeedback-1 --judge local baseline --persona none profile memories --cases 60"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("benchmark", help="its address, or its name for the newest version")
        parser.add_argument("--judge", nargs="+", required=True, metavar="NAME", help="judges that there are")
        parser.add_argument("--embedder", metavar="MODEL", help="for --retriever endpoint: the embedding model")
        parser.add_argument("--embedder-url", metavar="URL", help="and the address of its OpenAI-compatible server")
        parser.add_argument(
            "--persona", nargs="+", choices=list(SETTINGS), default=["none", "profile"], help="the settings"
        )
        add_arguments(parser, NewEvaluation, but=ELSEWHERE)
        parser.add_argument("--evaluation", type=int, metavar="N", help="add to this evaluation of the benchmark")
        parser.add_argument("--now", action="store_true", help="work in this process, without a worker")
        parser.add_argument("--no-wait", action="store_true", help="start the runs and return")

    def run(
        self, *, benchmark: str, judge: list[str], embedder: str | None, embedder_url: str | None, persona: list[str],
        evaluation: int | None, now: bool, no_wait: bool, **options: object,
    ) -> EvaluationRunsDocument:  # fmt: skip
        found = benchmarks.find_benchmark(benchmark)
        chosen = [judges.find(name) for name in judge]
        for one in chosen:
            judges.probe(one)
        asked = read_arguments(NewEvaluation, options, but=ELSEWHERE)
        asked |= {"settings": persona, "embedder": evaluations.describe_embedder(embedder, embedder_url)}
        if evaluation is None:
            at = evaluations.begin(by=None, benchmark=found, drawing=Drawing.from_options(asked))
        else:
            at = find_evaluation(found, evaluation)
        started = self.start_runs(at, chosen, asked, queue=not now)
        if now:
            for run in started:
                for _ in work.work_through(run):
                    pass
        elif not workers.alive().exists():
            self.stderr.write(NO_WORKER)
        if not no_wait and not now:
            self.wait(started)
        return document(at, started)

    def start_runs(
        self, evaluation: Evaluation, chosen: list[Judge], asked: dict[str, object], *, queue: bool
    ) -> list[JudgeRun]:
        try:
            how = evaluations.describe_runs(asked)
            return evaluations.ask(by=None, evaluation=evaluation, judges=chosen, queue=queue, **how)
        except InputError:
            if not evaluation.runs.exists():  # nothing was asked, so nothing is left behind
                evaluations.discard(by=None, evaluation=evaluation)
            raise

    def wait(self, started: list[JudgeRun]) -> None:
        try:
            for run in started:
                for _ in wait_until_over(run):
                    pass
        except KeyboardInterrupt:
            raise CommandError(INTERRUPTED, returncode=130) from None

    def describe_failure(self, document: EvaluationRunsDocument) -> str:
        return " ".join(filter(None, map(describe_errors, document["runs"])))

    def write_text(self, document: EvaluationRunsDocument) -> None:
        self.stdout.write(f"Evaluation {document['number']} of {document['benchmark']}: {document['cases']} cases.")
        for run in document["runs"]:
            self.stdout.write(
                f"  run {run['run']}, {run['judge']}, {run['setting_name']}: {run['state']}, "
                f"{run['judgments']} of {run['expected']} answers, {run['unscored']} unscored"
            )


def find_evaluation(benchmark: Benchmark, number: int | None) -> Evaluation:
    """The evaluation of this number, or the newest one."""
    there = benchmark.evaluations.select_related("benchmark", "study").order_by("-number")
    found = there.filter(number=number).first() if number is not None else there.first()
    if found is None:
        which = f"evaluation {number}" if number is not None else "evaluation"
        raise InputError(
            "There is no {which} of {benchmark} yet.", field="evaluation", which=which, benchmark=benchmark
        )
    return found


def document(evaluation: Evaluation, started: list[JudgeRun]) -> EvaluationRunsDocument:
    rows: list[dict[str, object]] = []
    for run in started:
        run.refresh_from_db()
        progress = queries.progress(run)
        setting = Setting.from_stored(run.setting)
        rows.append(
            {
                "run": run.pk,
                "judge": str(run.judge),
                "kind": run.judge.kind,
                "setting": run.setting,
                "setting_name": setting.name if setting else "",
                "state": progress.state,
                "expected": progress.expected,
                "judgments": progress.judged,
                "scored": progress.scored,
                "unscored": progress.n_unscored,
                "reasons": {one.reason: one.n for one in progress.unscored},
                "errors": [{"message": one.message, "parts": one.parts} for one in progress.troubles],
                "stop_reason": run.stop_reason,
                "input_hash": run.input_hash,
            }
        )
    return {
        "benchmark": str(evaluation.benchmark),
        "evaluation": evaluation.pk,
        "number": evaluation.number,
        "cases": evaluation.study.items.count(),
        "drawn": evaluation.drawn,
        "runs": rows,
    }
