"""Alice makes a study in four steps: each keeps what was entered, and nothing is made before the last."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.studies.criteria import RUBRICS
from annotation.studies.models.studies import Study
from annotation.studies.parsing.rubric_files import write_rubric
from annotation.studies.queries.sampling_frame import count_matching
from core.accounts.models.users import User
from tests.support.factories import DialogueFactory, ResponsePairFactory

ITEMS = {"step": "items", "name": "My pilot", "method": "simple", "size": "2", "sample_seed": "0"}
CRITERIA = {"step": "criteria", "template": "chosen", "criteria": ["personalization"], "content_form": "plain"}
PEOPLE = {"step": "people", "overlap": "2", "access": "public", "seed": "7"}
PEOPLE |= {"check_every": "5", "repeat_every": "0", "repeat_after": "10"}


@pytest.fixture
def client(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


def text_of(response) -> str:
    return re.sub(r"\s+", " ", unescape(response.content.decode()))


def send(client: Client, go: str = "next", **given):
    return client.post(reverse("study_create"), given | {"go": go})


def step(client: Client, key: str):
    return client.get(reverse("study_create"), {"step": key})


def test_four_steps_make_a_study(client: Client, bob: User) -> None:
    DialogueFactory.create_batch(3)
    assert send(client, **ITEMS).url.endswith("?step=criteria")
    assert send(client, **CRITERIA, instructions="Take care.", shown=["goal"]).url.endswith("?step=people")
    assert send(client, **PEOPLE, annotators=[bob.pk]).url.endswith("?step=check")
    assert not Study.objects.exists()
    check = text_of(step(client, "check"))
    for said in ("My pilot", "2 of 3 dialogues", "Personalization", "4: 2 annotators", "bob", "one item in 5", "Open:"):
        assert said in check, said
    assert send(client, "create", step="check").url == reverse("study_detail", args=["my-pilot"])
    study = Study.objects.get()
    assert (study.items.count(), study.overlap, study.seed, study.check_every) == (2, 2, 7, 5)
    assert (study.shown, study.instructions, study.content_form) == (["goal"], "Take care.", "plain")
    assert [one.key for one in study.criteria.all()] == ["personalization"]
    assert study.intake.is_public
    assert study.queue_rules.get().rules["check_every"] == 5
    assert "My pilot is ready" in text_of(client.get(reverse("study_detail", args=["my-pilot"])))
    assert "My pilot" not in text_of(step(client, "items"))


def test_a_study_that_changes_no_rule_has_none_on_record(client: Client) -> None:
    DialogueFactory()
    for one in (ITEMS | {"method": "all"}, CRITERIA, PEOPLE | {"check_every": "0", "access": "invited"}):
        send(client, **one)
    send(client, "create", step="check")
    study = Study.objects.get()
    assert not study.queue_rules.exists()
    assert not hasattr(study, "intake")


def test_going_back_loses_nothing_not_even_what_is_wrong(client: Client) -> None:
    DialogueFactory()
    send(client, **ITEMS)
    assert send(client, "items", **PEOPLE | {"overlap": "none"}).url.endswith("?step=items")
    assert 'value="My pilot"' in step(client, "items").content.decode()
    people = step(client, "people")
    assert 'value="none"' in people.content.decode()
    assert "Enter a whole number" not in text_of(people)
    assert "Enter a whole number" in text_of(send(client, **PEOPLE | {"overlap": "none"}))


def test_a_step_stops_at_its_own_mistakes_only(client: Client) -> None:
    DialogueFactory()
    refused = send(client, **ITEMS | {"name": ""})
    assert refused.status_code == 200
    assert refused.context["step"].key == "items"
    assert "This field is required." in text_of(refused)
    assert send(client, **CRITERIA).url.endswith("?step=people")
    check = text_of(step(client, "check"))
    assert "Something is missing" in check
    assert send(client, "create", step="check").context["step"].key == "items"


def test_a_refusal_of_the_last_step_leads_to_its_field(client: Client) -> None:
    gone = DialogueFactory.create_batch(2)[0]
    for one in (ITEMS, CRITERIA, PEOPLE):
        send(client, **one)
    gone.delete()
    refused = send(client, "create", step="check")
    assert refused.context["step"].key == "items"
    assert "Cannot draw 2 of 1 eligible items." in text_of(refused)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"size": ""}, "Say how many items to draw."),
        ({"size": "9"}, "Cannot draw 9 of 2 eligible items."),
        ({"size": "2", "filter_source": ["b"]}, "Cannot draw 2 of 1 eligible items."),
        ({"method": "stratified"}, "Say what to stratify by."),
    ],
)
def test_a_sample_that_cannot_be_drawn_is_refused_where_it_is_asked_for(client: Client, given, message: str) -> None:
    for source in "ab":
        DialogueFactory(source=source)
    refused = send(client, **ITEMS | given)
    assert refused.context["step"].key == "items"
    assert message in text_of(refused)


def test_nothing_is_ticked_that_nobody_chose_and_a_template_fits_the_kind(client: Client) -> None:
    ResponsePairFactory()
    page = step(client, "criteria")
    form = page.context["form"]
    assert page.context["kind"] == "pair"
    assert form["criteria"].value() in ([], None)
    assert form["template"].value() == "published"
    assert [one.key for one in page.context["criteria"]] == ["preference"]
    assert dict(form.fields["template"].choices).keys() >= {"published", "mt_bench_pair", "chosen", "own"}
    assert "factuality" not in dict(form.fields["template"].choices) or RUBRICS["factuality"].kind != "dialogue"


def test_another_kind_keeps_what_means_the_same(client: Client) -> None:
    DialogueFactory()
    ResponsePairFactory()
    send(client, **ITEMS)
    send(client, "items", **CRITERIA)
    changed = client.post(reverse("study_create"), ITEMS | {"name": "Renamed", "set_kind": "pair"})
    page = client.get(changed.url)
    assert page.context["kind"] == "pair"
    assert 'value="Renamed"' in page.content.decode()
    criteria = client.get(reverse("study_create"), {"step": "criteria", "kind": "pair"})
    assert criteria.context["form"]["template"].value() == "published"


def test_the_preview_shows_what_is_in_the_form_and_keeps_nothing(client: Client) -> None:
    DialogueFactory(turns=[{"role": "user", "content": "Two tickets to Leeds."}], source="rail")
    DialogueFactory(turns=[{"role": "user", "content": "A table."}], source="food")
    shown = send(client, "show", **ITEMS | {"filter_source": ["rail"]})
    assert "1 dialogues match" in text_of(shown)
    assert "Two tickets to Leeds." in text_of(shown)
    shown = send(client, "show", **CRITERIA | {"criteria": ["naturalness_user"]})
    assert [row.criterion["key"] for row in shown.context["rows"]] == ["naturalness_user"]
    assert "new_study" not in client.session


def test_turns_that_are_not_asked_about_are_told_in_the_preview(client: Client) -> None:
    DialogueFactory()
    shown = send(client, "show", **CRITERIA, each_turn=["naturalness_user"])
    assert "is not among the criteria" in text_of(shown)


def test_a_rubric_from_a_file_is_kept_through_the_steps(client: Client) -> None:
    DialogueFactory()
    file = SimpleUploadedFile("r.toml", write_rubric(RUBRICS["factuality"], "toml").encode())
    send(client, **ITEMS | {"method": "all"})
    sent = send(client, step="criteria", template="own", content_form="rendered", rubric_file=file)
    assert sent.url.endswith("?step=people")
    assert "Factuality, 3 criteria" in text_of(step(client, "criteria"))
    send(client, **PEOPLE)
    send(client, "create", step="check")
    assert [one.key for one in Study.objects.get().criteria.all()] == ["claims", "factual", "correction"]


def test_a_template_of_a_rubric_needs_no_file(client: Client) -> None:
    DialogueFactory()
    for one in (ITEMS | {"method": "all"}, {"step": "criteria", "template": "own", "content_form": "plain"}):
        answered = send(client, **one)
    assert "Choose the file of your rubric." in text_of(answered)
    send(client, step="criteria", template="factuality", content_form="plain")
    send(client, **PEOPLE)
    send(client, "create", step="check")
    assert Study.objects.get().criteria.count() == 3


def test_starting_over_forgets_what_was_entered(client: Client) -> None:
    send(client, **ITEMS)
    assert send(client, "restart").url == reverse("study_create")
    assert "My pilot" not in text_of(step(client, "items"))


def test_a_step_takes_a_constant_number_of_queries(client: Client, django_assert_max_num_queries) -> None:
    DialogueFactory.create_batch(12)
    send(client, **ITEMS)
    for key, most in (("items", 25), ("criteria", 25), ("people", 25), ("check", 25)):
        with django_assert_max_num_queries(most):
            step(client, key)


def test_records_are_counted_by_columns_and_by_domains(alice: User) -> None:
    from tests.support.factories import ScenarioFactory, TaskFactory

    task = TaskFactory(domains=["Trains"])
    DialogueFactory(scenario=ScenarioFactory(task=task), source="b")
    first = DialogueFactory(scenario=ScenarioFactory(task=task), source="a")
    DialogueFactory(source="a")
    assert count_matching("dialogue", {"domain": ["Trains"]}) == (2, first)
    assert count_matching("dialogue", {"source": ["a"]})[0] == 2
    assert count_matching("dialogue", {"source": ["nowhere"]}) == (0, None)
