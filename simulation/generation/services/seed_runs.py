"""From seeds to pairs of responses: personas, questions, memories, responses, checks, each stage ordered in one piece.

A stage is ordered, in one transaction, once every order of the one before is over. So a process may be killed at any
moment: orders that are there are not ordered again, and what they had got is not asked for again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import TypedDict

import numpy as np
from django.db import transaction
from pydantic import ValidationError

from annotation.corpus.models import Profile, ResponsePair
from annotation.stats.benchmarks.repeats import NEAR
from core.accounts.models.projects import Project, choose_project
from core.accounts.models.users import User
from core.audit.log import audited
from core.errors import InputError
from core.files.input_files import InputFile, OnError, Problems, read_jsonl
from core.hashing import content_hash
from core.names import check_name
from simulation.agents import services as agents_services
from simulation.agents.models import Agent
from simulation.agents.parsing.seeds import QuestionRecord, SeedRecord
from simulation.experiments.services import budget_tracker
from simulation.generation import queries
from simulation.generation.models import Candidate, CandidateRun, Making
from simulation.generation.options import MOST
from simulation.generation.result_types import SeedRunDocument
from simulation.generation.services import candidates, generation, worker_sessions
from simulation.stats.drawing import combine
from simulation.stats.pairing import PairRule

MOST_TOLD = 20
"""Topics that the model is given for general questions."""

Stage = CandidateRun.Stage


class StoredSeed(TypedDict):
    id: str
    traits: Mapping[str, object]


@dataclass(frozen=True)
class SeedPlan:
    """What is made from seeds.

    Attributes
    ----------
    seeds
        Each with `id` and `traits`.
    personas
        How many; the first are the seeds as they stand, the others combine their traits by lot.
    specific, general
        Questions for each persona, and questions that every persona is asked.
    questions
        General questions that are given; `general` more are made.
    memories
        Passages for each persona.
    against, length, same_form, each
        Which levels make pairs, as in `PairRule`.
    near
        Percent from which two texts are nearly the same, and the later one is left out.
    """

    seeds: Sequence[StoredSeed]
    personas: int
    specific: int = 5
    general: int = 5
    questions: Sequence[str] = ()
    memories: int = 6
    against: Sequence[Sequence[str]] = (("full", "none"), ("full", "generic"))
    length: float = 0.0
    same_form: bool = False
    each: int = 1
    near: float = NEAR
    left_out: Mapping[str, int] = field(default_factory=dict)

    def check(self, levels: Sequence[str]) -> None:
        """Raise InputError where nothing can come of it."""
        if not self.seeds:
            raise InputError("Give at least one seed with traits.", field="seeds")
        for one in self.seeds:
            try:
                SeedRecord.model_validate(one)
            except ValidationError as error:
                said = error.errors(include_url=False)[0]
                raise InputError(
                    "Seed {seed}: {name}: {wrong}.",
                    field="seeds",
                    seed=one.get("id", "?"),
                    name=said["loc"][0],
                    wrong=said["msg"],
                ) from error
        for name, least in (("personas", 1), ("specific", 0), ("general", 0), ("memories", 0)):
            if not least <= getattr(self, name) <= MOST:
                raise InputError(
                    "The number of {name} is from {least} to {most}.", field=name, name=name, least=least, most=MOST
                )
        if not self.specific + self.general + len(self.questions):
            raise InputError("Ask for at least one question, specific or general.", field="specific")
        if unknown := [level for pair in self.against for level in pair if level not in levels]:
            raise InputError(
                "Pairs need responses of the level {unknown!r}: order it too.", field="against", unknown=unknown[0]
            )
        self.rule(0)

    def rule(self, seed: int) -> PairRule:
        more = {name: getattr(self, name) for name in ("length", "same_form", "near", "each")}
        return candidates.build_rule(self.against, **more, seed=seed)


def read_seeds(file: InputFile, *, on_error: OnError = "stop") -> tuple[list[StoredSeed], dict[str, int]]:
    """The seeds of a JSONL file, and why lines were left out where bad ones are skipped."""
    problems = Problems(on_error)
    read = read_jsonl(file, SeedRecord, problems, id_of=lambda one: one.id)
    found = [StoredSeed(id=one.id, traits=one.traits) for _, one in read]
    return found, dict(Counter(f"{one.field} {one.message}".strip() for one in problems.errors))


def read_general(file: InputFile) -> list[str]:
    """The general questions of a JSONL file, each once."""
    rows = read_jsonl(file, QuestionRecord, Problems("stop"), id_of=lambda one: one.question)
    return [one.question for _, one in rows]


@audited("candidates.from_seeds", says=("agent", "checker", "plan", "levels", "seed", "budget_usd"))
def begin(
    *,
    by: User | None,
    name: str,
    agent: Agent,
    plan: SeedPlan,
    checker: Agent | None = None,
    levels: Sequence[str] = ("none", "generic", "full"),
    seed: int = 0,
    budget_usd: Decimal | None = None,
    queue: bool = True,
    project: Project | None = None,
) -> CandidateRun:
    """Begin with the personas. The same name and the same order again is the run that is there already."""
    name, project = check_name(name, what="A run"), choose_project(by, project)
    plan.check(levels)
    budget_tracker.check([one for one in (agent, checker) if one], budget_usd)
    with transaction.atomic():
        agent = agents_services.find_or_create_agent(by=by, agent=agent)
        checker = agents_services.find_or_create_agent(by=by, agent=checker) if checker else None
        wanted = {
            "plan": to_stored(plan),
            "agent": agent,
            "checker": checker,
            "seed": seed,
            "levels": candidates.check_levels(levels),
        }
        there = CandidateRun.objects.filter(project=project, name=name, **wanted).first()
        if there is not None:
            return there
        run = CandidateRun.objects.create(
            project=project, name=name, budget_usd=budget_usd, created_by=by, stage=Stage.PERSONAS, **wanted
        )
        add_orders(run, personas(run), queue=queue)
    return run


def to_stored(plan: SeedPlan) -> dict[str, object]:
    """The plan as JSON gives it back."""
    document = asdict(plan)
    return {
        **document,
        "seeds": [dict(one) for one in plan.seeds],
        "against": [list(pair) for pair in plan.against],
        "questions": list(plan.questions),
    }


def load_plan(run: CandidateRun) -> SeedPlan:
    return SeedPlan(**run.plan)


# the stages


def personas(run: CandidateRun) -> list[Making]:
    plan = load_plan(run)
    drawn = combine([one["traits"] for one in plan.seeds], plan.personas, seed=run.seed)
    return [
        order(run, "persona", f"persona {place}", {"traits": traits, "seed_id": plan.seeds[base]["id"]})
        for place, (base, traits) in enumerate(drawn)
    ]


def details(run: CandidateRun) -> list[Making]:
    """Questions, memories and a look for conflicts for each persona, and general questions."""
    plan, people = load_plan(run), Profile.objects.in_bulk(queries.personas(run).pks)
    found = []
    for pk, one in sorted(people.items()):
        if plan.specific:
            found.append(order(run, "questions", f"questions {pk}", {"n": plan.specific}, profile=one))
        if plan.memories:
            found.append(order(run, "memories", f"memories {pk}", {"n": plan.memories}, profile=one))
        found.append(order(run, "check", f"check {pk}", {}, profile=one, agent=run.checker or run.agent))
    if plan.general and people:
        topics = list(dict.fromkeys(name for one in plan.seeds for name in one["traits"]))[:MOST_TOLD]
        found.append(order(run, "questions", "general", {"n": plan.general, "topics": topics}))
    return found


def responses(run: CandidateRun) -> list[Making]:
    """Every persona's own questions and the general ones, at every level."""
    people = Profile.objects.in_bulk(queries.sound(run).pks)
    asked, _ = queries.questions(run)
    found = []
    for pk, one in sorted(people.items()):
        for question in asked:
            if question.profile in (None, pk):
                kind = "general" if question.profile is None else "specific"
                parents = {"parents": {"persona": one.extra["making"], "question": question.making or "given"}}
                key = content_hash([run.pk, pk, question.text])
                more = {"question": question.text, "kind": kind, "levels": run.levels, "parents": parents}
                found.append(order(run, "candidates", key, more, profile=one))
    return found


