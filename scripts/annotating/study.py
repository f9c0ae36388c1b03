"""The study that is rated, made on an empty database, and what some have rated in it before."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

SLUG = "bench"
CRITERIA = (
    "task_completion",
    "personalization",
    "naturalness_user",
    "naturalness_assistant",
    "coherence_user",
    "coherence_assistant",
)
BATCH = 2000


@dataclass(frozen=True)
class Made:
    """Whom to be: session key by user id; and who has done many items before."""

    sessions: dict[int, str]
    veterans: frozenset[int]


def made_study(*, items: int, people: int, overlap: int, done: int) -> Made:
    import django

    django.setup()
    from django.core.management import call_command

    from annotation.studies.services import samples, studies
    from annotation.workbench.services import assignments
    from core.accounts.models.users import User

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    make_dialogues(items)
    study = studies.create(by=None, name=SLUG, kind="dialogue", criteria=CRITERIA, overlap=overlap, seed=1)
    samples.draw(by=None, study=study)
    everybody = User.objects.bulk_create([User(username=f"person{n}") for n in range(people)])
    assignments.add_annotators(by=None, study=study, annotators=everybody)
    began = time.perf_counter()
    slots = studies.open(by=None, study=study)
    print(f"   {slots:,} slots opened in {time.perf_counter() - began:.1f} s")
    veterans = everybody[: max(1, people // 10)] if done else []
    for number, person in enumerate(veterans):
        do_before(study, person, done, slot=1 + number % overlap, batch=number // overlap)
    analyze()
    return Made({person.pk: session_of(person) for person in everybody}, frozenset(one.pk for one in veterans))


def make_dialogues(number: int) -> None:
    from annotation.corpus.models import Dialogue, Profile, Scenario, Task

    profile = Profile.objects.create(
        source="bench",
        external_id="p",
        content_hash="0" * 64,
        name="Maren",
        preferences={"Restaurants": {"Cuisine": ["Thai", "Vietnamese"], "Price": "moderate"}},
        interactions={"Restaurants": "Booked four times, always for two."},
    )
    task = Task.objects.create(
        source="bench",
        external_id="t",
        content_hash="0" * 64,
        description="A table for two.",
        goal="A table is booked.",
        domains=["Restaurants"],
    )
    scenario = Scenario.objects.create(profile=profile, task=task, situation={"Location": "Oslo"})
    turns = [{"role": ("user", "assistant")[n % 2], "content": "I would like a table for two. " * 6} for n in range(10)]
    for start in range(0, number, BATCH):
        Dialogue.objects.bulk_create(
            Dialogue(source="bench", external_id=f"d{n}", content_hash=f"{n:064x}", scenario=scenario, turns=turns)
            for n in range(start, min(start + BATCH, number))
        )


def do_before(study: Any, person: Any, done: int, *, slot: int, batch: int) -> None:
    """Submit a stretch of the queue's beginning for somebody, as if long ago: a hundred items a minute."""
    from django.db.models import F
    from django.utils import timezone

    from annotation.studies.models.labels import Annotation

    long_ago = timezone.now() - timedelta(days=7)
    before = batch * done
    criteria = list(study.criteria.all())
    for start in range(before, before + done, 100):
        part = study.assignments.filter(slot=slot, rank__gt=start, rank__lte=min(start + 100, before + done))
        at = long_ago + timedelta(minutes=(start - before) // 100)
        part.update(annotator=person, state="submitted", number=F("rank") - before, started_at=at, submitted_at=at)
        Annotation.objects.bulk_create(
            Annotation(assignment_id=pk, criterion=criterion, value=criterion.values[0])
            for pk in part.values_list("pk", flat=True)
            for criterion in criteria
        )


def analyze() -> None:
    """What a database does by itself after a while."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("analyze")


def session_of(person: Any) -> str:
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    session = SessionStore()
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = "config.accounts.Passwords"
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.save()
    return str(session.session_key)
