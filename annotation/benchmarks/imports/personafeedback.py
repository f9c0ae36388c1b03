"""PersonaFeedback: personas, and pairs of which people chose one response, in tiers; all of them as one benchmark.

The benchmark's version is a hash of its cases, so that the same copy imported twice is the same version and another
copy, or a part, is another one. The published files hold no votes and no kappa: these stay unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from django.db import transaction

from annotation.benchmarks.imports import releases as benchmarks
from annotation.benchmarks.models import Benchmark, BenchmarkCase
from annotation.benchmarks.parsing import is_release
from annotation.benchmarks.services import versions
from annotation.corpus.imports import writing
from annotation.corpus.models import Profile, ResponsePair
from annotation.corpus.parsing import personafeedback as parsing
from core.accounts.models.projects import Project
from core.accounts.models.users import User
from core.accounts.permissions import unless_taken
from core.audit.log import audited
from core.files.input_files import InputFile, OnError, Problems
from core.files.outcome import Outcome, explain_refusal
from core.hashing import content_hash

SOURCE = "personafeedback"
BATCH = 500
VERSION_DIGITS = 12
KNOWN = [
    "The tier and the chosen response are as published; no votes and no kappa are.",
    "The chosen response is stored as response 1: show a model both orders.",
]
NAME = "PersonaFeedback"
CHOSEN = "1"  # the chosen response is stored as response 1; annotators never see the source's label


class Member(NamedTuple):
    """A case of the benchmark by the id of its pair."""

    id: str
    kind: str
    tier: str
    content_hash: str


@audited("benchmark.import", says=("folder", "name", "on_error"))
def load(
    *,
    by: User | None,
    folder: Path,
    on_error: OnError = "stop",
    name: str = NAME,
    project: Project | None = None,
) -> Outcome:
    """Import a copy of PersonaFeedback, or a part of one. All or nothing, unless bad records are skipped.

    A release of Concord's own has the same layout, and is read as what it is.
    """
    if is_release(folder):
        return benchmarks.load(by=by, folder=folder, project=project)
    root, problems = InputFile.from_path(folder), Problems(on_error)
    outcome = Outcome(("profiles", "pairs", "benchmarks", "cases"))
    groups, members = parsing.groups(root), list[Member]()
    with explain_refusal(root), transaction.atomic():
        profiles = save_personas(parsing.read_personas(parsing.persona_files(root), problems), outcome)
        for group in groups:
            cases = group.cases(set(profiles), problems)
            while batch := list(islice(cases, BATCH)):
                members += save_pairs(group, batch, profiles, outcome)
        save_benchmark(by, name, members, outcome, project)
    outcome.set_aside(problems, beside=folder)
    return outcome


def save_personas(personas: Iterable[parsing.SourcePersona], outcome: Outcome) -> dict[str, int]:
    """Insert or update the profiles; their ids by user id."""
    given = {persona.user_id: persona for persona in personas}
    plan = writing.compare(Profile, SOURCE, {name: persona.content_hash for name, persona in given.items()})
    rows = [
        Profile(source=SOURCE, external_id=name, content_hash=persona.content_hash, **persona.fields)
        for name, persona in given.items()
        if name not in plan.same
    ]
    writing.save(Profile, rows, kind="profiles", plan=plan, outcome=outcome)
    stored = Profile.objects.filter(source=SOURCE).values_list("external_id", "pk")
    return {name: pk for name, pk in stored if name in given}


def save_pairs(
    group: parsing.SourceGroup, cases: list[parsing.SourceCase], profiles: dict[str, int], outcome: Outcome
) -> list[Member]:
    """Insert or update the pairs of some cases."""
    given = {group.id_of(case): case for case in cases}
    hashes = {name: content_hash([group.kind, group.tier, case.model_dump()]) for name, case in given.items()}
    plan = writing.compare(ResponsePair, SOURCE, hashes)
    rows = [
        ResponsePair(
            source=SOURCE,
            external_id=name,
            content_hash=hashes[name],
            profile_id=profiles[case.user_id],
            question=case.question,
            response_1=case.chosen,
            response_2=case.reject,
            kind=group.kind,
            source_tier=group.tier,
            source_label=CHOSEN,
            extra=case.model_extra or {},
        )
        for name, case in given.items()
        if name not in plan.same
    ]
    writing.save(ResponsePair, rows, kind="pairs", plan=plan, outcome=outcome)
    return [Member(name, group.kind, group.tier, digest) for name, digest in hashes.items()]


def save_benchmark(
    by: User | None, name: str, members: Sequence[Member], outcome: Outcome, project: Project | None
) -> None:
    """Make the members a released version; nothing where that version is there, or there are no members."""
    if not members:
        outcome.add("benchmarks")
        return
    digest = content_hash(sorted(members))
    version = digest[:VERSION_DIGITS]
    if unless_taken(by, Benchmark.objects.filter(name=name, version=version).first(), field="benchmark"):
        outcome.add("benchmarks", unchanged=1)
        outcome.add("cases", unchanged=len(members))
        return
    benchmark = versions.create(
        by=by,
        name=name,
        version=version,
        made={"how": "imported", "format": SOURCE, "counts": counts(members), "known_issues": KNOWN},
        input_hash=digest,
        project=project,
    )
    ids = dict(ResponsePair.objects.filter(source=SOURCE).values_list("external_id", "pk"))
    BenchmarkCase.objects.bulk_create(
        (
            BenchmarkCase(
                benchmark=benchmark,
                pair_id=ids[member.id],
                kind=member.kind,
                tier=member.tier,
                gold=CHOSEN,
                content_hash=member.content_hash,
            )
            for member in members
        ),
        batch_size=BATCH,
    )
    versions.release(by=by, benchmark=benchmark)
    outcome.add("benchmarks", created=1)
    outcome.add("cases", created=len(members))


def counts(members: Sequence[Member]) -> dict[str, int]:
    """Count the cases of each kind and tier, as `general/easy`."""
    return dict(sorted(Counter(f"{member.kind}/{member.tier}" for member in members).items()))
