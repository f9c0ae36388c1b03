"""A benchmark as the records of a release: cases and personas, in a fixed order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from django.db.models import QuerySet

from annotation.benchmarks.models import Benchmark, BenchmarkCase
from annotation.benchmarks.queries.benchmarks import PERSONA_FIELDS
from annotation.corpus.models import Profile
from core.hashing import content_hash

CHUNK = 500


def user_ids(benchmark: Benchmark) -> dict[int, str]:
    """Name each persona as cases do: its id, its source before it where two sources use the same. One query."""
    rows = list(personas_of(benchmark).values_list("pk", "source", "external_id"))
    taken = Counter(name for _, _, name in rows)
    return {pk: name if taken[name] == 1 else f"{source}:{name}"[:200] for pk, source, name in rows}


def personas_of(benchmark: Benchmark) -> QuerySet[Profile]:
    found = Profile.objects.filter(pairs__cases__benchmark=benchmark).distinct()
    return found.order_by("source", "external_id")


def persona_records(benchmark: Benchmark, names: Mapping[int, str]) -> Iterator[dict[str, object]]:
    """Load the personas, by source and id. One query."""
    for one in personas_of(benchmark).iterator(chunk_size=CHUNK):
        yield persona_record(one, names)


def persona_record(one: Profile, names: Mapping[int, str]) -> dict[str, object]:
    """Return a persona as a line of a release."""
    named = {"user_id": names[one.pk], "id": one.external_id, "source": one.source, "content_hash": one.content_hash}
    return {**named, **{name: getattr(one, name) for name in PERSONA_FIELDS}}


def cases(benchmark: Benchmark) -> Iterator[BenchmarkCase]:
    """Load the cases by kind, tier, source and id of their pair. Streamed."""
    found = benchmark.cases.select_related("pair").order_by("kind", "tier", "pair__source", "pair__external_id")
    yield from found.iterator(chunk_size=CHUNK)


def case_record(case: BenchmarkCase, names: Mapping[int, str]) -> dict[str, object]:
    """Return a case as a line of a release: the published keys first."""
    pair = case.pair
    texts = (
        {"chosen": case.chosen, "reject": case.rejected}
        if case.gold
        else {"response_1": pair.response_1, "response_2": pair.response_2}
    )
    known = case.votes_1 is not None
    return {
        "user_id": names[pair.profile_id] if pair.profile_id else None,
        "question": pair.question,
        **texts,
        "id": pair.external_id,
        "source": pair.source,
        "gold": case.gold,
        "kind": case.kind,
        "tier": case.tier,
        "votes": {"1": case.votes_1, "2": case.votes_2, "tie": case.votes_tie} if known else None,
        "kappa": case.kappa,
        "split": case.split,
        "excluded_reason": case.excluded_reason,
        "history": case.history,
        "context": pair.context,
        "model_1": pair.model_1,
        "model_2": pair.model_2,
        "pair_kind": pair.kind,
        "source_tier": pair.source_tier,
        "source_label": pair.source_label,
        "extra": pair.extra,
        "content_hash": case.content_hash,
    }


def digest(benchmark: Benchmark) -> str:
    """Hash all that a release of the benchmark says: the same in every database that holds it."""
    names = user_ids(benchmark)
    lines = sorted(content_hash(case_record(case, names)) for case in cases(benchmark))
    people = sorted(content_hash(record) for record in persona_records(benchmark, names))
    return content_hash([benchmark.name, benchmark.version, benchmark.notes, benchmark.made, lines, people])
