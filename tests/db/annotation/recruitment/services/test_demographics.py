"""What bob says of himself, if he wants to."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.recruitment.models import DemographicAnswer
from annotation.recruitment.queries import LEAST_PEOPLE, answers, are_owed, list_questions
from annotation.recruitment.services import completions, consents, demographics
from annotation.studies.models.studies import Study
from annotation.workbench.services import annotations, assignments
from core.accounts.models.users import User
from core.errors import InputError
from tests.db.annotation.management.test_study_commands import refused, run, told
from tests.support.factories import UserFactory
from tests.support.people import OpenStudy

AGES = ["18-44", "45-64", "over 64"]


@pytest.fixture
def study(open_study: OpenStudy, bob: User) -> Study:
    study = open_study([bob])
    demographics.add_question(by=None, study=study, text="How old are you?", options=AGES, key="age")
    return study


def sign_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def add_people(study: Study, given: list[str]) -> None:
    for value in given:
        person = UserFactory()
        assignments.add_annotators(by=None, study=study, annotators=[person])
        demographics.answer(by=person, study=study, answers={"age": value})


def test_answers_are_shown_as_counts_of_three_people_or_more(study: Study) -> None:
    add_people(study, ["18-44"] * LEAST_PEOPLE + ["45-64"] * (LEAST_PEOPLE - 1) + [""])
    (found,) = list_questions(study)
    assert (found.counts, found.hidden, found.answered) == ((("18-44", 3),), 1, 6)
    assert len(answers(study)["age"]) == 5  # who prefers not to say is in no group


def test_answering_again_replaces_and_preferring_not_to_say_takes_back(study: Study, bob: User) -> None:
    assert are_owed(study, bob)
    demographics.answer(by=bob, study=study, answers={"age": "over 64"})
    demographics.answer(by=bob, study=study, answers={"age": ""})
    assert DemographicAnswer.objects.get().value == ""
    assert not are_owed(study, bob)
    assert answers(study) == {}


@pytest.mark.parametrize(
    ("text", "options", "field"),
    [
        ("", AGES, "text"),
        ("a\0", AGES, "text"),
        ("x" * 201, AGES, "text"),
        ("Q", ["one"], "options"),
        ("Q", ["one", "One"], "options"),
        ("Q", ["one", "Prefer not to say"], "options"),
        ("Q", [str(n) for n in range(31)], "options"),
    ],
)
def test_a_question_that_cannot_be_asked(study: Study, text: str, options: list[str], field: str) -> None:
    with pytest.raises(InputError) as error:
        demographics.add_question(by=None, study=study, text=text, options=options)
    assert error.value.field == field


def test_what_is_no_answer_is_refused(study: Study, bob: User, charlie: User) -> None:
    for person, given in ((bob, {"age": "200"}), (bob, {"shoe": "44"}), (charlie, {"age": "over 64"})):
        with pytest.raises(InputError):
            demographics.answer(by=person, study=study, answers=given)
    assert not DemographicAnswer.objects.exists()


def test_removing_a_question_erases_its_answers(study: Study, bob: User) -> None:
    demographics.answer(by=bob, study=study, answers={"age": "over 64"})
    assert demographics.remove_question(by=None, question=study.demographic_questions.get()) == 1
    assert not DemographicAnswer.objects.exists()


def test_withdrawal_erases_them(study: Study, bob: User) -> None:
    demographics.answer(by=bob, study=study, answers={"age": "over 64"})
    consents.withdraw(by=bob, study=study, annotator=bob)
    assert not DemographicAnswer.objects.exists()


def test_they_are_asked_after_joining_and_can_be_skipped(study: Study) -> None:
    completions.set_intake(by=None, study=study, is_public=True)
    client = Client()
    new = {"username": "dora", "password1": "a-long-enough-one", "password2": "a-long-enough-one"}
    answer = client.post(reverse("register", args=["pilot"]), new)
    assert answer.url == reverse("about_me", args=["pilot"])
    page = client.get(answer.url).content.decode()
    assert "Prefer not to say" in page
    assert reverse("next_item", args=["pilot"]) in page  # the way past it
    assert client.post(answer.url, {"age": "nonsense"}).status_code == 200
    assert not DemographicAnswer.objects.exists()
    assert client.post(answer.url, {"age": "over 64"}).url == reverse("next_item", args=["pilot"])
    assert answers(study) == {"age": {"dora": "over 64"}}
    assert "checked" in client.get(answer.url).content.decode()


@pytest.mark.any_database
def test_nothing_that_shows_or_exports_labels_reads_them(study: Study, alice: User, bob: User) -> None:
    demographics.answer(by=bob, study=study, answers={"age": "over 64"})
    slot = assignments.lease_next(by=bob, study=study)
    annotations.submit(by=bob, assignment=slot, values={"task_completion": "yes", "personalization": "3"})
    client = sign_in(alice)
    with CaptureQueriesContext(connection) as queries:
        for name, more in (("export", ["csv"]), ("export", ["jsonl"]), ("participants_download", ["json"])):
            answer = client.get(reverse(name, args=["pilot", *more]))
            assert "over 64" not in b"".join(answer).decode()
        for name in ("quality", "item_list", "agreement", "gold"):
            assert "over 64" not in client.get(reverse(name, args=["pilot"])).content.decode()
    assert [one["sql"] for one in queries if "demographicanswer" in one["sql"]] == []


def test_alice_asks_and_removes_on_the_page(study: Study, alice: User, bob: User) -> None:
    client, address = sign_in(alice), reverse("question_create", args=["pilot"])
    assert "Offer 2 to" in client.post(address, {"text": "Q", "options": "one"}).content.decode()
    client.post(address, {"text": "First language?", "options": "English\r\nother\r\n"})
    made = study.demographic_questions.get(key="first-language")
    assert made.options == ["English", "other"]
    demographics.answer(by=bob, study=study, answers={"age": "over 64"})
    page = client.get(reverse("coming_in", args=["pilot"])).content.decode()
    assert "1 answer of fewer than 3 people not shown" in page
    assert "over 64" not in page
    client.post(reverse("question_remove", args=["pilot", made.pk]))
    assert study.demographic_questions.count() == 1
    assert sign_in(bob).post(address).status_code == 403


def test_the_commands(study: Study, bob: User) -> None:
    made = run("questions", "--study", "pilot", "--add", "First language?", "--options", "English", "other")
    assert [one["key"] for one in made["questions"]] == ["age", "first-language"]
    assert "already" in refused("questions", "--study", "pilot", "--add", "A", "--options", "a", "b", "--key", "age")
    assert "no question" in refused("questions", "--study", "pilot", "--remove", "shoe")
    assert run("questions", "--study", "pilot", "--remove", "first-language")["answers_erased"] == 0
    demographics.answer(by=bob, study=study, answers={"age": "over 64"})
    assert "1 answers of fewer than 3" in told("questions", "--study", "pilot")
    assert "over 64" not in json.dumps(run("participants", "--study", "pilot"))
    (row,) = run("participants", "--study", "pilot", "--demographics")["participants"]
    assert row["demographics"] == {"age": "over 64"}
    assert "age: over 64" in told("participants", "--study", "pilot", "--demographics")
