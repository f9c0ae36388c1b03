"""Where a part is held out, no page, command or answer of the API puts a judge beside people on it."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.studies.models.studies import Item
from judging.assessment.models.assessment import Look
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import hold_out as holding_out
from judging.judges.queries import study_items
from judging.judges.queries.study_items import DEVELOPMENT, HELD_OUT
from judging.runs.models.runs import Judgment
from tests.support.factories import CriterionFactory, ProfileFactory, ResearcherFactory
from tests.support.labelled import judge_says, people_say, with_items

pytestmark = pytest.mark.django_db

N = 40


@pytest.fixture(params=["dialogue", "pair"])
def criterion(request):
    """The judge is right on what can be looked at freely, and wrong on every held-out item."""
    made = with_items(N, kind=request.param, name="Suits", slug="suits")
    holding_out.hold_out(by=None, study=made, share=0.4)
    masked = study_items.positions(made)
    truth = ["1" if k % 3 else "2" for k in range(1, N + 1)]
    said = [{"1": "2", "2": "1"}[v] if k in masked else v for k, v in enumerate(truth, start=1)]
    kind = {"preference": True} if request.param == "pair" else {}
    found = CriterionFactory(study=made, key="suits", name="Suits", **kind)
    people_say(found, {"bob": truth, "dana": truth})
    judge_says(found, "gpt", said, order="AB" if request.param == "pair" else "")
    return found


@pytest.fixture
def alice(client):
    client.force_login(ResearcherFactory(username="alice"))
    return client


def right(document):
    """The judge's figures are those of the development part, where it is always right; people's are of all items."""
    (warning,) = [one["message"] for one in document["warnings"] if one["code"] == "held_out"]
    held = document["judges"]["gpt"]
    return (
        document["n_items"] == N
        and held["accuracy"]["value"] == 1.0
        and held["scored"] == N - int(warning.split(": ")[1].split()[0])
        and held["n_items"] == held["scored"]
        and (held["unscored"], held["not_judged"]) == (0, 0)
    )


def test_the_positions_are_those_of_the_held_out_part(criterion):
    masked = study_items.positions(criterion.study)
    assert 0 < len(masked) < N
    parts = {p: {int(n) for n in StudyData.load(criterion.study, p).material.names} for p in (DEVELOPMENT, HELD_OUT)}
    assert masked == parts[HELD_OUT]
    assert parts[DEVELOPMENT].isdisjoint(masked)


def test_items_of_one_user_are_masked_together():
    made = with_items(30, kind="pair")
    profile = ProfileFactory()
    for item in made.items.filter(position__lte=10).select_related("pair"):
        item.pair.profile = profile
        item.pair.save()
    holding_out.hold_out(by=None, study=made, share=0.5)
    masked = study_items.positions(made)
    assert len({position in masked for position in range(1, 11)}) == 1


def test_nothing_is_masked_where_nothing_is_held_out():
    assert study_items.positions(with_items(3)) == frozenset()


@pytest.mark.any_database
def test_the_agreement_page_command_and_api(criterion, alice):
    page = alice.get(reverse("agreement", args=["suits"]))
    assert "held-out items are left out" in " ".join(page.content.decode().split())
    assert right(page.context["run"].result["criteria"]["suits"])
    assert right(json.loads(alice.get(reverse("agreement_download", args=["suits", "json"])).content))
    assert right(alice.get(reverse("api_study_agreement", args=["suits"])).json())
    out = io.StringIO()
    call_command("agreement", study="Suits", json=True, bootstrap=20, stdout=out)
    assert right(json.loads(out.getvalue()))
    out = io.StringIO()
    call_command("agreement", study="Suits", bootstrap=20, stdout=out)
    assert "development part" in out.getvalue()
    assert not Look.objects.exists()


def test_the_list_of_items_and_its_filters(criterion, alice):
    address = reverse("item_list", args=["suits"])
    page = alice.get(address)
    assert f"On the {len(study_items.positions(criterion.study))} held-out items" in " ".join(
        page.content.decode().split()
    )
    masked = study_items.positions(criterion.study)
    for item, said in page.context["rows"]:
        (verdict,) = said["judges"]
        assert (verdict["label"] == "", verdict["reason"] == "held out") == (item.position in masked,) * 2
        assert said["majority"]
    wrong = {"criterion": "suits", "majority": "1", "judge": "gpt", "value": "2"}
    assert not alice.get(address, wrong).context["page"].paginator.count


@pytest.mark.any_database
@pytest.mark.long
def test_an_item_and_a_judgment(criterion, alice):
    masked = study_items.positions(criterion.study)
    for item in Item.objects.filter(study=criterion.study):
        page = alice.get(reverse("item_detail", args=["suits", item.position]))
        (scale,) = page.context["scales"]
        assert len(scale["annotations"]) == 2
        assert bool(scale["judgments"]) == (item.position not in masked)
        assert ("This item is held out" in page.content.decode()) == (item.position in masked)
        pk = Judgment.objects.get(item=item).pk
        shown = alice.get(reverse("judgment_detail", args=[pk]))
        assert bool(shown.context["people"]) == (item.position not in masked)


@pytest.mark.any_database
@pytest.mark.long
def test_the_api_tells_of_no_verdict_on_a_held_out_item(criterion, alice):
    """The judge is wrong on just these, so whatever names one of them beside its verdict gives it away."""
    masked = study_items.positions(criterion.study)
    rows = alice.get(reverse("api_rated_items", args=["suits"])).json()["results"]
    assert len(rows) == N
    for row in rows:
        (verdict,) = row["judges"]
        assert (verdict["label"] == "", verdict["reason"] == "held out") == (row["position"] in masked,) * 2
    wrong = {"majority": "1", "judge": "gpt", "value": "2"}
    assert alice.get(reverse("api_rated_items", args=["suits"]), wrong).json()["results"] == []
    assert alice.get(reverse("api_against_majority", args=["suits"])).json()["results"] == []
    judge = criterion.study.judge_runs.get().judge_id
    assert alice.get(reverse("api_disagreements", args=["suits", judge])).json()["results"] == []
    for position in range(1, N + 1):
        there = alice.get(reverse("api_item_judgments", args=["suits", position])).json()["results"]
        assert len(there) == (position not in masked)
