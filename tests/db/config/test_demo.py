from __future__ import annotations

import importlib.util

import pytest

from annotation.studies.models.studies import Study
from config import demo
from config.management.commands.demo import Command
from core.accounts.models.users import User
from judging.judges.models import Judge
from judging.judges.providers.local import Local
from judging.runs.models.runs import JudgeRun
from judging.runs.services.leases import leases
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def studies(monkeypatch) -> list[Study]:
    """The demo's studies, small ones, and no broker."""
    monkeypatch.setattr(leases, "send", lambda ids, wait=None: None)
    User.objects.create(username=demo.RESEARCHER, is_researcher=True)
    pairs = factories.StudyFactory(name=demo.PAIRS, kind="pair")
    factories.CriterionFactory(study=pairs, key="preference", preference=True)
    dialogues = factories.StudyFactory(name=demo.DIALOGUES)
    factories.CriterionFactory(study=dialogues, key="personalization")
    for study in (pairs, dialogues):
        factories.ItemFactory.create_batch(2, study=study)
    return [pairs, dialogues]


def test_the_local_model_is_sent_to_both_studies_once(studies, monkeypatch):
    monkeypatch.setattr(Local, "check", lambda self, criteria: [])

    assert demo.ask_local_model() == ""
    assert demo.ask_local_model() == ""

    assert [run.study for run in JudgeRun.objects.order_by("pk")] == studies
    assert {run.order_policy for run in JudgeRun.objects.all()} == {"both"}
    assert Judge.objects.get().name == demo.LOCAL_JUDGE


def test_where_the_model_is_not_installed_the_demo_says_so_and_goes_on(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    said = Command().model_at_work("127.0.0.1:8000")

    assert "Without the local model, all else works" in said
    assert "xllamacpp is not installed" in said
    assert not Judge.objects.exists()
