"""Short ways to a benchmark that models can be evaluated on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.benchmarks.models import Benchmark
from judging.evaluations.services import evaluations
from judging.judges.evaluation_settings import Setting
from judging.judges.models import Judge
from judging.runs.models.evaluations import Evaluation
from judging.runs.models.runs import JudgeRun
from judging.runs.services import work
from tests.support import factories

PERSONA: dict[str, Any] = {
    "persona": "Paints in the evening.",
    "demographics": {"Age": 34, "Gender": "woman"},
    "preferences": {"Food": {"Cuisine": "Thai, without meat"}, "Travel": "by train"},
    "memories": [],
}


def benchmark_with(gold: Sequence[str], *, personas: int = 2, tiers: Sequence[str] = ("easy", "hard")) -> Benchmark:
    """A case for each gold answer, of so many personas in turn, with tiers in turn."""
    benchmark = factories.BenchmarkFactory()
    people = [factories.ProfileFactory(**PERSONA) for _ in range(personas)]
    for place, said in enumerate(gold):
        pair = factories.ResponsePairFactory(
            profile=people[place % personas],
            question=f"What Thai food shall I cook tonight? {place}",
            response_1=f"A green Thai curry without meat, number {place}.",
            response_2=f"Anything that you like. {place}",
        )
        factories.BenchmarkCaseFactory(benchmark=benchmark, pair=pair, gold=said, tier=tiers[place % len(tiers)])
    return benchmark


def evaluated(benchmark: Benchmark, judge: Judge, *settings: Setting, **options: Any) -> Evaluation:
    """A judge in these settings (no persona if none is given), worked through in this process."""
    evaluation = options.pop("evaluation", None) or evaluations.begin(by=None, benchmark=benchmark)
    runs = evaluations.ask(
        by=None, evaluation=evaluation, judges=[judge], settings=settings or (Setting(),), queue=False, **options
    )
    for run in runs:
        for _ in work.work_through(run):
            pass
    return evaluation


def only_run(evaluation: Evaluation) -> JudgeRun:
    return evaluation.runs.get()