def checks(run: CandidateRun) -> list[Making]:
    """A look at the responses to each question, in an order drawn by lot. None without a checker."""
    if run.checker is None:
        return []
    found = []
    for made in queries.load_kind(run, "candidates").filter(problem="").select_related("profile"):
        pks = sorted({pk for _, pk in made.made})
        shown = [pks[place] for place in np.random.default_rng([run.seed, made.pk]).permutation(len(pks)).tolist()]
        levels = dict(Candidate.objects.filter(pk__in=pks).values_list("pk", "level"))
        more = {"question": made.asked["question"], "candidates": shown, "levels": [levels[pk] for pk in shown]}
        found.append(order(run, "responses", f"responses {made.pk}", more, profile=made.profile, agent=run.checker))
    return found


def order(
    run: CandidateRun,
    kind: str,
    key: str,
    asked: Mapping[str, object],
    *,
    profile: Profile | None = None,
    agent: Agent | None = None,
) -> Making:
    """An order of the run, not queued yet."""
    return generation.order(
        by=run.created_by,
        project=run.project,
        kind=kind,
        agent=agent or run.agent,
        source="",
        profile=profile,
        more={**asked, "key": f"run {run.pk} {key}"},
        seed=run.seed,
        queue=False,
    )


NEXT: dict[str, tuple[str, Callable[[CandidateRun], list[Making]]]] = {
    Stage.PERSONAS: (Stage.DETAILS, details),
    Stage.DETAILS: (Stage.RESPONSES, responses),
    Stage.RESPONSES: (Stage.CHECKS, checks),
}


