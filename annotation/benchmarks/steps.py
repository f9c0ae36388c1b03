"""A benchmark as one line, left to right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from annotation.benchmarks.models import Benchmark
from annotation.benchmarks.queries import benchmarks
from annotation.studies.steps import Step, link


def benchmark_steps(benchmark: Benchmark, current: str = "") -> list[Step]:
    """All steps, the one called `current` marked as where the reader is. Two queries."""
    counts = benchmarks.numbers(benchmark)
    own = [*votes_step(benchmark), cases_step(benchmark, counts), audit_step(benchmark, counts)]
    steps = [*own, sheet_step(benchmark), release_step(benchmark)]
    return [replace(step, current=step.key == current) for step in steps if step.href]


def votes_step(benchmark: Benchmark) -> Iterable[Step]:
    if benchmark.study:
        yield Step("votes", "Votes", benchmark.study.name, "done", link("filter_rounds", benchmark.study.slug))


def cases_step(benchmark: Benchmark, counts: benchmarks.Numbers) -> Step:
    n = f"{counts.counting:,}" + (f" of {counts.cases:,}" if counts.cases != counts.counting else "")
    return Step("cases", "Cases", n, "done" if counts.counting else "todo", link("benchmark_cases", benchmark.slug))


def audit_step(benchmark: Benchmark, counts: benchmarks.Numbers) -> Step:
    here = link("benchmark_audit", benchmark.slug)
    if counts.audits:
        return Step("audit", "Audit", "done", "done", here)
    return Step("audit", "Audit", "not yet", "active", here, "Audit", here)


def sheet_step(benchmark: Benchmark) -> Step:
    return Step("datasheet", "Datasheet", "", "done", link("benchmark_datasheet", benchmark.slug))


def release_step(benchmark: Benchmark) -> Step:
    here = link("benchmark_release", benchmark.slug)
    if benchmark.is_released:
        return Step("release", "Release", f"{benchmark.released_at:%Y-%m-%d}", "done", here)
    return Step("release", "Release", "draft", "active", here, "Release", here)
