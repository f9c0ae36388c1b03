"""`manage.py candidates`: candidate responses at stated levels of personalization, and pairs made of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from tqdm import tqdm

from annotation.management.base import ConcordCommand
from core.errors import InputError
from core.files.input_files import InputFile
from core.files.outcome import ImportDocument
from core.options.fields import add_arguments, split_names
from judging.judges.services.keys import load_keyring_for
from simulation.agents import services as agents_services
from simulation.agents.prompts.generation import LEVELS
from simulation.generation.models import Making
from simulation.generation.options import NewSeedRun, PairOptions
from simulation.generation.result_types import (
    EstimatedSeedRunDocument,
    MadePairsDocument,
    OrdersDocument,
    SeedRunDocument,
)
from simulation.generation.services import candidates, seed_estimates, seed_runs, worker_sessions
from simulation.generation.services.candidates import Question
from simulation.generation.services.seed_runs import SeedPlan

DOES = ("make", "seeds", "import", "pairs")
ELSEWHERE = ("agent", "checker", "seeds", "questions", "against")
"""Options of a run from seeds that this command takes in words of its own."""


CandidatesDocument = OrdersDocument | SeedRunDocument | EstimatedSeedRunDocument | MadePairsDocument | ImportDocument


class Command(ConcordCommand[CandidatesDocument]):
    makes_roots = True
    help = (
        "make: let a model answer questions of profiles at stated levels: none (for anybody), generic "
        "(for people of this kind), full (for exactly this person), over (details forced in). seeds: from a file of "
        "seeds to personas, questions, memories, responses, checks by a judge, and pairs; the same command again goes "
        "on where it was interrupted, --resume also with what failed. import: read candidates "
        "from JSONL. pairs: make pairs of levels, matched in length and form on request, near-duplicates left out."
    )
    example = (
        "candidates make --agent local --profiles all --questions questions.jsonl\n"
        "  python manage.py candidates seeds seeds.jsonl --name Trips --agent local --personas 40 --estimate\n"
        "  python manage.py candidates pairs --against full-none full-over --length 0.8 --same-form --seed 1"
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("does", choices=DOES)
        parser.add_argument("file", nargs="?", type=Path, help="of candidates (import) or of seeds: id, traits")
        parser.add_argument("--agent", default="", metavar="MODEL", help="who answers, as in `simulate`")
        parser.add_argument("--profiles", default="", metavar="ID,…", help="ids of profiles, or all")
        parser.add_argument("--questions", type=Path, metavar="FILE.jsonl", help="question, kind, profile_id a line")
        parser.add_argument("--question", default="", help="one question")
        parser.add_argument("--kind", default="", help="of the one question (general); of the pairs (all)")
        add_arguments(parser, NewSeedRun, but=ELSEWHERE, name="", levels=[], personas=0)
        add_arguments(parser, PairOptions)
        parser.add_argument("--judge", default="", metavar="MODEL", help="who looks for conflicts and checks responses")
        parser.add_argument("--resume", action="store_true", help="try again what failed in the run from seeds")
        parser.add_argument("--queue", action="store_true", help="leave it to the workers")
        parser.add_argument("--on-error", choices=["stop", "skip"], default="stop")
        parser.add_argument("--against", nargs="+", default=["full-none"], metavar="LEVEL-LEVEL", help="(full-none)")

    def run(self, **options: Any) -> CandidatesDocument:
        if options["does"] == "make":
            return self.make(options)
        if options["does"] == "seeds":
            return self.from_seeds(options)
        if options["does"] == "import":
            if options["file"] is None:
                raise InputError("name the file of candidates", field="file")
            return candidates.load(by=None, path=options["file"], on_error=options["on_error"]).to_document()
        names = ("length", "same_form", "near", "each", "seed")
        rule = candidates.build_rule(parse_matchups(options["against"]), **{name: options[name] for name in names})
        return candidates.make_pairs(by=None, rule=rule, kind=options["kind"])

    def make(self, options: dict[str, Any]) -> OrdersDocument:
        if not options["agent"]:
            raise InputError("say who answers", field="agent")
        keys = load_keyring_for(None, options["project"])
        agent = agents_services.parse_agent(options["agent"], side="assistant", keys=keys)
        asked = read_questions(options["profiles"], options["questions"], options["question"], options["kind"])
        agents_services.probe(agent, keys)
        orders = candidates.order(
            by=None,
            agent=agent,
            questions=asked,
            levels=split_names(options["levels"] or LEVELS),
            seed=options["seed"],
            queue=options["queue"],
            project=options["project"],
        )
        if not options["queue"]:
            work_through(orders, is_shown=self.on_terminal)
        for one in orders:
            one.refresh_from_db()
        return candidates.progress(orders)

    def from_seeds(self, options: dict[str, Any]) -> SeedRunDocument | EstimatedSeedRunDocument:
        """Begin the run, or go on with it, and say what every stage left."""
        if options["file"] is None or not options["agent"]:
            raise InputError("name the file of seeds, and --agent who writes", field="file")
        keys = load_keyring_for(None, options["project"])
        named = [options["agent"], *([options["judge"]] if options["judge"] else [])]
        agent, *checkers = [agents_services.parse_agent(one, side="assistant", keys=keys) for one in named]
        checker = next(iter(checkers), None)
        levels = split_names(options["levels"] or ["none", "generic", "full"])
        plan = build_plan(options)
        if options["estimate"]:
            return {"run": None, "estimate": seed_estimates.estimate(plan, agent=agent, checker=checker, levels=levels)}
        for one in (agent, *checkers):
            agents_services.probe(one, keys)
        more = {name: options[name] for name in ("name", "seed", "budget_usd", "queue", "project")}
        run = seed_runs.begin(by=None, plan=plan, agent=agent, checker=checker, levels=levels, **more)
        if options["resume"]:
            candidates.resume(by=None, run=run)
        if not options["queue"]:
            with tqdm(disable=not self.on_terminal, unit="order") as bar:
                for _ in seed_runs.work_through(run):
                    bar.update()
        run.refresh_from_db()
        return seed_runs.document(run)

    def write_text(self, document: CandidatesDocument) -> None:
        if "updated" in document:
            self.write_json(document)
        elif "estimate" in document:
            found = document["estimate"]
            price = "unknown" if found["usd"] is None else f"{found['usd']:.2f} USD"
            self.stdout.write(
                f"{found['requests']} requests, {found['input_tokens']} tokens read and "
                f"{found['output_tokens']} written, price {price}. {' '.join(found['why'])}"
            )
        elif "stages" in document:
            self.write_stages(document)
        elif "orders" in document:
            cost = "unknown" if document["cost_usd"] is None else f"{document['cost_usd']:.4f} USD"
            self.stdout.write(
                f"{document['done']} of {document['orders']} questions done, {document['running']} under way, "
                f"{document['failed']} failed: {document['candidates']} candidates from {document['replies']} replies, "
                f"cost {cost}."
            )
            for problem in document["problems"]:
                self.stdout.write(f"failed: {problem}")
        else:
            why = ", ".join(f"{n} {reason}" for reason, n in document["left_out"].items() if n)
            self.stdout.write(f"{document['pairs']} pairs ({document['created']} new). Left out: {why or 'none'}.")

    def write_stages(self, document: SeedRunDocument) -> None:
        """What every stage left, and what was wrong with replies."""
        for row in document["stages"]:
            why = "".join(f", {n} {reason}" for reason, n in row["left_out"].items())
            self.stdout.write(f"{row['what']}: {row['n']}{why}")
        for reason, n in document["unfit"].items():
            self.stdout.write(f"replies that did not fit, {reason}: {n}")
        self.stdout.write(f"Run {document['run']}: {document['state']}. {document['problem']}".strip())


def work_through(orders: Sequence[Making], *, is_shown: bool) -> None:
    """Work through the orders in this process, with a progress bar where somebody looks."""
    with tqdm(total=len(orders), disable=not is_shown, unit="order") as bar:
        for n in worker_sessions.work_through(orders):
            bar.update(n - bar.n)


def read_questions(profiles: str, file: Path | None, question: str, kind: str) -> list[Question]:
    people = candidates.people(profiles)
    if file:
        return candidates.read_questions(InputFile.from_path(file), people)
    if not question or not people:
        raise InputError("name --questions FILE, or --question with --profiles", field="questions")
    return [Question(one, question, kind or "general") for one in people]


def build_plan(options: dict[str, Any]) -> SeedPlan:
    """The plan of a run from seeds, with as many personas as seeds where no number is given."""
    found, left_out = seed_runs.read_seeds(InputFile.from_path(options["file"]), on_error=options["on_error"])
    names = ("specific", "general", "memories", "length", "same_form", "each", "near")
    questions = seed_runs.read_general(InputFile.from_path(options["questions"])) if options["questions"] else []
    return SeedPlan(
        found,
        personas=options["personas"] or len(found),
        questions=questions,
        against=parse_matchups(options["against"]),
        left_out=left_out,
        **{name: options[name] for name in names},
    )


def parse_matchups(given: list[str]) -> list[tuple[str, str]]:
    """Which levels stand against which, as in full-none."""
    against = []
    for one in split_names(given):
        a, sign, b = one.partition("-")
        if not sign or a not in LEVELS or b not in LEVELS:
            raise InputError(
                "{one!r} is not two of {levels} with a hyphen between",
                field="against",
                one=one,
                levels=", ".join(LEVELS),
            )
        against.append((a, b))
    return against
