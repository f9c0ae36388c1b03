"""Probes of a judge on altered turns and responses."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.studies.models.studies import Criterion, Study
from core.errors import InputError
from judging.assessment.forms import ProbeForm
from judging.assessment.options import ProbeOptions
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import assessment, probes
from judging.assessment.services.assessment import AssessmentRequest
from judging.runs.models.runs import JudgeRun
from judging.runs.queries.probing import choose_target
from judging.runs.queries.requests import Frame, build_requests
from judging.runs.services import runs, work
from tests.db.judging.assessment.services.judged import QUICK
from tests.db.judging.assessment.services.parts import NUMBERS, build_study, open_rated_study
from tests.support.factories import CriterionFactory, JudgeFactory, ResearcherFactory
from tests.support.judging import judged, scripted
from tests.support.people import OpenStudy

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["response", "assistant_turn"])
def criterion(request: Any) -> Criterion:
    return build_study(request.param, JudgeFactory(name="gpt", provider="imported"))


def assess(criterion: Criterion, judge: Any) -> Any:
    evidence = StudyData.load(criterion.study).load_judge(judge)
    return assessment.assess_judge(by=None, evidence=evidence, asked=AssessmentRequest(calibration=QUICK))


OBEYS = dict.fromkeys(("Note", "(For", "Who"), "4")
"""How each phrasing of the planted note begins, and the level that it asks for. Shorter than the texts: PostgreSQL
orders parameters by the lengths of their keys, and the judge goes by the first text that it finds."""


class TestProbes:
    """Altered copies of turns and responses: what is rated is altered, and nothing else."""

    @pytest.fixture(params=["response", "assistant_turn"])
    def probed(self, request: Any, open_study: OpenStudy) -> tuple[Study, JudgeRun, dict[str, str]]:
        study, texts = open_rated_study(open_study, request.param)
        judge = scripted(where={**OBEYS, **texts})
        judged(study, judge, unit="response" if request.param == "response" else "turn")
        options = ProbeOptions(n=20, alterations=["injection:note", "invariance:bullets"])
        run = runs.make(by=None, plan=probes.plan(study=study, judge=judge, options=options), queue=False)
        for _ in work.work_through(run):
            pass
        return study, run, texts

    @pytest.mark.long
    def test_a_judge_that_obeys_is_found(self, probed: Any) -> None:
        study, run, _ = probed
        assert (run.probe["n_items"], run.probe["favoured"]) == (40, {}), "both parts of the 20 items drawn"
        assert run.judgments.filter(alteration="injection:note", value="4").count() == 40
        assert set(run.judgments.values_list("turn", flat=True)) == set(NUMBERS[study.criteria.get().unit])
        found = assess(study.criteria.get(), run.judge)
        assert found.audit.result["criteria"]["helpful"]["not_probed"] in (
            "",
            "Each response is shown alone, so that it has no position.",
        )
        by = {one["name"]: one for one in found.audit.result["criteria"]["helpful"]["probes"]}
        note = by["injection:note"]
        assert (note["found"], note["effect"]["n_items"], note["details"]["obeyed"]["value"]) == (True, 40, 1)
        levels = [
            int(one) for one in run.judgments.filter(alteration="original", repeat=1).values_list("value", flat=True)
        ]
        assert note["effect"]["value"] == pytest.approx(4 - sum(levels) / 40)
        assert by["invariance:bullets"]["found"] is False

    def test_only_what_is_rated_is_altered(self, probed: Any) -> None:
        study, run, _ = probed
        criterion = study.criteria.get()
        asked = build_requests(Frame.from_run(run), [study.items.first().pk], with_prompt=False)
        for one in (one for one in asked if one.alteration == "injection:note"):
            content = one.request.content
            if criterion.of_turns:
                planted = [n for n, turn in enumerate(content.turns, 1) if any(word in turn.content for word in OBEYS)]
                assert planted == [one.turn]
            else:
                assert any(word in content.response_a for word in OBEYS)
                assert content.is_alone
        bullets = {one.turn: one.request.content for one in asked if one.alteration == "invariance:bullets"}
        if criterion.of_turns:
            first, second = NUMBERS[criterion.unit]
            assert not bullets[second].turns[first - 1].content.startswith("- ")
            assert bullets[second].turns[second - 1].content.startswith("- ")

    def test_page_command_and_api(self, probed: Any, client: Client) -> None:
        study, run, _ = probed
        client.force_login(ResearcherFactory())
        page = client.get(reverse("judge_probes", args=[study.slug, run.judge_id])).content.decode()
        assert 'value="helpful"' in page
        asked = {"alterations": ["injection:note"], "criteria": ["helpful"], "n": 10, "seed": 1, "estimate": "1"}
        page = client.post(reverse("judge_probes", args=[study.slug, run.judge_id]), asked).content.decode()
        assert "60" in page, "three questions about two parts of ten items"
        out = io.StringIO()
        call_command("probe", study=study.slug, judge=str(run.judge), n=10, estimate=True, json=True, stdout=out)
        assert json.loads(out.getvalue())["items"] == 20
        body = {"judge": run.judge_id, "n": 10, "alterations": ["injection"]}
        made = client.post(f"/api/v1/studies/{study.slug}/probes", body, content_type="application/json")
        assert (made.status_code, made.json()["probe"]["n_items"] if "probe" in made.json() else 20) == (201, 20)

    def test_of_one_unit_at_a_time(self, criterion: Criterion) -> None:
        CriterionFactory(study=criterion.study, key="done", name="Done", position=5)
        judge, options = scripted(), ProbeOptions(n=10, criteria=["helpful", "done"])
        with pytest.raises(InputError, match=r"Helpful of every .* and Done of the whole item: probe each in a run"):
            probes.plan(study=criterion.study, judge=judge, options=options)
        whole = probes.plan(study=criterion.study, judge=judge, options=ProbeOptions(n=10))
        assert (whole.unit, [one.key for one in whole.criteria]) == ("item", ["done"])
        form = ProbeForm(study=criterion.study, judge=judge)
        assert form["criteria"].initial == ["done"]
        assert f"or of {criterion.part_noun}s: each in a run of its own" in form["criteria"].help_text


def test_an_ordinal_scale_of_pairs_names_no_response() -> None:
    """Its 1 and 2 are levels: a favoured response is none of them."""
    assert choose_target("ordinal", ["1", "2", "3", "4"], "1") is None
    assert choose_target("nominal", ["1", "2", "tie"], "1") == "1"
