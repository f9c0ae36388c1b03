"""`judge`: let a judge rate a study's items."""

from __future__ import annotations

import signal
from argparse import BooleanOptionalAction
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypedDict, cast

from django.core.management.base import CommandError, CommandParser

from annotation.management.base import ConcordCommand
from annotation.studies.queries.studies import study_called
from core.accounts.models.projects import Project, check_project
from core.audit.log import audit_batch
from core.errors import InputError
from core.files.json_text import parse_json
from core.options.fields import add_arguments, read_arguments, split_names
from judging.judges import providers
from judging.judges.models import Judge
from judging.judges.queries import workers
from judging.judges.services import judges
from judging.management.long_work import (
    NO_WORKER,
    describe_cost,
    describe_estimate,
    to_estimate_json,
    wait_until_over,
    watch,
)
from judging.runs.models.runs import JudgeRun
from judging.runs.options import NewRun, Resume
from judging.runs.queries import runs as queries
from judging.runs.services import estimates, runs, work

INTERRUPTED = "Interrupted. What was judged is kept; the same command goes on with the rest."
ELSEWHERE = ("judge", "order_policy")
"""Options of a run that this command takes in words of its own."""


class RunEstimateDocument(TypedDict):
    """What a run would take; None where it is not known, and ``why`` in words."""

    requests: int
    cached: int
    input_tokens: int
    output_tokens: int
    too_long: int
    usd: float | None
    seconds: float | None
    basis: Sequence[str]
    why: Sequence[str]


class RunCountsDocument(TypedDict):
    """How many judgments a run has, and why some have no verdict."""

    expected: int
    judgments: int
    scored: int
    unscored: dict[str, int]
    can_ask_again: int


class RunDocument(TypedDict, total=False):
    """How a run stands, what one would take, or what its judge ``answers``; of a probe also what was altered."""

    run: int
    study: str
    judge: str
    state: str
    every_turn: bool
    unit: str
    counts: RunCountsDocument
    in_bulk: bool
    stop_reason: str
    cost_usd: dict[str, float]
    tokens: dict[str, int]
    errors: list[dict[str, object]]
    seed: int
    input_hash: str
    answers: str
    estimate: RunEstimateDocument
    alterations: dict[str, int]
    items: int
    left_out: dict[str, int]


