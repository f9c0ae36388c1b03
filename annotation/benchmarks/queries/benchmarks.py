"""Benchmarks as pages, commands and statistics need them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext_noop

from annotation.benchmarks.models import Benchmark, BenchmarkAudit, BenchmarkCase
from annotation.benchmarks.result_types import BenchmarkDocument
from annotation.corpus.models import Profile
from annotation.corpus.parsing.personafeedback import persona_document
from annotation.stats.benchmarks.audit import Persona
from annotation.stats.benchmarks.cases import TIERS, Case
from annotation.stats.benchmarks.votes import Votes
from core.accounts.models.users import User
from core.accounts.permissions import filter_visible
from core.errors import InputError

CHUNK = 2000
PERSONA_FIELDS = ("name", "persona", "demographics", "preferences", "interests", "interactions", "memories", "extra")


@dataclass(frozen=True)
class BenchmarkRow:
    """A benchmark with its numbers of cases; tiers, kinds and personas are those of the cases that count."""

    benchmark: Benchmark
    cases: int
    counting: int
    tiers: Mapping[str, int]
    kinds: Mapping[str, int]
    personas: int

    @property
    def excluded(self) -> int:
        return self.cases - self.counting

    def to_json(self) -> BenchmarkDocument:
        """Return it as the commands print it."""
        one = self.benchmark
        return {
            "name": one.name,
            "version": one.version,
            "slug": one.slug,
            "state": one.state,
            "parent": one.parent.slug if one.parent else None,
            "study": one.study.slug if one.study else None,
            "cases": self.cases,
            "counting": self.counting,
            "excluded": self.excluded,
            "tiers": dict(self.tiers),
            "kinds": dict(self.kinds),
            "personas": self.personas,
            "made": one.made,
            "notes": one.notes,
            "input_hash": one.input_hash,
            "code_version": one.code_version,
            "created_at": one.created_at.isoformat(),
            "released_at": one.released_at.isoformat() if one.released_at else None,
        }


@dataclass(frozen=True)
class Numbers:
    """Cases of a benchmark, those that count, and audits."""

    cases: int
    counting: int
    audits: int


def numbers(benchmark: Benchmark) -> Numbers:
    """Count cases, those that count, and audits. Two queries."""
    found = benchmark.cases.aggregate(cases=Count("pk"), counting=Count("pk", filter=Q(excluded_reason="")))
    return Numbers(found["cases"], found["counting"], benchmark.audits.count())


def find_benchmark(name: str) -> Benchmark:
    """Find the benchmark with this address, or the newest version of this name. InputError where there is none."""
    found = Benchmark.objects.select_related("parent", "study")
    one = found.filter(slug=name).first() or found.filter(name=name).order_by("-created_at", "-pk").first()
    if one is None:
        raise InputError("There is no benchmark {name!r}.", field="benchmark", name=name)
    return one


def rows(benchmarks: QuerySet[Benchmark] | None = None) -> list[BenchmarkRow]:
    """List benchmarks by name, the oldest version first. Four queries for any number of them."""
    given = Benchmark.objects.all() if benchmarks is None else benchmarks
    found = list(given.select_related("parent", "study", "created_by", "project").order_by("name", "created_at", "pk"))
    cases = BenchmarkCase.objects.filter(benchmark__in=[one.pk for one in found]).order_by()
    totals = {
        pk: (total, counting, personas)
        for pk, total, counting, personas in cases.values_list("benchmark").annotate(
            total=Count("pk"),
            counting=Count("pk", filter=Q(excluded_reason="")),
            personas=Count("pair__profile", filter=Q(excluded_reason=""), distinct=True),
        )
    }
    tiers, kinds = count_cases(cases, "tier"), count_cases(cases, "kind")
    return [
        BenchmarkRow(
            one,
            *totals.get(one.pk, (0, 0, 0))[:2],
            tiers={tier: tiers.get((one.pk, tier), 0) for tier in (*TIERS, "") if tiers.get((one.pk, tier))},
            kinds={kind: n for (pk, kind), n in sorted(kinds.items()) if pk == one.pk},
            personas=totals.get(one.pk, (0, 0, 0))[2],
        )
        for one in found
    ]


def count_cases(cases: QuerySet[BenchmarkCase], field: str) -> dict[tuple[int, str], int]:
    """Count the cases that count, by benchmark and a field."""
    grouped = cases.filter(excluded_reason="").values_list("benchmark", field).annotate(n=Count("pk"))
    return {(pk, value): n for pk, value, n in grouped}


def kind_by_tier(benchmark: Benchmark) -> dict[tuple[str, str], int]:
    """Count the cases that count of each kind and tier. One query."""
    grouped = benchmark.cases.only_counting().order_by().values_list("kind", "tier").annotate(n=Count("pk"))
    return {(kind, tier): n for kind, tier, n in grouped}


def row(benchmark: Benchmark) -> BenchmarkRow:
    return rows(Benchmark.objects.filter(pk=benchmark.pk))[0]


def pure_cases(benchmark: Benchmark) -> list[Case]:
    """Load the cases that count as statistics see them, by source and id: the same in every database. One query."""
    fields = (
        benchmark.cases.only_counting()
        .order_by("pair__source", "pair__external_id")
        .values_list(
            "pair__external_id",
            "kind",
            "tier",
            "pair__profile__external_id",
            "pair__question",
            "pair__response_1",
            "pair__response_2",
            "gold",
        )
    )
    return [
        Case(name, kind, tier, persona or "", *rest)
        for name, kind, tier, persona, *rest in fields.iterator(chunk_size=CHUNK)
    ]


def personas(benchmark: Benchmark) -> list[Persona]:
    """Load the personas that the cases that count are about, by id. One query."""
    cases = benchmark.cases.only_counting()
    found = Profile.objects.filter(pairs__cases__in=cases).distinct().order_by("source", "external_id")
    return [
        Persona(
            one.external_id, persona_document({name: getattr(one, name) for name in PERSONA_FIELDS}), len(one.memories)
        )
        for one in found
    ]


@dataclass(frozen=True, slots=True)
class VoteRow:
    """A case with its votes; None where they are not known. `excluded` is the reason, empty where it counts."""

    id: str
    kind: str
    tier: str
    split: str
    persona: str
    votes: Votes | None
    excluded: str

    @property
    def cluster(self) -> str:
        """What is resampled: its persona, or the case alone."""
        return self.persona or f"case {self.id}"


def vote_rows(benchmark: Benchmark) -> list[VoteRow]:
    """Load all cases, by source and id. One query."""
    fields = benchmark.cases.order_by("pair__source", "pair__external_id").values_list(
        "pair__source",
        "pair__external_id",
        "kind",
        "tier",
        "split",
        "pair__profile__source",
        "pair__profile__external_id",
        "votes_1",
        "votes_2",
        "votes_tie",
        "excluded_reason",
    )
    return [
        VoteRow(
            id=f"{source}/{name}",
            kind=kind,
            tier=tier,
            split=split,
            persona=f"{of}/{persona}" if persona else "",
            votes=None if one is None else Votes(one, two or 0, tie or 0),
            excluded=why,
        )
        for source, name, kind, tier, split, of, persona, one, two, tie, why in fields.iterator(chunk_size=CHUNK)
    ]


def ancestors(benchmark: Benchmark) -> list[Benchmark]:
    """List the versions that this one was made from, newest first. A query for each."""
    found, one = [], benchmark.parent
    while one:
        found.append(one)
        one = one.parent
    return found


def newest_audit(benchmark: Benchmark) -> BenchmarkAudit | None:
    return benchmark.audits.select_related("created_by").order_by("-created_at", "-pk").first()


def load_case_ids(benchmark: Benchmark, names: Sequence[str]) -> dict[str, int]:
    """Load case name -> its number in the addresses."""
    return dict(benchmark.cases.filter(pair__external_id__in=names).values_list("pair__external_id", "pk"))


SHOWN = {
    "counting": gettext_noop("that count"),
    "excluded": gettext_noop("excluded"),
    "revised": gettext_noop("with a history"),
}
"""What a list of cases can be narrowed to."""


def list_cases(
    benchmark: Benchmark, *, search: str = "", kind: str = "", tier: str = "", split: str = "", only: str = ""
) -> QuerySet[BenchmarkCase]:
    """List the cases in their order, narrowed down. `search` is a part of an id, a question or a persona's id."""
    found = benchmark.cases.select_related("pair__profile").order_by("pk")
    given = {"kind": kind, "tier": tier, "split": split}
    found = found.filter(**{field: value for field, value in given.items() if value})
    if only == "counting":
        found = found.filter(excluded_reason="")
    elif only == "excluded":
        found = found.exclude(excluded_reason="")
    elif only == "revised":
        found = found.exclude(history=[])
    if search:
        found = found.filter(
            Q(pair__external_id__icontains=search)
            | Q(pair__question__icontains=search)
            | Q(pair__profile__external_id__icontains=search)
        )
    return found


