"""Reading a release back: its personas, pairs and cases, as one released version that equals the one written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from django.db import transaction

from annotation.benchmarks import parsing as layout
from annotation.benchmarks.models import Benchmark, BenchmarkCase
from annotation.benchmarks.parsing import Manifest, ReleasedCase, ReleasedPersona
from annotation.benchmarks.queries import releases
from annotation.benchmarks.queries.benchmarks import PERSONA_FIELDS
from annotation.benchmarks.services import versions
from annotation.corpus.models import Profile, ResponsePair, SourcedModel
from core.accounts.models.projects import Project
from core.accounts.models.users import User
from core.accounts.permissions import sees, unless_taken
from core.audit.log import audited
from core.files.input_files import InputFile, Problems, read_jsonl
from core.files.outcome import Outcome, explain_refusal

BATCH = 500
KINDS = ("profiles", "pairs", "benchmarks", "cases")


@audited("benchmark.import", says=("folder",))
def load(*, by: User | None, folder: Path, project: Project | None = None) -> Outcome:
    """Import a release, all or nothing. Importing it again changes nothing; another one of the same name and version
    is refused, and so is material that is here with another content."""
    root, outcome = InputFile.from_path(folder), Outcome(KINDS)
    manifest = layout.read_manifest(root)
    found = Benchmark.objects.filter(name=manifest.name, version=manifest.version).first()
    there = unless_taken(by, found, field="version")
    if there:
        return is_same_release(root, there, manifest, outcome)
    with explain_refusal(root), transaction.atomic():
        profiles = save_personas(root, manifest, outcome)
        benchmark = draft(by, manifest, project)
        for listed in manifest.cases:
            file = layout.file_of(root, listed)
            records = read_cases(file, listed.records)
            while batch := list(islice(records, BATCH)):
                save_cases(file, benchmark, batch, profiles, outcome)
        finish(root, benchmark, manifest, outcome)
    return outcome


def is_same_release(root: InputFile, there: Benchmark, manifest: Manifest, outcome: Outcome) -> Outcome:
    if releases.digest(there) != manifest.digest:
        raise root.error("{there} is here already, with other cases", field="version", there=there)
    outcome.add("benchmarks", unchanged=1)
    outcome.add("cases", unchanged=there.cases.count())
    outcome.add("profiles", unchanged=manifest.personas.records)
    outcome.add("pairs", unchanged=there.cases.count())
    return outcome


def draft(by: User | None, manifest: Manifest, project: Project | None) -> Benchmark:
    """Make the version as it was, its parent linked where that is here."""
    made, named = manifest.made.model_dump(exclude_unset=True, mode="json"), manifest.made.parent
    older = Benchmark.objects.filter(name=named.get("name"), version=named.get("version")).first()
    parent = older if sees(by, older) else None
    benchmark = versions.create(
        by=by,
        name=manifest.name,
        version=manifest.version,
        made=made,
        notes=manifest.notes,
        parent=parent,
        input_hash=manifest.input_hash,
        project=project,
    )
    benchmark.code_version, benchmark.made = manifest.code_version, made
    benchmark.save()
    return benchmark


def finish(root: InputFile, benchmark: Benchmark, manifest: Manifest, outcome: Outcome) -> None:
    """Release it as of when it was released, if it is what the manifest says."""
    if releases.digest(benchmark) != manifest.digest:
        raise root.error(
            "the files are not the benchmark that {name} names: its digest is another one", name=layout.MANIFEST
        )
    benchmark.state, benchmark.released_at = Benchmark.State.RELEASED, manifest.released_at
    benchmark.save()
    outcome.add("benchmarks", created=1)


def save_personas(root: InputFile, manifest: Manifest, outcome: Outcome) -> dict[str, int]:
    """Save the personas. Returns what cases call a persona -> its profile."""
    file, stop = layout.file_of(root, manifest.personas), Problems("stop")
    if not manifest.personas.records:
        return {}
    given = dict(read_jsonl(file, ReleasedPersona, stop, id_of=lambda one: one.user_id))
    stored = load_known_records(Profile, [(one.source, one.id) for one in given.values()])
    new, found = [], {}
    for line, one in given.items():
        row = find_agreeing_record(file, line, stored.get((one.source, one.id)), one.content_hash)
        if row is None:
            fields = {name: getattr(one, name) for name in PERSONA_FIELDS}
            new.append(Profile(source=one.source, external_id=one.id, content_hash=one.content_hash, **fields))
        else:
            found[one.user_id] = row
    Profile.objects.bulk_create(new, batch_size=BATCH)
    outcome.add("profiles", created=len(new), unchanged=len(found))
    if new:
        stored = load_known_records(Profile, [(one.source, one.id) for one in given.values()])
    return {one.user_id: stored[one.source, one.id][0] for one in given.values()}


def load_known_records(
    model: type[SourcedModel], names: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], tuple[int, str]]:
    """Load id and hash of those of the named records that are here."""
    sources, ids = {source for source, _ in names}, [name for _, name in names]
    rows = model._default_manager.filter(source__in=sources, external_id__in=ids)
    wanted = set(names)
    return {
        (source, name): (pk, digest)
        for pk, source, name, digest in rows.values_list("pk", "source", "external_id", "content_hash")
        if (source, name) in wanted
    }


def find_agreeing_record(file: InputFile, line: int, stored: tuple[int, str] | None, digest: str) -> int | None:
    """Find the record that is here; None where there is none. InputError where it is another one."""
    if stored is None:
        return None
    if stored[1] != digest:
        raise file.error("is here already with another content", line=line, field="id")
    return stored[0]


def read_cases(file: InputFile, expected: int) -> Iterator[tuple[int, ReleasedCase]]:
    n = 0
    for line, case in read_jsonl(file, ReleasedCase, Problems("stop"), id_of=lambda one: f"{one.source}/{one.id}"):
        n += 1
        yield line, case
    if n != expected:
        raise file.error("has {n} cases, and {name} says {expected}", n=n, name=layout.MANIFEST, expected=expected)


def save_cases(
    file: InputFile,
    benchmark: Benchmark,
    batch: Sequence[tuple[int, ReleasedCase]],
    profiles: dict[str, int],
    outcome: Outcome,
) -> None:
    names = [(case.source, case.id) for _, case in batch]
    stored, new = load_known_records(ResponsePair, names), []
    for line, case in batch:
        if case.user_id is not None and case.user_id not in profiles:
            raise file.error(
                "{name} has no {user!r}", line=line, field="user_id", name=layout.PERSONAS, user=case.user_id
            )
        if find_agreeing_record(file, line, stored.get((case.source, case.id)), case.content_hash) is None:
            new.append(build_pair(case, profiles))
    ResponsePair.objects.bulk_create(new)
    outcome.add("pairs", created=len(new), unchanged=len(batch) - len(new))
    stored = load_known_records(ResponsePair, names) if new else stored
    BenchmarkCase.objects.bulk_create(
        BenchmarkCase(benchmark=benchmark, pair_id=stored[case.source, case.id][0], **case_fields(case))
        for _, case in batch
    )
    outcome.add("cases", created=len(batch))


def build_pair(case: ReleasedCase, profiles: dict[str, int]) -> ResponsePair:
    one, two = case.responses
    return ResponsePair(
        source=case.source,
        external_id=case.id,
        content_hash=case.content_hash,
        profile_id=profiles[case.user_id] if case.user_id is not None else None,
        question=case.question,
        context=case.context,
        response_1=one,
        response_2=two,
        model_1=case.model_1,
        model_2=case.model_2,
        kind=case.pair_kind,
        source_tier=case.source_tier,
        source_label=case.source_label,
        extra=case.extra,
    )


def case_fields(case: ReleasedCase) -> dict[str, object]:
    votes = case.votes
    return {
        "kind": case.kind,
        "tier": case.tier,
        "gold": case.gold,
        "votes_1": votes and votes.one,
        "votes_2": votes and votes.two,
        "votes_tie": votes and votes.tie,
        "kappa": case.kappa,
        "split": case.split,
        "excluded_reason": case.excluded_reason,
        "history": case.history,
        "content_hash": case.content_hash,
    }
