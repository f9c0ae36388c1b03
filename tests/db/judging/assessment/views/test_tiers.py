"""The tiers page."""

import csv
import json
import re

import pytest
from django.urls import reverse

from annotation.corpus.models import Dialogue
from tests.support.factories import CriterionFactory, ResearcherFactory, ScenarioFactory, StudyFactory
from tests.support.labelled import people_say, with_items

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.fixture
def alice(client):
    client.force_login(ResearcherFactory(username="alice"))
    return client


@pytest.fixture
def criterion():
    study = with_items(4, name="Suits", slug="suits")
    criterion = CriterionFactory(study=study, key="done", name="Done", yes_no=True)
    people_say(criterion, {"bob": ["yes", "no", "yes", "no"], "dana": ["yes", "no", "no", None]})
    return criterion


def page(client, **query):
    return client.get(reverse("tiers", args=["suits"]), query)


@pytest.mark.long
def test_every_tier_opens_its_items(criterion, alice):
    counts = page(alice).context["counts"]
    assert [(tier, n) for tier, n, _ in counts] == [("easy", 2), ("medium", 0), ("hard", 0), ("contested", 1)]
    for _, n, address in counts:
        assert alice.get(address).context["page"].paginator.count == n


def test_an_empty_tier_is_named_with_what_would_fill_it(criterion, alice):
    html = re.sub(r"\s+", " ", page(alice).content.decode())
    assert "No item can be hard or medium" in html
    assert "An overlap of" in html


@pytest.mark.long
def test_where_items_have_many_numbers_of_ratings_the_page_draws_some(alice):
    criterion = CriterionFactory(study=with_items(8, slug="suits"), yes_no=True)
    people_say(criterion, {f"p{k}": ["yes" if k <= n else None for n in range(8)] for k in range(8)})
    context = page(alice).context
    assert (len(context["plans"]), context["more_plans"]) == (4, 3)


@pytest.mark.long
def test_other_cuts_move_items(criterion, alice):
    found = page(alice, cuts="-2,-1.5,-1.2", chance="uniform")
    assert {tier: n for tier, n, _ in found.context["counts"]}["easy"] == 3
    address = found.context["counts"][0][2]
    assert alice.get(address).context["page"].paginator.count == 3


def test_groups_of_items(criterion, alice):
    hotels, music = (ScenarioFactory(task__domains=[name]) for name in ("Hotels", "Music"))
    first, *rest = Dialogue.objects.order_by("pk")
    Dialogue.objects.filter(pk=first.pk).update(scenario=hotels)
    Dialogue.objects.filter(pk__in=[d.pk for d in rest]).update(scenario=music)
    groups = page(alice, by="domain").context["found"]["groups"]
    assert [(group["group"], group["n_items"], group["counts"]["contested"]) for group in groups] == [
        ("Hotels", 1, 0),
        ("Music", 3, 1),
    ]


@pytest.mark.parametrize(("sort", "first"), [("", 1), ("-position", 4), ("kappa", 3), ("stability", 3)])
def test_items_sort(criterion, alice, sort, first):
    assert page(alice, sort=sort).context["page"][0]["position"] == first


def test_items_link_to_their_page(criterion, alice):
    assert f"{reverse('item_detail', args=['suits', 1])}?criterion=done" in page(alice).content.decode()


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"cuts": "3,2,1"}, "three ascending numbers"),
        ({"chance": "luck"}, "neither uniform nor margins"),
        ({"by": "colour"}, "cannot be grouped"),
        ({"criterion": "nope"}, "o criterion is called"),
    ],
)
def test_what_makes_no_sense_is_said_on_the_page(criterion, alice, query, message):
    response = page(alice, **query)
    assert response.status_code == 400
    assert message in response.content.decode()


def test_a_study_without_labels_says_what_will_be_here(alice):
    StudyFactory(slug="suits")
    assert "No labels yet" in page(alice).content.decode()


def test_the_same_number_of_queries_for_any_number_of_criteria(criterion, alice, django_assert_num_queries):
    with django_assert_num_queries(25):
        page(alice)
    more = CriterionFactory(study=criterion.study, key="depth")
    people_say(more, {"bob": list("1234"), "dana": list("1233")})
    with django_assert_num_queries(25):
        page(alice)


def test_downloads(criterion, alice):
    rows = list(
        csv.DictReader(alice.get(reverse("tiers_download", args=["suits", "csv"])).getvalue().decode().splitlines())
    )
    assert [(row["item"], row["tier"]) for row in rows][2:] == [("suits-d3", "contested"), ("suits-d4", "")]
    assert rows[3]["reason"] == "only one rating"
    found = json.loads(alice.get(reverse("tiers_download", args=["suits", "json"])).getvalue())
    assert found["counts"]["none"] == 1
    assert alice.get(reverse("tiers_download", args=["suits", "xlsx"])).status_code == 404


def test_answers_that_have_no_tiers_are_no_table_of_them(criterion, alice):
    CriterionFactory(study=criterion.study, key="faults", name="Faults", type="spans", level="spans", categories=[])
    address = {name: reverse("tiers_download", args=["suits", name]) + "?criterion=faults" for name in ("csv", "json")}
    assert alice.get(address["csv"]).status_code == 404
    assert json.loads(alice.get(address["json"]).getvalue())["reason"]
