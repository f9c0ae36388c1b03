"""Alice decides what her annotators disagree on."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from annotation.studies.models.labels import Adjudication, Annotation
from annotation.studies.models.studies import Study
from annotation.workbench.queries import adjudication as queries
from annotation.workbench.services import adjudications, annotations, assignments, drafts
from core.accounts.models.users import User
from core.errors import InputError
from tests.support.factories import CriterionFactory, ResearcherFactory, UserFactory
from tests.support.labelled import people_say, with_items
from tests.support.people import OpenStudy

ANSWERS = {"bob": ["1", "2", "3", "4"], "charlie": ["1", "2", "4", "1"], "dana": ["1", "3", "3", "2"]}


@pytest.fixture
def study(open_study: OpenStudy, bob: User, charlie: User) -> Study:
    people = [bob, charlie, UserFactory(username="dana")]
    made = open_study(people, items=4, overlap=3, criteria=["personalization"])
    for person in people:
        for value in ANSWERS[person.username]:
            slot = assignments.lease_next(by=person, study=made)
            annotations.submit(
                by=person,
                assignment=slot,
                values={"personalization": value},
                notes={"personalization": f"it is {value}"},
                evidence={"personalization": '[{"part": "turn-1", "start": 0, "end": 4}]'},
            )
    return made


def page(client: Client, name: str, *args: object) -> str:
    return unescape(client.get(reverse(name, args=args)).content.decode())


def sign_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def test_the_most_disputed_come_first(study: Study) -> None:
    found = queries.disputes(study.criteria.get())
    assert [(one.position, one.spread) for one in found] == [(4, 3), (2, 1), (3, 1)]
    assert found[0].tier == "contested"


def test_alice_reads_without_names_decides_and_goes_on(study: Study, alice: User) -> None:
    client = sign_in(alice)
    listed = page(client, "adjudication", "pilot")
    assert "3 items with more than one answer, 3 not decided yet" in listed
    first = reverse("adjudicate", args=["pilot", "personalization", 4])
    assert re.search(rf'class="button button--primary"\s+href="{first}"', listed)
    text = page(client, "adjudicate", "pilot", "personalization", 4)
    assert "it is 4" in text
    assert "<q" in text
    assert "Annotator C" in text
    assert "annotate__context" in text
    for name in ("bob", "charlie", "dana"):
        assert name not in text
    address = reverse("adjudicate", args=["pilot", "personalization", 4])
    Study.objects.update(shown=[])
    assert "annotate__context" not in page(client, "adjudicate", "pilot", "personalization", 4), "no empty column"
    decided = client.post(address, {"value": "2", "reason": "Nothing was used."})
    assert decided.url == reverse("adjudicate", args=["pilot", "personalization", 2])
    made = Adjudication.objects.get()
    assert (made.value, made.method, made.decided_by) == ("2", "adjudicated", alice)
    assert made.basis == {"answers": {"4": 1, "1": 1, "2": 1}, "unscored": 0}
    client.post(address, {"value": "3"})
    assert queries.decisions(study.criteria.get()) == {"4": "3"}
    assert Adjudication.objects.count() == 2


@pytest.mark.parametrize("value", ["", "9"])
def test_a_decision_is_on_the_scale(study: Study, alice: User, value: str) -> None:
    address = reverse("adjudicate", args=["pilot", "personalization", 4])
    assert "is not on the scale" in unescape(sign_in(alice).post(address, {"value": value}).content.decode())
    assert not Adjudication.objects.exists()


def test_a_criterion_of_another_study_is_refused(study: Study, alice: User) -> None:
    with pytest.raises(InputError):
        adjudications.decide(by=alice, item=study.items.first(), criterion=CriterionFactory(), value="1")


def test_gold_without_answers_says_that_it_was_stated(open_study: OpenStudy, alice: User, bob: User) -> None:
    fresh = open_study([bob], criteria=["personalization"])
    made = adjudications.decide(by=alice, item=fresh.items.first(), criterion=fresh.criteria.get(), value="1")
    assert (made.method, made.basis) == ("stated", {"answers": {}, "unscored": 0})


def test_late_answers_are_offered_and_used(study: Study, alice: User) -> None:
    erin = UserFactory(username="erin")
    slot = study.assignments.get(rank=1, slot=1)
    drafts.keep_late(by=erin, assignment=slot, content={"personalization": "2"}, reason="Too late.")
    client = sign_in(alice)
    text = page(client, "adjudication", "pilot")
    assert "erin" in text
    assert "Too late." in text
    late = queries.late(study)[0]
    client.post(reverse("late_answers", args=["pilot", late.pk]), {"decision": "use"})
    assert Annotation.objects.get(assignment__annotator=erin).value == "2"
    assert "Came too late" not in page(client, "adjudication", "pilot")


def test_late_answers_can_be_left_out(study: Study, alice: User) -> None:
    erin = UserFactory(username="erin")
    late = drafts.keep_late(by=erin, assignment=study.assignments.first(), content={}, reason="Too late.")
    sign_in(alice).post(reverse("late_answers", args=["pilot", late.pk]), {"decision": "dismiss"})
    late.refresh_from_db()
    assert (late.state, late.decided_by) == ("dismissed", alice)


def test_annotators_decide_nothing(study: Study, bob: User) -> None:
    client = sign_in(bob)
    for name, args in (("adjudication", ["pilot"]), ("adjudicate", ["pilot", "personalization", 4])):
        assert client.get(reverse(name, args=args)).status_code == 403


def test_the_list_takes_a_constant_number_of_queries(study: Study, alice: User, django_assert_max_num_queries) -> None:
    client = sign_in(alice)
    with django_assert_max_num_queries(24):
        page(client, "adjudication", "pilot")


@pytest.mark.django_db
def test_the_quality_page_shows_errors_and_gives_them_as_json(client):
    criterion = CriterionFactory(study=with_items(4, slug="suits"), key="personalization")
    people_say(criterion, {"bob": ["1", "2", "3", "4"], "dana": ["1", "2", "3", "3"]})
    client.force_login(ResearcherFactory())
    html = client.get(reverse("quality", args=["suits"])).content.decode()
    assert "bob on Personalization" in html.replace(criterion.name, "Personalization")
    assert "Answers by true category" in html
    found = client.get(reverse("quality_download", args=["suits"])).json()
    assert [one["annotator"] for one in found["criteria"]["personalization"]["annotators"]] == ["bob", "dana"]
    client.force_login(UserFactory())
    assert client.get(reverse("quality_download", args=["suits"])).status_code == 403


@pytest.mark.any_database
@pytest.mark.django_db
def test_an_annotator_is_left_out_and_taken_in_again_on_the_page(client):
    criterion = CriterionFactory(study=with_items(4, slug="suits"), key="personalization")
    people_say(criterion, {"bob": ["1", "2", "3", "4"], "dana": ["1", "2", "3", "3"]})
    bob = User.objects.get(username="bob")
    criterion.study.annotators.add(bob)
    client.force_login(ResearcherFactory())
    url = reverse("exclusion", args=["suits", bob.pk])
    assert "Say why" in client.post(url, {"decision": "exclude", "reason": ""}, follow=True).content.decode()
    html = client.post(url, {"decision": "exclude", "reason": "a <bot>"}, follow=True).content.decode()
    assert "a &lt;bot&gt;" in html
    assert "Include again" in html
    html = client.post(url, {"decision": "readmit", "reason": "a person after all"}, follow=True).content.decode()
    assert "Include again" not in html
    assert "a person after all" in html
    client.force_login(UserFactory())
    assert client.post(url, {"decision": "exclude", "reason": "me"}).status_code == 403
