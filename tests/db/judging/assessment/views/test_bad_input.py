"""Input that no statistic can use, by hand: pages and API say so in words, and give no number without its interval."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import numpy as np
import pytest
from django.urls import reverse

from annotation.corpus.models import Dialogue
from annotation.studies.models.studies import Criterion, Item
from judging.judges.models import Judge
from judging.stats.audits import trait_fit
from tests.db.judging.assessment.services.judged import study
from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import judge_says, people_say, with_items

pytestmark = [pytest.mark.django_db, pytest.mark.long, pytest.mark.any_database]
N = 60


def in_batches(criterion: Criterion, batches: list[str]) -> None:
    """Name the batches as what items depend on each other by; "" for none."""
    dialogues = [item.dialogue for item in criterion.study.items.select_related("dialogue").order_by("position")]
    for dialogue, batch in zip(dialogues, batches, strict=True):
        dialogue.extra = {"batch": batch} if batch else {}
    Dialogue.objects.bulk_update(dialogues, ["extra"])
    criterion.study.clustering = "batch"
    criterion.study.save(update_fields=["clustering"])


def one_profile(monkeypatch):
    criterion = study(N, labelled=50)
    in_batches(criterion, ["a"] * N)
    return criterion


def half_in_one(monkeypatch):
    criterion = study(N, labelled=50)
    in_batches(criterion, ["a"] * 40 + [f"b{n % 10}" for n in range(N - 40)])
    return criterion


def gaps(monkeypatch):
    criterion = study(N, labelled=50)
    in_batches(criterion, [f"b{n % 10}" if n % 3 else "" for n in range(N)])
    return criterion


def heavy(monkeypatch):
    criterion = study(N, labelled=50)
    Item.objects.filter(study=criterion.study, position=1).update(inclusion_probability=1e-7)
    return criterion


def endless(monkeypatch):
    criterion = study(N, labelled=50)
    Item.objects.filter(study=criterion.study, position=1).update(inclusion_probability=1e-320)
    return criterion


def tied(monkeypatch):
    criterion = CriterionFactory(study=with_items(N, name="Known", slug="known"), key="completed", yes_no=True)
    yes = np.random.default_rng(1).random(N) < 0.5
    said = np.where(yes, "yes", "no").tolist()
    people_say(criterion, {"p0": said, "p1": np.where(yes, "no", "yes").tolist()})
    judge_says(criterion, "gpt", said)
    return criterion


def not_converging(monkeypatch):
    monkeypatch.setattr(trait_fit, "MOST_STEPS", 1)
    criterion = study(N, labelled=50)
    in_batches(criterion, [f"b{n % 20}" for n in range(N)])
    return criterion


VIEWS = {
    "results": False,
    "agreement": False,
    "calibration": False,
    "judge_verdict": True,
    "api_study_agreement": False,
    "api_study_calibration": False,
    "api_calibration": True,
    "api_audit": True,
}
"""Pages and answers of the API by name; whether they are of one judge."""

CASES = {
    one_profile: "not enough evidence: 1 cluster; at least 8 are needed",
    half_in_one: "one of the clusters holds 80 % of the weight of all",
    gaps: "20 items name no batch",
    heavy: "one of the items holds 100 % of the weight of all",
    tied: "people are tied on every item",
    not_converging: "did not settle in 1 steps",
}
"""What some page and some answer of the API say."""


def answers(client, criterion: Criterion, status: int = 200) -> dict[str, str]:
    """Every page and every answer of the API, as text."""
    client.force_login(ResearcherFactory(username="alice"))
    slug, judge = criterion.study.slug, Judge.objects.get().pk
    found = {}
    for view, of_judge in VIEWS.items():
        answer = client.get(reverse(view, args=[slug, judge] if of_judge else [slug]))
        assert answer.status_code == status, view
        found[view] = re.sub(r"\s+", " ", unescape(answer.content.decode()))
    answer = client.get(reverse("criterion_verdict", args=[slug, judge, criterion.key]))
    assert answer.status_code == status
    found["criterion_verdict"] = re.sub(r"\s+", " ", unescape(answer.content.decode()))
    return found


def silent(document: Any, path: str = "") -> Iterator[str]:
    """Figures that have no value or no interval, and no reason."""
    if isinstance(document, dict):
        bare = document.get("value", 0) is None or document.get("low", 0) is None
        if {"value", "low", "reason"} <= set(document) and bare and not document["reason"]:
            yield path
        for name, part in document.items():
            yield from silent(part, f"{path}.{name}")
    elif isinstance(document, list):
        for place, part in enumerate(document):
            yield from silent(part, f"{path}[{place}]")


@pytest.mark.parametrize(("made", "message"), CASES.items(), ids=lambda one: getattr(one, "__name__", ""))
def test_each_is_said_and_no_number_is_silent(made, message, client, monkeypatch):
    found = answers(client, made(monkeypatch))
    for view, text in found.items():
        if view.startswith("api_"):
            assert list(silent(json.loads(text))) == [], view
        else:
            assert not re.search(r"\b(nan|inf)\b", text), view
    for pages in (True, False):
        assert any(message in text for view, text in found.items() if view.startswith("api_") != pages), pages


def test_an_item_that_nobody_can_weigh_is_named(client, monkeypatch):
    found = answers(client, endless(monkeypatch), status=400)
    assert all("tem 1 of Known was drawn with the probability 9.99989e-321" in text for text in found.values())
