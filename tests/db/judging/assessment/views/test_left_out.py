"""Criteria answered by marked spans are left out where judges are held to people; every page and command says so."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.studies.models.studies import Criterion
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import certificates
from tests.db.judging.assessment.services.judged import study, trusted
from tests.support.factories import CriterionFactory, ResearcherFactory

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

SAID = "<strong>Faults.</strong> Marked spans agree by degrees"


@pytest.fixture
def criterion() -> Criterion:
    made = study(n=30)
    CriterionFactory(study=made.study, key="faults", name="Faults", type="spans", level="spans", position=2)
    return made


@pytest.mark.long
def test_each_page_says_so(criterion, client):
    client.force_login(ResearcherFactory())
    judge = StudyData.load(criterion.study).judge("gpt")
    here = [criterion.study.slug, judge.pk]
    pages = [reverse(name, args=here) for name in ("judge_verdict", "judge_improve", "judge_plan")]
    pages += [reverse(name, args=here[:1]) for name in ("results", "calibration", "report")]
    pages.append(certificates.issue(by=None, found=trusted(criterion)).sha256)
    pages[-1] = reverse("certificate_detail", args=[pages[-1]])
    for page in pages:
        assert SAID in " ".join(client.get(page).content.decode().split()), page


@pytest.mark.long
def test_each_command_says_so(criterion, tmp_path):
    asked = {"study": criterion.study.name, "judge": "gpt"}
    for command, options in (
        ("calibrate", {**asked, "bootstrap": 20}),
        ("audit", asked),
        ("report", {"study": criterion.study.name, "output": tmp_path / "report.html"}),
    ):
        out = io.StringIO()
        call_command(command, **options, json=True, stdout=out)
        said = json.loads(out.getvalue())
        (left,) = said[0]["left_out"] if command == "audit" else said["left_out"]
        assert (left["criterion"], left["name"]) == ("faults", "Faults")
        out = io.StringIO()
        call_command(command, **options, stdout=out)
        assert "! Faults is left out: Marked spans agree by degrees" in out.getvalue()
    assert SAID in " ".join((tmp_path / "report.html").read_text(encoding="utf-8").split())


@pytest.mark.parametrize("command", ["calibrate", "audit"])
def test_alone_it_is_named_with_the_reason(criterion, command):
    out = io.StringIO()
    call_command(command, study=criterion.study.name, judge="gpt", criterion="faults", stdout=out)
    assert out.getvalue().startswith("Faults: Marked spans agree by degrees")
