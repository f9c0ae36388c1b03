"""`simulate`: let a user agent talk with assistants."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict, cast

from django.core.management.base import CommandError, CommandParser

from annotation.management.base import ConcordCommand
from annotation.management.imports import read_named_texts
from annotation.studies.models.studies import Study
from core.accounts.models.projects import Project, choose_project
from core.audit.log import audit_batch
from core.errors import InputError
from core.options.fields import add_arguments, read_arguments
from judging.judges.providers.keys import Keyring
from judging.judges.queries import workers
from judging.judges.services.keys import load_keyring_for
from judging.management.long_work import (
    NO_WORKER,
    describe_cost,
    describe_estimate,
    to_estimate_json,
    wait_until_over,
    watch,
)
from simulation.agents import services as agents_services
from simulation.agents.prompts import PUBLISHED
from simulation.agents.prompts.roles import KINDS, ROLES, STEPS
from simulation.experiments import queries
from simulation.experiments.models import Experiment
from simulation.experiments.options import ForPeople, NewExperiment
from simulation.experiments.services import estimates, experiments, studies, worker_sessions
from simulation.experiments.services.experiments import leases
from simulation.experiments.services.grids import grid

INTERRUPTED = "Interrupted. What was said is kept; the same command goes on with the rest."

LIMITS = ("single_exchanges", "multi_exchanges", "single_turns", "multi_turns")
ELSEWHERE = ("name", "user_agent", "assistants", "conditions", "users", "tasks", "prompts")
"""Options of an experiment that this command takes in words of its own."""


class ExperimentEstimateDocument(TypedDict):
    """What an experiment would take; None where it is not known, and ``why`` in words."""

    dialogues: int
    turns: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    seconds: float | None
    masked: int
    absent: int
    without_goal: int
    basis: Sequence[str]
    why: Sequence[str]


class ExperimentStateDocument(TypedDict, total=False):
    """How an experiment stands, or what one would take."""

    experiment: int | None
    name: str
    state: str
    counts: dict[str, int]
    endings: dict[str, int]
    masked: int
    absent: int
    cost_usd: dict[str, float]
    tokens: dict[str, int]
    stop_reason: str
    study: str | None
    seed: int
    input_hash: str
    estimate: ExperimentEstimateDocument


class Command(ConcordCommand[ExperimentStateDocument]):
    makes_roots = True
    help = (
        "Let a user agent play users with tasks, and talk with assistants under conditions. Workers do it in the "
        "background; --now does it in this process. Asked again after an interruption, the command goes on with the "
        "experiment it began. A model is named as PROVIDER, PROVIDER:MODEL, or by a name that begins with claude or "
        "gpt; parameters follow as JSON."
    )
    example = "simulate --users 10 --tasks 'single 4, multi 1' --assistant local --condition base base+I --now"

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--users", required=True, help="a number to draw, ids with commas, or all")
        parser.add_argument(
            "--tasks", required=True, help="a number to draw, ids with commas, all, single or multi, each with a number"
        )
        parser.add_argument("--assistant", required=True, nargs="+", metavar="MODEL", help="who is under test")
        parser.add_argument(
            "--condition",
            required=True,
            nargs="+",
            metavar="KEY",
            help=f"{', '.join(PUBLISHED)}; base+I-KIND-STEP of {', '.join(KINDS)} and {STEPS}",
        )
        add_arguments(parser, NewExperiment, but=ELSEWHERE)
        parser.add_argument("--user-agent", default="local", metavar="MODEL", help="who plays the user (local)")
        parser.add_argument(
            "--prompt",
            nargs="+",
            default=[],
            metavar="ROLE=FILE",
            help=f"a text in place of Concord's own; roles: {', '.join(ROLES)}",
        )
        parser.add_argument("--name", default="", help="what to call the experiment")
        parser.add_argument("--domains", default="", metavar="DOMAIN,…", help="only tasks of these domains")
        parser.add_argument("--also-annotate", type=int, metavar="N", help="make a study of N dialogues for people")
        add_arguments(parser, ForPeople, but=("n",))
        parser.add_argument("--estimate", action="store_true", help="say what it would take, and start nothing")
        parser.add_argument("--now", action="store_true", help="work in this process, without a worker")
        parser.add_argument("--no-wait", action="store_true", help="leave it to the workers and return at once")

    def run(
        self, *, also_annotate: int | None, draw: str, estimate: bool, now: bool, no_wait: bool,
        project: Project | None, **options: object,
    ) -> ExperimentStateDocument:  # fmt: skip
        check_combination(also_annotate, no_wait=no_wait)
        keys = load_keyring_for(None, project)
        plan = build_plan(keys, options)
        if estimate:
            return describe_plan(plan)
        for agent in plan.agents:
            agents_services.probe(agent, keys)  # may wait on the network, so not while the database is locked
        experiment = self.find_or_create(plan, project, now=now)
        if not now and not workers.alive().exists():
            self.stderr.write(NO_WORKER)
        try:
            if now:
                self.watch(experiment, worker_sessions.work_through(experiment))
            elif not no_wait:
                self.watch(experiment, wait_until_over(experiment))
        except KeyboardInterrupt:
            raise CommandError(INTERRUPTED, returncode=128 + signal.SIGINT) from None
        return document(experiment, self.sample(experiment, also_annotate, draw))

    @audit_batch()
    def find_or_create(self, plan: experiments.Plan, project: Project | None, *, now: bool) -> Experiment:
        """A new experiment, or the one that was begun with the same words and is not over."""
        home = choose_project(None, project)
        begun = queries.find_unfinished_like(project=home, input_hash=plan.input_hash, name=plan.name, seed=plan.seed)
        if begun is None:
            return experiments.make(by=None, plan=plan, queue=not now, project=home)
        self.stderr.write(f"Going on with experiment {begun.pk}, begun on {begun.created_at:%Y-%m-%d %H:%M}.")
        if not now:
            leases.queue([begun.pk])
        return begun

    def sample(self, experiment: Experiment, n: int | None, draw: str) -> Study | None:
        """The study for people, once there is something to show them."""
        experiment.refresh_from_db()
        if n is None or experiment.state == "running":
            return None
        return studies.create_human_check(by=None, experiment=experiment, n=n, draw=draw)

    def watch(self, experiment: Experiment, steps: Iterator[None]) -> None:
        total, ended = experiment.dialogues.count(), experiment.dialogues.exclude(ending="")
        watch(steps, total=total, count=ended.count, unit="dialogues", is_shown=self.on_terminal)

    def write_text(self, document: ExperimentStateDocument) -> None:
        if "estimate" in document:
            self.write_estimate(document["name"], document["estimate"])
            return
        counts = document["counts"]
        self.stdout.write(
            f"Experiment {document['experiment']} ({document['name']}) is {document['state']}: {counts['ended']} of "
            f"{counts['dialogues']} dialogues ended, {counts['turns']} turns."
        )
        for name, n in document["endings"].items():
            self.stdout.write(f"  {n} × {name}")
        for line in describe_cost(document["cost_usd"], " turns"):
            self.stdout.write(line)
        self.write_left_out(document["masked"], document["absent"])
        if document["stop_reason"]:
            self.stdout.write(f"  {document['stop_reason']}")
        if document["study"]:
            self.stdout.write(f"  For people: {document['study']}")

    def write_left_out(self, masked: int, absent: int) -> None:
        if masked:
            self.stdout.write(f"  {masked:,} pairs of user and task are masked and left out.")
        if absent:
            self.stdout.write(f"  {absent:,} pairs of user and task have no scenario and are left out.")

    def write_estimate(self, name: str, found: ExperimentEstimateDocument) -> None:
        self.stdout.write(
            f"{name}: {found['dialogues']:,} dialogues, about {found['turns']:,} turns; about "
            f"{found['input_tokens']:,} tokens in and {found['output_tokens']:,} out."
        )
        self.stdout.write(describe_estimate(found["usd"], found["seconds"]))
        self.write_left_out(found["masked"], found["absent"])
        if found["without_goal"]:
            self.stdout.write(f"  {found['without_goal']:,} tasks have no goal: their completion cannot be judged.")
        for line in (*found["basis"], *found["why"]):
            self.stdout.write(f"  {line}")


def check_combination(also_annotate: int | None, *, no_wait: bool) -> None:
    if also_annotate is not None:
        if also_annotate < 1:
            raise InputError("The sample needs at least one dialogue.", field="also_annotate")
        if no_wait:
            raise InputError("The sample is drawn at the end: not with --no-wait.", field="also_annotate")


def build_plan(keys: Keyring, options: Mapping[str, Any]) -> experiments.Plan:
    domains = [domain.strip() for domain in options["domains"].split(",") if domain.strip()]
    given = read_arguments(NewExperiment, options, but=ELSEWHERE)
    limits = {name: given.pop(name) for name in LIMITS if name in given}
    embedder, source = given.pop("embedder"), given.pop("source")
    return experiments.plan(
        name=options["name"] or f"Users {shorten_ids(options['users'])}; tasks {shorten_ids(options['tasks'])}",
        user_agent=agents_services.parse_agent(options["user_agent"], side="user", keys=keys),
        assistants=[agents_services.parse_agent(text, side="assistant", keys=keys) for text in options["assistant"]],
        conditions=options["condition"],
        grid=grid(users=options["users"], tasks=options["tasks"], seed=given["seed"], source=source, domains=domains),
        prompts=read_named_texts(options["prompt"], field="prompt"),
        limits=experiments.build_limits(**limits),
        embedder=agents_services.embedder(embedder, keys),
        **given,
    )


def describe_plan(plan: experiments.Plan) -> ExperimentStateDocument:
    """Say what an experiment would take. Nothing is made."""
    estimate = cast("ExperimentEstimateDocument", to_estimate_json(estimates.estimate(plan)))
    return {"experiment": None, "name": plan.name, "estimate": estimate}


def shorten_ids(ids: str) -> str:
    """What was asked for as part of a name: only how many ids there are where they are long."""
    return ids if len(ids) <= 40 else f"{ids.count(',') + 1} named"


def document(experiment: Experiment, study: Study | None) -> ExperimentStateDocument:
    experiment.refresh_from_db()
    found, spent = queries.progress(experiment), queries.load_spending(experiment)
    return {
        "experiment": experiment.pk,
        "name": experiment.name,
        "state": found.state,
        "counts": {
            "dialogues": found.total,
            "ended": found.ended,
            "material": found.regular,
            "turns": found.turns,
            "cut": found.cut,
            "cut_off": found.cut_off,
        },
        "endings": {one.key: one.n for one in found.endings},
        "masked": experiment.grid.get("masked", 0),
        "absent": experiment.grid.get("absent", 0),
        "cost_usd": {"known": float(spent.usd), "unknown": spent.unknown},
        "tokens": {"input": spent.input_tokens, "output": spent.output_tokens},
        "stop_reason": experiment.stop_reason,
        "study": study.name if study else None,
        "seed": experiment.seed,
        "input_hash": experiment.input_hash,
    }
