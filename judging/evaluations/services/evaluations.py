"""Evaluations: cases chosen from a benchmark, and a run for each judge and setting."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from decimal import Decimal
from functools import reduce
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max, QuerySet
from django.db.models.functions import Length

from annotation.benchmarks.models import Benchmark, BenchmarkCase
from annotation.stats.sampling import draw_stratified_sample
from annotation.studies.criteria import TEMPLATES
from annotation.studies.models.studies import Criterion, Item, Sample, Study
from annotation.studies.services.studies import free_slug
from core.accounts.models.users import User
from core.audit.log import audit_transaction, audited
from core.errors import InputError
from core.hashing import content_hash
from core.version import code_version
from judging.evaluations.queries import evaluations as queries
from judging.judges.evaluation_settings import Setting
from judging.judges.models import Judge
from judging.runs.models.evaluations import Evaluation
from judging.runs.models.runs import JudgeRun
from judging.runs.services import runs

BATCH = 2000
CRITERION = "preference"


@dataclass(frozen=True)
class Drawing:
    """Which cases of a benchmark are asked about.

    Attributes
    ----------
    size
        How many, as many of each tier as there are; None for all.
    tiers, kinds, split
        Of which only; all where nothing is named.
    longest
        The most characters that question and responses may have together: says so where a model is slow.
    seed
        Of the draw.
    """

    size: int | None = None
    tiers: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    split: str = ""
    longest: int | None = None
    seed: int = 0

    @classmethod
    def from_options(cls, given: Mapping[str, object]) -> Drawing:
        """Read the draw from the options of a new evaluation."""
        named = {one.name: given[one.name] for one in fields(cls) if given.get(one.name) is not None}
        frozen: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in named.items()}
        return cls(**frozen)

    def to_json(self) -> dict[str, object]:
        return {name: value for name, value in asdict(self).items() if value not in (None, (), "")}


@audited("evaluation.begin", says=("benchmark", "drawing"))
def begin(*, by: User | None, benchmark: Benchmark, drawing: Drawing | None = None) -> Evaluation:
    """Begin an evaluation of some or all cases of a benchmark, with a study that holds their pairs."""
    chosen = drawing or Drawing()
    eligible = list(eligible_cases(benchmark, chosen).order_by("pair__profile__external_id", "pair__external_id", "pk"))
    if not eligible:
        raise InputError(
            "{benchmark} has no case like that which models are scored on.", field="cases", benchmark=benchmark
        )
    cases = draw_cases(eligible, chosen)
    with transaction.atomic():
        evaluation = create_evaluation(by, benchmark, chosen, cases)
        sample = Sample.objects.create(
            study=evaluation.study,
            method="all" if len(cases) == len(eligible) else "stratified",
            strata=[] if len(cases) == len(eligible) else ["tier"],
            filters={"benchmark": [benchmark.slug]},
            frame_size=len(eligible),
            size=len(cases),
            seed=chosen.seed,
            input_hash=content_hash([case.pair.content_hash for case, _ in cases]),
            created_by=by,
        )
        Item.objects.bulk_create(
            (
                Item(
                    study=evaluation.study,
                    sample=sample,
                    pair=case.pair,
                    position=position,
                    stratum=case.tier,
                    inclusion_probability=probability,
                    content_hash=case.pair.content_hash,
                )
                for position, (case, probability) in enumerate(cases, start=1)
            ),
            batch_size=BATCH,
        )
    return evaluation


def eligible_cases(benchmark: Benchmark, drawing: Drawing) -> QuerySet[BenchmarkCase]:
    """Find the cases that models are scored on, narrowed as asked."""
    cases = BenchmarkCase.objects.only_counting().filter(benchmark=benchmark).select_related("pair")
    narrowed: Mapping[str, object] = {
        **({"tier__in": drawing.tiers} if drawing.tiers else {}),
        **({"kind__in": drawing.kinds} if drawing.kinds else {}),
        **({"split": drawing.split} if drawing.split else {}),
    }
    cases = cases.filter(**narrowed)
    if drawing.longest is None:
        return cases
    lengths = (Length(f"pair__{text}") for text in ("question", "context", "response_1", "response_2"))
    return cases.annotate(length=reduce(operator.add, lengths)).filter(length__lte=drawing.longest)


def draw_cases(eligible: Sequence[BenchmarkCase], drawing: Drawing) -> list[tuple[BenchmarkCase, float]]:
    """Draw cases, each with its chance, in the order of their personas, so that a server may reuse what it read."""
    if drawing.size is None or drawing.size == len(eligible):
        return [(case, 1.0) for case in eligible]
    if not 1 <= drawing.size <= len(eligible):
        raise InputError(
            "Cannot draw {size} of {n_eligible} cases.", field="size", size=drawing.size, n_eligible=len(eligible)
        )
    by_id = {f"{case.pair.source}/{case.pair.external_id}": case for case in eligible}
    tiers = [case.tier or "none" for case in eligible]
    found = draw_stratified_sample(list(by_id), tiers, drawing.size, drawing.seed, "equal").drawn
    probability = {one.id: one.probability for one in found}
    return [(case, probability[name]) for name, case in by_id.items() if name in probability]


def create_evaluation(
    by: User | None, benchmark: Benchmark, drawing: Drawing, cases: Sequence[tuple[BenchmarkCase, float]]
) -> Evaluation:
    """Create the evaluation with its study: closed, since no one rates here."""
    number = (benchmark.evaluations.aggregate(last=Max("number"))["last"] or 0) + 1
    name = f"{str(benchmark)[:95]}, evaluation {number}"
    try:
        with transaction.atomic():
            study = Study.objects.create(
                project_id=benchmark.project_id,
                name=name,
                slug=free_slug(name),
                kind=Study.Kind.PAIR,
                state=Study.State.CLOSED,
                description=f"The cases of {benchmark} on which models are evaluated. People do not rate here.",
                shown=[],
                created_by=by,
            )
            Criterion.objects.create(study=study, position=1, **TEMPLATES[CRITERION].fields())
            return Evaluation.objects.create(
                benchmark=benchmark,
                number=number,
                study=study,
                drawn=drawing.to_json(),
                input_hash=content_hash([case.pair.content_hash for case, _ in cases]),
                code_version=code_version(),
                created_by=by,
            )
    except IntegrityError as error:
        raise InputError("Somebody began an evaluation of it just now: try again.", field="benchmark") from error


def build_plan(
    *,
    evaluation: Evaluation,
    judge: Judge,
    setting: Setting,
    order_policy: str = "both",
    seed: int = 0,
    budget_usd: Decimal | None = None,
    use_cache: bool = True,
) -> runs.Plan:
    """Build a run as it would be made. InputError names what is wrong with the setting or the judge."""
    for field, problem in setting.problems():
        raise InputError(problem, field=field)
    if setting.without:
        known = queries.list_known_fields(evaluation)
        if unknown := [name for name in setting.without if name not in known]:
            raise InputError(
                "{unknown!r} is not a field of these personas; there are {known}.",
                field="without",
                unknown=unknown[0],
                known=", ".join(known),
            )
    return runs.plan(
        study=evaluation.study,
        judge=judge,
        order_policy=order_policy,
        seed=seed,
        budget_usd=budget_usd,
        use_cache=use_cache,
        evaluation=evaluation,
        setting=setting,
    )


def describe_embedder(model: str | None, url: str | None) -> dict[str, str] | None:
    """Say who makes embeddings, as a setting keeps it; None where no model is named."""
    return {"model": model, **({"base_url": url} if url else {})} if model else None


def describe_runs(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `ask` takes besides evaluation and judges, from options as `NewEvaluationRuns` has them."""
    how = {name: given[name] for name in ("answers", "retriever", "k", "embedder") if given.get(name) is not None}
    without = tuple(given.get("without", ()))
    return {
        "settings": [Setting(shows, without=without, **how) for shows in dict.fromkeys(given["settings"])],
        **{name: given[name] for name in ("order_policy", "seed", "budget_usd", "use_cache") if name in given},
    }


