"""An adjudicator's program: finds what people disagree on, reads it without names, decides; and nothing else."""

from __future__ import annotations

import json

import pytest

from annotation.corpus.models import ResponsePair
from annotation.studies.models.labels import Adjudication
from annotation.studies.models.studies import Criterion, Study
from core.accounts.models.projects import Membership
from core.accounts.models.users import User
from core.accounts.services import tokens
from core.audit.models import Act
from core.errors import InputError
from tests.support.factories import CriterionFactory, MembershipFactory, ProjectFactory, UserFactory
from tests.support.labelled import judge_says, people_say, with_items

AT = "/api/v1/studies/suits"
KEY = {"Idempotency-Key": "d"}


@pytest.fixture
def criterion(alice: User) -> Criterion:
    study = with_items(3, kind="pair", name="Suits", slug="suits", state="open")
    made = CriterionFactory(study=study, key="preference", preference=True)
    people_say(made, {"bob": ["1", "2", "2"], "dana": ["1", "1", "tie"]})
    ResponsePair.objects.update(model_1="secret-model")
    judge_says(made, "gpt", ["1", "2", ""], order="AB")
    return made


@pytest.fixture
def ada(criterion: Criterion) -> User:
    """Decides in the study's project, and researches nowhere."""
    user = UserFactory(username="ada")
    MembershipFactory(project=criterion.study.project, user=user, role="adjudicator")
    return user


def test_it_finds_reads_and_decides(criterion: Criterion, ada: User, caller):
    client = caller(ada, "adjudicate")
    (study,) = client.get("/api/v1/adjudication").json()["results"]
    assert (study["slug"], study["n_decided"]) == ("suits", 0)
    disputes = client.get(f"{AT}/disputes").json()["results"]
    assert {(one["position"], one["turn"], one["decision"]) for one in disputes} == {(2, 0, ""), (3, 0, "")}
    found = client.get(f"{AT}/items/2/dispute")
    assert found.json()["criterion"]["key"] == "preference"
    assert sorted(one["name"] for one in found.json()["voices"]) == ["A", "B"]
    assert set(found.json()["responses"]) == {"1", "2"}
    for hidden in ("bob", "dana", "gpt", "secret-model"):
        assert hidden not in found.content.decode()
    made = client.post(f"{AT}/items/2/adjudications", {"criterion": "preference", "value": "2", "reason": "clear"})
    assert (made.status_code, made.json()["value"], made.json()["decided_by"]) == (201, "2", "ada")
    assert client.get(f"{AT}/items/2/dispute").json()["decisions"] == [made.json()]
    assert client.get(f"{AT}/items/2/adjudications").json() == [made.json()]
    assert client.get("/api/v1/adjudication").json()["results"][0]["n_decided"] == 1
    assert Act.objects.filter(through="api", who=ada).exclude(verb="token.make").count() == 1


def test_disputes_come_a_page_at_a_time(criterion: Criterion, ada: User, caller):
    client = caller(ada, "adjudicate")
    whole = client.get(f"{AT}/disputes").json()
    first = client.get(f"{AT}/disputes", {"limit": 1}).json()
    second = client.get(first["next"]).json()
    assert (len(whole["results"]), whole["next"], second["next"]) == (2, None, None)
    assert [*first["results"], *second["results"]] == whole["results"]
    assert client.get(f"{AT}/disputes", {"after": 2}).json() == {"next": None, "results": []}


def test_a_decision_is_made_once_under_a_key(criterion: Criterion, ada: User, caller):
    client, at = caller(ada, "adjudicate"), f"{AT}/items/2/adjudications"
    body = {"criterion": "preference", "value": "2"}
    first, again = (client.post(at, body, headers=KEY) for _ in range(2))
    assert (first.json(), again["Idempotent-Replayed"]) == (again.json(), "true")
    assert client.post(at, {**body, "value": "1"}, headers=KEY).status_code == 422
    assert Adjudication.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"criterion": "nope"}, "criterion"),
        ({"value": "3"}, "value"),
        ({"value": ""}, "value"),
        ({"turn": 1}, "turn"),
        ({"turn": -1}, "turn"),
        ({"reason": "x" * 10_001}, "reason"),
        ({"by": "alice"}, "by"),
    ],
)
def test_what_cannot_be_decided_is_refused_at_its_field(criterion: Criterion, ada: User, caller, change, field):
    answer = caller(ada, "adjudicate").post(
        f"{AT}/items/2/adjudications", {"criterion": "preference", "value": "1", **change}
    )
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert not Adjudication.objects.exists()


