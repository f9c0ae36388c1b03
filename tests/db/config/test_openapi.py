"""The OpenAPI document: made without a warning, and true of every operation under made-up requests."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
import schemathesis
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.db.models import Model
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from annotation.benchmarks.models import BenchmarkCase
from annotation.corpus.models import Dialogue, Profile, ResponsePair, SavedMapping, Task
from annotation.quality.models import KnownItem
from annotation.recruitment.models import Invitation
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Draft
from annotation.studies.models.webhooks import Webhook
from config.api import urls as api
from config.api.views import load_document
from config.wsgi import application
from core.accounts.models.projects import Project
from core.accounts.models.tokens import ApiToken, Scope
from core.accounts.services import projects, tokens
from judging.judges.models import Judge, Price
from judging.runs.models.evaluations import Evaluation
from judging.runs.models.runs import JudgeRun, Judgment
from simulation.experiments.models import Experiment
from simulation.generation.models import CandidateRun, Conflict, Making
from tests.support.evaluated import evaluated
from tests.support.factories import (
    AssignmentFactory,
    BenchmarkCaseFactory,
    BenchmarkFactory,
    CriterionFactory,
    DialogueFactory,
    ExperimentFactory,
    JudgeFactory,
    ResearcherFactory,
    SimulatedDialogueFactory,
    UserFactory,
)
from tests.support.labelled import judge_says, people_say, with_items
from tests.support.projects import world

EXAMPLES = int(os.environ.get("CONCORD_API_EXAMPLES", "3"))
"""Requests made up for each operation; `make bench` asks for more."""

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


def test_the_document_is_made_without_a_warning(capsys):
    call_command("spectacular", validate=True, fail_on_warn=True, stdout=StringIO())
    assert "Warning" not in capsys.readouterr().err


def test_every_address_is_in_the_document():
    """REST framework leaves some out by their form, such as those that end with a `format`."""
    below = [getattr(part, "url_patterns", [part]) for part in api.urlpatterns[2:-1]]
    routes = {str(one.pattern) for patterns in below for one in patterns}
    document = load_document()
    varies = re.compile(r"{\w+}|<\w+:\w+>")
    described = {varies.sub("*", path.removeprefix("/api/v1/")) for path in document["paths"]}
    assert {varies.sub("*", route) for route in routes} == described
    assert len(described) > 100


def test_no_operation_is_described_by_what_its_view_inherits():
    operations = [one for path in load_document()["paths"].values() for one in path.values()]
    told = Counter(one["description"] for one in operations if "description" in one)
    assert told
    assert not [text for text, times in told.items() if times > 2]


@pytest.fixture
def headers(db, monkeypatch) -> dict[str, str]:
    """Something of everything, and the token of somebody who may do all."""
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda *args, **kwargs: None)
    rosa = ResearcherFactory(username="rosa", is_superuser=True)
    study = with_items(4, kind="pair", name="Suits", slug="suits", state="open")
    criterion = CriterionFactory(study=study, key="preference", preference=True)
    people_say(criterion, {"bob": ["1", "2", "tie", "1"], "dana": ["1", "2", "1", "2"]})
    judge_says(criterion, "gpt", ["1", "2", "", "1"], order="AB")
    study.annotators.add(rosa, UserFactory(username="anna"))
    draft = with_items(2, name="Draft", slug="draft")
    CriterionFactory(study=draft)
    AssignmentFactory(item=study.items.first(), annotator=rosa, leased=True, slot=9)
    DialogueFactory()
    benchmark = BenchmarkFactory(name="Suits", slug="suits")
    for item, gold in zip(study.items.order_by("position"), "1221", strict=True):
        BenchmarkCaseFactory(benchmark=benchmark, pair=item.pair, gold=gold)
    evaluated(benchmark, JudgeFactory(name="first", provider="baseline", model="first", created_by=rosa))
    JudgeFactory(name="length", provider="baseline", created_by=rosa)
    SimulatedDialogueFactory(experiment=ExperimentFactory())
    home = Project.objects.get()
    world("fuzz")  # one of everything else
    projects.choose(by=rosa, project=home)
    _, text = tokens.make(by=rosa, name="fuzz", scopes=[one.value for one in Scope])
    return {"Authorization": f"Bearer {text}"}


@pytest.fixture(autouse=True)
def connections_stay() -> Iterator[None]:
    """Django ends a connection with a request; the test's transaction lives on it."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


KNOWN: dict[str, list[Any]] = {
    "slug": ["suits", "draft"],
    "username": ["bob", "anna"],
    "key": ["preference"],
    "form": ["csv", "jsonl", "json"],
    "position": [1, 2],
    "tool": ["hf", "labelstudio", "nope"],
    "sha256": [f"{4:064x}"],
}
NAMED = {
    "studies": ["suits", "draft", "study-fuzz"],
    "benchmarks": ["suits", "benchmark-fuzz"],
    "projects": ["default", "project-fuzz"],
    "members": ["owner-of-fuzz", "rosa", "anna"],
    "participants": ["rater-of-fuzz", "bob"],
}
"""The same, by the word before it."""

ROWS: dict[str, type[Model]] = {
    "profiles": Profile,
    "tasks": Task,
    "dialogues": Dialogue,
    "pairs": ResponsePair,
    "runs": JudgeRun,
    "judgments": Judgment,
    "judges": Judge,
    "experiments": Experiment,
    "evaluations": Evaluation,
    "failures": Judgment,
    "work": Assignment,
    "tokens": ApiToken,
    "cases": BenchmarkCase,
    "making": Making,
    "conflicts": Conflict,
    "webhooks": Webhook,
    "mappings": SavedMapping,
    "prices": Price,
    "invitations": Invitation,
    "known": KnownItem,
    "late": Draft,
}
"""By the word before a key in an address: what has it."""

UNDER: dict[str, type[Model]] = {"work": Assignment, "candidates": CandidateRun}
"""The same, for all that stands under a word."""


def operations(schema: Any) -> Iterator[Any]:
    for result in schema.get_all_operations():
        yield result.ok()


def known_parts(case: Any, place: int) -> None:
    """Every second request asks for what there is, so that it also comes past the door."""
    if place % 2:
        return
    words = case.operation.path.split("/")
    for name in case.path_parameters or {}:
        at = next(place for place, word in enumerate(words) if f"{{{name}}}" in word)
        before = words[at - 1]
        if known := NAMED.get(before, KNOWN.get(name)):
            case.path_parameters[name] = known[place // 2 % len(known)]
        else:
            model = UNDER.get(words[3], ROWS.get(before))
            if model and (row := model._default_manager.order_by("pk").last()):
                case.path_parameters[name] = row.pk


@pytest.mark.long
@pytest.mark.timeout(900)  # some hundreds of requests, on a machine that is busy with other tests
def test_no_operation_fails_or_answers_what_it_does_not_document(headers):
    schema = schemathesis.openapi.from_wsgi("/api/v1/schema", application, headers=headers)
    asked = 0
    wrong: list[str] = []

    for operation in operations(schema):

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
        )
        @given(case=operation.as_strategy())
        def ask(case: Any) -> None:
            nonlocal asked
            known_parts(case, asked)
            asked += 1
            response = case.call(headers=headers, buffered=True)  # so that a streamed file is closed
            try:
                case.validate_response(response, checks=CHECKS)
            except FailureGroup as error:
                told = " ".join(str(error).split())
                wrong.append(f"{case.operation.label}: {told[:700]}")

        ask()

    assert asked >= 100
    assert not wrong, "\n".join(wrong)
