"""The log of acts as a page, as CSV, through the API and on the command line."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.studies.models.studies import Study
from annotation.studies.services import studies
from annotation.workbench.services import assignments
from core.accounts.models.users import User
from core.accounts.services import tokens
from core.audit import views as view
from core.audit.models import Act
from tests.support.factories import MembershipFactory, ResearcherFactory, StudyFactory, UserFactory


@pytest.fixture
def rosa(db: None, client) -> User:
    made = ResearcherFactory(username="rosa")
    client.force_login(made)
    return made


@pytest.fixture
def study(rosa: User) -> Study:
    return studies.create(by=rosa, name="Pilot <b>", kind="pair", criteria=["preference"])


@pytest.fixture
def other(rosa: User) -> Study:
    return studies.create(by=ResearcherFactory(username="olga"), name="Other", kind="pair",
                          criteria=["preference"])  # fmt: skip


def numbers(client, **asked: object) -> list[int]:
    return [row.number for row, _ in client.get("/acts/", asked).context["rows"]]


def test_an_empty_log_says_what_will_be_there(client, rosa: User):
    page = client.get("/acts/").content.decode()
    assert "Nothing was done yet" in page
    assert "/acts.csv" not in page


def test_the_newest_comes_first_and_texts_are_escaped(client, study: Study, other: Study):
    assert numbers(client) == [2, 1]
    page = client.get("/acts/").content.decode()
    assert "Pilot &lt;b&gt;" in page
    assert "<b>" not in page.replace("<body", "")


def test_it_is_narrowed_by_person_study_verb_and_period(client, study: Study, other: Study, rosa: User):
    assignments.add_annotators(by=rosa, study=study, annotators=[UserFactory()])
    today = timezone.now().date()
    assert numbers(client, person="olga") == [2]
    assert numbers(client, study="Pilot <b>") == [3, 1]
    assert numbers(client, study=study.slug, verb="study.create") == [1]
    assert numbers(client, verb="study") == [3, 2, 1]
    assert numbers(client, since=today, until=today) == [3, 2, 1]
    assert numbers(client, until=today - timedelta(days=1)) == []
    assert numbers(client, until="9999-12-31") == [3, 2, 1]
    assert "No such event" in client.get("/acts/", {"until": today - timedelta(days=1)}).content.decode()


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"person": "nobody"}, "There is no account &#x27;nobody&#x27;."),
        ({"study": "no such"}, "There is no study &#x27;no such&#x27;."),
        ({"verb": "study.burn"}, "Select a valid choice"),
        ({"since": "tomorrow"}, "Enter a valid date"),
        ({"since": "2026-02-01", "until": "2026-01-01"}, "This is before the first day."),
    ],
)
def test_what_cannot_be_asked_is_said_at_its_field(client, study: Study, asked: dict[str, str], says: str):
    answer = client.get("/acts/", asked)
    assert answer.status_code == 200
    assert says in answer.content.decode()
    assert client.get("/acts.csv", asked).status_code == 400


@pytest.mark.parametrize("before", ["x", "-1", "9" * 40, "²", ""])
def test_a_broken_place_in_the_list_is_its_beginning(client, study: Study, before: str):
    assert numbers(client, before=before) == [1]


def test_pages_go_on_at_the_last_row_in_a_constant_number_of_queries(
    client, study: Study, rosa: User, monkeypatch, django_assert_num_queries
):
    monkeypatch.setattr(view, "AT_ONCE", 2)
    for _ in range(4):
        assignments.add_annotators(by=rosa, study=study, annotators=[])
    first = client.get("/acts/", {"study": study.slug, "verb": "study"})
    assert "before=4" in first.context["older"]
    assert "study=pilot-b" in first.context["older"]
    with django_assert_num_queries(5):  # session, account, newest, rows, studies
        assert numbers(client, before=4) == [3, 2]
    last = client.get("/acts/", {"before": 2})
    assert [row.number for row, _ in last.context["rows"]] == [1]
    assert not last.context["older"]
    assert "← Newest" in last.content.decode()


def test_the_acts_of_another_project_are_not_there(client, study: Study, other: Study, rosa: User):
    elsewhere = MembershipFactory()
    theirs = StudyFactory(name="Theirs", project=elsewhere.project)
    studies.close(by=elsewhere.user, study=StudyFactory(name="Open", project=elsewhere.project, state="open"))
    assignments.add_annotators(by=elsewhere.user, study=theirs, annotators=[])
    assert Act.objects.get(number=4).project_id == elsewhere.project_id
    assert numbers(client) == [2, 1]
    assert "There is no study" in client.get("/acts/", {"study": "Theirs"}).content.decode()
    assert numbers(client, person=elsewhere.user.username) == []
    assert [row["number"] for row in client.get("/api/v1/acts").json()["results"]] == [2, 1]
    assert b"Theirs" not in client.get("/acts.csv").getvalue()
    client.force_login(elsewhere.user)
    assert numbers(client) == [4, 3]
    client.force_login(UserFactory(username="root", is_superuser=True))
    assert numbers(client) == [5, 4, 3, 2, 1], "the fifth is rosa's download"


def test_what_concerns_no_project_is_seen_by_who_did_it(client, study: Study, rosa: User):
    olga = ResearcherFactory(username="olga")
    tokens.make(by=olga, name="nightly", scopes=["read"])
    assert numbers(client) == [1]
    client.force_login(olga)
    assert numbers(client) == [2, 1]


def test_a_study_that_is_gone_is_still_found(client, study: Study):
    Study.objects.all().delete()
    assert numbers(client, study="pilot-b") == [1]
    assert "deleted" in client.get("/acts/").content.decode()


def test_an_account_that_is_gone_is_a_number(client, study: Study, other: Study):
    olga = User.objects.get(username="olga")
    number = olga.pk
    olga.delete()
    assert f"account {number}" in client.get("/acts/").content.decode()


def test_as_csv(client, study: Study, rosa: User):
    answer = client.get("/acts.csv", {"person": "rosa"})
    rows = list(csv.DictReader(io.StringIO(answer.getvalue().decode())))
    assert [row["verb"] for row in rows] == ["export.acts", "study.create"], "this download is the newest act"
    assert json.loads(rows[1]["arguments"])["criteria"] == ["preference"]
    assert rows[1]["digest"] == Act.objects.get(number=1).digest


def test_it_is_for_researchers(client, study: Study):
    client.force_login(UserFactory())
    assert client.get("/acts/").status_code == 403
    assert client.get("/acts.csv").status_code == 403
    assert client.get("/api/v1/acts").status_code == 403


def test_through_the_api_newest_first_page_by_page(client, study: Study, other: Study):
    page = client.get("/api/v1/acts", {"limit": 1}).json()
    assert [row["number"] for row in page["results"]] == [2]
    assert page["results"][0]["who"] == "olga"
    following = client.get(page["next"]).json()
    assert [row["number"] for row in following["results"]] == [1]
    assert following["next"] is None
    assert following["results"][0]["arguments"]["criteria"] == ["preference"]
    assert page["results"][0]["previous"] == following["results"][0]["digest"]
    assert client.get("/api/v1/acts", {"person": "nobody"}).json()["field"] == "person"


def test_on_the_command_line(study: Study, other: Study, capsys):
    call_command("acts", "--study", "Other", "--json")
    told = json.loads(capsys.readouterr().out)
    assert [one["number"] for one in told["acts"]] == [2]
    assert told["head"] == {"number": 2, "sha256": Act.objects.get(number=2).digest}
    call_command("acts")
    assert "study.create" in capsys.readouterr().out
    for wrong in (["--since", "soon"], ["--limit", "-1"], ["--study", "no such"]):
        with pytest.raises(CommandError) as caught:
            call_command("acts", *wrong)
        assert caught.value.returncode == 2


def test_what_came_into_the_material_that_all_share_is_seen_by_all(client, rosa: User, tmp_path):
    file = tmp_path / "people.jsonl"
    file.write_text(json.dumps({"id": "p1", "persona": "Likes tea."}))
    call_command("import_profiles", str(file), stdout=io.StringIO())
    act = Act.objects.get()
    assert (act.verb, act.project_id) == ("material.import", None)
    assert numbers(client) == [1]