class Command(ConcordCommand[RunDocument]):
    makes_roots = True
    help = (
        "Let a judge rate the items of a study. Workers do it in the background; --now does it in this process. "
        "Asked again after an interruption, the command goes on with the run it began."
    )
    example = "judge my-study --judge baseline --now"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="name or slug of the study")
        parser.add_argument("--judge", required=True, metavar="NAME", help="the judge; defined here with --provider")
        parser.add_argument("--provider", choices=sorted(providers.REGISTRY), help="define the judge, or a new version")
        parser.add_argument("--model", help="the model behind a new judge or version")
        parser.add_argument(
            "--parameters", metavar="JSON", help="of a new judge or version, such as '{\"concurrency\": 8}'"
        )
        add_arguments(parser, NewRun, but=ELSEWHERE)
        order = parser.add_mutually_exclusive_group()
        order.add_argument("--order", choices=["random", "AB", "BA"], default="random", help="how pairs are shown")
        order.add_argument("--both-orders", action="store_true", help="show each pair in both orders")
        parser.add_argument(
            "--unscored",
            action="store_true",
            help="ask again for the items without a verdict of the judge's last run on the study, and for no other",
        )
        parser.add_argument("--estimate", action="store_true", help="say what the run would take, and start nothing")
        parser.add_argument("--test", action="store_true", help="say whether the judge would answer, and start nothing")
        parser.add_argument("--now", action="store_true", help="work in this process, without a worker")
        parser.add_argument("--wait", action=BooleanOptionalAction, default=True, help="stay until the run is over")

    def run(
        self, *, study: str, judge: str, unscored: bool, estimate: bool, test: bool, now: bool, wait: bool,
        project: Project | None = None, **options: object,
    ) -> RunDocument:  # fmt: skip
        check_project(study_called(study), project)
        if test:
            return test_judge(study, judge, options)
        if estimate:
            return describe_plan(build_plan(study, judge, options, judges.build_judge))
        if unscored:
            run = self.run_again(study, judge, options, now=now)
        else:
            # may wait on the network, so not while the database is locked
            judges.probe(build_plan(study, judge, options, judges.build_judge).judge)
            run = self.run_for(study, judge, options, now=now)
        self.work_or_wait(run, now=now, wait=wait)
        return document(run)

    def work_or_wait(self, run: JudgeRun, *, now: bool, wait: bool) -> None:
        """Work through the run here with --now, or else stay until workers did, unless one does not want to wait."""
        if not now and not workers.alive().exists():
            self.stderr.write(NO_WORKER)
        try:
            if now:
                self.watch(run, work.work_through(run))
            elif wait:
                self.watch(run, wait_until_over(run))
        except KeyboardInterrupt:
            raise CommandError(INTERRUPTED, returncode=128 + signal.SIGINT) from None

    def run_again(self, name: str, judge: str, options: Mapping[str, object], *, now: bool) -> JudgeRun:
        """The judge's last run on the study, asked again for its items without a verdict."""
        study, found = study_called(name), judges.find(judge)
        run = queries.find_last_run(study, found)
        if run is None:
            raise InputError("{judge} has no run on {study} that is over.", field="judge", judge=found, study=study)
        n = runs.ask_again(by=None, run=run, queue=not now, **read_arguments(Resume, options))
        self.stderr.write(f"Asking again for {n:,} of run {run.pk} without a verdict.")
        return run

    @audit_batch()
    def run_for(self, study: str, judge: str, options: Mapping[str, object], *, now: bool) -> JudgeRun:
        """A new run, or the one that was begun with the same question and is not over. A judge that cannot run is
        not defined."""
        return self.find_or_start_run(build_plan(study, judge, options, judges.define), now=now)

    def find_or_start_run(self, plan: runs.Plan, *, now: bool) -> JudgeRun:
        """A new run, or the one that was begun with the same question and has parts left."""
        begun = queries.find_unfinished_like(
            plan.study,
            plan.judge,
            input_hash=plan.input_hash,
            repeats=plan.repeats,
            order_policy=plan.order_policy,
            seed=plan.seed,
            in_bulk=plan.in_bulk,
        )
        if begun is None:
            return runs.make(by=None, plan=plan, queue=not now)
        self.stderr.write(f"Going on with run {begun.pk}, which was begun on {begun.created_at:%Y-%m-%d %H:%M}.")
        if begun.finished_at or not now:
            runs.resume(by=None, run=begun, queue=not now)
        return begun

    def watch(self, run: JudgeRun, steps: Iterator[None]) -> None:
        expected = queries.progress(run).expected
        watch(steps, total=expected, count=run.judgments.count, unit="judgments", is_shown=self.on_terminal)

    def describe_failure(self, document: RunDocument) -> str:
        failure = describe_errors(document)
        return f"{failure} Mend that; the same command goes on." if failure else ""

    def write_text(self, document: RunDocument) -> None:
        if "answers" in document:
            self.stdout.write(f"{document['judge']} can run. {document['answers']} Nothing was stored.")
            return
        if "estimate" in document:
            self.write_estimate(f"{document['judge']} on {document['study']}", document["estimate"])
            return
        counts = document["counts"]
        self.stdout.write(
            f"Run {document['run']} of {document['judge']} on {document['study']} is {document['state']}: "
            f"{counts['judgments']} of {counts['expected']} judgments, {counts['scored']} with a verdict."
        )
        for line in describe_cost(document["cost_usd"]):
            self.stdout.write(line)
        for reason, n in counts["unscored"].items():
            self.stdout.write(f"  {n} unscored: {reason}")
        for trouble in document["errors"]:
            self.stdout.write(f"  {trouble['parts']} parts ended early: {trouble['message']}")
        if document["stop_reason"]:
            self.stdout.write(f"  {document['stop_reason']}")

    def write_estimate(self, what: str, found: RunEstimateDocument) -> None:
        self.stdout.write(
            f"{what}: {found['requests']:,} requests, {found['cached']:,} of them answered already; about "
            f"{found['input_tokens']:,} tokens in and {found['output_tokens']:,} out."
        )
        self.stdout.write(describe_estimate(found["usd"], found["seconds"]))
        if found["too_long"]:
            self.stdout.write(f"About {found['too_long']:,} will not fit the model and stay unscored.")
        for line in (*found["basis"], *found["why"]):
            self.stdout.write(f"  {line}")


