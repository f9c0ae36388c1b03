"""Mappings through the API: a guess, a check, and an import by what was guessed or saved."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.corpus.models import ResponsePair, SavedMapping
from tests.support import messy_files

pytestmark = pytest.mark.django_db


def upload(client, address: str, **more):
    name, content = messy_files.semicolons()
    return client.post(address, {"file": SimpleUploadedFile(name, content), **more}, format="multipart")


def test_a_guess_and_an_import_by_it(alice):
    found = upload(alice, "/api/v1/imports/guess").json()
    assert found["layout"] == "text with separators (CSV, TSV), separator semicolon, UTF-8"
    assert found["columns"] == ["Nr", "Frage", "Antwort A", "Antwort B"]
    assert (found["is_complete"], found["rows"], found["records"], found["n_problems"]) == (True, 2, 2, 0)
    assert not ResponsePair.objects.exists()
    reply = upload(alice, "/api/v1/imports", format="table", mapping=json.dumps(found["mapping"]), source="lab")
    assert reply.json()["created"] == {"pairs": 2}
    assert ResponsePair.objects.first().source == "lab"


def test_a_mapping_is_checked_against_a_file(alice):
    mapping = {"kind": "pairs", "columns": {"response_1": "Antwort A", "response_2": "Antwort C"}}
    found = upload(alice, "/api/v1/imports/guess", mapping=json.dumps(mapping)).json()
    assert found["is_complete"] is False
    assert found["missing"].startswith("there is no column 'Antwort C'. Is 'Antwort A' meant?")


def test_a_saved_mapping(alice):
    columns = {"question": "Frage", "response_1": "Antwort A", "response_2": "Antwort B"}
    body = {"name": "Deutsch", "mapping": {"kind": "pairs", "columns": columns}}
    saved = alice.post("/api/v1/mappings", body).json()
    assert saved["mapping"] == body["mapping"]
    assert alice.post("/api/v1/mappings", body).json()["id"] == saved["id"]
    assert [one["name"] for one in alice.get("/api/v1/mappings").json()["results"]] == ["Deutsch"]
    assert upload(alice, "/api/v1/imports", format="table", mapping="Deutsch").json()["created"] == {"pairs": 2}
    assert alice.get(f"/api/v1/mappings/{saved['id']}").json()["name"] == "Deutsch"
    assert alice.delete(f"/api/v1/mappings/{saved['id']}").status_code == 204
    assert not SavedMapping.objects.exists()


@pytest.mark.parametrize(
    ("mapping", "field"),
    [
        ({"kind": "pairs", "columns": {"response_1": "a", "response_2": "a"}}, "mapping.columns.response_2"),
        ({"kind": "nothing"}, "mapping.kind"),
        ({"kind": "pairs", "columns": {"response_1": 3}}, "mapping.columns.response_1"),
    ],
)
def test_a_mapping_that_cannot_be_used_is_refused_by_its_entry(alice, mapping, field):
    reply = alice.post("/api/v1/mappings", {"name": "x", "mapping": mapping})
    assert reply.status_code == 400
    assert reply.json()["field"] == field


def test_a_table_needs_a_mapping(alice):
    reply = upload(alice, "/api/v1/imports", format="table")
    assert (reply.status_code, reply.json()["field"]) == (400, "mapping")
