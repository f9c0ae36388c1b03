"""The list of items and the page of one."""

import pytest
from django.urls import reverse

from annotation.studies.models.labels import Adjudication
from core.accounts.models.users import User
from tests.support.factories import CriterionFactory, ResearcherFactory, StudyFactory
from tests.support.labelled import add_verdicts, judge_says, people_say, with_items

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.fixture
def alice(client):
    client.force_login(ResearcherFactory(username="alice"))
    return client


@pytest.fixture
def criterion():
    study = with_items(4, kind="pair", name="Suits", slug="suits")
    criterion = CriterionFactory(study=study, key="preference", name="Preference", preference=True)
    people_say(criterion, {"bob": ["1", "2", "1", ""], "dana": ["1", "2", "2", "tie"]})
    judge_says(criterion, "gpt", ["2", "2", "1", ""], order="AB")
    return criterion


def listed(client, **query):
    response = client.get(reverse("item_list", args=["suits"]), query)
    assert response.status_code == 200
    return [item.position for item in response.context["page"]]


@pytest.mark.parametrize(
    ("query", "positions"),
    [
        ({}, [1, 2, 3, 4]),
        ({"criterion": "preference"}, [1, 2, 3, 4]),
        ({"majority": "1"}, [1]),
        ({"majority": "tied"}, [3]),
        ({"judge": "gpt"}, [1, 2, 3, 4]),
        ({"judge": "gpt", "value": "2"}, [1, 2]),
        ({"judge": "gpt", "value": "unscored"}, [4]),
        ({"judge": "gpt", "value": "2", "majority": "1"}, [1]),
        ({"judge": "gpt", "value": "tie"}, []),
        ({"tier": "easy"}, [1, 2]),
        ({"tier": "contested"}, [3]),
        ({"tier": "easy", "majority": "2"}, [2]),
    ],
)
def test_the_list_narrows(criterion, alice, query, positions):
    assert listed(alice, **query) == positions


def test_the_list_says_what_people_and_judges_said(criterion, alice):
    rows = dict(alice.get(reverse("item_list", args=["suits"])).context["rows"])
    said = {item.position: summary for item, summary in rows.items()}
    assert said[1]["majority"] == "Response 1"
    assert said[1]["judges"] == [{"label": "Response 2", "reason": "not judged", "differs": True}]
    assert said[3]["tied"] is True
    assert said[4]["judges"][0]["reason"] == "the reply held no verdict"
    assert said[4]["counts"] == [{"label": "Tie", "n": 1}]


def test_pages_keep_the_selection(alice):
    study = with_items(120, slug="suits")
    criterion = CriterionFactory(study=study, key="done", yes_no=True)
    people_say(criterion, {"bob": ["yes"] * 110 + ["no"] * 10})
    address = reverse("item_list", args=["suits"])
    response = alice.get(address, {"criterion": "done", "majority": "yes", "page": 2})
    assert [item.position for item in response.context["page"]] == list(range(51, 101))
    assert "criterion=done&amp;majority=yes&amp;page=3" in response.content.decode()


@pytest.mark.parametrize("n", [3, 60])
def test_the_list_takes_the_same_number_of_queries_for_any_size(alice, n, django_assert_num_queries):
    study = with_items(n, slug="suits")
    criterion = CriterionFactory(study=study, yes_no=True)
    people_say(criterion, {"bob": ["yes"] * n, "dana": ["no"] * n})
    judge_says(criterion, "gpt", ["yes"] * n)
    listed(alice)  # the first look locks the rules of the verdict
    with django_assert_num_queries(31):
        listed(alice)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"criterion": "nope"}, "no criterion is called"),
        ({"majority": "9"}, "is not on the scale"),
        ({"judge": "claude"}, "no judge called"),
        ({"value": "1"}, "needs a judge"),
        ({"tier": "great"}, "is not one of"),
        ({"tier": "easy", "cuts": "1,2"}, "three ascending numbers"),
    ],
)
def test_a_selection_that_makes_no_sense_is_said_on_the_page(criterion, alice, query, message):
    response = alice.get(reverse("item_list", args=["suits"]), query)
    assert response.status_code == 400
    assert message in response.content.decode()


def test_a_study_without_items_says_what_will_be_here(alice, settings):
    StudyFactory(slug="suits")
    assert listed(alice) == []


