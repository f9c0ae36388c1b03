"""Bob skips, flags, asks, declines and marks; Alice answers; both see it, and nobody else does."""

from __future__ import annotations

import json
from html import unescape

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.recruitment.services import consents
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.messages import ItemMark, ItemMessage
from annotation.studies.models.studies import Study
from annotation.workbench.services import annotations, assignments, item_messages
from core.accounts.models.users import User
from core.errors import InputError
from tests.support.people import OpenStudy

pytestmark = pytest.mark.django_db
GOOD = {"task_completion": "yes", "personalization": "3"}


@pytest.fixture
def study(open_study: OpenStudy, bob: User, charlie: User) -> Study:
    return open_study([bob, charlie], items=5, overlap=2)


@pytest.fixture
def slot(study: Study, bob: User) -> Assignment:
    return assignments.lease_next(by=bob, study=study)


def sign_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def text_of(response) -> str:
    return unescape(response.content.decode())


def post(person: User, act: str, slot: Assignment, **data: str):
    return sign_in(person).post(reverse(f"assignment_{act}", args=[slot.pk]), data, follow=True)


@pytest.mark.any_database
@pytest.mark.long
def test_an_annotator_asks_and_the_researcher_answers(slot: Assignment, alice: User, bob: User, charlie: User) -> None:
    page = text_of(post(bob, "message", slot, text="Does <b>this</b> count?"))
    assert "Sent to the researcher." in page
    assert "Does &lt;b&gt;this&lt;/b&gt; count?" in post(bob, "message", slot, text="x").content.decode()
    researcher = sign_in(alice)
    assert "Answer 1 question" in text_of(researcher.get("/studies/pilot/"))
    assert "1 wait" in " ".join(text_of(researcher.get("/studies/pilot/messages/")).replace("</strong>", "").split())
    item = reverse("item_detail", args=["pilot", slot.item.position])
    assert "Answer bob" in text_of(researcher.get(item))
    answer = reverse("item_answer", args=["pilot", slot.item.position])
    assert researcher.post(answer, {"annotator": "bob", "text": "It does."}).url == item
    assert "It does." in text_of(sign_in(bob).get(reverse("assignment", args=[slot.pk])))
    assert "1 question answered" in text_of(sign_in(bob).get("/work/"))
    assert "question answered" not in text_of(sign_in(charlie).get("/work/"))
    assert "Answer 1 question" not in text_of(researcher.get("/studies/pilot/"))
    post(bob, "message", slot, text="And this?")
    assert "question answered" not in text_of(sign_in(bob).get("/work/")), "the thread waits again"
    other = assignments.lease_next(by=charlie, study=slot.study)
    assert other.item_id == slot.item_id
    assert "It does." not in text_of(sign_in(charlie).get(reverse("assignment", args=[other.pk])))
    assert sign_in(charlie).post(answer, {"annotator": "bob", "text": "me"}).status_code == 403
    assert sign_in(charlie).get("/studies/pilot/messages/").status_code == 403


def test_nobody_is_answered_who_has_not_asked(slot: Assignment, alice: User, bob: User) -> None:
    with pytest.raises(InputError, match="has asked nothing"):
        item_messages.write(by=alice, study=slot.study, item=slot.item, annotator=bob, text="Hello")
    with pytest.raises(InputError, match="required"):
        item_messages.write(by=bob, study=slot.study, item=slot.item, annotator=bob, text=" ")
    with pytest.raises(InputError, match="at most 5000"):
        item_messages.write(by=bob, study=slot.study, item=slot.item, annotator=bob, text="x" * 5001)
    assert not ItemMessage.objects.exists()


def test_a_flag_is_set_and_taken_back_until_it_is_answered(slot: Assignment, alice: User, bob: User) -> None:
    def flags() -> int:
        return ItemMessage.objects.filter(kind="flag").count()

    assert "Flagged for the researcher." in text_of(post(bob, "flag", slot))
    post(bob, "flag", slot)
    assert flags() == 1
    post(bob, "flag", slot, off="1")
    assert flags() == 0
    post(bob, "flag", slot)
    item_messages.write(by=alice, study=slot.study, item=slot.item, annotator=bob, text="Thank you.")
    post(bob, "flag", slot, off="1")
    assert flags() == 1, "it was answered, and stays in the thread"
    post(bob, "flag", slot)
    assert flags() == 2


def test_one_reason_for_the_whole_item(slot: Assignment, bob: User) -> None:
    answer = post(bob, "decline", slot, reason="Language I do not read")
    assert answer.redirect_chain[-1][0] != reverse("assignment", args=[slot.pk])
    found = list(Annotation.objects.filter(assignment=slot).values_list("value", "unscored_reason"))
    assert found == [("", "Language I do not read")] * 2
    slot.refresh_from_db()
    assert slot.state == "submitted"
    again = assignments.lease_next(by=bob, study=slot.study)
    page = text_of(post(bob, "decline", again, reason=""))
    assert "This field is required." in page
    assert Annotation.objects.count() == 2


