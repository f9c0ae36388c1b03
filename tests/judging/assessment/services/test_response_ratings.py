"""A judge's verdicts on responses beside people's, from its own run and from a table."""

from __future__ import annotations

import json
import re
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Assignment, Study
from tests.factories import UserFactory
from tests.judging.helpers import judged, response_study, scripted

pytestmark = pytest.mark.django_db

N = 8
NUMBERS = (1, 2, 3)
WORDS = ("First", "Second", "Third")
UNITS = [(position, number) for position in range(1, N + 1) for number in NUMBERS]


def say(study: Study, who: str, key: str, values: dict[tuple[int, int], str]) -> None:
    """What a person hands in on each response."""
    person = UserFactory(username=who)
    criterion = study.criteria.get(key=key)
    for slot, item in enumerate(study.items.order_by("position"), start=1):
        held, _ = Assignment.objects.get_or_create(
            study=study,
            item=item,
            annotator=person,
            defaults={
                "slot": person.pk % 1000,
                "rank": slot,
                "order": "BCA",
                "state": "submitted",
                "submitted_at": timezone.now(),
            },
        )
        for number in NUMBERS:
            Annotation.objects.create(
                assignment=held, criterion=criterion, turn=number, value=values[item.position, number]
            )


TRUTH = {unit: str((unit[0] * unit[1]) % 4 + 1) for unit in UNITS}
ADA = TRUTH
BEN = {unit: value if sum(unit) % 3 else str(int(value) % 4 + 1) for unit, value in TRUTH.items()}
ROBOT = {unit: value if sum(unit) % 4 else str(int(value) % 4 + 1) for unit, value in TRUTH.items()}


@pytest.fixture
def study() -> Study:
    study = response_study(N, name="Responses", slug="responses")
    for who, values in (("ada", ADA), ("ben", BEN)):
        say(study, who, "helpful", values)
    judged(study, scripted(where={f"{WORDS[n - 1]} {p}": v for (p, n), v in ROBOT.items()}), criteria=["helpful"])
    return study


def test_explore(study, client):
    from judging.judges.models.judges import Judge
    from judging.runs.models.runs import Judgment
    from tests.factories import ResearcherFactory
    from django.urls import reverse

    judged(study, scripted(otherwise="yes"), criteria=["correct"])
    judged(study, scripted(answers={"helpful": "2", "correct": "no"}))
    judges = list(Judge.objects.order_by("pk"))
    j = judges[0].name
    for args in (
        ["cascade", "--study", "responses", "--judges", f"{judges[0].name},{judges[2].name}"],
        ["cascade", "--study", "responses"],
        ["probe", "--study", "responses", "--judge", j],
        ["improve_judge", "--study", "responses", "--judge", j],
        ["hold_out", "--study", "responses", "--share", "0.3"],
        ["escalate", "--study", "responses", "--judge", j, "--name", "x"],
        ["plan_labels", "--study", "responses", "--judge", j, "--criterion", "helpful", "--width", "0.1"],
        ["judge_version", "--study", "responses", "--judge", j, "--examples", "2"],
        ["judge_change", "--study", "responses", "--judge", j],
        ["more_ratings", "--study", "responses"],
        ["scores", "1"],
    ):
        out = StringIO()
        try:
            call_command(*args, stdout=out, stderr=out)
            print(args, "OK", out.getvalue()[:1200])
        except BaseException as e:
            print(args, type(e).__name__, str(e)[:600])
    client.force_login(ResearcherFactory())
    client.raise_request_exception = False
    import logging

    logging.disable(logging.CRITICAL)
    pk = judges[0].pk
    for name in ("judge_verdict", "judge_probes", "judge_improve", "judge_plan", "judge_detail"):
        r = client.get(reverse(name, args=["responses", pk] if name != "judge_detail" else [pk]))
        t = re.sub(r"<[^>]+>", " ", r.content.decode())
        t = " ".join(t.split())
        print("==", name, r.status_code, t[200:1500])
    for u in (
        f"/api/v1/studies/responses/judges/{pk}/{x}"
        for x in ("calibration", "audit", "plan?criterion=helpful&width=0.2", "disagreements", "items", "verdict")
    ):
        r = client.get(u)
        print(u, r.status_code, r.content[:600])
    for u in (
        f"/api/v1/studies/responses/{x}"
        for x in (
            "tiers/predicted",
            "tiers",
            "gold",
            "agreement",
            "disputes",
            "cascade?judges=judge0,judge2",
            "labels",
            "items",
            "comparison",
            "rated-items?criterion=helpful&run=1&outcome=differs",
        )
    ):
        r = client.get(u)
        print(u, r.status_code, (r.getvalue() if r.streaming else r.content)[:500])
    for m in ("judge_escalate", "judge_recalibrate", "certificate_issue", "judge_version", "judge_assess"):
        try:
            u = reverse(m, args=["responses", pk])
        except Exception as e:
            print(m, e)
            continue
        r = client.post(u, {})
        print(
            m,
            r.status_code,
            r.headers.get("Location"),
            [str(x) for x in (r.wsgi_request._messages if hasattr(r.wsgi_request, "_messages") else [])],
            re.sub(r"<[^>]+>", " ", r.content.decode())[:50],
        )
    assert 0
