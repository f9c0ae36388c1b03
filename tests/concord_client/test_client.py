"""The client, against the site itself; and every example of docs/api.md."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import get_type_hints

import pytest
from django.conf import settings
from drf_spectacular.generators import SchemaGenerator

from annotation.services import tokens, webhooks
from concord_client import Concord, ProblemError, is_signed, types
from tests.factories import ResearcherFactory, UserFactory

EXAMPLES = re.findall(r"```python\n(.*?)```", (settings.BASE_DIR / "docs" / "api.md").read_text(), re.S)
COMPONENTS = {
    "Study": "Study",
    "Criterion": "Criterion",
    "Sample": "Sample",
    "Item": "Item",
    "Label": "Label",
    "Assignment": "Assignment",
    "Judge": "Judge",
    "Run": "Run",
    "Progress": "RunProgress",
    "Judgment": "Judgment",
    "Webhook": "MadeWebhook",
    "Counts": "Counts",
    "Benchmark": "Benchmark",
    "Case": "Case",
    "Evaluation": "Evaluation",
    "Project": "Project",
    "Member": "Member",
    "LabelPlan": "LabelPlan",
}


@pytest.fixture
def quiet(monkeypatch):
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda *args, **kwargs: None)


def test_every_example_of_the_docs_runs(live_server, quiet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rosa = ResearcherFactory(username="rosa")
    anna = UserFactory(username="anna")
    _, token = tokens.make(by=rosa, name="docs", scopes=["read", "research", "admin"])
    _, annas = tokens.make(by=anna, name="docs", scopes=["annotate"])
    assert len(EXAMPLES) >= 7
    program = "\n".join(EXAMPLES).replace("http://localhost:8000", live_server.url)
    known: dict[str, object] = {"TOKEN": token, "ANNAS_TOKEN": annas}
    exec(compile(program, "docs/api.md", "exec"), known)
    assert Path("labels.csv").read_text().startswith("study,")


@pytest.mark.parametrize(("name", "component"), COMPONENTS.items())
def test_types_name_what_the_document_names(name, component):
    document = SchemaGenerator().get_schema(request=None, public=True)
    shape = document["components"]["schemas"][component]["properties"]
    typed = get_type_hints(getattr(types, name))
    assert set(typed) <= set(shape)
    missing = set(shape) - set(typed) - {"study", "errors_file"}
    assert not missing, f"{name} lacks {missing}"


def test_a_problem_says_where_and_the_token_stays_at_home(live_server):
    rosa = ResearcherFactory(username="rosa")
    _, token = tokens.make(by=rosa, name="docs", scopes=["read"])
    concord = Concord(live_server.url, token=token)
    with pytest.raises(ProblemError, match="404") as refused:
        concord.study("none")
    assert refused.value.status == 404
    with pytest.raises(ProblemError, match="scope"):
        concord.create_study("X", kind="pair")
    with pytest.raises(ValueError, match="not sent there"):
        concord._sent("GET", "http://elsewhere.example/api/v1/me")
    with pytest.raises(ValueError, match="http"):
        Concord("localhost", token="x")


def test_a_write_whose_answer_got_lost_is_sent_again_and_done_once(live_server, monkeypatch):
    rosa = ResearcherFactory(username="rosa")
    _, token = tokens.make(by=rosa, name="docs", scopes=["read", "research"])
    concord = Concord(live_server.url, token=token)
    real, lost = concord._sent, []

    def losing(*given):
        answer = real(*given)
        if not lost:
            lost.append(answer.read())
            raise ConnectionResetError
        return answer

    monkeypatch.setattr(concord, "_sent", losing)
    made = concord.create_study("Once", kind="pair")
    monkeypatch.undo()
    assert lost
    assert [one["id"] for one in concord.studies()] == [made["id"]]


def test_signatures():
    now = int(time.time())
    header = webhooks.signature("secret", "{}", now)
    assert is_signed("secret", header, b"{}")
    assert not is_signed("other", header, b"{}")
    assert not is_signed("secret", header, b"{ }")
    assert not is_signed("secret", header, b"{}", now=now + 301)
    assert not is_signed("secret", "nonsense", b"{}")
