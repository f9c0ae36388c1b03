"""What a request names in its body or query: of another project it is not there, and nothing is made."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.benchmarks.models import Benchmark
from annotation.studies.models.studies import Study
from judging.judges.models import Judge
from judging.runs.models.evaluations import Evaluation
from judging.runs.models.runs import JudgeRun
from tests.db.config.test_permissions import THERE, both, signed_in  # noqa: F401 - a fixture

pytestmark = pytest.mark.django_db


def counts() -> list[int]:
    return [model.objects.count() for model in (Study, Benchmark, Judge, JudgeRun, Evaluation)]


def tells(text: str, asked: str) -> bool:
    """Whether an answer says more of the other project than what was asked for."""
    return THERE in text.replace(asked, "")


PAGES = {
    "a run with their judge": ("/studies/{study}/judges/", {"judge": "{their_judge}", "criteria": "preference"}),
    "a benchmark of their study": (
        "/benchmarks/new/",
        {"study": "{their_study}", "name": "B", "version": "1", "cuts": "0.4,0.6,0.8", "seed": "0"},
    ),
    "a preview on their study": (
        "/judges/new/",
        {"name": "N", "provider": "baseline", "study": "{their_study_pk}", "preview": "1"},
    ),
    "known answers of their study": (
        "/studies/{study}/queue/known/many/",
        {"source": "{their_study_pk}", "purpose": "check"},
    ),
    "their judge in an evaluation": (
        "/benchmarks/{benchmark}/evaluations/",
        {"judges": "{their_judge}", "settings": "none", "answers": "choice", "order_policy": "both", "seed": "0"},
    ),
    "a judge of their judge's name": ("/judges/new/", {"name": "{their_judge_name}", "provider": "baseline"}),
}


def filled(value: Any, names: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: filled(part, names) for key, part in value.items()}
    if isinstance(value, list):
        return [filled(part, names) for part in value]
    if isinstance(value, str) and value.startswith("{") and isinstance(names.get(value[1:-1]), int):
        return names[value[1:-1]]
    return value.format(**names) if isinstance(value, str) else value


def names_of(worlds: Any) -> dict[str, Any]:
    here, there = worlds
    return {
        "study": here.made["study"].slug,
        "benchmark": here.made["benchmark"].slug,
        "evaluation": here.made["evaluation"].pk,
        "their_study": there.made["study"].slug,
        "their_study_name": there.made["study"].name,
        "their_study_pk": there.made["study"].pk,
        "their_benchmark": there.made["benchmark"].slug,
        "their_judge": there.made["judge"].pk,
        "their_judge_name": there.made["judge"].name,
        "their_run": there.made["run"].pk,
        "their_ordered": there.made["ordered"].pk,
        "their_item": there.made["items"][0].external_id,
    }


@pytest.mark.parametrize("what", PAGES)
def test_a_form_that_names_what_is_not_ones_own_is_refused(what, both):  # noqa: F811
    names, before = names_of(both), counts()
    address, data = filled(list(PAGES[what]), names)
    reply = signed_in(both[0].people["researcher"]).post(address, data)
    text = reply.content.decode()
    assert reply.status_code == 200, what  # the form again, with what is wrong
    assert 'aria-invalid="true"' in text or "field--error" in text
    assert not tells(text, names["their_judge_name"])
    assert counts() == before


API: dict[str, tuple[str, dict[str, Any], int]] = {
    "a run with their judge": ("/api/v1/studies/{study}/runs", {"judge": "{their_judge}"}, 404),
    "an estimate with their judge": ("/api/v1/studies/{study}/runs/estimate", {"judge": "{their_judge}"}, 404),
    "probes with their judge": ("/api/v1/studies/{study}/probes", {"judge": "{their_judge}"}, 404),
    "a panel of their run": (
        "/api/v1/studies/{study}/panels",
        {"name": "P", "runs": ["{their_run}", "{their_run}"], "method": "majority"},
        400,
    ),
    "a benchmark of their study": ("/api/v1/benchmarks", {"study": "{their_study}", "name": "B"}, 400),
    "a version of their benchmark": (
        "/api/v1/benchmarks",
        {"study": "{study}", "parent": "{their_benchmark}", "name": "B", "version": "9"},
        400,
    ),
    "an evaluation with their judge": (
        "/api/v1/benchmarks/{benchmark}/evaluations",
        {"judges": ["{their_judge}"], "settings": ["none"]},
        400,
    ),
    "more runs with their judge": (
        "/api/v1/evaluations/{evaluation}/runs",
        {"judges": ["{their_judge}"], "settings": ["none"]},
        400,
    ),
    "pairs of their candidates": (
        "/api/v1/candidates/pairs",
        {"against": [["full", "none"]], "run": "{their_ordered}"},
        400,
    ),
    "tiers predicted from their study": (
        "/api/v1/studies/{study}/samples",
        {"method": "stratified", "size": 1, "strata": ["predicted_tier"], "predicted_from": "{their_study}"},
        400,
    ),
    "a judge of their judge's name": ("/api/v1/judges", {"name": "{their_judge_name}", "provider": "baseline"}, 400),
}


@pytest.mark.parametrize("what", API)
def test_a_body_that_names_what_is_not_ones_own_is_refused(what, both):  # noqa: F811
    names, before = names_of(both), counts()
    address, body, status = filled(list(API[what]), names)
    reply = signed_in(both[0].people["owner"]).post(address, json.dumps(body), content_type="application/json")
    assert reply.status_code == status, reply.content
    text = reply.content.decode()
    for given in ("their_judge_name", "their_study", "their_benchmark"):
        text = text.replace(names[given], "")
    assert THERE not in text
    assert counts() == before


@pytest.mark.parametrize("format", ["ratings", "judgments"])
def test_labels_are_not_brought_into_another_projects_study(format, both):  # noqa: F811
    names, before = names_of(both), counts()
    file = SimpleUploadedFile(
        "labels.csv", f"item,rater,criterion,value\n{names['their_item']},ann,preference,1\n".encode()
    )
    body = {"format": format, "study": names["their_study_name"], "file": file}
    body |= {"judge": "J"} if format == "judgments" else {}
    reply = signed_in(both[0].people["owner"]).post("/api/v1/imports", body)
    assert reply.status_code in (400, 422)
    assert not tells(reply.content.decode(), names["their_study_name"])
    assert counts() == before


def test_a_run_named_in_a_query_is_not_there(both):  # noqa: F811
    names = names_of(both)
    client = signed_in(both[0].people["researcher"])
    assert client.get(f"/candidates/pairs/?run={names['their_ordered']}").status_code == 404
    for query in (f"study={names['their_study']}", f"judge={names['their_judge_name']}"):
        assert client.get(f"/api/v1/runs?{query}").json()["results"] == []


def test_a_webhook_is_told_nothing_of_another_project(both):  # noqa: F811
    from annotation.studies.models.webhooks import Webhook, WebhookDelivery
    from annotation.studies.services import studies

    Webhook.objects.update(events=["study.closed"])
    studies.close(by=None, study=both[1].made["study"])
    told = WebhookDelivery.objects.all()
    assert {one.webhook.project_id for one in told} == {both[1].project.pk}
