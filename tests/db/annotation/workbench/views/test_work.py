"""Bob rates, over HTTP."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.urls import resolve, reverse
from django.utils import timezone

from annotation.corpus.models import PROVENANCE
from annotation.recruitment.services import consents
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation, Draft
from annotation.studies.models.studies import Study
from annotation.studies.services import guidelines, studies
from annotation.workbench.queries import work
from annotation.workbench.services import annotations, assignments
from core.accounts.models.users import User
from tests.support.factories import (
    DialogueFactory,
    ProfileFactory,
    ResponsePairFactory,
    ScenarioFactory,
    TaskFactory,
    UserFactory,
)
from tests.support.people import OpenStudy

GOOD = {"task_completion": "yes", "personalization": "3"}


def sign_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def start(client: Client, study: Study) -> str:
    """The address of the item that is handed out."""
    found = client.post(reverse("next_item", args=[study.slug]))
    assert found.status_code == 302, found.content.decode()
    return found.url


def text_of(response) -> str:
    return unescape(response.content.decode())


def seen(response) -> str:
    return re.search(r'name="seen"\s+value="([^"]+)"', response.content.decode()).group(1)


def test_my_work_lists_my_open_studies_with_progress(open_study: OpenStudy, bob: User, charlie: User) -> None:
    study = open_study([bob, charlie], items=3, overlap=2)
    client = sign_in(bob)
    client.post(start(client, study), GOOD)
    page = text_of(client.get(reverse("my_work")))
    assert "Pilot" in page
    assert re.search(r"1 of 3\s+dialogues", page)
    assert "Rate the next item" in page


def test_my_work_is_empty_for_charlie(open_study: OpenStudy, bob: User, charlie: User) -> None:
    open_study([bob])
    page = text_of(sign_in(charlie).get(reverse("my_work")))
    assert "No open study" in page
    assert "Pilot" not in page


def test_a_study_that_is_complete_without_me_leaves_me_nothing(open_study: OpenStudy, bob: User, charlie: User) -> None:
    study = open_study([bob, charlie], items=2, overlap=1)
    client = sign_in(bob)
    for _ in range(2):
        client.post(start(client, study), GOOD)
    assert "All done" in text_of(sign_in(charlie).get(reverse("next_item", args=[study.slug])))
    assert "All done" in text_of(sign_in(charlie).get(reverse("my_work")))


def test_rating_from_first_to_last(open_study: OpenStudy, bob: User) -> None:
    study = open_study([bob], items=2)
    client = sign_in(bob)
    for number in (1, 2):
        address = start(client, study)
        page = text_of(client.get(address))
        assert f"{number} / 2" in page
        handed_in = client.post(address, GOOD)
        assert handed_in.url == reverse("next_item", args=["pilot"])
    done = text_of(client.get(handed_in.url))
    assert "All done" in done
    assert "You rated 2 items" in done
    assert Annotation.objects.count() == 4


def test_what_is_missing_is_said_at_its_criterion_and_nothing_entered_is_lost(open_study: OpenStudy, bob: User) -> None:
    client = sign_in(bob)
    address = start(client, open_study([bob]))
    page = text_of(client.post(address, {"task_completion": "no", "task_completion-note": "promised only <b>"}))
    assert "Personalization has no answer yet." in page
    assert "Task completion has no answer" not in page
    assert re.search(r'name="task_completion"\s+value="no"[^>]*\schecked', page)
    assert "promised only <b></textarea>" in page
    assert not Annotation.objects.exists()


def test_a_reason_stands_in_place_of_a_value(open_study: OpenStudy, bob: User) -> None:
    client = sign_in(bob)
    client.post(start(client, open_study([bob])), GOOD | {"personalization-unscored": "Not enough context"})
    found = Annotation.objects.get(criterion__key="personalization")
    assert (found.value, found.unscored_reason) == ("", "Not enough context")


def test_an_answer_that_cannot_be_stored_is_said_at_its_criterion(open_study: OpenStudy, bob: User) -> None:
    client = sign_in(bob)
    address = start(client, open_study([bob]))
    assert "is not on the scale of Personalization" in text_of(client.post(address, GOOD | {"personalization": "9"}))
    assert "Null characters" in text_of(client.post(address, GOOD | {"personalization-note": "a\0b"}))
    assert not Annotation.objects.exists()


def test_an_earlier_item_can_be_looked_at_and_changed(open_study: OpenStudy, bob: User) -> None:
    study = open_study([bob], items=3)
    client = sign_in(bob)
    first = start(client, study)
    client.post(first, GOOD | {"personalization-note": "hm"})
    second = start(client, study)
    assert f'href="{first}"' in text_of(client.get(second))
    client.post(second, GOOD)
    page = text_of(client.get(first))
    assert "1 / 3" in page
    assert f'href="{second}"' in page
    assert re.search(r'name="personalization"\s+value="3"[^>]*\schecked', page)
    assert ">hm</textarea>" in page
    changed = client.post(first, GOOD | {"personalization": "1"})
    assert changed.url == second
    assert Annotation.objects.filter(criterion__key="personalization", value="1").count() == 1
    assert Annotation.objects.count() == 4


def test_skipping_goes_to_the_next_item_and_comes_back(open_study: OpenStudy, bob: User) -> None:
    study = open_study([bob], items=2)
    client = sign_in(bob)
    first = start(client, study)
    assert client.post(f"{first}skip/").url == reverse("next_item", args=["pilot"])
    second = start(client, study)
    assert second != first
    client.post(second, GOOD)
    assert start(client, study) == first
    assert client.get(f"{first}skip/").status_code == 405


def test_charlie_finds_nothing_of_bobs(open_study: OpenStudy, bob: User, charlie: User) -> None:
    study = open_study([bob])
    address = start(sign_in(bob), study)
    client = sign_in(charlie)
    assert client.get(address).status_code == 404
    assert client.post(address, GOOD).status_code == 404
    assert client.post(f"{address}skip/").status_code == 404
    assert client.get(reverse("next_item", args=[study.slug])).status_code == 404
    assert not Annotation.objects.exists()


def test_nobody_rates_without_signing_in(open_study: OpenStudy, bob: User) -> None:
    address = start(sign_in(bob), open_study([bob]))
    for where in (address, reverse("my_work"), reverse("next_item", args=["pilot"])):
        assert Client().get(where).url.startswith("/login/")


def test_a_closed_study_says_so_and_shows_what_was_entered(open_study: OpenStudy, alice: User, bob: User) -> None:
    study = open_study([bob])
    client = sign_in(bob)
    address = start(client, study)
    studies.close(by=alice, study=study)
    answered = client.post(address, GOOD | {"personalization-note": "so close"})
    page = text_of(answered)
    assert "Came too late" in page
    assert "This study is closed and takes no more labels. Your answers are kept" in page
    late = Draft.objects.get()
    assert (late.state, late.annotator, late.content["personalization"]) == ("late", bob, "3")
    assert re.search(r'name="task_completion"\s+value="yes"[^>]*\schecked', page)
    assert "so close" in page
    assert not Annotation.objects.exists()
    assert "This study is not open" in text_of(client.get(reverse("next_item", args=["pilot"])))
    assert "takes no more labels" in text_of(client.get(address))


def lose(address: str) -> Assignment:
    """The item's lease ran out long ago and it was opened again for others."""
    slot = Assignment.objects.get(pk=resolve(address).kwargs["pk"])
    Assignment.objects.filter(pk=slot.pk).update(state="open", annotator=None, leased_until=None, started_at=None)
    return slot


