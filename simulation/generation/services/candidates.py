"""Candidate responses at stated levels of personalization: ordered from a model, in runs, or imported; and their pairs.

An order is a `Making` for each profile and question, with a step for each level. So it runs through Celery, may be
interrupted, keeps every reply with its cost, and is not paid for twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from annotation.corpus.models import Profile, ResponsePair
from annotation.stats.benchmarks.repeats import NEAR
from core.accounts.models.projects import Project, choose_project
from core.accounts.models.users import User
from core.audit.log import audited
from core.batches import iterate_batches
from core.errors import InputError
from core.files.input_files import InputFile, OnError, Problems, read_jsonl
from core.files.outcome import Outcome, explain_refusal
from core.hashing import content_hash
from core.names import check_name
from core.options.model import check_options
from judging.judges.pricing import format_dollars
from simulation.agents.models import Agent
from simulation.agents.parsing.seeds import CandidateRecord, QuestionRecord
from simulation.agents.prompts.generation import LEVELS
from simulation.experiments.services import budget_tracker
from simulation.generation import queries
from simulation.generation.models import Candidate, CandidateRun, Making
from simulation.generation.options import PairOptions
from simulation.generation.result_types import MadePairsDocument, OrdersDocument
from simulation.generation.services import generation
from simulation.stats.pairing import PairingResult, PairRule, Response, pairs

SOURCE = "candidates"
BATCH = 500


@dataclass(frozen=True)
class Question:
    """What is asked of a profile."""

    profile: Profile
    text: str
    kind: str = "general"


@audited("candidates.order", says=("agent", "questions", "levels", "seed"))
def order(
    *,
    by: User | None,
    agent: Agent,
    questions: Sequence[Question],
    levels: Sequence[str] = LEVELS,
    seed: int = 0,
    queue: bool = True,
    project: Project | None = None,
) -> list[Making]:
    """Order candidates; what was ordered before with the same agent, question, levels and seed is not ordered again."""
    check_levels(levels)
    if not levels or not questions:
        raise InputError("Name at least one level and one question.", field="questions" if levels else "levels")
    project = choose_project(by, project)
    before = Making.objects.filter(project=project, kind="candidates", agent__settings_hash=agent.settings_hash)
    there = {batch_key(one): one for one in before}
    with transaction.atomic():
        found = [
            there.get(key) or create_order(by, project, agent, one, levels, seed, key)
            for one in questions
            for key in [content_hash([one.profile.pk, one.text, one.kind, list(levels), seed])]
        ]
        if queue:
            generation.queue_all(found)
    return found


def check_levels(levels: Sequence[str]) -> list[str]:
    """Return the levels from nothing of the person to too much. InputError for one that is not known."""
    if unknown := [level for level in levels if level not in LEVELS]:
        raise InputError(
            "{unknown!r} is not one of {levels}.", field="levels", unknown=unknown[0], levels=", ".join(LEVELS)
        )
    return [level for level in LEVELS if level in levels]


def batch_key(one: Making) -> str:
    return str(one.asked.get("key", ""))


def create_order(
    by: User | None, project: Project, agent: Agent, one: Question, levels: Sequence[str], seed: int, key: str
) -> Making:
    return generation.order(
        by=by,
        project=project,
        kind="candidates",
        agent=agent,
        source="",
        profile=one.profile,
        more={"question": one.text, "kind": one.kind, "levels": list(levels), "key": key},
        seed=seed,
        queue=False,
    )


def progress(orders: Sequence[Making]) -> OrdersDocument:
    """How far orders are, and what they have cost; the cost is None where no price is known."""
    replies = [reply for one in orders for reply in one.replies]
    known = [Decimal(str(reply["cost_usd"])) for reply in replies if reply.get("cost_usd") is not None]
    states = Counter(one.state for one in orders)
    return {
        "orders": len(orders),
        "done": states["done"],
        "running": states["running"],
        "failed": states["failed"],
        "replies": len(replies),
        "candidates": sum(len(one.made) for one in orders),
        "cost_usd": float(sum(known, Decimal(0))) if len(known) == len(replies) else None,
        "problems": sorted({one.problem for one in orders if one.problem}),
    }


def people(names: str) -> list[Profile]:
    """The profiles whose ids are named with commas between; `all` means all, also those without preferences."""
    if names.strip() == "all":
        return list(Profile.objects.order_by("source", "external_id"))
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    found = {one.external_id: one for one in Profile.objects.filter(external_id__in=wanted).order_by("source")}
    if unknown := [name for name in wanted if name not in found]:
        raise InputError("There is no profile {unknown!r}.", field="profiles", unknown=unknown[0])
    return [found[name] for name in wanted]


def read_questions(file: InputFile, profiles: Sequence[Profile]) -> list[Question]:
    """The questions of a file, each of its own profile or of all given. InputError with line and field."""
    known = {one.external_id: one for one in Profile.objects.order_by("source")}
    found = []
    for line, record in read_jsonl(
        file, QuestionRecord, Problems("stop"), id_of=lambda one: f"{one.profile_id} {one.question}"
    ):
        if record.profile_id is not None and record.profile_id not in known:
            raise file.error("there is no profile {name!r}", line=line, field="profile_id", name=record.profile_id)
        of = [known[record.profile_id]] if record.profile_id is not None else list(profiles)
        if not of:
            raise file.error("names no profile, and no profiles are given", line=line, field="profile_id")
        found += [Question(profile, record.question, record.kind) for profile in of]
    return found


@audited("candidates.import", says=("path", "on_error"))
def load(*, by: User | None, path: Path, on_error: OnError = "stop", name: str = "") -> Outcome:  # noqa: ARG001
    """Import candidates, all or nothing unless bad records are skipped. Importing again changes nothing.

    `name` is what errors call the file, where that is not its own name.
    """
    file = InputFile(path, name) if name else InputFile.from_path(path)
    problems, outcome = Problems(on_error), Outcome(("candidates",))
    profiles = dict(Profile.objects.values_list("external_id", "pk"))
    sources = dict(Profile.objects.values_list("external_id", "source"))
    found = records(file, profiles, problems)
    with explain_refusal(file), transaction.atomic():
        for batch in iterate_batches(found, BATCH):
            rows = [build_candidate(one, profiles, sources) for one in batch]
            there = set(Candidate.objects.filter(key__in=[row.key for row in rows]).values_list("key", flat=True))
            new = {row.key: row for row in rows if row.key not in there}
            Candidate.objects.bulk_create(new.values())
            outcome.add("candidates", created=len(new), unchanged=len(rows) - len(new))
    outcome.set_aside(problems, beside=path)
    return outcome


def records(file: InputFile, profiles: dict[str, int], problems: Problems) -> Iterator[CandidateRecord]:
    def named(one: CandidateRecord) -> str:
        return content_hash([one.profile_id, one.question, one.level, one.provider, one.model, one.text])

    for line, record in read_jsonl(file, CandidateRecord, problems, id_of=named):
        if record.profile_id in profiles:
            yield record
        else:
            error = file.error("there is no profile {name!r}", line=line, field="profile_id", name=record.profile_id)
            problems.add(error, record.model_dump_json())


def build_candidate(one: CandidateRecord, profiles: dict[str, int], sources: dict[str, str]) -> Candidate:
    fields = {
        "question": one.question,
        "kind": one.kind,
        "level": one.level,
        "provider": one.provider,
        "model": one.model,
        "prompt_hash": "",
        "text": one.text,
    }
    key = content_hash([sources[one.profile_id], one.profile_id, *fields.values()])
    return Candidate(key=key, profile_id=profiles[one.profile_id], extra=one.others, **fields)


@check_options(PairOptions)
def build_rule(
    against: Iterable[Sequence[str]],
    *,
    length: float = 0.0,
    same_form: bool = False,
    near: float = NEAR,
    each: int = 1,
    seed: int = 0,
) -> PairRule:
    """How pairs are made. InputError where none could be."""
    try:
        return PairRule(tuple((a, b) for a, b in against), length, same_form, near, each, seed)
    except ValueError as error:
        raise InputError(str(error), field="against") from error


@audited("pairs.make", says=("rule", "kind", "run"))
def make_pairs(
    *,
    by: User | None,  # noqa: ARG001
    rule: PairRule,
    kind: str = "",
    run: CandidateRun | None = None,
    only: Collection[int] | None = None,
) -> MadePairsDocument:
    """Pairs of all candidates (of one kind, of one run, or of `only` some of its) as material.

    The same candidates, rule and seed give the same pairs.
    """
    found = queries.load_run(run) if run else Candidate.objects.select_related("profile")
    wanted = set(only or ())
    chosen = found if only is None else [one for one in found if one.pk in wanted]
    in_order = sorted(chosen, key=lambda one: (one.profile.source, one.profile.external_id, one.key))
    rows = {one.key: one for one in in_order if not kind or one.kind == kind}
    if not rows:
        raise InputError("There are no candidates: order or import some first.", field="kind")
    asked = [
        Response(one.key, (f"{one.profile.source}/{one.profile.external_id}", one.question), one.level, one.text)
        for one in rows.values()
    ]
    made = pairs(asked, rule)
    new = [build_pair(rows[one.first.id], rows[one.second.id], rule) for one in made.pairs]
    there = set(
        ResponsePair.objects.filter(source=SOURCE, external_id__in=[one.external_id for one in new]).values_list(
            "external_id", flat=True
        )
    )
    created = [one for one in new if one.external_id not in there]
    with transaction.atomic():
        ResponsePair.objects.bulk_create(created, batch_size=BATCH)
    return describe_outcome(made, rule, created=len(created))


def build_pair(first: Candidate, second: Candidate, rule: PairRule) -> ResponsePair:
    """A pair known by its two candidates in their order, so that making it again finds it."""
    digest = content_hash([first.key, second.key])
    return ResponsePair(
        source=SOURCE,
        external_id=digest[:20],
        content_hash=digest,
        profile=first.profile,
        question=first.question,
        response_1=first.text,
        response_2=second.text,
        model_1=f"{first.provider} {first.model}".strip()[:120],
        model_2=f"{second.provider} {second.model}".strip()[:120],
        kind=first.kind,
        extra={
            "levels": [first.level, second.level],
            "candidates": [first.key, second.key],
            "prompts": [first.prompt_hash, second.prompt_hash],
            **first.extra,
            "seed": rule.seed,
        },
    )


def describe_outcome(made: PairingResult, rule: PairRule, *, created: int) -> MadePairsDocument:
    """What came of it, as the command prints it."""
    levels = Counter(" against ".join(sorted((one.first.level, one.second.level))) for one in made.pairs)
    return {
        "pairs": len(made.pairs),
        "created": created,
        "unchanged": len(made.pairs) - created,
        "levels": dict(sorted(levels.items())),
        "left_out": dict(made.left_out),
        "rule": {
            "against": [list(pair) for pair in rule.against],
            "length": rule.length,
            "same_form": rule.same_form,
            "near": rule.near,
            "each": rule.each,
        },
        "seed": rule.seed,
        "source": SOURCE,
    }


@audited("candidates.order", says=("agent", "questions", "levels", "seed", "budget_usd"))
def begin(
    *,
    by: User | None,
    name: str,
    agent: Agent,
    questions: Sequence[Question],
    levels: Sequence[str] = LEVELS,
    seed: int = 0,
    budget_usd: Decimal | None = None,
    queue: bool = True,
    project: Project | None = None,
) -> CandidateRun:
    """Order candidates together. What was ordered before is a part of the run and is not ordered again.

    A budget needs a known price of the model. It is looked at before every reply.
    """
    name, project = check_name(name, what="A run"), choose_project(by, project)
    budget_tracker.check([agent], budget_usd)
    with transaction.atomic():
        orders = order(by=by, agent=agent, questions=questions, levels=levels, seed=seed, queue=queue, project=project)
        run = CandidateRun.objects.create(
            project=project,
            name=name,
            agent=orders[0].agent,
            levels=check_levels(levels),
            seed=seed,
            budget_usd=budget_usd,
            created_by=by,
        )
        run.makings.set(orders)
    return run


@audited("candidates.stop", on="run")
def stop(*, by: User | None, run: CandidateRun) -> int:  # noqa: ARG001
    """Ask for no more; what came is kept. Returns how many were not begun. One under way ends after its reply."""
    with transaction.atomic():
        CandidateRun.objects.filter(pk=run.pk, stopped_at__isnull=True).update(stopped_at=timezone.now())
        live = CandidateRun.objects.filter(stopped_at__isnull=True)
        wanted_elsewhere = Making.objects.filter(candidate_runs__in=live)
        unbegun = run.makings.filter(finished_at__isnull=True, worker__isnull=True)
        waiting = unbegun.exclude(pk__in=wanted_elsewhere.values("pk")).values("pk")
        return Making.objects.filter(pk__in=waiting, finished_at__isnull=True, worker__isnull=True).update(
            problem=queries.STOPPED, finished_at=timezone.now()
        )


@audited("candidates.resume", on="run", says=("budget_usd",))
def resume(*, by: User | None, run: CandidateRun, budget_usd: Decimal | None = None) -> int:  # noqa: ARG001
    """Go on with a stopped run, and try again what failed. `budget_usd` takes the place of the budget.

    Levels that came are not asked for again. Returns how many orders go on.
    """
    budget = run.budget_usd if budget_usd is None else budget_usd
    budget_tracker.check([one for one in (run.agent, run.checker) if one], budget)
    if budget is not None and (spent := queries.progress(run).spent) >= budget:
        raise InputError(
            "The run has cost {spent} already: give it a higher budget.",
            field="budget_usd",
            spent=format_dollars(spent),
        )
    with transaction.atomic():
        CandidateRun.objects.filter(pk=run.pk).update(stopped_at=None, problem="", budget_usd=budget)
        return generation.retry_all(Making.objects.filter(candidate_runs=run, finished_at__isnull=False))