def values(benchmark: Benchmark) -> dict[str, list[str]]:
    """List what kind, tier and split can be narrowed to. Three queries."""
    return {
        field: sorted(benchmark.cases.exclude(**{field: ""}).order_by().values_list(field, flat=True).distinct())
        for field in ("kind", "tier", "split")
    }


def neighbours(case: BenchmarkCase) -> tuple[BenchmarkCase | None, BenchmarkCase | None]:
    """Find the case before and the case after it. Two queries."""
    others = BenchmarkCase.objects.filter(benchmark=case.benchmark_id)
    return (
        others.filter(pk__lt=case.pk).order_by("-pk").first(),
        others.filter(pk__gt=case.pk).order_by("pk").first(),
    )


def list_same_texts(case: BenchmarkCase, *, by: User) -> list[BenchmarkCase]:
    """List cases that `by` may see with the same persona, question and responses in either order. One query."""
    pair = case.pair
    either = Q(pair__response_1=pair.response_1, pair__response_2=pair.response_2) | Q(
        pair__response_1=pair.response_2, pair__response_2=pair.response_1
    )
    found = filter_visible(
        by, BenchmarkCase.objects.filter(either, pair__question=pair.question, pair__profile=pair.profile_id)
    )
    return list(found.exclude(pk=case.pk).select_related("benchmark", "pair").order_by("benchmark", "pk")[:20])
