"""What a judge is worth on poor material: each part says what it cannot tell and why, and the rest still stands."""

from __future__ import annotations

import io
import json
import re

import pytest
from django.core.management import call_command
from django.urls import reverse

from judging.judges.models import Judge
from tests.db.judging.assessment.services.judged import compute_results
from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import add_verdicts, judge_says, people_say, with_items
from tests.support.shared_rows import share_rows

pytestmark = [pytest.mark.django_db, pytest.mark.any_database, pytest.mark.long]

N = 60
TRUTH = [str(k * 7 % 4 + 1) for k in range(N)]
NEAR = [str(min(4, int(value) + (k % 5 == 0))) for k, value in enumerate(TRUTH)]
OFF = [str(max(1, int(value) - (k % 6 == 0))) for k, value in enumerate(TRUTH)]

CASES = {
    "no overlap": (
        {"bob": [*TRUTH[:30], *[None] * 30], "dana": [*OFF[:30], *[None] * 30]},
        [*[None] * 30, *NEAR[30:]],
        "0 labelled items with a verdict",
    ),
    "one annotator": ({"bob": TRUTH}, NEAR, "two annotators"),
    "all labels equal": ({"bob": ["2"] * N, "dana": ["2"] * N}, NEAR, "always the same|one category|do not vary"),
    "a constant judge": ({"bob": TRUTH, "dana": OFF}, ["3"] * N, "do not vary|does not vary|constant|one category"),
    "fewer than 10 labels": (
        {"bob": [*TRUTH[:6], *[None] * 54], "dana": [*OFF[:6], *[None] * 54]},
        NEAR,
        "6 labelled items with a verdict",
    ),
    "60 % unscored": (
        {"bob": TRUTH, "dana": OFF},
        [value if k % 5 < 2 else "" for k, value in enumerate(NEAR)],
        r"60\.0\s?% of replies",
    ),
}


@pytest.fixture(scope="module", params=CASES, ids=[name.replace(" ", "-") for name in CASES])
def made(request, django_db_setup, django_db_blocker):
    """What the case's page and commands have to say; its study is there, and its judge computed."""
    yield from share_rows(django_db_blocker, lambda: make(*CASES[request.param]))


@pytest.fixture
def case(made, db):
    return made


def make(people, judge, reason):
    made = with_items(N, name="Poor", slug="poor")
    criterion = CriterionFactory(study=made, key="suits", name="Suits")
    people_say(criterion, people)
    judge_says(criterion, "gpt", judge)
    good = CriterionFactory(study=made, key="whole", name="Whole")
    people_say(good, {"bob": TRUTH, "dana": OFF})
    run = Judge.objects.get(name="gpt").runs.get()
    run.criteria.add(good)

    add_verdicts(run, good, NEAR)
    compute_results(made)
    return reason


def text_of(html):
    return re.sub(r"\s+", " ", re.sub(r"<style.*?</style>|<svg.*?</svg>|<[^>]+>", " ", html, flags=re.DOTALL))


def run(command, **options):
    out = io.StringIO()
    call_command(command, study="Poor", stdout=out, **options)
    return out.getvalue()


def undefined(document):
    """Every estimate without a value or an interval, anywhere in the document, has a reason."""
    if isinstance(document, dict):
        if {"value", "low", "high", "reason"} <= set(document):
            without = document["value"] is None or document["low"] is None
            return [] if not without or document["reason"] else [document]
        return [one for part in document.values() for one in undefined(part)]
    return [one for part in document for one in undefined(part)] if isinstance(document, list) else []


def test_pages(case, client):
    client.force_login(ResearcherFactory())
    pk = Judge.objects.get(name="gpt").pk
    page = client.get(reverse("criterion_verdict", args=["poor", pk, "suits"]))
    assert page.status_code == 200
    text = text_of(page.content.decode())
    assert re.search(case, text), text[:3000]
    assert "What would change it" in text
    assert "nan" not in text.lower().split()
    report = client.get(reverse("report", args=["poor"]))
    assert report.status_code == 200
    assert re.search(case, text_of(report.content.decode()))
    by_key = {one["key"]: one["judges"][0]["section"] for one in report.context["criteria"]}
    assert by_key["suits"]["verdict"]["decision"] != "replace"
    assert by_key["whole"]["verdict"]["kappa"]["value"] > 0.8, "the rest still stands"
    for name in ("html", "latex", "json"):
        assert client.get(reverse("report_download", args=["poor", name])).status_code == 200
    for name in ("judge_improve", "judge_plan"):
        assert client.get(reverse(name, args=["poor", pk])).status_code == 200
    asked = {"criterion": "suits", "width": 0.2, "confidence": 0.95, "seed": 0}
    assert client.get(reverse("judge_plan", args=["poor", pk]), asked).status_code == 200


def test_commands(case):
    said = run("audit", judge="gpt") + run("calibrate", judge="gpt")
    assert re.search(case, said), said
    calibration, audit = (json.loads(run(command, judge="gpt", json=True)) for command in ("calibrate", "audit"))
    assert set(calibration["criteria"]) == {one["criterion"] for one in audit} == {"suits", "whole"}
    assert undefined([calibration, audit]) == []
    assert set(json.loads(run("disagreements", judge="gpt", json=True))["criteria"]) == {"suits", "whole"}
    assert "criterion" in json.loads(run("plan_labels", judge="gpt", criterion="suits", width=0.2, json=True))
