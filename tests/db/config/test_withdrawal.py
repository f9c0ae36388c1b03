"""Who withdraws is gone from every table and from the study's archive: nothing that they wrote is left anywhere."""

from __future__ import annotations

import zipfile
from pathlib import Path

from django.test import Client

from annotation.quality.models import KnownItem
from annotation.quality.services import gold_questions
from annotation.quality.services.gold_questions import GoldAnswer, GoldEntry
from annotation.recruitment.models import DemographicAnswer, Participation
from annotation.recruitment.services import consents, demographics
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation, Draft
from annotation.studies.queries import ratings
from annotation.studies.services import studies
from annotation.workbench.services import annotations, assignments, drafts
from config import invariants
from config.archives import writing
from config.backups import tables
from core.accounts.models.tokens import IdempotentWrite
from tests.support.factories import CriterionFactory, DialogueFactory, UserFactory
from tests.support.labelled import with_items

MARK = "xylophone-4711"
"""In all that bob writes, and in nothing else."""


def everything() -> dict[str, str]:
    """Every row of every table, as a backup holds it."""
    return {model._meta.label: "".join(tables.rows(model)) for model in tables.list_models()}


def test_nothing_that_somebody_wrote_is_left(db, tmp_path: Path, settings, django_capture_on_commit_callbacks):
    settings.WITHDRAWN_FILE = tmp_path / "withdrawn.jsonl"
    bob, cleo = UserFactory(username="bob"), UserFactory(username="cleo")
    study = with_items(4, kind="dialogue", name="Pilot", slug="pilot", overlap=2)
    criterion = CriterionFactory(study=study, key="personalization")
    value = criterion.values[0]
    checked = DialogueFactory(source="checks", external_id="c1")
    gold_questions.add(
        by=None,
        study=study,
        purpose=KnownItem.Purpose.CHECK,
        entries=[GoldEntry(f"checks:{checked.external_id}", {criterion.key: GoldAnswer(value)})],
        origin="by hand",
    )
    gold_questions.set_rules(by=None, study=study, check_every=2)
    study.annotators.add(bob, cleo)
    studies.open(by=None, study=study)
    question = demographics.add_question(by=None, study=study, text="Instrument?", options=["cello", "none"])
    demographics.answer(by=bob, study=study, answers={question.key: "cello"})
    Participation.objects.create(
        study=study, annotator=bob, platform="prolific", platform_key="k", visits=[{"person": MARK}]
    )

    submitted = 0
    for person, note in ((cleo, "hers"), (bob, MARK)):
        for _ in range(2):  # with the third comes the check
            slot = assignments.lease_next(by=person, study=study)
            assert slot
            annotations.submit(
                by=person, assignment=slot, values={criterion.key: value}, notes={criterion.key: f"note {note}"}
            )
            submitted += person == bob
    browser = Client()
    browser.force_login(bob)
    item = browser.post("/api/v1/work/pilot/next", {}, content_type="application/json").json()
    answers = {"answers": {criterion.key: {"value": value, "note": MARK}}, "active_seconds": 1}
    done = browser.put(
        f"/api/v1/work/items/{item['id']}/answers",
        answers,
        content_type="application/json",
        headers={"Idempotency-Key": "once"},
    )
    assert done.status_code == 200
    later = assignments.lease_next(by=bob, study=study)
    assert later
    drafts.save(by=bob, assignment=later, changes={f"note-{criterion.key}": MARK}, active_seconds=1)
    lost = Assignment.objects.filter(study=study, annotator=cleo, state="submitted")[0]
    drafts.keep_late(by=bob, assignment=lost, content={criterion.key: value, "note": MARK}, reason="the slot was gone")

    assert Annotation.objects.filter(assignment__annotator=bob, assignment__purpose="check").exists()
    before = {label for label, text in everything().items() if MARK in text}
    assert {"annotation.Annotation", "annotation.Draft", "annotation.Participation"} <= before

    with django_capture_on_commit_callbacks(execute=True):
        withdrawn = consents.withdraw(by=None, study=study, annotator=bob)

    assert withdrawn.erased == 3
    assert {label for label, text in everything().items() if MARK in text} == set()
    assert not DemographicAnswer.objects.exists()
    assert not IdempotentWrite.objects.filter(user=bob).exists()
    assert not Draft.objects.filter(annotator=bob).exists()
    assert [one.table.raters for one in ratings.load_study(study)] == [("cleo",)]
    assert invariants.findings() == []

    path = tmp_path / "pilot.zip"
    writing.write(study, path)
    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name).decode() for name in archive.namelist()}
    assert not [name for name, text in held.items() if MARK in text]
    assert f'"annotator_id": {bob.pk}' not in held["annotation.Assignment.jsonl"]
    assert "hers" in held["annotation.Annotation.jsonl"]
