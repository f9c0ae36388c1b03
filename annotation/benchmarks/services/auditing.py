"""Auditing a benchmark, and the cleaned version that may follow from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from annotation.benchmarks.models import Benchmark, BenchmarkAudit, BenchmarkCase
from annotation.benchmarks.options import AuditOptions, Cleaning
from annotation.benchmarks.queries import benchmarks as queries
from annotation.benchmarks.services import versions
from annotation.stats.benchmarks import cleaning
from annotation.stats.benchmarks.audit import BOOTSTRAP
from annotation.stats.benchmarks.audit import audit as audit_of
from core.accounts.models.users import User
from core.audit.log import audit_transaction, audited
from core.errors import InputError
from core.hashing import content_hash
from core.options.model import check_options
from core.version import code_version

BATCH = 500
KEPT = ("annotators", "known_issues", "tiers", "agreement_cuts", "model")
"""What is as true of a cleaned version as of the one before: who voted, what is wrong with it, how tiers are made."""


@check_options(AuditOptions)
def audit(*, by: User | None, benchmark: Benchmark, bootstrap: int = BOOTSTRAP, seed: int = 0) -> BenchmarkAudit:
    """Audit the cases that count. The same input with the same parameters gives the row that is there."""
    cases, personas = queries.pure_cases(benchmark), queries.personas(benchmark)
    if not cases:
        raise InputError(f"{benchmark} has no case with gold.", field="benchmark")
    digest = content_hash([[*case.pair, case.id, case.kind, case.tier, case.gold] for case in cases])
    digest = content_hash([digest, [[one.id, one.document, one.memories] for one in personas]])
    given = {"bootstrap": bootstrap}
    there = benchmark.audits.filter(input_hash=digest, parameters=given, seed=seed, code_version=code_version()).first()
    if there:
        return there
    return BenchmarkAudit.objects.create(
        benchmark=benchmark,
        parameters=given,
        seed=seed,
        input_hash=digest,
        code_version=code_version(),
        result=audit_of(cases, personas, bootstrap=bootstrap, seed=seed).to_json(),
        created_by=by,
    )


@check_options(Cleaning)
@audited("benchmark.clean", says=("benchmark", "rules", "version"), prepares=True)
def clean(*, by: User | None, benchmark: Benchmark, rules: Sequence[str], version: str, notes: str = "") -> Benchmark:
    """A new version without what the rules leave out. Every case stays on record, those left out with the reason."""
    cases = queries.pure_cases(benchmark)
    try:
        left_out = cleaning.find_left_out(cases, rules)
    except ValueError as error:
        raise InputError(str(error), field="rules") from error
    why = Counter(reason.split(":")[0] for reason in left_out.values())
    with audit_transaction() as done:
        made = done.result = versions.create(
            by=by,
            name=benchmark.name,
            version=version,
            parent=benchmark,
            study=benchmark.study,
            notes=notes,
            made={
                "how": "cleaned",
                "rules": [rule for rule in cleaning.RULES if rule in rules],
                "left_out": {rule: why[rule] for rule in cleaning.RULES if rule in rules},
                "before": len(cases),
                "after": len(cases) - len(left_out),
                **{name: benchmark.made[name] for name in KEPT if name in benchmark.made},
            },
            input_hash=content_hash(sorted(benchmark.cases.values_list("pair__external_id", "content_hash"))),
        )
        copies = [copy_case(case, made, left_out) for case in benchmark.cases.select_related("pair").order_by("pk")]
        BenchmarkCase.objects.bulk_create(copies, batch_size=BATCH)
    return made


def copy_case(case: BenchmarkCase, into: Benchmark, left_out: dict[str, str]) -> BenchmarkCase:
    """The case in another version, with what the cleaning did to it."""
    why = left_out.get(case.pair.external_id, "")
    case.pk, case._state.adding = None, True
    case.benchmark = into
    if why:
        case.excluded_reason = why
        case.history = [
            *case.history,
            {"step": "cleaned", "outcome": "left out", "version": into.version, "reason": why},
        ]
    return case
