from __future__ import annotations

import pytest

from judging.judges.models import ModelKey
from judging.judges.services import keys
from tests.support import factories

pytestmark = pytest.mark.django_db
SECRET = "sk-of-the-project-1"
GIVEN = {"address": "https://api.openai.com/v1", "key": SECRET, "note": "the grant"}


@pytest.fixture
def project():
    return factories.ProjectFactory()


def member(project, role):
    user = factories.ResearcherFactory()
    factories.MembershipFactory(project=project, user=user, role=role)
    return user


def test_an_owner_enters_and_forgets_a_key_which_no_page_shows(client, project):
    client.force_login(member(project, "owner"))
    empty = client.get(f"/projects/{project.slug}/keys/").content.decode()
    assert "No key yet" in empty
    page = client.post(f"/projects/{project.slug}/keys/add/", GIVEN, follow=True).content.decode()
    assert "https://api.openai.com" in page
    assert "the grant" in page
    assert SECRET not in page
    row = ModelKey.objects.get()
    assert keys.load_keyring(project.pk).find_key(row.origin, "") == SECRET
    page = client.post(f"/projects/{project.slug}/keys/{row.pk}/remove/", follow=True).content.decode()
    assert "No key yet" in page


def test_what_is_wrong_is_said_at_its_field_and_the_key_is_not_given_back(client, project):
    client.force_login(member(project, "owner"))
    reply = client.post(f"/projects/{project.slug}/keys/add/", {**GIVEN, "address": "openai"})
    page = reply.content.decode()
    assert "is not an address" in page
    assert SECRET not in page
    assert not ModelKey.objects.exists()


def test_a_researcher_sees_for_which_addresses_there_are_keys_and_changes_none(client, project):
    row = keys.keep(by=member(project, "owner"), project=project, address=GIVEN["address"], key=SECRET)
    client.force_login(member(project, "researcher"))
    page = client.get(f"/projects/{project.slug}/keys/").content.decode()
    assert "https://api.openai.com" in page
    assert "Keep the key" not in page
    assert client.post(f"/projects/{project.slug}/keys/add/", GIVEN).status_code in (403, 404)
    assert client.post(f"/projects/{project.slug}/keys/{row.pk}/remove/").status_code in (403, 404)
    assert ModelKey.objects.count() == 1


def test_a_key_of_another_project_is_not_found_behind_ones_own(client, project):
    other = factories.ProjectFactory()
    row = keys.keep(by=None, project=other, address=GIVEN["address"], key=SECRET)
    client.force_login(member(project, "owner"))
    assert client.post(f"/projects/{project.slug}/keys/{row.pk}/remove/").status_code == 404
    assert ModelKey.objects.count() == 1


def test_a_key_that_cannot_be_read_is_said_so(client, project, settings):
    keys.keep(by=None, project=project, address=GIVEN["address"], key=SECRET)
    settings.SEALING_SECRETS = ["another"]
    client.force_login(member(project, "owner"))
    assert "enter it again" in client.get(f"/projects/{project.slug}/keys/").content.decode()
