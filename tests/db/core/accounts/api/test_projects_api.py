"""Projects and their members through the API: owners manage, with a token that may let others in."""

from __future__ import annotations

import pytest

from annotation.studies.models.studies import Study
from annotation.studies.models.webhooks import Webhook
from core.accounts.models.projects import Membership, Project
from core.accounts.models.users import User
from core.audit.models import Act
from tests.support.factories import MembershipFactory, ProjectFactory, ResearcherFactory, UserFactory

AT = "/api/v1/projects"
MEMBERS = f"{AT}/reading/members"


@pytest.fixture
def reading(alice: User) -> Project:
    """Alice owns it, rita researches in it, ada adjudicates."""
    made = ProjectFactory(name="Reading", slug="reading")
    for name, role in (("rita", "researcher"), ("ada", "adjudicator")):
        user = UserFactory(username=name, is_researcher=role == "researcher")
        Membership.objects.filter(user=user).delete()
        MembershipFactory(project=made, user=user, role=role)
    MembershipFactory(project=made, user=alice, role="owner")
    return made


@pytest.fixture
def owner(alice: User, caller):
    return caller(alice, "read", "research", "admin")


def test_projects_are_listed_with_where_new_things_go(reading: Project, owner):
    (mine, other) = owner.get(AT).json()["results"]
    assert (mine["slug"], other["slug"], other["n_members"], other["n_owners"]) == ("default", "reading", 3, 1)
    assert not mine["is_chosen"], "with two there is nothing chosen yet"
    assert owner.get(f"{AT}/reading").json() == other
    chosen = owner.post(f"{AT}/reading/choose").json()
    assert (chosen["slug"], chosen["is_chosen"]) == ("reading", True)
    assert [one["is_chosen"] for one in owner.get(AT).json()["results"]] == [False, True]
    assert owner.post("/api/v1/studies", {"name": "One", "kind": "pair"}).json()["project"] == "reading"
    assert Act.objects.filter(verb="project.choose", through="api", project_id=reading.pk).count() == 1


def test_with_one_project_new_things_go_there(rosa):
    assert [one["is_chosen"] for one in rosa.get(AT).json()["results"]] == [True]


def test_a_list_costs_the_same_for_more_projects(owner, reading: Project, django_assert_num_queries):
    owner.get(AT)  # notes that the token is used
    for _ in range(3):
        with django_assert_num_queries(3):  # the token, where new things go, the projects with their counts
            owner.get(AT)
        MembershipFactory(project=ProjectFactory(), user=User.objects.get(username="alice"), role="owner")


def test_only_the_administration_makes_one(owner, caller):
    assert owner.post(AT, {"name": "Mine"}).status_code == 403
    root = User.objects.get(username="alice")
    root.is_superuser = True
    root.save()
    assert caller(root, "read", "research").post(AT, {"name": "Mine"}).status_code == 403
    made = owner.post(AT, {"name": "Mine"})
    assert (made.status_code, made.json()["slug"], made.json()["n_owners"]) == (201, "mine", 1)
    for name in ("Mine", "", "  ", "x" * 121, None, ["Mine"], "a\0b"):
        again = owner.post(AT, {"name": name})
        assert (again.status_code, again.json().get("field")) in {(400, "name"), (400, None)}, name
    assert Project.objects.filter(name="Mine").count() == 1


def test_members_come_change_and_go(reading: Project, owner):
    UserFactory(username="new")
    made = owner.post(MEMBERS, {"user": "new", "role": "adjudicator"})
    assert (made.status_code, made.json()["user"], made.json()["role"]) == (201, "new", "adjudicator")
    assert [one["user"] for one in owner.get(MEMBERS).json()["results"]] == ["rita", "ada", "alice", "new"]
    assert owner.get(f"{MEMBERS}/new").json() == made.json()
    assert owner.patch(f"{MEMBERS}/rita", {"role": "owner"}).json()["role"] == "owner"
    assert owner.delete(f"{MEMBERS}/new").status_code == 204
    assert owner.delete(f"{MEMBERS}/new").status_code == 404
    assert owner.patch(f"{MEMBERS}/new", {"role": "owner"}).status_code == 404
    verbs = list(Act.objects.filter(through="api", project_id=reading.pk).values_list("verb", flat=True))
    assert sorted(verbs) == ["project.join", "project.join", "project.leave"]


