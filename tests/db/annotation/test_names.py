"""What people name is one line that shows as it is: no CR, LF or U+202E gets into a name by any way."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from annotation.benchmarks.services import versions
from annotation.corpus.imports import records
from annotation.recruitment.forms import AccountForm
from annotation.studies.imports import labelled
from annotation.studies.models.studies import Study
from annotation.studies.services import studies
from core.accounts.models.projects import Project
from core.accounts.models.users import User
from core.accounts.services import projects, tokens
from core.errors import InputError
from core.names import check_name
from judging.judges.services import judges
from judging.runs.imports import judgments
from simulation.experiments.services import experiments
from simulation.generation.services import candidates
from tests.support.factories import ResearcherFactory, UserFactory

BAD = ["a\rb", "a\nb", "a\u202eb", "a\0b", "a\x1bb", "a\x85b", "a\u2028b", "a\u2066b", "a\ud800b"]
GOOD = ["Ein Titel", "Étude n° 1", "دراسة", "می‌خواهم", "研究", "👩‍👧 family", "a\u200eb"]


@pytest.mark.parametrize("name", BAD)
def test_a_name_that_hides_or_turns_text_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"control character U\+") as raised:
        check_name(name, what="A study")
    assert name[1] not in str(raised.value)


@pytest.mark.parametrize("name", GOOD)
def test_a_name_in_any_script_is_kept(name: str) -> None:
    assert check_name(f" {name} ", what="A study") == name


NOTHING: Any = None
"""In place of what is not looked at before the name."""


def define(**given: Any) -> Any:
    return judges.define(provider="baseline", **given)


WAYS = {
    "a study": lambda by, name: studies.create(by=by, name=name, kind="dialogue", criteria=["task_completion"]),
    "an imported study": lambda by, name: labelled.create_study(
        by=by, name=name, kind="dialogue", criteria=[], description=""
    ),
    "a project": lambda by, name: projects.make(by=None, name=name, owner=by),
    "a judge": lambda by, name: define(by=by, name=name),
    "an imported judge": lambda by, name: judgments.find_or_create_judge(by=by, name=name),
    "a model": lambda by, name: judges.check_names("Judge", name),
    "a token": lambda by, name: tokens.make(by=by, name=name, scopes=["read"]),
    "a benchmark": lambda by, name: versions.check_text("name", name, 120),
    "a source": lambda by, name: records.check_source(name),
    "a run of candidates": lambda by, name: candidates.begin(by=by, name=name, agent=NOTHING, questions=[], levels=[]),
    "an experiment": lambda by, name: experiments.plan(
        name=name, user_agent=NOTHING, assistants=[], conditions=[], grid=NOTHING
    ),
}


@pytest.mark.parametrize("name", ["a\rb", "a\nb", "a\u202eb"])
@pytest.mark.parametrize("what", WAYS)
def test_no_service_takes_such_a_name(db: None, what: str, name: str) -> None:
    alice = ResearcherFactory(username="alice")
    with pytest.raises(InputError, match="control character"):
        WAYS[what](alice, name)


@pytest.mark.parametrize("name", ["a\rb", "a\nb", "a\u202eb"])
def test_no_page_or_api_takes_such_a_name(db: None, name: str, client: Client) -> None:
    client.force_login(ResearcherFactory(is_superuser=True, is_staff=True))
    body = {"name": name, "kind": "dialogue", "criteria": ["task_completion"]}
    answer = client.post("/api/v1/studies", body, content_type="application/json")
    assert answer.status_code == 400
    assert "control character" in answer.json()["detail"]
    page = client.post("/projects/", {"name": name})
    assert "control character" in page.content.decode()
    assert not Study.objects.exists()
    assert not Project.objects.filter(name__startswith="a").exists()


@pytest.mark.parametrize("name", ["a\rb", "a\nb", "a\u202eb"])
def test_no_account_is_called_so(db: None, name: str, client: Client) -> None:
    form = AccountForm({"username": name, "password1": "a-long-enough-one", "password2": "a-long-enough-one"})
    assert "username" in form.errors
    for field in ("username", "display_name", "first_name"):
        with pytest.raises(ValidationError) as raised:
            User(**{"username": "bob", "password": "x", field: name}).full_clean()
        assert field in raised.value.message_dict
    study = studies.create(by=ResearcherFactory(), name="S", kind="dialogue", criteria=["task_completion"])
    with pytest.raises(InputError, match="control character"):
        labelled.add_annotators(study=study, names=[name], outcome=NOTHING)
    client.force_login(UserFactory(is_superuser=True, is_staff=True))
    bob = UserFactory(username="bob")
    page = client.post(f"/admin/annotation/user/{bob.pk}/change/", {"username": "bob", "display_name": name})
    assert "control character" in page.content.decode()
