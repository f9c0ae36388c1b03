"""Benchmarks, evaluations of models on them, and candidates for new ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from concord_client import types
from concord_client.transport import Json, Transport


class Benchmarks(Transport):
    """Benchmarks, evaluations of models on them, and candidates for new ones."""

    def benchmarks(self, **query: Any) -> Iterator[types.Benchmark]:
        """All versions of all benchmarks; `name` and `state` narrow them down."""
        return self.rows("benchmarks", **query)

    def build_benchmark(self, study: str, name: str, **options: Any) -> types.Benchmark:
        """A draft from the votes of a study. `options` are those of the API: version, cuts, pooled, splits, …"""
        return cast(types.Benchmark, self.post("benchmarks", {"study": study, "name": name, **options}))

    def cases(self, slug: str, **query: Any) -> Iterator[types.Case]:
        """A benchmark's cases; kind, tier, split, only and q narrow them down."""
        return self.rows(f"benchmarks/{slug}/cases", **query)

    def release_benchmark(self, slug: str) -> types.Benchmark:
        return cast(types.Benchmark, self.post(f"benchmarks/{slug}/release"))

    def download_benchmark(self, slug: str, path: str | Path) -> None:
        """The folder of a released benchmark as a ZIP file, piece by piece."""
        self._download(f"benchmarks/{slug}/release.zip", path)

    def evaluate(
        self, slug: str, *, judges: Sequence[int], settings: Sequence[str], key: str | None = None, **options: Any
    ) -> types.Evaluation:
        """Begin an evaluation: each judge answers in each setting. `options` are those of the API: size, tiers, …"""
        body = {"judges": list(judges), "settings": list(settings), **options}
        return cast(types.Evaluation, self.post(f"benchmarks/{slug}/evaluations", body, key=key))

    def evaluation_results(self, evaluation: int) -> Json:
        """What `benchmark_results NAME --json` prints."""
        return cast(Json, self.get(f"evaluations/{evaluation}/results"))

    def benchmark(self, slug: str) -> types.Benchmark:
        return cast(types.Benchmark, self.get(f"benchmarks/{slug}"))

    def case(self, slug: str, number: int) -> types.Case:
        return cast(types.Case, self.get(f"benchmarks/{slug}/cases/{number}"))

    def benchmark_audit(self, slug: str, **query: Any) -> Json:
        """The newest audit."""
        return cast(Json, self.get(f"benchmarks/{slug}/audit", **query))

    def audit_benchmark(self, slug: str, **options: Any) -> Json:
        """What `audit_benchmark --json` finds: bootstrap, seed."""
        return cast(Json, self.post(f"benchmarks/{slug}/audit", options))

    def clean_benchmark(self, slug: str, **options: Any) -> types.Benchmark:
        """A new version without what rules leave out: rules, version, notes."""
        return cast(types.Benchmark, self.post(f"benchmarks/{slug}/clean", options))

    def datasheet(self, slug: str, **query: Any) -> Json:
        """What somebody must know who uses it."""
        return cast(Json, self.get(f"benchmarks/{slug}/datasheet", **query))

    def filter_rounds(self, slug: str, **query: Any) -> Iterator[types.Round]:
        """The filter rounds of a study of pairs."""
        return self.rows(f"studies/{slug}/filter-rounds", **query)

    def filter_round(self, slug: str, **options: Any) -> types.Round:
        """Decide the items that are ready: outcomes, cuts, min_votes, name, …"""
        return cast(types.Round, self.post(f"studies/{slug}/filter-rounds", options))

    def graded(self, slug: str, **query: Any) -> Json:
        """What choices hide that grades of the same people show."""
        return cast(Json, self.get(f"studies/{slug}/graded", **query))

    def grade(self, slug: str, **options: Any) -> types.Study:
        """A draft in which each response of a study of pairs is graded: name, seed."""
        return cast(types.Study, self.post(f"studies/{slug}/graded", options))

    def evaluations(self, **query: Any) -> Iterator[types.Evaluation]:
        """Evaluations of all benchmarks."""
        return self.rows("evaluations", **query)

    def evaluations_of(self, slug: str, **query: Any) -> Iterator[types.Evaluation]:
        """The evaluations of a benchmark."""
        return self.rows(f"benchmarks/{slug}/evaluations", **query)

    def evaluation(self, evaluation: int) -> types.Evaluation:
        return cast(types.Evaluation, self.get(f"evaluations/{evaluation}"))

    def evaluation_runs(self, evaluation: int, **query: Any) -> Iterator[types.EvaluationRun]:
        """The runs of an evaluation."""
        return self.rows(f"evaluations/{evaluation}/runs", **query)

    def ask_more(self, evaluation: int, **options: Any) -> list[types.EvaluationRun]:
        """Let judges answer in more settings: judges, settings, …"""
        return cast("list[types.EvaluationRun]", self.post(f"evaluations/{evaluation}/runs", options))

    def failures(self, evaluation: int, **query: Any) -> Iterator[types.Failure]:
        """Wrong answers; run, tier, kind, tag, text and case narrow them down."""
        return self.rows(f"evaluations/{evaluation}/failures", **query)

    def failure_counts(self, evaluation: int, **query: Any) -> Json:
        """By model, how many wrong answers are tagged and with what."""
        return cast(Json, self.get(f"evaluations/{evaluation}/tags", **query))

    def tag_failure(self, evaluation: int, judgment: int, **options: Any) -> None:
        """Say what one sees in a wrong answer: tags, note."""
        self.send("PUT", f"evaluations/{evaluation}/failures/{judgment}/tags", options)

    def candidates(self, **query: Any) -> Iterator[types.Candidate]:
        """Candidates; level and kind narrow them down."""
        return self.rows("candidates", **query)

    def candidate_runs(self, **query: Any) -> Iterator[types.CandidateRun]:
        """Runs of candidates."""
        return self.rows("candidates/runs", **query)

    def order_candidates(self, **options: Any) -> types.CandidateRun:
        """Order candidates: name, agent, questions, levels, seed, budget_usd."""
        return cast(types.CandidateRun, self.post("candidates/runs", options))

    def start_from_seeds(self, **options: Any) -> Json:
        """Begin a run from seeds, or with estimate=True what it would take: name, agent, checker, seeds, personas, …"""
        return cast(Json, self.post("candidates/seeds", options))

    def candidate_run(self, run: int, **query: Any) -> Json:
        """A run of candidates: what came by level, and what failed."""
        return cast(Json, self.get(f"candidates/runs/{run}", **query))

    def stop_candidates(self, run: int) -> types.Stopped:
        """Ask for no more; what came is kept."""
        return cast(types.Stopped, self.post(f"candidates/runs/{run}/stop"))

    def resume_candidates(self, run: int, **options: Any) -> types.Resumed:
        """Go on, and try again what failed: budget_usd."""
        return cast(types.Resumed, self.post(f"candidates/runs/{run}/resume", options))

    def pair_candidates(self, **options: Any) -> Json:
        """Pairs of levels: against, run, kind, length, each, seed, …"""
        return cast(Json, self.post("candidates/pairs", options))