def test_an_item_lost_during_a_long_pause_is_taken_again_if_it_is_free(open_study: OpenStudy, bob: User) -> None:
    client = sign_in(bob)
    address = start(client, open_study([bob]))
    proof = seen(client.get(address))
    lose(address)
    assert client.post(address, GOOD).status_code == 404
    assert client.post(address, GOOD | {"seen": proof}).status_code == 302
    assert Annotation.objects.count() == 2


def test_labels_for_an_item_that_somebody_else_took_are_kept_for_the_researcher(
    open_study: OpenStudy, bob: User, charlie: User
) -> None:
    study = open_study([bob, charlie], items=1)
    client = sign_in(bob)
    address = start(client, study)
    proof = seen(client.get(address))
    lose(address)
    theirs = assignments.lease_next(by=charlie, study=study)
    page = text_of(client.post(address, GOOD | {"seen": proof}))
    assert "This item has meanwhile been given to somebody else. Your answers are kept" in page
    assert re.search(r'name="personalization"\s+value="3"[^>]*\schecked', page)
    assert not Annotation.objects.exists()
    theirs.refresh_from_db()
    assert theirs.annotator == charlie
    late = Draft.objects.get()
    assert (late.state, late.annotator, late.assignment) == ("late", bob, theirs)
    stranger = sign_in(UserFactory())
    assert stranger.post(address, GOOD | {"seen": proof}).status_code == 404


