"""What the datasheet of a benchmark counts: its cases, their authors and votes, how far people agree, its audit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from annotation.benchmarks.models import Benchmark, BenchmarkAudit
from annotation.benchmarks.queries.benchmarks import VoteRow
from annotation.benchmarks.result_types import (
    AuthorRow,
    CasesAgreementDocument,
    ExclusionRow,
    KindAndTierRow,
    ShortAuditDocument,
    SplitRow,
    VotesDocument,
)
from annotation.stats.benchmarks.cases import TIERS
from annotation.stats.benchmarks.result_types import BenchmarkAuditDocument, VoteAgreementDocument
from annotation.stats.benchmarks.votes import Votes, build_table, compute_agreement, compute_agreement_by
from annotation.stats.result_types import TierGroupDocument
from annotation.stats.table import RatingTable


def count_by_kind_and_tier(cases: Sequence[VoteRow], kinds: Mapping[str, int]) -> list[KindAndTierRow]:
    counts = Counter((case.kind, case.tier) for case in cases if not case.excluded)
    return [
        {"kind": kind, "tier": tier, "n": counts[kind, tier]}
        for kind in kinds
        for tier in (*TIERS, "")
        if counts[kind, tier]
    ]


def count_splits(cases: Sequence[VoteRow]) -> list[SplitRow]:
    """Of each split, the cases that count and their personas."""
    found: dict[str, list[str]] = {}
    for case in cases:
        if case.split and not case.excluded:
            found.setdefault(case.split, []).append(case.persona)
    return [
        {"split": name, "n": len(people), "personas": len({*people} - {""})} for name, people in sorted(found.items())
    ]


def count_authors(benchmark: Benchmark) -> list[AuthorRow]:
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


def count_exclusions(cases: Sequence[VoteRow]) -> list[ExclusionRow]:
    """Why cases are excluded, most frequent first; reasons that differ in what follows a colon count as one."""
    reasons = Counter(shorten_reason(case.excluded) for case in cases if case.excluded)
    ordered = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    return [{"reason": reason, "n": n} for reason, n in ordered]


def shorten_reason(reason: str) -> str:
    """A reason without the numbers of its own case: up to the last colon before its votes."""
    return re.sub(r": \d+ to \d+.*$", "", reason, flags=re.DOTALL)


def count_votes(cases: Sequence[VoteRow]) -> VotesDocument:
    """How many votes the cases have."""
    totals = [case.votes.total for case in cases if case.votes]
    return {
        "cases": len(totals),
        "without": len(cases) - len(totals),
        "total": sum(totals),
        "least": min(totals, default=None),
        "most": max(totals, default=None),
    }


def compute_agreements(
    cases: Sequence[VoteRow], benchmark: Benchmark, bootstrap: int, seed: int
) -> CasesAgreementDocument | None:
    """Agreement of all cases with votes and of those that count, and by kind, tier and split."""
    voted = [case for case in cases if case.votes and case.votes.total >= 1]
    if not voted:
        return None
    with_tie = bool(benchmark.made.get("with_tie")) or any(case.votes and case.votes.tie for case in voted)
    counting = [case for case in voted if not case.excluded]

    def one(part: Sequence[VoteRow], group: str) -> VoteAgreementDocument:
        return compute_agreement(table(part, with_tie), group=group, bootstrap=bootstrap, seed=seed).to_json()

    return {
        "resampled": "personas",
        "overall": [one(voted, "all cases with votes"), *([one(counting, "cases that count")] if counting else [])],
        "groups": {
            name: sort_tiers(compute_agreement_by(table(counting, with_tie), groups, bootstrap=bootstrap, seed=seed))
            for name in GROUPS
            if len(set(groups := [group_case(case, name) for case in counting])) > 1
        },
    }


GROUPS = ("kind", "tier", "split")


def sort_tiers(groups: list[TierGroupDocument]) -> list[TierGroupDocument]:
    """Return groups that are tiers from easy to contested; all others stay where they were."""
    return sorted(groups, key=lambda one: TIERS.index(one["group"]) if one["group"] in TIERS else len(TIERS))


def group_case(case: VoteRow, name: str) -> str:
    return str(getattr(case, name)) or f"(no {name})"


def table(cases: Sequence[VoteRow], with_tie: bool) -> RatingTable:
    votes = [case.votes or Votes(0, 0) for case in cases]
    return build_table(votes, [case.id for case in cases], with_tie=with_tie, clusters=[case.cluster for case in cases])


def shorten_audit(audited: BenchmarkAudit) -> ShortAuditDocument:
    """What of an audit belongs into a datasheet."""
    result: BenchmarkAuditDocument = audited.result
    return {
        "at": audited.created_at.isoformat(),
        "n": result["n"],
        "recurring": [one for one in result["recurring"] if not one["kind"]],
        "shortcuts": [one for one in result["shortcuts"] if not one["kind"]],
        "contradicting_pairs": result["contradicting_pairs"],
        "shared_questions": len(result["shared_questions"]["questions"]),
        "other_script": result["scripts"]["other_than_question"],
    }
