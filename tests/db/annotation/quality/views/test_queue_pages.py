"""Alice sets how the queue works; bob is trained, checked, and passes or does not."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import resolve, reverse

from annotation.quality.models import Admission, KnownItem
from annotation.quality.services import gold_questions
from annotation.quality.services.gold_questions import GoldAnswer, GoldEntry
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from annotation.workbench.services import adjudications, assignments
from core.accounts.models.users import User
from tests.support.factories import CriterionFactory, DialogueFactory, ItemFactory, ResponsePairFactory
from tests.support.people import OpenStudy

RIGHT = {"task_completion": "yes", "personalization": "1"}
WRONG = {"task_completion": "no", "personalization": "4"}


def sign_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def text_of(response) -> str:
    return re.sub(r"\s+", " ", unescape(response.content.decode()))


def name(study: Study, purpose: str, number: int = 1) -> list[KnownItem]:
    answers = {key: GoldAnswer(value, explanation=f"Why {key}.") for key, value in RIGHT.items()}
    entries = [GoldEntry(one.external_id, answers) for one in DialogueFactory.create_batch(number)]
    return gold_questions.add(by=None, study=study, purpose=purpose, entries=entries, origin="stated")


@pytest.fixture
def guarded(open_study: OpenStudy, bob: User) -> Study:
    made = open_study([bob], items=3)
    name(made, "training")
    name(made, "qualification", 2)
    made.refresh_from_db()
    return made


def go_on(client: Client, study: Study) -> str:
    """Where "next" leads in the end."""
    return client.post(reverse("next_item", args=[study.slug]), follow=True).request["PATH_INFO"]


def answer(client: Client, study: Study, given: dict[str, str]) -> str:
    """Answer what comes next, and where that leads in the end."""
    return client.post(go_on(client, study), given, follow=True).request["PATH_INFO"]


@pytest.mark.any_database
@pytest.mark.long
def test_bob_is_trained_qualifies_and_works(guarded: Study, bob: User) -> None:
    client = sign_in(bob)
    page = text_of(client.get(go_on(client, guarded)))
    assert "· training" in page
    assert "1 / 1" in page
    assert "data-plain" in page
    assert ">Skip<" not in page
    told = answer(client, guarded, WRONG)
    page = text_of(client.get(told))
    assert "Training 1 of 1" in page
    assert "Correct answer: yes" in page.replace("Yes", "yes")
    assert "Why task_completion." in page
    assert answer(client, guarded, RIGHT) != told
    passed = answer(client, guarded, RIGHT)
    assert passed == reverse("qualification", args=["pilot"])
    assert "You passed: 4 of 4 answers are right." in text_of(client.get(passed))
    slot = Assignment.objects.get(pk=resolve(go_on(client, guarded)).kwargs["pk"])
    assert slot.purpose == "rating"


@pytest.mark.long
def test_bob_fails_and_alice_lets_him_through(guarded: Study, alice: User, bob: User) -> None:
    client, hers = sign_in(bob), sign_in(alice)
    for _ in range(3):
        answer(client, guarded, WRONG)
    assert go_on(client, guarded) == reverse("qualification", args=["pilot"])
    page = text_of(client.get(reverse("qualification", args=["pilot"])))
    assert "0 of 4 answers are right; 80 % are asked for" in page
    assert "Why personalization." in page
    queue = reverse("queue", args=["pilot"])
    assert "did not pass" in text_of(hers.get(queue))
    hers.post(reverse("admission", args=["pilot", bob.pk]), {"reason": ""})
    assert Admission.objects.count() == 1
    done = hers.post(reverse("admission", args=["pilot", bob.pk]), {"reason": "We talked."}, follow=True)
    assert "bob may rate now." in text_of(done)
    assert "let through" in text_of(hers.get(queue))
    assert "/work/items/" in go_on(client, guarded)
    assert "A researcher has let you through" in text_of(client.get(reverse("qualification", args=["pilot"])))


@pytest.mark.any_database
@pytest.mark.long
def test_bob_fails_and_alice_lets_him_try_once_more(guarded: Study, alice: User, bob: User) -> None:
    client, hers = sign_in(bob), sign_in(alice)
    queue, decide = reverse("queue", args=["pilot"]), reverse("admission", args=["pilot", bob.pk])
    assert "try again</button>" not in text_of(hers.get(queue)), "there is no result yet"
    for _ in range(3):
        answer(client, guarded, WRONG)
    assert "Let bob try again" in text_of(hers.get(queue))
    mine = reverse("my_work")
    page = text_of(client.get(mine))
    assert "You did not pass the qualification." in page
    assert "Rate the first item" not in page
    told = hers.post(decide, {"reason": "We talked.", "again": "1"}, follow=True)
    assert "Try the qualification again" in text_of(client.get(mine))
    assert "bob may try once more." in text_of(told)
    assert "may try again, round 2" in text_of(told)
    assert "bob: did not pass, round 1, 0 of 4 right" in text_of(told), "what held before stays legible"
    page = text_of(client.get(go_on(client, guarded)))
    assert "· qualification, round 2" in page
    assert "1 / 2" in page
    for _ in range(2):
        passed = answer(client, guarded, RIGHT)
    assert passed == reverse("qualification", args=["pilot"])
    page = text_of(client.get(passed))
    assert "You passed: 4 of 4 answers are right." in page
    assert "not all right" not in page, "of the second round alone"
    assert "Rate the first item" in text_of(client.get(mine))
    assert "/work/items/" in go_on(client, guarded)
    assert "may rate already" in text_of(hers.post(decide, {"reason": "x", "again": "1"}, follow=True))


@pytest.mark.long
def test_turns_are_known_by_line(open_study: OpenStudy, alice: User, bob: User) -> None:
    study = open_study(
        [bob], criteria=["task_completion", "naturalness_assistant"], each_turn=["naturalness_assistant"]
    )
    dialogue, client, add = DialogueFactory(), sign_in(alice), reverse("known_add", args=["pilot"])
    assistant = [number for number, one in enumerate(dialogue.turns, start=1) if one["role"] == "assistant"]
    given = {"purpose": "training", "item": dialogue.external_id, "task_completion": ""}
    lines = f"{assistant[0]}: 4|5; It asks <b>back</b>.\n\n"
    assert client.post(add, {**given, "naturalness_assistant": lines}).status_code == 302
    (made,) = study.known_items.get().answers.all()
    assert (made.turn, made.value, made.also, made.explanation) == (assistant[0], "4", ["5"], "It asks <b>back</b>.")
    page = client.get(reverse("queue", args=["pilot"])).content.decode()
    assert f", turn {assistant[0]}" in page
    assert "It asks &lt;b&gt;back&lt;/b&gt;." in page
    for wrong, says in {
        "4": "Line 1: write a line as “3: 4”",
        "x: 4": "Line 1: 'x' is not the number of a turn",
        "2: 4\n2: 5": "Line 2: 2 stands there twice",
        f"{assistant[0]}: 9": "'9' is not on the scale",
        "99: 4": "is not asked of turn 99",
    }.items():
        assert says in text_of(client.post(add, {**given, "naturalness_assistant": wrong})), wrong


def test_an_answer_before_the_work_cannot_be_changed(guarded: Study, bob: User) -> None:
    client = sign_in(bob)
    address = go_on(client, guarded)
    client.post(address, WRONG)
    again = client.post(address, RIGHT)
    assert again.status_code == 302
    assert again.url.endswith("/answer/")
    assert set(Annotation.objects.values_list("value", flat=True)) == set(WRONG.values())
    assert client.post(f"{address}save/", RIGHT).status_code == 409
    assert set(Annotation.objects.values_list("value", flat=True)) == set(WRONG.values())


@pytest.mark.any_database
def test_nobody_sees_an_answer_before_their_own(guarded: Study, bob: User, charlie: User) -> None:
    client = sign_in(bob)
    address = go_on(client, guarded)
    assert client.get(f"{address}answer/").status_code == 404
    client.post(address, RIGHT)
    assert client.get(f"{address}answer/").status_code == 200
    assert sign_in(charlie).get(f"{address}answer/").status_code == 404
    assert sign_in(charlie).get(reverse("qualification", args=["pilot"])).status_code == 404


def test_a_study_that_asks_nothing_has_no_result(open_study: OpenStudy, bob: User) -> None:
    open_study([bob])
    assert sign_in(bob).get(reverse("qualification", args=["pilot"])).status_code == 404


@pytest.mark.any_database
@pytest.mark.long
def test_nothing_on_the_page_tells_a_check_apart(open_study: OpenStudy, bob: User) -> None:
    study = open_study([bob], items=30)
    name(study, "check", 8)
    gold_questions.set_rules(by=None, study=study, check_every=4, repeat_every=4, repeat_after=2)
    client, pages = sign_in(bob), {}
    for _ in range(14):
        address = go_on(client, study)
        slot = Assignment.objects.get(pk=resolve(address).kwargs["pk"])
        assert re.fullmatch(r"/work/items/[a-z]{10}/", address), "no id in the address"
        page = client.get(address).content.decode()
        pages.setdefault(slot.purpose, []).append(re.findall(r"<[a-z]+|class=\"[^\"]*\"|data-[a-z-]+", page))
        assert not any(word in page for word in ("check-", "repeat", "purpose"))
        client.post(address, RIGHT)
    assert set(pages) == {"rating", "repeat", "check"}
    # the first item alone has no previous one
    assert pages["check"][-1] == pages["repeat"][-1] == pages["rating"][-1]


def test_the_limit_is_told_at_the_end(open_study: OpenStudy, bob: User) -> None:
    study = open_study([bob], items=3)
    gold_questions.set_rules(by=None, study=study, item_limit=1)
    client = sign_in(bob)
    answer(client, study, RIGHT)
    page = text_of(client.post(reverse("next_item", args=["pilot"])))
    assert "the maximum number of items for one person" in page
    assert "All done, thank you." in text_of(client.get(reverse("my_work")))


# ---------- the researcher's page ----------


def test_the_rules_are_set_and_refused_at_their_field(open_study: OpenStudy, alice: User, bob: User) -> None:
    study = open_study([bob])
    client, queue = sign_in(alice), reverse("queue", args=["pilot"])
    given = {"check_every": "20", "repeat_every": "25", "repeat_after": "30", "item_limit": "", "pass_mark": ""}
    assert f'action="{queue}"' in text_of(client.get(queue)), "the page that follows opens at its message"
    assert client.post(queue, given).status_code == 302
    study.refresh_from_db()
    assert (study.check_every, study.repeat_every, study.repeat_after) == (20, 25, 30)
    assert study.queue_rules.get().decided_by == alice
    assert client.post(queue, given).status_code == 302
    assert study.queue_rules.count() == 1, "nothing changed"
    page = text_of(client.post(queue, {**given, "check_every": "1"}))
    assert "One item in so many is a check: from 2 to 10,000" in page
    study.refresh_from_db()
    assert study.check_every == 20


def test_one_item_is_named_and_retired(open_study: OpenStudy, alice: User, bob: User) -> None:
    study = open_study([bob])
    client, dialogue = sign_in(alice), DialogueFactory()
    given = {
        "purpose": "training",
        "item": dialogue.external_id,
        "task_completion": "yes",
        "task_completion-why": "It <b>is</b> booked.",
        "personalization": "",
    }
    assert client.post(reverse("known_add", args=["pilot"]), given).status_code == 302
    page = client.get(reverse("queue", args=["pilot"])).content.decode()
    assert "It &lt;b&gt;is&lt;/b&gt; booked." in page
    made = study.known_items.get()
    client.post(reverse("known_retire", args=["pilot", made.pk]))
    made.refresh_from_db()
    assert made.retired_by == alice
    assert "No item has a known answer" in text_of(client.get(reverse("queue", args=["pilot"])))
    page = text_of(client.post(reverse("known_add", args=["pilot"]), {**given, "item": "nowhere"}))
    assert "There is no dialogue called 'nowhere'." in page
    page = text_of(
        client.post(reverse("known_add", args=["pilot"]), {"purpose": "check", "item": dialogue.external_id})
    )
    assert "has no answer to any criterion" in page


def test_many_are_named_from_decisions_and_from_a_file(open_study: OpenStudy, alice: User, bob: User) -> None:
    study = open_study([bob])
    criterion = CriterionFactory(key="personalization")
    item = ItemFactory(study=criterion.study)
    adjudications.decide(by=alice, item=item, criterion=criterion, value="4", reason="It names the place.")
    client, address = sign_in(alice), reverse("known_from", args=["pilot"])
    client.post(address, {"purpose": "check", "source": criterion.study.pk})
    assert study.known_items.get().origin == f"decided in {criterion.study.name}"
    dialogue = DialogueFactory(external_id="d1")
    rows = f"item_id,criterion,value,explanation\n{dialogue.external_id},personalization,3|4,Both will do.\n"
    client.post(address, {"purpose": "training", "file": SimpleUploadedFile("t.csv", rows.encode())})
    made = study.known_items.get(purpose="training").answers.get()
    assert (made.value, made.also, made.explanation) == ("3", ["4"], "Both will do.")
    bad = SimpleUploadedFile("t.csv", b"item_id,criterion,value\nd1,personalization,9\n")
    page = text_of(client.post(address, {"purpose": "training", "file": bad}))
    assert "t.csv, line 2, field personalization: '9' is not on the scale" in page
    assert "Choose a study or a file." in text_of(client.post(address, {"purpose": "training"}))


@pytest.mark.any_database
def test_the_page_costs_the_same_however_many_items_there_are(
    open_study: OpenStudy, alice: User, bob: User, django_assert_max_num_queries
) -> None:
    study = open_study([bob])
    client = sign_in(alice)
    for number in (1, 12):
        name(study, "check", number)
        with django_assert_max_num_queries(36):
            assert client.get(reverse("queue", args=["pilot"])).status_code == 200


def test_only_researchers_set_the_queue(open_study: OpenStudy, bob: User) -> None:
    study = open_study([bob])
    (made,) = name(study, "check")
    client = sign_in(bob)
    assert client.get(reverse("queue", args=["pilot"])).status_code == 403
    for address in ("known_add", "known_from"):
        assert client.post(reverse(address, args=["pilot"])).status_code == 403
    assert client.post(reverse("known_retire", args=["pilot", made.pk])).status_code == 403
    assert client.post(reverse("admission", args=["pilot", bob.pk]), {"reason": "me"}).status_code == 403


@pytest.mark.parametrize("explanation", ["It is Thai.", ""])
def test_the_answer_to_a_pair_names_the_sides_that_they_saw(
    open_study: OpenStudy, alice: User, bob: User, explanation: str
) -> None:
    study = open_study([bob], kind="pair")
    pair = ResponsePairFactory()
    entry = GoldEntry(pair.external_id, {"preference": GoldAnswer("1", explanation=explanation)})
    gold_questions.add(by=alice, study=study, purpose="training", entries=[entry], origin="stated")
    study.refresh_from_db()
    client = sign_in(bob)
    address = go_on(client, study)
    slot = assignments.lease_next(by=bob, study=study)
    right = "A" if slot.order == "AB" else "B"
    wrong = "B" if slot.order == "AB" else "A"
    page = text_of(client.post(address, {"preference": wrong}, follow=True))
    assert f"Correct answer: {right}" in page
    assert f"Your answer: {wrong}" in page
    assert "esponse 1" not in page
    assert ("Read why" in page) == bool(explanation)


@pytest.mark.long
def test_the_pace_is_told_from_the_last_items_and_not_before_there_are_some(open_study: OpenStudy, bob: User) -> None:
    study = open_study([bob], items=7)
    client = sign_in(bob)
    for number in range(5):
        page = text_of(client.get(go_on(client, study)))
        assert "items an hour" not in page
        assert f"{7 - number} left" in page
        answer(client, study, RIGHT)
    Assignment.objects.filter(state="submitted").update(active_seconds=36.0)
    assert "About 100 items an hour lately · 2 left" in text_of(client.get(go_on(client, study)))