def test_looking_at_an_item_renews_its_lease(open_study: OpenStudy, bob: User) -> None:
    client = sign_in(bob)
    address = start(client, open_study([bob]))
    Assignment.objects.filter(annotator=bob).update(leased_until=timezone.now() - timedelta(minutes=1))
    client.get(address)
    assert Assignment.objects.get(annotator=bob).leased_until > timezone.now() + timedelta(minutes=14)


def test_only_the_parts_of_the_context_that_the_study_shows(open_study: OpenStudy, bob: User) -> None:
    profile = ProfileFactory(
        name="Maren",
        demographics={"age": "35-44"},
        preferences={"Hotels": {"Room": ["double"]}, "Restaurants": {"Cuisine": ["Thai"], "Price": "moderate"}},
        interactions={"Restaurants": "Booked four times."},
        memories=["Sam is allergic to walnuts."],
    )
    task = TaskFactory(goal="A table is booked.", domains=["Restaurants"], preference_types=["Cuisine"])
    why = {"making": 1, "agent": "secret-agent", "justifications": {"time_of_day": "secret-reason"}}
    scenario = ScenarioFactory(profile=profile, task=task, situation={"time_of_day": "morning", PROVENANCE: why})
    dialogue = DialogueFactory(
        scenario=scenario, source="secret-source", assistant_model="secret-model", condition="secret-condition"
    )
    study = open_study([bob], items=0, shown=["preferences", "goal", "situation"])
    assert study.items.get().dialogue == dialogue
    client = sign_in(bob)
    page = text_of(client.get(start(client, study)))
    assert "A table is booked." in page
    assert "Time of day" in page
    assert page.index("Restaurants · Cuisine") < page.index("Restaurants · Price") < page.index("Hotels · Room")
    for hidden in ("35-44", "Booked four times.", "walnuts", "secret"):
        assert hidden not in page


def test_markup_in_the_material_is_shown_as_text(open_study: OpenStudy, bob: User) -> None:
    nasty = "<script>alert('x')</script><b>bold</b>"
    scenario = ScenarioFactory(
        profile=ProfileFactory(preferences={nasty: {nasty: nasty}}, memories=[nasty], persona=nasty),
        task=TaskFactory(goal=nasty),
        situation={nasty: nasty},
    )
    DialogueFactory(scenario=scenario, turns=[{"role": "user", "content": nasty}])
    client = sign_in(bob)
    page = client.get(start(client, open_study([bob], items=0))).content.decode()
    assert "<script>alert" not in page
    assert "<b>bold" not in page
    assert page.count("&lt;script&gt;alert") >= 6


def test_a_dialogue_without_profile_and_task_can_be_rated(open_study: OpenStudy, bob: User) -> None:
    DialogueFactory(scenario=None)
    client = sign_in(bob)
    assert client.get(start(client, open_study([bob], items=0))).status_code == 200


def side_of(page: str, wanted: str) -> str:
    """The side on which a reader of the page finds the response that begins so."""
    sides = re.findall(r'data-side="([AB])".*?data-written hidden>(.*?)</div>', page, flags=re.DOTALL)
    return next(side for side, text in sides if text.strip().startswith(wanted))


@pytest.mark.any_database
@pytest.mark.long
def test_whoever_prefers_the_same_response_stores_the_same_value(alice: User, open_study: OpenStudy) -> None:
    """Three scripted annotators look for the response by its text, on pages that show it as A or as B."""
    people = UserFactory.create_batch(3)
    study = open_study(people, items=12, overlap=3, kind="pair", seed=5)
    chosen_sides = []
    for person in people:
        client = sign_in(person)
        for _ in range(12):
            address = start(client, study)
            side = side_of(text_of(client.get(address)), "A green curry")
            chosen_sides.append(side)
            assert client.post(address, {"preference": side}).status_code == 302
    assert set(chosen_sides) == {"A", "B"}
    assert set(study.assignments.values_list("order", flat=True)) == {"AB", "BA"}
    assert set(Annotation.objects.values_list("value", flat=True)) == {"1"}
    assert Annotation.objects.count() == 36