@audited("evaluation.ask", on="evaluation", says=("judges", "settings", "options"), prepares=True)
def ask(
    *,
    by: User | None,
    evaluation: Evaluation,
    judges: Sequence[Judge],
    settings: Sequence[Setting],
    queue: bool = True,
    **options: Any,
) -> list[JudgeRun]:
    """Make a run for each judge in each setting; where the same was asked, take that one, going on with it if it was
    stopped. All are checked before the first is made."""
    if not judges or not settings:
        raise InputError("An evaluation needs a judge and a setting.", field="judges" if settings else "settings")
    plans = [
        build_plan(evaluation=evaluation, judge=judge, setting=setting, **options)
        for judge in judges
        for setting in settings
    ]
    with audit_transaction() as done:
        runs_asked = done.result = [start_run(by, plan, queue=queue) for plan in plans]
    return runs_asked


def start_run(by: User | None, plan: runs.Plan, *, queue: bool) -> JudgeRun:
    there = JudgeRun.objects.filter(
        evaluation=plan.evaluation,
        judge=plan.judge,
        input_hash=plan.input_hash,
        order_policy=plan.order_policy,
        seed=plan.seed,
    ).order_by("-created_at", "-pk")
    run = there.first()
    if run is None:
        return runs.make(by=by, plan=plan, queue=queue)
    if run.finished_at is None:
        runs.resume(by=by, run=run, queue=queue, budget_usd=plan.budget_usd)
        run.refresh_from_db()
    return run


@audited("evaluation.discard", on="evaluation")
def discard(*, by: User | None, evaluation: Evaluation) -> None:  # noqa: ARG001
    """Remove an evaluation that nobody was asked in, with its study. One with runs stays."""
    if evaluation.runs.exists():
        raise InputError("{evaluation} has runs, and so it stays.", field="evaluation", evaluation=evaluation)
    with transaction.atomic():
        study = evaluation.study
        evaluation.delete()
        study.delete()
