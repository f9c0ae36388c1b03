"""The corpus in the browser: alice researches, charlie annotates and must see nothing of it."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotation.corpus.models import PROVENANCE
from tests.support.factories import (
    DialogueFactory,
    ProfileFactory,
    ResearcherFactory,
    ResponsePairFactory,
    ScenarioFactory,
    TaskFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(client):
    client.force_login(ResearcherFactory(username="alice"))
    return client


def shown(response):
    assert response.status_code == 200
    return response.content.decode()


def test_an_empty_corpus_says_what_will_be_here_and_what_to_do(alice):
    page = shown(alice.get(reverse("material")))
    assert "will be here" in page
    assert "import_personalens" in page


def test_counts_stand_beside_every_kind(alice):
    DialogueFactory.create_batch(3)
    page = shown(alice.get(reverse("material")))
    assert page.count('<span class="line__count">3</span>') == 4  # profiles, tasks, scenarios, dialogues
    assert page.count('<span class="line__count">0</span>') == 1  # pairs


def test_why_a_situation_was_made_so_stands_where_it_is_shown(alice):
    why = {"making": 7, "agent": "claude-x", "prompt": "abc", "seed": 3, "justifications": {"Device": "It is at hand."}}
    scenario = ScenarioFactory(situation={"Device": "watch", PROVENANCE: why})
    dialogue = DialogueFactory(scenario=scenario)
    for name, pk in (
        ("profile_detail", scenario.profile_id),
        ("task_detail", scenario.task_id),
        ("dialogue_detail", dialogue.pk),
    ):
        page = shown(alice.get(reverse(name, args=[pk])))
        assert "watch" in page
        assert all(part in page for part in ("It is at hand.", "claude-x")), name
    listed = shown(alice.get(reverse("material"), {"kind": "scenarios"}))
    assert "watch" in listed
    assert "claude-x" not in listed


def test_any_json_may_stand_where_a_situation_says_how_it_was_made(alice):
    for why in ("text", ["list"], {"justifications": "text"}):
        scenario = ScenarioFactory(situation={"Device": "watch", PROVENANCE: why})
        assert "watch" in shown(alice.get(reverse("profile_detail", args=[scenario.profile_id])))
        dialogue = DialogueFactory(scenario=scenario)
        assert "watch" in shown(alice.get(reverse("dialogue_detail", args=[dialogue.pk])))


def test_a_search_finds_an_id_and_says_when_it_finds_nothing(alice):
    DialogueFactory(external_id="needle")
    DialogueFactory(external_id="straw")
    found = shown(alice.get(reverse("material"), {"kind": "dialogues", "q": "need"}))
    assert "needle" in found
    assert "straw" not in found
    assert "Nothing of this kind matches" in shown(alice.get(reverse("material"), {"kind": "dialogues", "q": "hay"}))


@pytest.mark.parametrize("kind", ["profiles", "tasks", "scenarios", "dialogues", "pairs"])
def test_the_list_costs_the_same_queries_whatever_its_length(alice, kind, django_assert_max_num_queries):
    ResponsePairFactory.create_batch(20)
    DialogueFactory.create_batch(20)
    with django_assert_max_num_queries(10):
        shown(alice.get(reverse("material"), {"kind": kind}))


def test_markup_in_a_dialogue_is_text(alice):
    nasty = [{"role": "user", "content": "<script>alert(1)</script> <b>bold</b>"}]
    dialogue = DialogueFactory(turns=nasty)
    page = shown(alice.get(reverse("dialogue_detail", args=[dialogue.pk])))
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &lt;b&gt;bold&lt;/b&gt;" in page
    assert "<script>alert(1)" not in page


def test_a_pair_shows_both_responses_and_the_label_of_its_source(alice):
    pair = ResponsePairFactory(question="今晚吃什么？", response_1="饺子", response_2="面条", source_label="2")
    page = shown(alice.get(reverse("pair_detail", args=[pair.pk])))
    assert "今晚吃什么？" in page
    assert page.index("面条") > page.index("饺子")
    assert page.index("preferred by the source") > page.index("饺子")


def test_profile_and_task_link_to_each_other(alice):
    scenario = ScenarioFactory(profile=ProfileFactory(name="Ines"), task=TaskFactory(external_id="book-a-table"))
    profile = shown(alice.get(reverse("profile_detail", args=[scenario.profile_id])))
    assert reverse("task_detail", args=[scenario.task_id]) in profile
    task = shown(alice.get(reverse("task_detail", args=[scenario.task_id])))
    assert reverse("profile_detail", args=[scenario.profile_id]) in task


def test_keys_that_concord_does_not_use_are_shown_all_the_same(alice):
    profile = ProfileFactory(extra={"Bias": "prefers trains"})
    assert "prefers trains" in shown(alice.get(reverse("profile_detail", args=[profile.pk])))


def test_annotators_and_strangers_see_no_material(client):
    dialogue = DialogueFactory()
    addresses = [reverse("material"), reverse("dialogue_detail", args=[dialogue.pk])]
    assert [client.get(address).status_code for address in addresses] == [302, 302]
    client.force_login(UserFactory(username="charlie"))
    assert [client.get(address).status_code for address in addresses] == [403, 403]