@pytest.mark.long
def test_my_items_by_state_text_and_number(study: Study, slot: Assignment, alice: User, bob: User) -> None:
    annotations.submit(by=bob, assignment=slot, values=GOOD, active_seconds=None)
    second = assignments.lease_next(by=bob, study=study)
    post(bob, "later", second)
    post(bob, "message", second, text="?")
    assignments.skip(by=bob, assignment=second)
    third = assignments.lease_next(by=bob, study=study)
    client, address = sign_in(bob), reverse("my_items", args=["pilot"])
    assert "No such item" in text_of(client.get(address, {"q": "no such words"}))

    def listed(**query: str) -> list[int]:
        return [one.number for one in client.get(address, query).context["items"]]

    assert listed() == [2, 1], "the third was only handed out"
    for act, state in (("later", "later"), ("message", "asked")):
        post(bob, act, third, text="?")
        assert listed(state=state) == [3, 2], "the third is in work"
    ItemMark.objects.filter(item=third.item).delete()
    ItemMessage.objects.filter(item=third.item).delete()
    assert listed(state="submitted") == [1]
    assert listed(state="skipped") == listed(state="later") == listed(state="asked") == [2]
    assert listed(state="answered") == []
    item_messages.write(by=alice, study=study, item=second.item, annotator=bob, text="!")
    assert listed(state="answered") == [2]
    assert listed(q="AT THE THAI") == [2, 1]
    assert listed(q="no such words") == []
    assert client.get(address, {"number": "3"}).url == reverse("assignment", args=[third.pk])
    assert "You have no item 17." in text_of(client.get(address, {"number": "17"}))
    post(bob, "later", second, off="1")
    assert listed(state="later") == []
    page = " ".join(text_of(client.get(address)).split())
    assert "Of 2 answers, 0 say that something cannot be judged." in page
    assert sign_in(alice).get(address).status_code == 404


def test_before_any_work_my_items_say_what_will_be_there(slot: Assignment, bob: User) -> None:
    page = text_of(sign_in(bob).get(reverse("my_items", args=["pilot"])))
    assert "No items yet" in page
    assert "No such item" not in page


def test_what_others_hold_is_out_of_reach(slot: Assignment, charlie: User) -> None:
    for act in ("flag", "later", "message", "decline"):
        assert post(charlie, act, slot, text="x", reason="x").status_code == 404
    assert not ItemMessage.objects.exists()
    assert not ItemMark.objects.exists()


def test_withdrawing_erases_threads_and_marks(slot: Assignment, alice: User, bob: User) -> None:
    post(bob, "message", slot, text="?")
    post(bob, "later", slot)
    consents.withdraw(by=bob, study=slot.study, annotator=bob)
    assert not ItemMessage.objects.exists()
    assert not ItemMark.objects.exists()


def test_the_api_does_the_same(slot: Assignment, alice: User, bob: User) -> None:
    mine = sign_in(bob)
    name = mine.get(reverse("assignment", args=[slot.pk])).context["slot_name"]
    at = f"/api/v1/work/items/{name}"
    as_json = {"content_type": "application/json"}
    told = mine.patch(f"{at}/marks", {"flagged": True, "later": True}, **as_json)
    assert told.json() == {"flagged": True, "later": True}
    assert mine.post(f"{at}/messages", {"text": "Why?"}, **as_json).status_code == 201
    (thread,) = sign_in(alice).get("/api/v1/studies/pilot/messages").json()["results"]
    assert (thread["position"], thread["annotator"], thread["is_waiting"]) == (slot.item.position, "bob", True)
    answers = f"/api/v1/studies/pilot/items/{slot.item.position}/messages"
    assert sign_in(alice).post(answers, {"annotator": "bob", "text": "So."}, **as_json).status_code == 201
    assert [(one["is_mine"], one["text"]) for one in mine.get(f"{at}/messages").json()] == [
        (True, ""), (True, "Why?"), (False, "So.")
    ]  # fmt: skip
    assert mine.post(f"{at}/decline", {"reason": "Broken"}, **as_json).json()["state"] == "submitted"
    (item,) = mine.get("/api/v1/work/pilot/items").json()
    assert item["states"] == ["submitted", "later", "answered"]


def test_the_command_lists_and_answers(slot: Assignment, bob: User, capsys) -> None:
    item_messages.write(by=bob, study=slot.study, item=slot.item, annotator=bob, text="Why?")
    place = str(slot.item.position)
    call_command("messages", "--study", "pilot", "--answer", place, "--annotator", "bob", "--text", "So.", "--json")
    (thread,) = json.loads(capsys.readouterr().out)
    assert (thread["text"], thread["waiting"], thread["author"]) == ("So.", False, None)
