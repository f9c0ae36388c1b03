from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command

from judging.judges.services import keys
from tests.support import factories

pytestmark = pytest.mark.django_db


def told(*words):
    out = io.StringIO()
    call_command("model_keys", *words, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_a_key_comes_from_standard_input_and_is_listed_without_it(monkeypatch):
    project = factories.ProjectFactory(slug="lab", name="Lab")
    monkeypatch.setattr("sys.stdin", io.StringIO("sk-of-the-project-1\n"))
    found = told("lab", "--keep", "https://api.openai.com/v1", "--note", "the grant")
    assert found == {
        "project": "lab",
        "keys": [{"address": "https://api.openai.com", "note": "the grant", "readable": True}],
    }
    assert keys.load_keyring(project.pk).find_key("https://api.openai.com", "") == "sk-of-the-project-1"
    assert told("lab", "--forget", "https://api.openai.com") == {"project": "lab", "keys": []}


def test_a_change_of_the_secret(settings):
    project = factories.ProjectFactory(slug="lab", name="Lab")
    settings.SEALING_SECRETS = ["old"]
    keys.keep(by=None, project=project, address="https://a.example", key="sk-1")
    settings.SEALING_SECRETS = ["new", "old"]
    assert told("--reseal") == {"project": None, "sealed": 1, "unreadable": 0}


WRONG = [("nobody",), ("lab", "--forget", "https://a.example"), ("lab", "--keep", "openai"), ("lab", "--forget", "x")]


@pytest.mark.parametrize("words", WRONG)
def test_bad_input_ends_with_2_and_a_sentence(words, monkeypatch):
    factories.ProjectFactory(slug="lab", name="Lab")
    monkeypatch.setattr("sys.stdin", io.StringIO("sk-1"))
    with pytest.raises(CommandError) as raised:
        call_command("model_keys", *words)
    assert raised.value.returncode == 2
    assert str(raised.value)