def test_the_last_owner_stays(reading: Project, owner):
    assert owner.delete(f"{MEMBERS}/alice").json()["field"] == "user"
    assert owner.patch(f"{MEMBERS}/alice", {"role": "researcher"}).json()["field"] == "role"
    assert owner.post(MEMBERS, {"user": "alice", "role": "adjudicator"}).json()["field"] == "role"
    assert reading.memberships.get(user__username="alice").role == "owner"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"user": "nobody", "role": "researcher"}, "user"),
        ({"user": "", "role": "researcher"}, "user"),
        ({"user": "x" * 151, "role": "researcher"}, "user"),
        ({"user": "plain", "role": "researcher"}, "user"),
        ({"user": "imported", "role": "adjudicator"}, "user"),
        ({"user": "plain", "role": "king"}, "role"),
        ({"user": "plain"}, "role"),
        ({"user": "plain", "role": "adjudicator", "project": "default"}, "project"),
        ({"user": 7, "role": "adjudicator"}, "user"),
        ([], None),
        ("plain", None),
    ],
)
def test_who_cannot_come_in_is_refused_at_the_field(reading: Project, owner, body, field):
    UserFactory(username="plain")
    UserFactory(username="imported", kind="imported")
    answer = owner.post(MEMBERS, body)
    found = answer.json().get("field") or (answer.json().get("errors") or [{}])[0].get("field")
    assert (answer.status_code, found) == (400, field)
    assert reading.memberships.count() == 3


@pytest.mark.parametrize("content", [b"{", b"\xff", b'{"user": '])
def test_what_is_no_json_is_refused(reading: Project, owner, content):
    assert owner.post(MEMBERS, content, content_type="application/json").status_code == 400
    assert owner.post(MEMBERS, content, content_type="text/plain").status_code == 415


@pytest.mark.parametrize("scopes", [("read",), ("read", "research"), ("annotate",)])
def test_a_token_needs_the_scope_that_lets_others_in(reading: Project, alice: User, caller, scopes):
    client = caller(alice, *scopes)
    UserFactory(username="new")
    assert client.post(MEMBERS, {"user": "new", "role": "adjudicator"}).status_code == 403
    assert client.patch(f"{MEMBERS}/ada", {"role": "adjudicator"}).status_code == 403
    assert client.delete(f"{MEMBERS}/ada").status_code == 403
    assert client.get(MEMBERS).status_code == (403 if "read" not in scopes else 200)
    assert reading.memberships.count() == 3


def test_who_does_not_own_it_sees_at_most(reading: Project, caller):
    rita = caller(User.objects.get(username="rita"), "read", "research", "admin")
    ada = caller(User.objects.get(username="ada"), "read")
    stranger = caller(ResearcherFactory(username="strange"), "read", "research", "admin")
    assert rita.get(MEMBERS).status_code == 200
    for client, status in ((rita, 403), (ada, 403), (stranger, 404)):
        assert client.post(MEMBERS, {"user": "strange", "role": "adjudicator"}).status_code == status
        assert client.patch(f"{MEMBERS}/ada", {"role": "owner"}).status_code == status
        assert client.delete(f"{MEMBERS}/ada").status_code == status
    assert stranger.get(MEMBERS).status_code == 404
    assert ada.get(MEMBERS).status_code == 403
    assert stranger.post(f"{AT}/reading/choose").status_code == 404
    assert reading.memberships.count() == 3


def test_a_member_is_added_once_under_a_key_and_another_body_refused(reading: Project, owner):
    UserFactory(username="new")
    key = {"Idempotency-Key": "join"}
    first, again = (owner.post(MEMBERS, {"user": "new", "role": "adjudicator"}, headers=key) for _ in range(2))
    assert first.json() == again.json()
    assert again["Idempotent-Replayed"] == "true"
    assert owner.post(MEMBERS, {"user": "rita", "role": "owner"}, headers=key).status_code == 422
    assert Act.objects.filter(verb="project.join", through="api").count() == 1


NEW = [
    ("studies", {"name": "One", "kind": "pair"}, Study),
    ("webhooks", {"url": "https://8.8.8.8/hook", "events": ["run.finished"]}, Webhook),
]


@pytest.mark.parametrize(("at", "body", "model"), NEW)
def test_a_new_thing_goes_into_the_project_that_is_named(reading: Project, owner, at, body, model):
    made = owner.post(f"/api/v1/{at}", {**body, "project": "reading"})
    assert (made.status_code, made.json()["project"]) == (201, "reading")
    assert model.objects.get().project == reading
    ProjectFactory(slug="hidden")
    for slug in ("hidden", "no-such", "", "x" * 131, None, 3):
        answer = owner.post(f"/api/v1/{at}", {**body, "project": slug})
        assert (answer.status_code, answer.json()["field"]) == (400, "project")
    assert owner.post(f"/api/v1/{at}", body).json()["field"] == "project", "several, and none chosen"
    assert model.objects.count() == 1
