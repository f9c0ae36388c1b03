"""Versions of a benchmark: drafts, audited, cleaned, released once, and then only followed by other versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _

from annotation.benchmarks.models import Benchmark, BenchmarkAudit, BenchmarkCase
from annotation.benchmarks.options import AuditOptions, Cleaning
from annotation.benchmarks.queries import benchmarks as queries
from annotation.stats.benchmarks import cleaning
from annotation.stats.benchmarks.audit import BOOTSTRAP, audit as audit_of
from annotation.studies.models.studies import Study
from core.accounts.models.projects import Project, choose_project
from core.accounts.models.users import User
from core.audit.log import audit_transaction, audited
from core.errors import InputError
from core.hashing import content_hash
from core.names import check_name, number_name
from core.options.model import check_options
from core.version import code_version

RESERVED_SLUGS = ("new",)  # its place among the addresses is that of the form
LONGEST_NAME, LONGEST_VERSION, LONGEST_SLUG = 120, 40, 150


@audited("benchmark.create", says=("version", "parent"))
def create(
    *,
    by: User | None,
    name: str,
    version: str,
    made: Mapping[str, object],
    notes: str = "",
    parent: Benchmark | None = None,
    study: Study | None = None,
    input_hash: str = "",
    project: Project | None = None,
) -> Benchmark:
    """A draft without cases. InputError where that version of the name is there already."""
    above = parent or study
    benchmark = Benchmark(
        project=above.project if above else choose_project(by, project),
        name=check_text("name", name, LONGEST_NAME),
        version=check_text("version", version, LONGEST_VERSION),
        notes=notes.strip(),
        parent=parent,
        study=study,
        made={**made, **({"parent": {"name": parent.name, "version": parent.version}} if parent else {})},
        input_hash=input_hash,
        code_version=code_version(),
        created_by=by,
    )
    benchmark.slug = free_slug(f"{benchmark.name} {benchmark.version}")
    try:
        with transaction.atomic():
            benchmark.save(force_insert=True)
    except IntegrityError as error:
        raise InputError(
            "There is a version {version!r} of {name!r} already.", field="version", version=version, name=name
        ) from error
    return benchmark


@audited("benchmark.release", on="benchmark")
def release(*, by: User | None, benchmark: Benchmark) -> Benchmark:  # noqa: ARG001
    """From now on neither the benchmark nor its cases change.

    InputError where it, or one of its splits, has no case that counts.
    """
    with transaction.atomic():
        locked = Benchmark.objects.select_for_update().get(pk=benchmark.pk)
        if locked.is_released:
            raise InputError("{locked} is released already.", field="benchmark", locked=locked)
        if not locked.cases.only_counting().exists():
            raise InputError("{locked} has no case with gold.", field="benchmark", locked=locked)
        filled = set(locked.cases.only_counting().values_list("split", flat=True))
        if empty := [name for name in locked.made.get("splits", {}) if name not in filled]:
            raise InputError(
                "The split {empty} of {locked} has no case that counts.",
                field="benchmark",
                empty=empty[0],
                locked=locked,
            )
        locked.state, locked.released_at = Benchmark.State.RELEASED, timezone.now()
        locked.save()
    return locked


def check_text(field: str, text: str, longest: int) -> str:
    return check_name(text, what=_("A benchmark"), longest=longest, field=field)


def free_slug(name: str) -> str:
    """The name as it can stand in an address, with a number where that is taken."""
    base = slugify(name.replace(".", "-"))[:LONGEST_SLUG] or "benchmark"
    taken = {*RESERVED_SLUGS, *Benchmark.objects.filter(slug__startswith=base).values_list("slug", flat=True)}
    return number_name(base, taken)


BATCH = 500
KEPT = ("annotators", "known_issues", "tiers", "agreement_cuts", "model")
"""What is as true of a cleaned version as of the one before: who voted, what is wrong with it, how tiers are made."""


@check_options(AuditOptions)
def audit(*, by: User | None, benchmark: Benchmark, bootstrap: int = BOOTSTRAP, seed: int = 0) -> BenchmarkAudit:
    """Audit the cases that count. The same input with the same parameters gives the row that is there."""
    cases, personas = queries.pure_cases(benchmark), queries.personas(benchmark)
    if not cases:
        raise InputError("{benchmark} has no case with gold.", field="benchmark", benchmark=benchmark)
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
        made = done.result = create(
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
