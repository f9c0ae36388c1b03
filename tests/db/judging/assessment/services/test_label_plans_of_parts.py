"""Labels to add on criteria of turns and responses: whole items are drawn, and their parts come back."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion
from annotation.studies.queries.units import to_position
from judging.assessment.models.assessment import LabelPlan
from judging.assessment.options import PlanOptions
from judging.assessment.queries.assessment_data import JudgeData, StudyData
from judging.assessment.services import labelling_plans
from judging.judges.models import Judge
from tests.db.judging.assessment.services.parts import NUMBERS, N, add_labels, build_study, names
from tests.support.factories import JudgeFactory, ResearcherFactory

pytestmark = pytest.mark.django_db

RATED, WIDTH = 20, 0.53


@pytest.fixture(params=["response", "assistant_turn"])
def criterion(request: Any) -> Criterion:
    made = build_study(request.param, JudgeFactory(name="gpt", provider="imported"))
    Annotation.objects.filter(assignment__item__position__gt=RATED).delete()
    return made


def load(criterion: Criterion) -> JudgeData:
    evidence = StudyData.load(criterion.study)
    return evidence.load_judge(evidence.judge("gpt"))


def plan(criterion: Criterion, **options: Any) -> dict[str, Any]:
    return labelling_plans.plan(load(criterion), PlanOptions(criterion="helpful", **{"width": WIDTH, **options}))


def test_as_many_items_are_drawn_as_hold_the_labels(criterion: Criterion) -> None:
    found = plan(criterion)
    assert found["needed"]["labelled"] == 2 * RATED
    more = found["needed"]["more"]
    assert 1 < more < 2 * (N - RATED)
    assert len(found["items"]) == np.ceil(more / 2)
    assert all(one["position"] > RATED and one["labels"] == 2 for one in found["items"])
    assert (found["could_be_drawn"], found["no_draw"]) == (N - RATED, None)
    assert found["cluster_draw"].startswith(f"Whole items are drawn: each {criterion.part_noun} without a label has")
    assert plan(criterion, width=3.0)["no_draw"] == labelling_plans.ENOUGH
    assert plan(criterion, width=0.01)["no_draw"] == labelling_plans.TOO_FEW_ITEMS


def test_an_item_that_is_labelled_in_part_can_be_drawn_for_the_rest(criterion: Criterion) -> None:
    first, second = NUMBERS[criterion.unit]
    Annotation.objects.filter(assignment__item__position__gt=RATED - 5, turn=first).delete()
    found = labelling_plans.build_plan(load(criterion), PlanOptions(criterion="helpful", width=WIDTH))
    assert found.frame.n_open.tolist() == [0] * (RATED - 5) + [1] * 5 + [2] * (N - RATED)
    assert ((found.probabilities > 0) == (found.frame.n_open > 0)).all()
    held = float((found.probabilities * found.frame.n_open).sum())
    assert found.needed is not None
    assert held == pytest.approx(found.needed.more, abs=2.5), "as many labels as are missing, on average"
    made = labelling_plans.make_study(by=None, evidence=load(criterion), found=found, name="Next")
    partly = [name for name in made.probabilities if to_position(name) <= RATED]
    assert sorted(partly) == [f"{position}.{first}" for position in range(RATED - 4, RATED + 1)]
    assert str(second) in {name.partition(".")[2] for name in made.probabilities}


@pytest.mark.any_database
def test_what_comes_back_is_weighted_by_the_probability_of_the_item(criterion: Criterion) -> None:
    out = io.StringIO()
    options = {"study": "Parts", "judge": "gpt", "criterion": "helpful", "width": WIDTH}
    call_command("plan_labels", name="Next", json=True, stdout=out, **options)
    given = {one["position"]: one["probability"] for one in json.loads(out.getvalue())["items"]}
    made, study = LabelPlan.objects.get(), criterion.study
    assert set(made.probabilities) == {name for name in names(NUMBERS[criterion.unit]) if to_position(name) > RATED}
    subject = f"{study.kind}_id"
    place, drawn = dict(study.items.values_list(subject, "position")), {}
    for item in made.target.items.all():
        position = place[getattr(item, subject)]
        drawn[item.position] = position
        own = study.items.get(position=position).inclusion_probability
        assert item.inclusion_probability == pytest.approx(given[position] * own)
    said = {f"{new}.{n}": str(1 + (old + n) % 4) for new, old in drawn.items() for n in NUMBERS[criterion.unit]}
    add_labels(made.target.criteria.get(), "erin", 1, said)

    back = plan(criterion)["came_back"]
    assert (back["before"], back["drawn"], back["labelled"]) == (2 * RATED, len(said), len(said))
    one = load(criterion).evidence["helpful"]
    weights = dict(zip(one.material.names, 1 / one.material.inclusion, strict=True))
    old = dict(zip(one.material.names, one.people.mean, strict=True))
    before = [name for name in old if to_position(name) <= RATED]
    rest = sum(weights[name] for name in old if to_position(name) > RATED)
    pull = {
        name: weights[f"{drawn[to_position(name)]}.{name.partition('.')[2]}"] / given[drawn[to_position(name)]]
        for name in said
    }
    of_rest = sum(pull[name] * int(value) for name, value in said.items()) / sum(pull.values())
    mean = (sum(weights[name] * old[name] for name in before) + rest * of_rest) / sum(weights.values())
    assert back["human_only"]["value"] == pytest.approx(mean)
    assert back["corrected"]["low"] < back["corrected"]["value"] < back["corrected"]["high"]
    out = io.StringIO()
    call_command("plan_labels", stdout=out, **options)
    assert f"{len(said)} of {len(said)} drawn {criterion.part_noun}s are labelled" in out.getvalue()
    assert "Whole items are drawn" in out.getvalue()


def test_page_and_api(criterion: Criterion, client: Client) -> None:
    client.force_login(ResearcherFactory())
    judge = Judge.objects.get()
    asked = {"criterion": "helpful", "width": WIDTH, "by": "", "confidence": 0.95, "seed": 0}
    page = client.get(reverse("judge_plan", args=["parts", judge.pk]), asked).content.decode()
    assert f"Whole items are drawn: each {criterion.part_noun} without a label" in page
    assert f"{criterion.part_noun.capitalize()}s to label" in page
    assert "Make a study of these" in page
    address = reverse("judge_plan_study", args=["parts", judge.pk])
    assert client.post(address, {**asked, "name": "Next", "overlap": 2}).status_code == 302
    assert LabelPlan.objects.get().target.items.exists()
    document = client.get(f"/api/v1/studies/parts/judges/{judge.pk}/plan", {"criterion": "helpful", "width": WIDTH})
    assert document.json()["items"][0]["labels"] == 2
