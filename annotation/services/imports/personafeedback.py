"""PersonaFeedback: personas, and pairs of which people chose one response, in tiers."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from django.db import transaction

from annotation.hashing import content_hash
from annotation.models import Profile, ResponsePair, User
from annotation.parsing import personafeedback as parsing
from annotation.parsing.files import InputFile
from annotation.parsing.problems import OnError, Problems
from annotation.services.imports import upsert
from annotation.services.imports.outcome import Outcome, refused_by_database

SOURCE = "personafeedback"
BATCH = 500
CHOSEN = "1"  # the chosen response is stored as response 1; annotators never see the source's label


def load(*, by: User | None, folder: Path, on_error: OnError = "stop") -> Outcome:  # noqa: ARG001
    """Import a copy of PersonaFeedback, or a part of one. All or nothing, unless bad records are skipped."""
    root, problems, outcome = InputFile.of(folder), Problems(on_error), Outcome(("profiles", "pairs"))
    groups = parsing.groups(root)
    with refused_by_database(root), transaction.atomic():
        profiles = save_personas(parsing.read_personas(parsing.persona_files(root), problems), outcome)
        for group in groups:
            cases = group.cases(set(profiles), problems)
            while batch := list(islice(cases, BATCH)):
                save_pairs(group, batch, profiles, outcome)
    outcome.set_aside(problems, beside=folder)
    return outcome


def save_personas(personas: Iterable[parsing.Persona], outcome: Outcome) -> dict[str, int]:
    """Insert or update the profiles; their ids by user id."""
    given = {persona.user_id: persona for persona in personas}
    plan = upsert.compare(Profile, SOURCE, {name: persona.content_hash for name, persona in given.items()})
    rows = [
        Profile(source=SOURCE, external_id=name, content_hash=persona.content_hash, **persona.fields)
        for name, persona in given.items()
        if name not in plan.same
    ]
    upsert.save(Profile, rows, kind="profiles", plan=plan, outcome=outcome)
    stored = Profile.objects.filter(source=SOURCE).values_list("external_id", "pk")
    return {name: pk for name, pk in stored if name in given}


def save_pairs(group: parsing.Group, cases: list[parsing.Case], profiles: dict[str, int], outcome: Outcome) -> None:
    given = {group.id_of(case): case for case in cases}
    hashes = {name: content_hash([group.kind, group.tier, case.model_dump()]) for name, case in given.items()}
    plan = upsert.compare(ResponsePair, SOURCE, hashes)
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
    upsert.save(ResponsePair, rows, kind="pairs", plan=plan, outcome=outcome)
