"""What alice sees of a judge's disagreements, how she makes another version, and whether that one is better."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from annotation.studies.models.labels import Adjudication, Annotation
from judging.assessment.services import hold_out as holding_out
from judging.judges.models import Judge
from judging.judges.queries import study_items
from judging.runs.models.runs import Judgment
from tests.support.factories import (
    CriterionFactory,
    ItemFactory,
    JudgeFactory,
    JudgeRunFactory,
    ResearcherFactory,
    StudyFactory,
    UserFactory,
)
from tests.support.labelled import add_verdicts, people_say

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

N = 40
TRUTH = [str(k % 4 + 1) for k in range(N)]
WRONG = ["1" if k % 2 else value for k, value in enumerate(TRUTH)]


@pytest.fixture
def alice(client):
    client.force_login(ResearcherFactory(username="alice"))
    return client


@pytest.fixture
def criterion():
    """Every item is adjudicated; the judge says 1 on every other item. Half is held out."""
    made = StudyFactory(name="Known", slug="known")
    ItemFactory.create_batch(N, study=made)
    found = CriterionFactory(study=made, key="suits", name="Suits")
    people_say(found, {"bob": TRUTH, "dana": TRUTH})
    boss = ResearcherFactory()
    for item, value in zip(made.items.order_by("position"), TRUTH, strict=True):
        Adjudication.objects.create(item=item, criterion=found, value=value, decided_by=boss, reason="As agreed.")
    run = JudgeRunFactory(study=made, judge=JudgeFactory(name="gpt", provider="local"), criteria=[found])
    add_verdicts(run, found, WRONG)
    holding_out.hold_out(by=None, study=made, share=0.5, seed=1)
    return found


def text_of(response):
    return re.sub(r"\s+", " ", re.sub(r"<style.*?</style>|<[^>]+>", " ", response.content.decode(), flags=re.DOTALL))


def address(name="judge_improve", *more):
    return reverse(name, args=["known", Judge.objects.get(name="gpt", version=1).pk, *more])


def differing(criterion):
    return {k + 1 for k in range(N) if WRONG[k] != TRUTH[k]} - study_items.positions(criterion.study)


@pytest.mark.long
@pytest.mark.each_database
def test_the_list_holds_the_disagreements_of_the_development_part(criterion, alice):
    Annotation.objects.filter(assignment__annotator__username="bob").update(note="I <b>see</b> no plan.")
    page = alice.get(address())
    rows = page.context["page"].paginator.object_list
    assert {row.position for row in rows} == differing(criterion)
    assert [row["of"] for row in page.context["rows"]] == list(rows[:10])
    sizes = [row.size for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    assert "I &lt;b&gt;see&lt;/b&gt; no plan." in page.content.decode()
    text = text_of(page)
    assert "This page shows the development part" in text
    assert "No other version of gpt has judged this study" in text
    by_place = alice.get(address(), {"sort": "position", "criterion": "suits", "tier": "easy"})
    rows = by_place.context["page"].paginator.object_list
    assert [row.position for row in rows] == sorted(differing(criterion))
    assert not alice.get(address(), {"tier": "contested"}).context["rows"]


@pytest.mark.long
@pytest.mark.each_database
def test_an_item_opens_with_its_text_both_sides_and_the_way_on(criterion, alice):
    Judgment.objects.update(explanation="It <i>asked</i> nothing.")
    bob = Annotation.objects.filter(assignment__annotator__username="bob")
    bob.update(evidence=[{"part": "turn-2", "start": 0, "end": 4, "text": "At the Thai place"}], note="A note.")
    pages = alice.get(address()).context["page"].paginator.page_range
    rows = [row for page in pages for row in alice.get(address(), {"page": page}).context["rows"]]
    first = alice.get(rows[0]["href"])
    text = text_of(first)
    for part in (
        "Book me a table.",
        "A note.",
        "At the Thai place",
        "As agreed.",
        "decided on people",
        f" of {len(rows)} in this",
    ):
        assert part in text, part
    assert "It &lt;i&gt;asked&lt;/i&gt; nothing." in first.content.decode()
    by_place = sorted(rows, key=lambda row: row["of"].position)
    shown = [alice.get(by_place[place]["href"]).context for place in (0, -1)]
    assert (shown[0]["previous_href"], shown[1]["next_href"]) == ("", "")
    assert shown[0]["next_href"].split("#")[0] == by_place[1]["href"].split("#")[0]


def test_a_held_out_item_is_not_there(criterion, alice):
    masked = next(k for k in sorted(study_items.positions(criterion.study)) if WRONG[k - 1] != TRUTH[k - 1])
    moved = alice.get(address("judge_disagreement", "suits", masked))
    there = f"{reverse('item_detail', args=['known', masked])}?criterion=suits#scale-suits"
    assert (moved.status_code, moved["Location"]) == (301, there)
    page = alice.get(moved["Location"])
    assert "This item is held out" in text_of(page)
    assert [scale["judgments"] for scale in page.context["scales"]] == [[]]


def test_examples_make_a_version(criterion, alice):
    given = {"examples": 2, "criteria": ["suits"], "seed": 4, "template": ""}
    made = alice.post(address("judge_version"), given, follow=True)
    assert "gpt v2 is there" in text_of(made)
    version = Judge.objects.get(name="gpt", version=2)
    assert version.created_by.username == "alice"
    assert not study_items.positions(criterion.study) & {one["item"] for one in version.examples}
    shown = text_of(alice.get(reverse("judge_detail", args=[version.pk])))
    assert f"item {version.examples[0]['item']} of known on suits" in shown
    again = alice.post(reverse("judge_version", args=["known", version.pk]), given, follow=True)
    assert "Nothing was changed" in text_of(again)


def test_a_prompt_makes_a_version_and_keeps_its_examples(criterion, alice):
    given = {"examples": 1, "seed": 0, "template": "$conversation\r\n\r\n$examples\r\n\r\n$asked $answer"}
    alice.post(address("judge_version"), given)
    version = Judge.objects.get(name="gpt", version=2)
    assert version.parameters["template"] == "$conversation\n\n$examples\n\n$asked $answer"
    settings = {"provider": "local", "parameters": '{"context": 2048}', "template": version.parameters["template"]}
    alice.post(reverse("judge_detail", args=[version.pk]), {**settings, "keep_examples": "on"})
    assert Judge.objects.get(name="gpt", version=3).examples == version.examples
    alice.post(reverse("judge_detail", args=[version.pk]), settings)
    assert Judge.objects.get(name="gpt", version=4).examples == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"examples": 19, "seed": 0}, "fewer than 19"),
        ({"examples": "", "seed": 0}, "required"),
        ({"examples": 21, "seed": 0}, "less than or equal to 20"),
        ({"examples": 1, "seed": 0, "template": "no place"}, "lacks $conversation"),
        ({"examples": 1, "seed": 0, "template": "$conversation $asked"}, "no $examples"),
    ],
)
def test_what_is_wrong_is_said(criterion, alice, given, message):
    Adjudication.objects.filter(item__position__gt=15).delete()  # whichever of these are of the development part
    Annotation.objects.filter(assignment__item__position__gt=15).delete()
    refused = alice.post(address("judge_version"), given)
    assert (refused.status_code, message in text_of(refused)) == (400, True)
    assert refused.context["form"].has_error("template" if "template" in given else "examples")
    assert str(refused.context["form"]["template"].value() or "") == given.get("template", ""), "what was typed stays"
    assert Judge.objects.filter(name="gpt").count() == 1


def test_the_change_from_version_to_version(criterion, alice):
    new = JudgeRunFactory(
        study=criterion.study, judge=JudgeFactory(name="gpt", version=2, provider="local"), criteria=[criterion]
    )
    add_verdicts(new, criterion, TRUTH)
    page = alice.get(reverse("judge_improve", args=["known", new.judge_id]))
    assert "Difference gpt v2 − gpt on the development items" in text_of(page)
    one = page.context["change"]["criteria"]["suits"]
    assert one["mcnemar"]["gained"] == len(differing(criterion))
    assert one["main"]["new"]["value"] == pytest.approx(1.0)
    assert "gpt v2 agrees with people on every item that both rated" in text_of(page)
    refused = alice.get(reverse("judge_improve", args=["known", new.judge_id]), {"against": "9"})
    assert (refused.status_code, "no other version" in text_of(refused)) == (400, True)


def test_the_page_begins_with_where_the_judge_differs_most(criterion, alice):
    response = alice.get(address())
    one = response.context["worst"][1]
    assert (
        f"gpt differs from people most often on {criterion.name}: {one.differing} of {one.compared} items."
        in text_of(response)
    )
    assert 'href="#version"' in response.content.decode()


def test_where_nothing_is_held_out_the_page_says_what_to_do(criterion, alice):
    criterion.study.hold_out.delete()
    assert "Hold out a part first" in text_of(alice.get(address()))
    refused = alice.post(address("judge_version"), {"examples": 1, "seed": 0})
    assert "hold a part out first" in text_of(refused)


@pytest.mark.each_database
def test_a_judge_without_words_has_no_form(criterion, alice):
    Judge.objects.filter(name="gpt").update(provider="imported")
    criterion.study.hold_out.delete()
    text = text_of(alice.get(address()))
    assert "has no prompt, so there is nothing to edit" in text
    assert "Hold out a part first" not in text, "nothing can be improved"


def test_bad_addresses(criterion, alice):
    assert alice.get(address(), {"criterion": "other"}).status_code == 400
    assert alice.get(address(), {"sort": "colour"}).status_code == 400


@pytest.mark.long
def test_a_judge_that_was_never_run_here_leads_to_its_run(criterion, alice):
    idle = JudgeFactory(name="idle")
    for name, more in (
        ("judge_verdict", ()),
        ("criterion_verdict", ("tone",)),
        ("judge_improve", ()),
        ("judge_plan", ()),
    ):
        page = alice.get(reverse(name, args=["known", idle.pk, *more]))
        assert page.status_code == 200, name
        assert "idle has not rated this study" in text_of(page)
        run = f"{reverse('run_create', args=['known'])}?judge={idle.pk}"
        assert f'href="{run}"' in page.content.decode()
    assert f'<option value="{idle.pk}" selected' in alice.get(run).content.decode()


@pytest.mark.long
@pytest.mark.each_database
def test_the_number_of_queries_does_not_grow(criterion, alice, django_assert_num_queries):
    alice.get(address())  # the first look locks the rules
    Judgment.objects.filter(item__position__gt=10).update(value="4")
    with django_assert_num_queries(41):
        alice.get(address())
    Judgment.objects.update(value="4")
    with django_assert_num_queries(41):
        alice.get(address())


def test_charlie_sees_nothing(criterion, client):
    client.force_login(UserFactory(username="charlie"))
    for name in (address(), address("judge_disagreement", "suits", 2)):
        assert client.get(name).status_code == 403
    assert client.post(address("judge_version"), {"examples": 1}).status_code == 403


def test_a_judge_without_a_verdict_neither_agrees_nor_is_free_of_bias(criterion, alice):
    new = JudgeRunFactory(
        study=criterion.study, judge=JudgeFactory(name="gpt", version=2, provider="local"), criteria=[criterion]
    )
    add_verdicts(new, criterion, [""] * 4 + [None] * (N - 4))
    page = text_of(alice.get(reverse("judge_improve", args=["known", new.judge_id])))
    assert "No item has both labels and a verdict of gpt v2 yet" in page
    section = text_of(alice.get(reverse("criterion_verdict", args=["known", new.judge_id, "suits"])))
    assert "No bias was found" not in section
    assert "No probe" in section
    assert "Nothing to estimate" in section


def test_a_choice_of_items_without_disagreements_is_called_that(criterion, alice):
    assert "No disagreement on this choice of items" in text_of(alice.get(address(), {"tier": "contested"}))


def test_a_judge_without_a_prompt_leads_to_what_to_read(alice, criterion) -> None:
    Judge.objects.filter(name="gpt").update(provider="baseline")
    page = alice.get(address())
    button = re.search(
        r'<a class="button button--primary"[^>]*href="([^"]*)"[^>]*>\s*Read these', page.content.decode()
    )
    assert button
    assert button[1] == "?criterion=suits#disagreements"
    assert "Confidence" not in text_of(page), "no verdict has one"
