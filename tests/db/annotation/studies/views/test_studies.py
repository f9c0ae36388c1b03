"""Alice makes and runs a study, over HTTP; bob and charlie must not."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from annotation.corpus.models import Dialogue
from annotation.studies.models.studies import Study
from annotation.studies.steps import Step, register, study_steps
from annotation.workbench.services import annotations, assignments
from core.accounts.models.users import User
from core.audit.models import Act
from tests.support.factories import DialogueFactory, ResearcherFactory, ResponsePairFactory, StudyFactory, UserFactory
from tests.support.labelled import with_items
from tests.support.people import OpenStudy

pytestmark = pytest.mark.any_database

NEW = {
    "name": "My pilot",
    "criteria": ["task_completion", "personalization"],
    "shown": ["goal"],
    "overlap": "2",
    "method": "all",
    "seed": "7",
    "sample_seed": "0",
    "template": "chosen",
    "access": "invited",
    "check_every": "0",
    "repeat_every": "0",
    "repeat_after": "10",
    "go": "create",
}


@pytest.fixture
def client(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


def text_of(response) -> str:
    return re.sub(r"\s+", " ", unescape(response.content.decode()))


def create(client: Client, kind: str = "dialogue", **given):
    return client.post(f"{reverse('study_create')}?kind={kind}", NEW | given)


def test_an_empty_site_says_where_to_begin(client: Client) -> None:
    page = text_of(client.get(reverse("study_list")))
    for said in ("This site is empty", reverse("import_table"), reverse("judge_create"), "make demo"):
        assert said in page


def test_no_study_yet(client: Client) -> None:
    DialogueFactory()
    page = text_of(client.get(reverse("study_list")))
    assert "No study yet" in page
    assert reverse("study_create") in page


def test_the_list_counts(client: Client, open_study: OpenStudy, bob: User, charlie: User) -> None:
    study = open_study([bob, charlie], items=3, overlap=2)
    slot = assignments.lease_next(by=bob, study=study)
    annotations.submit(by=bob, assignment=slot, values={"task_completion": "yes", "personalization": "1"})
    page = text_of(client.get(reverse("study_list")))
    assert "1 of 6" in page
    assert "17 %" in page


def test_the_list_takes_a_constant_number_of_queries(
    client: Client, open_study: OpenStudy, bob: User, django_assert_max_num_queries
) -> None:
    open_study([bob])
    for number in range(4):
        create(client, name=f"Study {number}")
    with django_assert_max_num_queries(8):
        client.get(reverse("study_list"))


def test_a_new_study_with_its_sample_and_people(client: Client, alice: User, bob: User) -> None:
    DialogueFactory.create_batch(4, source="here", condition="base")
    DialogueFactory.create_batch(4, source="here", condition="base+I")
    DialogueFactory(source="elsewhere")
    made = create(
        client,
        method="stratified",
        size="4",
        strata=["condition"],
        allocation="equal",
        filter_source=["here"],
        annotators=[bob.pk],
        instructions="Take care.",
    )
    assert made.url == reverse("study_detail", args=["my-pilot"])
    study = Study.objects.get()
    assert (study.created_by, study.state, study.overlap, study.seed) == (alice, "draft", 2, 7)
    assert (study.shown, study.instructions) == (["goal"], "Take care.")
    assert list(study.annotators.all()) == [bob]
    assert sorted(item.stratum for item in study.items.all()) == ["base", "base", "base+I", "base+I"]
    page = text_of(client.get(made.url))
    assert "Open the study" in page
    assert "Take care." in page


def test_a_new_study_of_pairs_with_ties(client: Client) -> None:
    ResponsePairFactory.create_batch(3)
    assert "Allow a tie" in text_of(client.get(f"{reverse('study_create')}?kind=pair&step=criteria"))
    create(client, kind="pair", criteria=["preference"], shown=["persona"], allow_tie="on")
    study = Study.objects.get()
    assert (study.kind, study.items.count()) == ("pair", 3)
    assert study.criteria.get().values == ["1", "2", "tie"]


@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        ({"name": ""}, "name", "This field is required."),
        ({"criteria": []}, "criteria", "Choose at least one criterion."),
        ({"criteria": ["preference"]}, "criteria", "Select a valid choice."),
        ({"overlap": "0"}, "overlap", "greater than or equal to 1"),
        ({"most_overlap": "2"}, "most_overlap", "more than the overlap of 2"),
        ({"overlap": "1", "most_overlap": "3"}, "overlap", "at least 2 ratings"),
        ({"method": "simple"}, "size", "Say how many items to draw."),
        ({"method": "simple", "size": "9"}, "size", "Cannot draw 9 of 2 eligible items."),
        ({"method": "stratified", "size": "1"}, "strata", "Say what to stratify by."),
        ({"filter_source": ["nowhere"]}, "filter_source", "Select a valid choice."),
        ({"seed": "-1"}, "seed", "greater than or equal to 0"),
        ({"annotators": ["999999"]}, "annotators", "Select a valid choice."),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_made(
    client: Client, given: dict, field: str, message: str
) -> None:
    DialogueFactory.create_batch(2)
    answered = create(client, **given)
    assert answered.status_code == 200
    assert message in " ".join(answered.context["form"].errors[field])
    assert message in text_of(answered)
    assert "Nothing was saved" in text_of(answered)
    assert not Study.objects.exists()


def test_an_adaptive_study_says_how_many_rate_an_item(client: Client) -> None:
    DialogueFactory()
    create(client, most_overlap="5")
    study = Study.objects.get()
    assert (study.overlap, study.most_overlap, study.is_adaptive) == (2, 5, True)
    page = text_of(client.get(reverse("study_detail", args=[study.slug])))
    assert "2 to 5 annotators each" in page


def test_a_name_that_is_taken_is_said_at_the_name(client: Client) -> None:
    DialogueFactory()
    create(client)
    assert "already" in " ".join(create(client).context["form"].errors["name"])


def test_an_empty_corpus_is_said(client: Client) -> None:
    answered = create(client)
    assert "Nothing in the corpus" in " ".join(answered.context["form"].errors["filter_source"])


def test_opening_and_closing(client: Client, bob: User) -> None:
    DialogueFactory()
    create(client, annotators=[bob.pk])
    where = reverse("study_detail", args=["my-pilot"])
    assert client.post(f"{where}open/").url == where
    assert Study.objects.get().state == "open"
    assert "Close the study" in text_of(client.get(where))
    client.post(f"{where}close/")
    assert Study.objects.get().state == "closed"
    assert "Open again" in text_of(client.get(where))
    again = client.post(f"{where}close/", follow=True)
    assert "is not open" in text_of(again)
    assert client.get(f"{where}open/").status_code == 405


def test_a_draft_without_items_is_drawn_later(client: Client, alice: User) -> None:
    from annotation.studies.services import studies

    study = studies.create(by=alice, name="Bare", kind="dialogue", criteria=["task_completion"])
    DialogueFactory.create_batch(3)
    where = reverse("study_detail", args=[study.slug])
    assert "Draw a sample" in text_of(client.get(where))
    assert "draw a sample first" in text_of(client.post(f"{where}open/", follow=True))
    refused = client.post(f"{where}sample/", {"method": "simple", "size": "5"})
    assert "Cannot draw 5 of 3" in text_of(refused)
    assert client.post(f"{where}sample/", {"method": "simple", "size": "2"}).url == where
    assert study.items.count() == 2


def test_an_invitation_only_study_is_opened(client: Client, alice: User, bob: User) -> None:
    DialogueFactory()
    create(client)
    where = reverse("study_detail", args=["my-pilot"])
    page = text_of(client.get(where))
    assert "Add annotators" in page
    assert "Open without annotators" in page
    made = client.post(reverse("invitation_create", args=["my-pilot"]), {"days": "3"}).context["made"]
    page = text_of(client.get(where))
    assert "Open the study" in page
    assert "Open without annotators" not in page
    opened = text_of(client.post(f"{where}open/", follow=True))
    assert "who joins by an invitation or the public address can rate at once" in opened
    visitor = Client()
    visitor.force_login(bob)
    joined = visitor.post(made, follow=True)
    assert joined.redirect_chain[-1][0].startswith("/work/items/")


def test_a_study_opened_without_anybody_says_so(client: Client) -> None:
    DialogueFactory()
    create(client)
    opened = text_of(client.post(reverse("study_open", args=["my-pilot"]), follow=True))
    assert "Nobody can rate yet" in opened


def test_adding_annotators_later(client: Client, open_study: OpenStudy, bob: User, charlie: User) -> None:
    study = open_study([bob], overlap=2)
    where = reverse("study_detail", args=[study.slug])
    assert "Add one annotator" in text_of(client.get(where))
    refused = client.post(f"{where}annotators/", {})
    assert "Choose at least one person." in text_of(refused)
    added = client.post(f"{where}annotators/", {"annotators": [charlie.pk]}, follow=True)
    assert "charlie can rate Pilot now." in text_of(added)
    assert set(study.annotators.all()) == {bob, charlie}
    assert "more annotator" not in text_of(client.get(where))


@pytest.mark.each_database
def test_annotators_of_a_draft_wait_until_it_is_open(client: Client, charlie: User) -> None:
    DialogueFactory()
    create(client)
    added = client.post(reverse("study_assign", args=["my-pilot"]), {"annotators": [charlie.pk]}, follow=True)
    assert "charlie can rate My pilot once it is open." in text_of(added)


def test_freeing_what_an_annotator_left(client: Client, open_study: OpenStudy, bob: User) -> None:
    study = open_study([bob])
    assignments.lease_next(by=bob, study=study)
    where = reverse("study_detail", args=[study.slug])
    assert "Free 1 for others" in text_of(client.get(where))
    freed = client.post(reverse("study_release", args=[study.slug, bob.pk]), follow=True)
    assert set(study.assignments.values_list("state", flat=True)) == {"open"}
    assert "Given back for others to rate: 1 of bob" in text_of(freed)
    assert "Free 1 for others" not in text_of(freed)


def test_progress_of_people_and_items_and_who_is_simulated(client: Client, open_study: OpenStudy, bob: User) -> None:
    robot = UserFactory(username="careful", kind=User.Kind.SIMULATED)
    study = open_study([bob, robot], items=4, overlap=2)
    for person, number in ((bob, 1), (robot, 3)):
        for _ in range(number):
            slot = assignments.lease_next(by=person, study=study)
            annotations.submit(by=person, assignment=slot, values={"task_completion": "no", "personalization": "1"})
    answered = client.get(reverse("study_detail", args=[study.slug]))
    assert answered.context["coverage"] == [(0, 1), (1, 2), (2, 1)]
    assert [(row.annotator, row.submitted) for row in answered.context["people"]] == [(bob, 1), (robot, 3)]
    assert text_of(answered).count("badge--simulated") == 1
    assert "4 of 8 ratings" in text_of(answered)


def test_a_studys_page_takes_a_constant_number_of_queries(
    client: Client, open_study: OpenStudy, django_assert_max_num_queries
) -> None:
    study = open_study(UserFactory.create_batch(12), items=10, overlap=3)
    with django_assert_max_num_queries(31):
        client.get(reverse("study_detail", args=[study.slug]))


def test_the_line_shows_only_steps_whose_pages_exist_and_what_providers_say(
    open_study: OpenStudy, bob: User, monkeypatch
) -> None:
    from annotation.studies import steps

    study = open_study([bob])
    monkeypatch.setattr(steps, "_providers", [])
    monkeypatch.setattr(
        steps, "AFTER_PEOPLE", (("judges", "Judges", "study_detail"), ("tiers", "Tiers", "no_such_page"))
    )
    assert [step.key for step in study_steps(study)] == ["material", "sample", "people", "judges", "gold"]
    register(lambda asked: [(one, Step("judges", "Judges", count=f"2 on {one}", href="/")) for one in asked])
    line = study_steps(study, "people")
    assert line[3].count == "2 on Pilot"
    assert [step.key for step in line if step.current] == ["people"]


PAGES = ["study_list", "study_create", "study_detail", "study_sample"]
DEEDS = ["study_open", "study_close", "study_assign", "study_clustering"]


@pytest.mark.parametrize("name", PAGES + DEEDS)
def test_study_pages_are_for_researchers(open_study: OpenStudy, bob: User, name: str) -> None:
    open_study([bob])
    where = reverse(name, args=[] if name in PAGES[:2] else ["pilot"])
    visitor = Client()
    ask = visitor.post if name in DEEDS else visitor.get
    assert ask(where).url.startswith("/login/")
    visitor.force_login(bob)
    assert ask(where).status_code == 403
    assert Study.objects.get().state == "open"


def test_no_such_study(client: Client) -> None:
    assert client.get(reverse("study_detail", args=["nowhere"])).status_code == 404


@pytest.mark.each_database
def test_many_studies_are_listed_on_pages(client, monkeypatch):
    monkeypatch.setattr("annotation.studies.views.studies.PER_PAGE", 2)
    client.force_login(ResearcherFactory())
    for name in "abcde":
        StudyFactory(name=f"Study {name}")
    first = client.get(reverse("study_list"))
    assert [row.study.name for row in first.context["rows"]] == ["Study e", "Study d"]
    html = text_of(first)
    assert "1–2 of 5 studies" in html
    assert "Last" in html
    last = client.get(reverse("study_list"), {"page": 3})
    assert [row.study.name for row in last.context["rows"]] == ["Study a"]


@pytest.mark.each_database
def test_what_items_share_is_set_among_the_settings(client: Client) -> None:
    study = with_items(6, name="Pilot", slug="pilot")
    for item in study.items.all():
        Dialogue.objects.filter(pk=item.dialogue_id).update(extra={"batch": item.position % 2})
    client.force_login(ResearcherFactory())
    where = reverse("study_clustering", args=["pilot"])
    done = client.post(where, {"clustering": "batch"}, follow=True)
    assert "treat these as independent: 2 clusters by batch" in done.content.decode()
    assert 'value="batch"' in done.content.decode()
    assert Act.objects.get(verb="study.cluster").parsed_arguments == {"clustering": "batch"}
    refused = client.post(where, {"clustering": "colour"})
    assert "has a &#x27;colour&#x27;" in refused.content.decode()
    assert Study.objects.get().clustering == "batch"
    done = client.post(where, {"clustering": "none"}, follow=True)
    assert "treat these as independent: each item alone" in done.content.decode()