def add_orders(run: CandidateRun, orders: Sequence[Making], *, queue: bool) -> None:
    run.makings.add(*orders)
    if queue:
        generation.queue_all(orders)


def advance(pk: int, *, queue: bool = True) -> bool:
    """Order the next stage if every order of this one is over. Whether something was done.

    Where orders could not be worked on at all, as with a model that is away, the run waits for a person and says why.
    """
    with transaction.atomic():
        run = (
            CandidateRun.objects.select_for_update(of=("self",))
            .select_related("project", "agent", "checker")
            .get(pk=pk)
        )
        waits = run.stopped_at or run.problem or run.makings.filter(finished_at__isnull=True).exists()
        if not run.plan or run.stage == Stage.DONE or waits:
            return False
        faults = queries.faults(run)
        if faults:
            reason, n = max(faults.items(), key=lambda pair: pair[1])
            run.problem = f"{sum(faults.values())} orders could not be worked on; {n} of them: {reason}"
        else:
            go_on(run, queue=queue)
        run.save(update_fields=["stage", "problem"])
    return True


def go_on(run: CandidateRun, *, queue: bool) -> None:
    """The next stage that has something to do; pairs are made at the end."""
    if run.stage in NEXT:
        stage, make_orders = NEXT[run.stage]
        if orders := make_orders(run):
            add_orders(run, orders, queue=queue)
            run.stage = stage
            return
        if stage != Stage.CHECKS:
            run.problem = f"Nothing is left to go on with: {explain_nothing(run)}."
            return
    pks = queries.list_left(run)
    good = queries.responses(run, pks).pks
    if not good:
        run.problem = f"No response is left to make pairs of: {explain_nothing(run)}."
        return
    candidates.make_pairs(by=run.created_by, rule=load_plan(run).rule(run.seed), run=run, only=good)
    run.stage = Stage.DONE


def explain_nothing(run: CandidateRun) -> str:
    """What was left out on the way, by reason."""
    rows = queries.report(run, whole=True)
    reasons = [f"{row['what']}: {n} {reason}" for row in rows for reason, n in row["left_out"].items()]
    return "; ".join(reasons) or "nothing was made"


def advance_all() -> int:
    """Order the next stage of every run from seeds whose orders are over. Returns of how many."""
    running = CandidateRun.objects.exclude(plan={}).exclude(stage=Stage.DONE)
    waiting = running.filter(stopped_at__isnull=True, problem="").exclude(makings__finished_at__isnull=True)
    return sum(advance(pk) for pk in waiting.values_list("pk", flat=True))


def work_through(run: CandidateRun) -> Iterator[int]:
    """Work through a run in this process, yielding now and then how many orders are over."""
    while True:
        yield from worker_sessions.work_through(list(run.makings.filter(finished_at__isnull=True)))
        if not advance(run.pk, queue=False):
            return


def document(run: CandidateRun) -> SeedRunDocument:
    """How the run stands, as JSON types."""
    found = queries.progress(run)
    is_over = run.stage == Stage.DONE
    return {
        "run": run.pk,
        "name": run.name,
        "stage": run.stage,
        "state": "done" if is_over else "held up" if run.problem else f"at {run.get_stage_display()}",
        "problem": run.problem,
        "orders": found.total,
        "done": found.done,
        "failed": found.failed,
        "spent_usd": str(found.spent),
        "stages": queries.report(run),
        "unfit": queries.unfit(run),
        "pairs": n_pairs(run),
    }


def n_pairs(run: CandidateRun) -> int:
    """How many pairs hold two of the run's responses."""
    if run.stage != Stage.DONE:
        return 0
    keys = set(Candidate.objects.filter(making__in=run.makings.all()).values_list("key", flat=True))
    pairs = ResponsePair.objects.filter(source=candidates.SOURCE).values_list("extra__candidates", flat=True)
    return sum(found is not None and set(found) <= keys for found in pairs.iterator())
