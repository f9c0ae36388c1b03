from __future__ import annotations

import pytest

from core.accounts.services import tokens
from judging.judges.models import ModelKey
from judging.judges.services import keys
from tests.support import factories

pytestmark = pytest.mark.django_db
SECRET = "sk-of-the-project-1"
GIVEN = {"address": "https://api.openai.com/v1", "key": SECRET, "note": "the grant"}


@pytest.fixture
def project():
    return factories.ProjectFactory()


def headers(project, role="owner", scopes=("read", "admin")):
    user = factories.ResearcherFactory()
    factories.MembershipFactory(project=project, user=user, role=role)
    return {"authorization": f"Bearer {tokens.make(by=user, name='t', scopes=list(scopes))[1]}"}


def sent(client, project, body, shown, **more):
    address = f"/api/v1/projects/{project.slug}/keys"
    return client.post(address, body, content_type="application/json", headers={**shown, **more})


def test_a_key_goes_in_and_never_comes_out(client, project):
    shown = headers(project)
    made = sent(client, project, GIVEN, shown)
    assert made.status_code == 201
    assert made.json()["address"] == "https://api.openai.com"
    rows = client.get(f"/api/v1/projects/{project.slug}/keys", headers=shown).json()["results"]
    assert [(row["id"], row["is_readable"]) for row in rows] == [(made.json()["id"], True)]
    assert SECRET not in made.content.decode() + str(rows)
    assert keys.load_keyring(project.pk).find_key("https://api.openai.com", "") == SECRET
    gone = client.delete(f"/api/v1/projects/{project.slug}/keys/{made.json()['id']}", headers=shown)
    assert (gone.status_code, ModelKey.objects.count()) == (204, 0)


def test_the_same_write_again_is_answered_again_and_another_is_refused(client, project):
    shown = headers(project)
    first, again = (sent(client, project, GIVEN, shown, **{"Idempotency-Key": "k1"}) for _ in range(2))
    assert first.json() == again.json()
    other = sent(client, project, {**GIVEN, "key": "sk-2"}, shown, **{"Idempotency-Key": "k1"})
    assert other.status_code in (409, 422)
    assert keys.load_keyring(project.pk).find_key("https://api.openai.com", "") == SECRET


@pytest.mark.parametrize(
    "body", [{}, {**GIVEN, "key": ""}, {**GIVEN, "address": "openai"}, {**GIVEN, "note": "n" * 201}]
)
def test_bad_input_names_its_field_and_keeps_nothing(client, project, body):
    reply = sent(client, project, body, headers(project))
    assert reply.status_code == 400
    assert SECRET not in reply.content.decode()
    assert not ModelKey.objects.exists()


@pytest.mark.parametrize(("role", "scopes"), [("researcher", ("read", "admin")), ("owner", ("read", "research"))])
def test_only_an_owners_token_of_the_scope_admin_keeps_keys(client, project, role, scopes):
    shown = headers(project, role, scopes)
    assert sent(client, project, GIVEN, shown).status_code == 403
    assert client.get(f"/api/v1/projects/{project.slug}/keys", headers=shown).status_code == 200