def test_a_pairs_page_shows_my_choice_again_on_the_side_where_it_was(open_study: OpenStudy, bob: User) -> None:
    study = open_study([bob], items=4, kind="pair", allow_tie=True, seed=1)
    client = sign_in(bob)
    for choice in ("A", "B", "tie", "A"):
        address = start(client, study)
        client.post(address, {"preference": choice})
        page = text_of(client.get(address))
        assert re.search(rf'name="preference"\s+value="{choice}"[^>]*\schecked', page)
        assert page.count(" checked") == 1


def test_a_pair_is_blind_to_where_it_comes_from(open_study: OpenStudy, bob: User) -> None:
    ResponsePairFactory(
        source="secret-source",
        model_1="secret-one",
        model_2="secret-two",
        source_label="1",
        source_tier="secret-tier",
        kind="secret-kind",
        external_id="secret-id",
        context="For four people.",
    )
    client = sign_in(bob)
    page = text_of(client.get(start(client, open_study([bob], items=0, kind="pair"))))
    assert "secret" not in page
    assert "For four people." in page
    assert "Response 1" not in page


@pytest.mark.parametrize(("allow_tie", "keys"), [(True, ["A", "B", "0"]), (False, ["A", "B"])])
def test_a_tie_is_offered_only_where_it_is_allowed(
    open_study: OpenStudy, bob: User, allow_tie: bool, keys: list[str]
) -> None:
    client = sign_in(bob)
    page = text_of(client.get(start(client, open_study([bob], kind="pair", allow_tie=allow_tie))))
    assert re.findall(r'data-key="(.)"', page) == keys


@pytest.mark.any_database
def test_the_rating_page_takes_a_constant_number_of_queries(
    open_study: OpenStudy, bob: User, django_assert_max_num_queries
) -> None:
    study = open_study([bob], items=12, overlap=2)
    client = sign_in(bob)
    for _ in range(10):
        client.post(start(client, study), GOOD)
    address = start(client, study)
    with django_assert_max_num_queries(12):
        client.get(address)


def ahead(client: Client, *held: int) -> dict:
    found = client.post(reverse("next_ahead", args=["pilot"]), {"holding": ",".join(map(str, held))})
    return found.json()["next"]


def test_save_and_next_in_one_request(open_study: OpenStudy, bob: User) -> None:
    open_study([bob], items=3)
    client = sign_in(bob)
    first = ahead(client)
    second = ahead(client, first["pk"])
    saved = client.post(f"{first['url']}save/", GOOD | {"holding": second["pk"]})
    third = saved.json()["next"]
    assert len({first["pk"], second["pk"], third["pk"]}) == 3
    assert "Book me a table." in third["html"]
    again = client.post(f"{first['url']}save/", GOOD | {"holding": f"{second['pk']},{third['pk']}"})
    assert (again.status_code, again.json()["next"]) == (200, None)
    assert Annotation.objects.count() == 2


def test_what_a_page_that_was_left_kept_ready_is_kept_ready_again(open_study: OpenStudy, bob: User) -> None:
    """The defect: with no slot open, the last one stayed mine and unseen, as the items that all hold are few."""
    open_study([bob], items=3)
    client = sign_in(bob)
    first = ahead(client)
    second = ahead(client, first["pk"])
    third = ahead(client, first["pk"], second["pk"])
    assert ahead(client, first["pk"], second["pk"], third["pk"]) is None
    assert ahead(client, first["pk"], second["pk"])["pk"] == third["pk"]


def test_the_answer_carries_the_total_where_the_page_asks_for_it(
    open_study: OpenStudy, bob: User, charlie: User
) -> None:
    open_study([bob, charlie], items=3, overlap=1)
    bobs, charlies = sign_in(bob), sign_in(charlie)
    first = ahead(bobs)
    ahead(charlies)
    saved = bobs.post(f"{first['url']}save/", GOOD | {"total": "1"}).json()
    assert (saved["total"], saved["more"]) == (2, False), "one is done, one handed out now; Charlie has the third"
    assert "total" not in bobs.post(f"{first['url']}save/", GOOD).json()


