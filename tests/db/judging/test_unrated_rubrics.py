"""A study with a rubric that nobody has rated yet: every result says so, on pages and by commands."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.studies.criteria import RUBRICS
from annotation.studies.models.studies import Study
from annotation.studies.parsing.rubric_files import to_document
from annotation.studies.services import samples, studies
from tests.support.factories import DialogueFactory, ResearcherFactory, ResponsePairFactory

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

PAGES = (
    "results",
    "agreement",
    "tiers",
    "calibration",
    "report",
    "progress",
    "quality",
    "gold",
    "adjudication",
    "item_list",
    "study_files",
    "run_create",
)
COMMANDS = ("agreement", "tiers", "gold", "progress", "quality")


def unrated(name: str) -> Study:
    """A study of three items with the rubric of this name."""
    kind = RUBRICS[name].kind or "dialogue"
    (DialogueFactory if kind == "dialogue" else ResponsePairFactory).create_batch(3)
    study = studies.create(by=None, name="New", kind=kind, rubric=to_document(RUBRICS[name]), overlap=2)
    samples.draw(by=None, study=study)
    studies.open(by=None, study=study)
    return study


@pytest.mark.parametrize("name", RUBRICS)
@pytest.mark.long
def test_every_page_and_command_of_results(name: str, client: Client, capsys) -> None:
    study = unrated(name)
    client.force_login(ResearcherFactory())
    answers = {page: client.get(reverse(page, args=[study.slug])).status_code for page in PAGES}
    assert answers == dict.fromkeys(PAGES, 200)
    for command in COMMANDS:
        call_command(command, study=study.slug, json=True)
        assert capsys.readouterr().out.startswith("{"), command
