"""Difficulty of turns and responses that nobody rated."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.agreement.services.predicted_difficulty import DATASET, PredictionOptions, load_predicted_tiers
from annotation.corpus.models import Dialogue, ResponsePair
from annotation.studies.models.studies import Criterion
from annotation.studies.queries.units import to_position, unit
from core.errors import InputError
from judging.assessment.services import predicted_difficulty
from tests.db.judging.assessment.services.parts import NUMBERS, add_items, add_labels, add_run
from tests.support.factories import CriterionFactory, JudgeFactory, ResearcherFactory, StudyFactory

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

N, RATED = 70, 55
QUICK = PredictionOptions(bootstrap=200)


@pytest.fixture(params=["response", "assistant_turn"])
def criterion(request: Any) -> Criterion:
    """70 items of two parts, the first 55 rated by three people, who disagree on parts with a long text."""
    of, numbers = request.param, NUMBERS[request.param]
    study = StudyFactory(kind="pair" if of == "response" else "dialogue", name="Parts", slug="parts")
    add_items(study, N, numbers)
    made = CriterionFactory(study=study, key="helpful", name="Helpful", yes_no=True, unit=of)
    rng = np.random.default_rng(1)
    names = [unit(position, number) for position in range(1, N + 1) for number in numbers]
    hard = dict(zip(names, (rng.random(len(names)) < 0.5).tolist(), strict=True))
    write_texts(made, hard)
    right = dict(zip(names, (rng.random(len(names)) < 0.5).tolist(), strict=True))
    for slot, who in enumerate(("ada", "ben", "cleo"), start=1):
        wrong = {name: rng.random() < (0.5 if hard[name] else 0.03) for name in names}
        said = {name: "yes" if right[name] != wrong[name] else "no" for name in names if to_position(name) <= RATED}
        add_labels(made, who, slot, said)
    values = {name: "yes" if right[name] else "no" for name in names}
    judge = JudgeFactory(name="gpt", provider="imported")
    add_run(made, judge, values, of="response" if of == "response" else "turn", sure=dict.fromkeys(names, 0.8))
    return made


def write_texts(criterion: Criterion, hard: dict[str, bool]) -> None:
    first, second = NUMBERS[criterion.unit]
    for item in criterion.study.items.all():
        texts = {n: "Long. " * 60 if hard[unit(item.position, n)] else "Short." for n in (first, second)}
        subject: Any = item.subject
        if isinstance(subject, ResponsePair):
            subject.response_1, subject.response_2 = texts.values()
        else:
            assert isinstance(subject, Dialogue)
            subject.turns = [{**turn, "content": texts.get(n, "Go on.")} for n, turn in enumerate(subject.turns, 1)]
        subject.save()


@pytest.mark.each_database
def test_parts_that_nobody_rated_are_predicted_by_their_own_text(criterion: Criterion) -> None:
    found = predicted_difficulty.compute_criterion(criterion.study, criterion, QUICK)
    json.dumps(found, allow_nan=False)
    assert found["predicts"], found["reason"]
    assert (found["n_rated"], found["n_items"]) == (2 * RATED, 2 * (N - RATED))
    assert {row["turn"] for row in found["items"]} == set(NUMBERS[criterion.unit])
    value = {(row["position"], row["turn"]): row["difficulty"]["value"] for row in found["items"]}
    long = set()
    for item in criterion.study.items.filter(position__gt=RATED):
        subject: Any = item.subject
        texts = (
            [subject.response_1, subject.response_2]
            if criterion.of_responses
            else [turn["content"] for turn in subject.turns if turn["role"] == "assistant"]
        )
        long |= {(item.position, n) for n, text in zip(NUMBERS[criterion.unit], texts, strict=True) if len(text) > 9}
    assert min(value[one] for one in long) > max(value[one] for one in value.keys() - long)
    assert "length of the responses" in found["slopes"]
    assert "verdict yes" in found["slopes"], "what the judge says of each part"
    (judge,) = found["judges"]
    assert sum(tier["items"] for tier in judge["fitted"]["by_tier"].values()) == pytest.approx(2 * RATED)


@pytest.mark.each_database
def test_of_the_dataset_too(criterion: Criterion) -> None:
    if criterion.of_responses:
        ResponsePair.objects.create(
            source="test", external_id="new", content_hash="1", question="?", response_1="one", response_2="two"
        )
    else:
        turns = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "one"}]
        Dialogue.objects.create(source="test", external_id="new", content_hash="1", turns=turns)
    options = PredictionOptions(scope=DATASET, bootstrap=0)
    found = predicted_difficulty.compute_criterion(criterion.study, criterion, options)
    rows = [(row["item"], row["position"], row["turn"]) for row in found["items"] if row["item"] == "new"]
    assert rows == [("new", None, n) for n in ((1, 2) if criterion.of_responses else (2,))]


@pytest.mark.long
def test_page_command_and_api(criterion: Criterion, client: Client) -> None:
    client.force_login(ResearcherFactory())
    page = client.get(reverse("tiers_predicted", args=["parts"])).content.decode()
    number = NUMBERS[criterion.unit][1]
    assert f"{criterion.part_noun} {number}</span>" in page
    assert "To draw a study by predicted tier" not in page
    rows = b"".join(client.get(reverse("tiers_predicted_download", args=["parts", "csv"]))).decode().splitlines()
    assert rows[0].startswith("item,position,turn,difficulty")
    assert rows[1].split(",")[:3] == [f"parts-{RATED + 1}", str(RATED + 1), str(NUMBERS[criterion.unit][0])]
    out = io.StringIO()
    call_command("tiers", study="parts", predict="study", json=True, stdout=out)
    assert json.loads(out.getvalue())["n_items"] == 2 * (N - RATED)
    told = client.get("/api/v1/studies/parts/tiers/predicted", {"criterion": "helpful", "whole": True})
    assert told.json()["items"][0]["turn"] == NUMBERS[criterion.unit][0]


def test_tiers_count_parts_and_name_each_once(criterion: Criterion, client: Client) -> None:
    client.force_login(ResearcherFactory())
    page = " ".join(re.sub("<[^>]+>", " ", client.get(reverse("tiers", args=["parts"])).content.decode()).split())
    noun = criterion.part_noun
    assert f"Expected among {2 * RATED} {noun}s on Helpful" in page
    assert re.search(rf"medium \d+\.\d {noun}s", page)
    assert re.search(rf"parts-\d+ {noun} \d", page)
    assert not re.search(rf"{noun} \d {noun} \d", page)
    assert f"{noun.capitalize()}s without a clear tier" in page
    more = page.split(" More ratings ")[1].split(" Other cut-offs ")[0]
    assert re.search(rf"unclear {noun}s|{noun}s have a clear tier", more), more
    assert not re.search(r"items (are|is|have)", more), more


def test_a_draw_of_items_has_no_strata_by_tiers_of_their_parts(criterion: Criterion) -> None:
    with pytest.raises(InputError, match=f"a draw takes whole items, and Helpful is asked of {criterion.part_noun}s"):
        load_predicted_tiers(criterion)