def test_what_is_asked_is_never_older_than_the_request(open_study: OpenStudy, bob: User) -> None:
    """Web processes keep criteria between requests."""
    study = open_study([bob])
    client = sign_in(bob)
    item = ahead(client)
    newer = GOOD | {"personalization-version": "2"}
    refused = client.post(f"{item['url']}save/", newer)
    assert "no version '2'" in refused.json()["errors"]["personalization"]
    criterion = study.criteria.get(key="personalization")
    guidelines.edit(by=None, criterion=criterion, reason="clearer", guideline="Look at the last turn.")
    assert client.post(f"{item['url']}save/", newer).status_code == 200
    assert Annotation.objects.get(criterion=criterion).guideline_version == 2


def test_what_is_sent_after_withdrawing_is_not_kept(open_study: OpenStudy, bob: User) -> None:
    study = open_study([bob])
    client = sign_in(bob)
    item = ahead(client)
    consents.withdraw(by=bob, study=study, annotator=bob)
    for path in ("save", "draft"):
        assert client.post(f"{item['url']}{path}/", GOOD | {"seen": item["seen"]}).status_code == 404
    assert not Draft.objects.exists()
    assert not Annotation.objects.exists()


def test_what_the_server_refuses_names_its_criterion(open_study: OpenStudy, bob: User) -> None:
    open_study([bob])
    client = sign_in(bob)
    refused = client.post(f"{ahead(client)['url']}save/", GOOD | {"personalization": "9"})
    assert refused.status_code == 422
    assert "is not on the scale" in refused.json()["errors"]["personalization"]


def test_a_draft_comes_back_and_one_that_was_overtaken_does_not(open_study: OpenStudy, bob: User) -> None:
    open_study([bob])
    client = sign_in(bob)
    address = ahead(client)["url"]
    kept = client.post(f"{address}draft/", {"personalization": "2", "active": "1", "nonsense": "x"}).json()
    assert kept["content"] == {"personalization": "2"}
    assert re.search(r'name="personalization"\s+value="2"[^>]*\schecked', text_of(client.get(address)))
    client.post(f"{address}save/", GOOD)
    assert client.post(f"{address}draft/", {"personalization": "1"}).json() == {"stale": True}
    assert not Draft.objects.exists()
    client.post(f"{address}draft/", {"personalization": "1", "submitted": "1"})
    assert re.search(r'name="personalization"\s+value="1"[^>]*\schecked', text_of(client.get(address)))
    assert Annotation.objects.get(criterion__key="personalization").value == "3"


def test_scripts_are_told_that_nobody_is_signed_in(open_study: OpenStudy, bob: User, charlie: User) -> None:
    open_study([bob])
    address = ahead(sign_in(bob))["url"]
    for path in ("save", "draft", "put-back"):
        assert Client().post(f"{address}{path}/", GOOD).status_code == 401
        assert sign_in(charlie).post(f"{address}{path}/", GOOD).status_code == 404
    assert not Annotation.objects.exists()
    assert sign_in(bob).post(f"{address}put-back/").json() == {"freed": True}


@pytest.mark.any_database
@pytest.mark.long
def test_save_and_next_takes_the_same_queries_after_one_item_and_after_many(
    open_study: OpenStudy, bob: User, charlie: User, django_assert_num_queries
) -> None:
    """Also on the page that a reader without scripts loads; the study has 40 items."""
    open_study([bob, charlie], items=40, overlap=2)
    client = sign_in(bob)
    item = ahead(client)
    for number in range(30):
        ready = ahead(client, item["pk"])
        if number in (1, 29):
            with django_assert_num_queries(11 if connection.vendor == "postgresql" else 12):  # two: a savepoint
                client.post(f"{item['url']}save/", GOOD | {"holding": ready["pk"]})
        else:
            client.post(f"{item['url']}save/", GOOD | {"holding": ready["pk"]})
        item = ready


def test_progress_is_read_by_one_statement(
    open_study: OpenStudy, bob: User, charlie: User, django_assert_num_queries
) -> None:
    """So that a slot that moves from free to held meanwhile is never in neither count."""
    study = open_study([bob, charlie], items=5, overlap=1)
    first = assignments.lease_next(by=bob, study=study)
    second = assignments.lease_next(by=bob, study=study, holding=[first.pk])
    assignments.skip(by=bob, assignment=first)
    annotations.submit(by=bob, assignment=second, values={"task_completion": "yes", "personalization": "3"})
    assignments.lease_next(by=charlie, study=study)
    assignments.release(by=None, study=study, annotator=bob)  # the first one is free again, behind his place
    with django_assert_num_queries(1):
        progress = work.my_progress(bob, study)
    assert (progress.rated, progress.left, progress.more) == (1, 3, False)