def build_plan(study: str, judge: str, options: Mapping[str, Any], define: Callable[..., Judge]) -> runs.Plan:
    return runs.plan(
        study=study_called(study),
        judge=choose_judge(study, judge, options, define),
        order_policy="both" if options["both_orders"] else options["order"],
        **read_arguments(NewRun, options, but=ELSEWHERE),
    )


def describe_plan(plan: runs.Plan) -> RunDocument:
    """Say what a run would take. Nothing is made, not even a judge."""
    estimate = cast("RunEstimateDocument", to_estimate_json(estimates.estimate(plan)))
    return {"study": plan.study.name, "judge": str(plan.judge), "estimate": estimate}


def describe_errors(run: Mapping[str, Any]) -> str:
    """Say that parts of a run ended early, and why; empty where none did."""
    errors = run.get("errors") or ()
    n, why = sum(one["parts"] for one in errors), "; ".join(one["message"] for one in errors)
    return f"Run {run['run']}: {n} part{'s' * (n != 1)} ended early ({why})." if errors else ""


def choose_judge(study: str, name: str, options: Mapping[str, Any], define: Callable[..., Judge]) -> Judge:
    """The judge as it is, or as the options define it. A provider's own name defines itself."""
    given = any(options[key] for key in ("provider", "model", "parameters"))
    known = Judge.objects.filter(name=name).order_by("-version").first()
    if not given and (known or name not in providers.REGISTRY):
        return judges.find(name)
    provider = options["provider"] or (known.provider if known else name)
    if provider not in providers.REGISTRY:
        raise InputError(
            "A new judge needs --provider: {registry}.",
            field="provider",
            registry=", ".join(sorted(providers.REGISTRY)),
        )
    same = known is not None and known.provider == provider
    return define(
        by=None,
        project=study_called(study).project,
        name=name,
        provider=provider,
        model=options["model"] or (known.model if known and same else ""),
        parameters=parameters(options["parameters"])
        if options["parameters"]
        else (known.parameters if known and same else {}),
    )


def test_judge(study: str, name: str, options: Mapping[str, object]) -> RunDocument:
    """Whether the judge would answer. What stands in its way is bad input; nothing is made, not even a judge."""
    judge = choose_judge(study, name, options, judges.build_judge)
    return {"study": study_called(study).name, "judge": str(judge), "answers": judges.test(judge)}


def parameters(text: str) -> dict[str, object]:
    found = parse_json(text, field="parameters")
    if not isinstance(found, dict):
        raise InputError("Parameters are a JSON object.", field="parameters")
    return found


def keys(given: Sequence[str] | str | None) -> list[str] | None:
    """The keys that are listed, with commas or spaces between; None for all."""
    return None if given is None else split_names(given)


def document(run: JudgeRun) -> RunDocument:
    run.refresh_from_db()
    progress = queries.progress(run)
    spent = progress.spent
    return {
        "run": run.pk,
        "study": run.study.name,
        "judge": str(run.judge),
        "state": progress.state,
        "every_turn": run.every_turn,
        "unit": run.unit,
        "counts": {
            "expected": progress.expected,
            "judgments": progress.judged,
            "scored": progress.scored,
            "unscored": {reason.reason: reason.n for reason in progress.unscored},
            "can_ask_again": progress.can_ask_again,
        },
        "in_bulk": run.in_bulk,
        "stop_reason": run.stop_reason,
        "cost_usd": {"known": float(spent.usd), "unknown": spent.unknown, "cached": spent.cached},
        "tokens": {"input": spent.input_tokens, "output": spent.output_tokens},
        "errors": [{"message": trouble.message, "parts": trouble.parts} for trouble in progress.troubles],
        "seed": run.seed,
        "input_hash": run.input_hash,
    }