def test_items_of_a_study_that_asks_nothing_yet(alice):
    with_items(2, slug="suits")
    assert listed(alice) == [1, 2]
    assert "This study has no criteria yet" in item_page(alice, 1).content.decode()


def item_page(client, position, **query):
    response = client.get(reverse("item_detail", args=["suits", position]), query)
    assert response.status_code == 200
    return response


def marks(response):
    (scale,) = response.context["scales"]
    return {step["value"]: [(m["mark"], m["name"]) for m in step["marks"]] for step in scale["steps"]}


def test_everybody_stands_on_one_scale(criterion, alice):
    Adjudication.objects.create(
        item=criterion.study.items.get(position=1),
        criterion=criterion,
        value="1",
        decided_by=User.objects.get(username="alice"),
    )
    assert marks(item_page(alice, 1)) == {
        "1": [("people", "bob"), ("people", "dana"), ("gold", "gold")],
        "2": [("judge", "gpt")],
        "tie": [],
    }


def test_who_gave_no_rating_stands_off_the_scale_with_the_reason(criterion, alice):
    (scale,) = item_page(alice, 4).context["scales"]
    assert [(mark["name"], mark["reason"]) for mark in scale["unscored"]] == [
        ("bob", "cannot judge"),
        ("gpt", "no verdict in the reply"),
    ]


def test_the_order_in_which_each_saw_the_pair_and_every_run_is_shown(criterion, alice):
    add_verdicts(judge_says(criterion, "claude", ["1"] * 4, order="AB"), criterion, ["2"] * 4, order="BA")
    response = item_page(alice, 1)
    assert marks(response)["1"] == [("people", "bob"), ("people", "dana")]
    (scale,) = response.context["scales"]
    assert ("claude", "its verdicts in the two orders disagree") in [
        (m["name"], m["reason"]) for m in scale["unscored"]
    ]
    html = response.content.decode()
    assert "order AB" in html
    assert "order BA" in html


def test_previous_and_next_stay_within_the_list(criterion, alice):
    response = item_page(alice, 2, criterion="preference", judge="gpt", value="2")
    assert response.context["next_href"] == ""
    assert response.context["previous_href"].startswith(
        reverse("item_detail", args=["suits", 1]) + "?criterion=preference"
    )
    assert response.context["where"] == "2 of 2 in this selection"
    response = item_page(alice, 2)
    assert response.context["previous_href"] == reverse("item_detail", args=["suits", 1])
    assert response.context["next_href"] == reverse("item_detail", args=["suits", 3])


def test_an_edited_address_still_shows_the_item(criterion, alice):
    assert item_page(alice, 2, tier="great").context["where"] == "2 of 4"


@pytest.mark.each_database
def test_texts_from_outside_are_escaped(criterion, alice):
    pair = criterion.study.items.get(position=1).pair
    pair.response_1 = "<script>alert(1)</script>"
    pair.save()
    html = item_page(alice, 1).content.decode()
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert" in html


def test_an_item_takes_the_same_number_of_queries_for_any_number_of_raters(criterion, alice, django_assert_num_queries):
    item_page(alice, 1)  # the first look locks the rules of the verdict
    with django_assert_num_queries(30):
        item_page(alice, 1)
    for name in ("claude", "longer"):
        judge_says(criterion, name, ["1"] * 4)
    User.objects.filter(username="dana").update(kind="simulated")
    with django_assert_num_queries(30):
        item_page(alice, 1)


def test_a_dialogue_is_shown_turn_by_turn(alice):
    study = with_items(1, slug="suits")
    CriterionFactory(study=study)
    html = item_page(alice, 1).content.decode()
    assert "Book table 1." in html
    assert "Nobody has answered this yet." in html


def test_an_item_that_is_not_there(criterion, alice):
    assert alice.get(reverse("item_detail", args=["suits", 99])).status_code == 404


def test_a_tier_is_changed_with_a_reason_and_the_change_is_shown(criterion, alice):
    study = criterion.study
    url = reverse("item_tier", args=[study.slug, 1, criterion.key])
    assert alice.post(url, {"tier": "hard", "reason": ""}, follow=True).content.decode().count("Say why") == 1
    html = alice.post(url, {"tier": "hard", "reason": "a <trick> question"}, follow=True).content.decode()
    assert "set by hand" in html
    assert "a &lt;trick&gt; question" in html
    assert "by hand; computed" in alice.get(reverse("tiers", args=[study.slug])).content.decode()
    assert "selected>hard" in html.replace('" selected', '" selected')