@pytest.mark.parametrize(
    ("method", "at"),
    [
        ("get", "studies"), ("get", "studies/suits"), ("get", "studies/suits/items"), ("get", "judges"),
        ("get", "studies/suits/annotations"), ("get", "studies/suits/gold"), ("get", "search?q=s"), ("get", "acts"),
        ("get", "projects/default/members"), ("post", "studies/suits/close"), ("post", "studies"),
        ("post", "studies/suits/items/2/tier"), ("post", "studies/suits/exclusions"), ("post", "imports"),
    ],
)  # fmt: skip
def test_it_opens_nothing_else(criterion: Criterion, ada: User, caller, method, at):
    assert getattr(caller(ada, "read", "adjudicate"), method)(f"/api/v1/{at}").status_code == 403


def test_other_projects_are_not_there(criterion: Criterion, ada: User, caller):
    client = caller(ada, "adjudicate")
    Study.objects.update(project=ProjectFactory())
    assert client.get("/api/v1/adjudication").json()["results"] == []
    for at in ("disputes", "late", "items/2/dispute", "items/2/adjudications"):
        assert client.get(f"{AT}/{at}").status_code == 404
    body = {"criterion": "preference", "value": "1"}
    assert client.post(f"{AT}/items/2/adjudications", body).status_code == 404
    assert client.post(f"{AT}/late/1", {"decision": "use"}).status_code == 404


def test_the_scope_is_for_who_decides_and_ends_with_the_role(criterion: Criterion, ada: User, caller):
    client, reading = caller(ada, "adjudicate"), caller(ada, "read")
    body = {"criterion": "preference", "value": "1"}
    assert reading.get(f"{AT}/items/2/dispute").status_code == 200
    assert reading.post(f"{AT}/items/2/adjudications", body).status_code == 403
    with pytest.raises(InputError, match="adjudicates in no project"):
        tokens.make(by=UserFactory(), name="more", scopes=["adjudicate"])
    with pytest.raises(InputError, match="not a researcher"):
        tokens.make(by=ada, name="more", scopes=["research"])
    Membership.objects.filter(user=ada).delete()
    assert client.get("/api/v1/adjudication").status_code == 403
    assert client.post(f"{AT}/items/2/adjudications", body).status_code == 403


def test_a_researchers_token_may_be_narrowed_to_deciding(criterion: Criterion, alice: User, caller):
    client = caller(alice, "adjudicate")
    assert client.post(f"{AT}/items/2/adjudications", {"criterion": "preference", "value": "1"}).status_code == 201
    assert client.post(f"{AT}/close").status_code == 403


def test_a_turn_is_read_and_decided(alice: User, caller):
    study = with_items(1, kind="dialogue", name="Turns", slug="turns", state="open")
    asked = CriterionFactory(study=study, key="personalization", unit="assistant_turn")
    (item,) = study.items.all()
    turns = list(asked.turns_of(item))
    client = caller(alice, "adjudicate")
    at = "/api/v1/studies/turns/items/1"
    assert client.get(f"{at}/dispute").json()["turn"] == turns[0]
    assert client.get(f"{at}/dispute", {"turn": 99}).json()["field"] == "turn"
    assert client.get(f"{at}/dispute", {"criterion": "nope"}).json()["field"] == "criterion"
    body = {"criterion": "personalization", "value": str(asked.values[0])}
    assert client.post(f"{at}/adjudications", body).json()["field"] == "turn"
    made = client.post(f"{at}/adjudications", {**body, "turn": turns[-1]})
    assert (made.status_code, made.json()["turn"]) == (201, turns[-1])
    assert [one["turn"] for one in client.get(f"{at}/dispute", {"turn": turns[-1]}).json()["decisions"]] == [turns[-1]]
    assert json.loads(client.get(f"{at}/dispute").content)["turns"][0]["role"]
