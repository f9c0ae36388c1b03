"""What somebody must know who uses a benchmark: who judged and how, how far they agreed, tiers, known issues.

All of it comes from the benchmark itself, so that a release imported elsewhere has the same datasheet. The questions
are those of Gebru et al. (2021), Datasheets for Datasets, Communications of the ACM 64(12):86-92, as far as they apply.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.template.loader import render_to_string

from annotation.benchmarks.models import Benchmark
from annotation.benchmarks.queries import benchmarks as queries
from annotation.benchmarks.services import markdown
from annotation.stats.benchmarks.cases import TIERS
from annotation.stats.benchmarks.votes import Votes, build_table, compute_agreement, compute_agreement_by

BOOTSTRAP = 2000


def datasheet(benchmark: Benchmark, *, bootstrap: int = BOOTSTRAP, seed: int = 0) -> dict[str, Any]:
    """The datasheet as JSON types."""
    row, cases = queries.row(benchmark), queries.vote_rows(benchmark)
    audited = queries.newest_audit(benchmark)
    return {
        **row.to_json(),
        "by_kind_and_tier": [
            {"kind": kind, "tier": tier, "n": n} for (kind, tier), n in count_by_kind_and_tier(cases, row.kinds)
        ],
        "splits": [
            {"split": name, "n": n, "personas": personas} for name, (n, personas) in sorted(count_splits(cases).items())
        ],
        "excluded_because": [{"reason": reason, "n": n} for reason, n in count_exclusions(cases)],
        "written_by": count_authors(benchmark),
        "votes": count_votes(cases),
        "agreement": agreements(cases, benchmark, bootstrap, seed),
        "audit": audited and {"at": audited.created_at.isoformat(), **short(audited.result)},
        "versions": [
            {"name": one.name, "version": one.version, "slug": one.slug, "made": one.made.get("how", "")}
            for one in queries.ancestors(benchmark)
        ],
        "bootstrap": bootstrap,
        "seed": seed,
    }


def count_by_kind_and_tier(
    cases: Sequence[queries.VoteRow], kinds: Mapping[str, int]
) -> Iterator[tuple[tuple[str, str], int]]:
    counts = Counter((case.kind, case.tier) for case in cases if not case.excluded)
    for kind in kinds:
        yield from (((kind, tier), counts[kind, tier]) for tier in (*TIERS, "") if counts[kind, tier])


def count_splits(cases: Sequence[queries.VoteRow]) -> dict[str, tuple[int, int]]:
    """Split -> cases that count and their personas."""
    found: dict[str, list[str]] = {}
    for case in cases:
        if case.split and not case.excluded:
            found.setdefault(case.split, []).append(case.persona)
    return {name: (len(people), len(set(people))) for name, people in found.items()}


def count_authors(benchmark: Benchmark) -> list[dict[str, Any]]:
    """Of the responses of cases that count: their level, who wrote them, the hash of the prompt, and how many."""
    found: Counter[tuple[str, str, str]] = Counter()
    fields = benchmark.cases.only_counting().values_list("pair__model_1", "pair__model_2", "pair__extra")
    for one, two, extra in fields.iterator(chunk_size=2000):
        levels, prompts = extra.get("levels") or ["", ""], extra.get("prompts") or ["", ""]
        found.update(zip(levels, (one, two), prompts, strict=True))
    return [
        {"level": level, "model": model, "prompt": prompt, "n": n}
        for (level, model, prompt), n in sorted(found.items())
        if level or model
    ]


def count_exclusions(cases: Sequence[queries.VoteRow]) -> list[tuple[str, int]]:
    """Why cases are excluded, most frequent first; reasons that differ in what follows a colon count as one."""
    reasons = Counter(shorten_reason(case.excluded) for case in cases if case.excluded)
    return sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))


def shorten_reason(reason: str) -> str:
    """A reason without the numbers of its own case: up to the last colon before its votes."""
    return re.sub(r": \d+ to \d+.*$", "", reason, flags=re.DOTALL)


def count_votes(cases: Sequence[queries.VoteRow]) -> dict[str, Any]:
    """How many votes the cases have."""
    totals = [case.votes.total for case in cases if case.votes]
    return {
        "cases": len(totals),
        "without": len(cases) - len(totals),
        "total": sum(totals),
        "least": min(totals, default=None),
        "most": max(totals, default=None),
    }


def agreements(
    cases: Sequence[queries.VoteRow], benchmark: Benchmark, bootstrap: int, seed: int
) -> dict[str, Any] | None:
    """Agreement of all cases with votes and of those that count, and by kind, tier and persona group."""
    voted = [case for case in cases if case.votes and case.votes.total >= 1]
    if not voted:
        return None
    with_tie = bool(benchmark.made.get("with_tie")) or any(case.votes and case.votes.tie for case in voted)
    counting = [case for case in voted if not case.excluded]

    def one(part: Sequence[queries.VoteRow], group: str) -> dict[str, Any]:
        return compute_agreement(table(part, with_tie), group=group, bootstrap=bootstrap, seed=seed).to_json()

    return {
        "resampled": "personas",
        "overall": [one(voted, "all cases with votes"), *([one(counting, "cases that count")] if counting else [])],
        "groups": {
            name: compute_agreement_by(table(counting, with_tie), groups, bootstrap=bootstrap, seed=seed)
            for name in GROUPS
            if len(set(groups := [group_case(case, name) for case in counting])) > 1
        },
    }


GROUPS = ("kind", "tier", "split")


def group_case(case: queries.VoteRow, name: str) -> str:
    return str(getattr(case, name)) or f"(no {name})"


def table(cases: Sequence[queries.VoteRow], with_tie: bool) -> Any:
    votes = [case.votes or Votes(0, 0) for case in cases]
    return build_table(votes, [case.id for case in cases], with_tie=with_tie, clusters=[case.cluster for case in cases])


def short(result: Mapping[str, Any]) -> dict[str, Any]:
    """What of an audit belongs into a datasheet."""
    return {
        "n": result["n"],
        "recurring": [one for one in result["recurring"] if not one["kind"]],
        "shortcuts": [one for one in result["shortcuts"] if not one["kind"]],
        "contradicting_pairs": result["contradicting_pairs"],
        "shared_questions": len(result["shared_questions"]["questions"]),
        "other_script": result["scripts"]["other_than_question"],
    }


def to_html(found: Mapping[str, Any]) -> str:
    """The datasheet as one HTML file that needs nothing else."""
    context = {"sheet": found, **markdown.to_sections(found)}
    return render_to_string("annotation/benchmark_datasheet_file.html", context)
