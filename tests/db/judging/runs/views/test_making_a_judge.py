"""Alice makes a judge: a provider, its model and parameters as fields, a trial, and only then something is stored."""

from __future__ import annotations

import pytest
from django.urls import reverse

from core.audit.models import Act
from judging.judges.models import HoldOut, Judge
from judging.judges.providers import REGISTRY
from judging.judges.queries.study_items import positions
from judging.runs.models.runs import Judgment
from judging.runs.parameter_fields import list_parameters, to_initial
from judging.runs.queries.judgments import reason_in_words
from tests.support import factories
from tests.support.judging import dialogue_study, pair_study
from tests.support.labelled import with_items
from tests.support.model_server import KEY, MODEL, Answer, error, running

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(client):
    alice = factories.ResearcherFactory(username="alice", is_superuser=True)
    client.force_login(alice)
    return alice


@pytest.fixture
def server(monkeypatch):
    with running() as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        yield server


def text_of(response) -> str:
    return " ".join(response.content.decode().split())


def send(client, provider: str = "openai_compatible", **given):
    return client.post(reverse("judge_create"), {"provider": provider, "name": "GPU", "model": MODEL} | given)


def test_first_comes_the_provider(client, alice):
    page = client.get(reverse("judge_create"))
    assert "form" not in page.context
    for said in ("?provider=local", "?provider=anthropic", "?provider=openai_compatible", "?provider=baseline"):
        assert said in text_of(page)
    assert "?provider=scripted" not in text_of(page)


@pytest.mark.parametrize(
    ("provider", "there", "absent"),
    [
        (
            "openai_compatible",
            {"base_url", "p_temperature", "p_logprobs"},
            {"p_template", "p_base_url"},
        ),
        ("local", {"model", "p_context", "p_threads"}, {"p_logprobs", "p_examples"}),
        ("baseline", {"name", "model", "parameters"}, {"template", "p_temperature"}),
    ],
)
def test_a_provider_has_fields_of_its_own(client, alice, provider, there, absent):
    fields = client.get(reverse("judge_create"), {"provider": provider}).context["form"].fields.keys()
    assert there <= fields
    assert not absent & fields


@pytest.mark.parametrize("provider", sorted(REGISTRY))
def test_every_provider_can_be_described(client, alice, provider):
    assert client.get(reverse("judge_create"), {"provider": provider}).status_code == 200
    assert set(list_parameters(provider)).isdisjoint({"examples", "template", "system"})


def test_fields_and_json_together_are_the_parameters(client, alice):
    given = {"p_temperature": "0.5", "p_logprobs": "no", "p_max_tokens": "", "parameters": '{"system": "Be brief."}'}
    made = send(client, **given)
    judge = Judge.objects.get()
    assert made.url == reverse("judge_detail", args=[judge.pk])
    assert judge.parameters == {"temperature": 0.5, "logprobs": False, "system": "Be brief."}
    page = client.get(made.url).context["form"]
    assert (page["p_temperature"].value(), page["p_logprobs"].value()) == (0.5, "no")
    assert page.initial["parameters"] == {"system": "Be brief."}


def test_a_parameter_that_is_named_twice_is_refused(client, alice):
    refused = send(client, p_temperature="0.5", parameters='{"temperature": 1}')
    assert "temperature has a field of its own" in refused.context["form"].errors["parameters"][0]
    assert not Judge.objects.exists()


def test_what_a_field_may_hold_is_said_at_it(client, alice):
    refused = send(client, p_temperature="3")
    assert "less than or equal to 2" in refused.context["form"].errors["p_temperature"][0]


def test_fields_hold_what_was_set_and_json_the_rest():
    fields, rest = to_initial("openai_compatible", {"temperature": 0.0, "pictures": True, "system": "x"})
    assert (fields, rest) == ({"p_temperature": 0.0, "p_pictures": "yes"}, {"system": "x"})


def test_the_models_of_the_server_are_offered_before_there_is_a_name(client, alice, server):
    server.models = ["small", "large"]
    page = send(client, name="", model="", models="1")
    assert page.context["models"] == ("large", "small")
    assert '<option value="large">' in text_of(page)
    assert "2 models: choose one" in text_of(page)
    assert not Judge.objects.exists()


def test_a_server_that_does_not_answer_says_so_at_the_model(client, alice, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    page = send(client, models="1")
    assert "No connection" in page.context["form"].errors["model"][0]


def test_a_provider_without_a_list_says_so(client, alice):
    page = send(client, "scorer", models="1")
    assert "no list of models" in page.context["form"].errors["model"][0]


def test_a_trial_shows_verdicts_and_prompts_and_stores_nothing(client, alice, server):
    study = dialogue_study(4)
    server.answers += [Answer(text='{"explanation": "It knows her.", "verdict": "3"}'), Answer(text="What a day.")]
    page = send(client, study=study.pk, **{"try": "1"})
    tried = page.context["trials"]
    assert len(tried) == 3
    assert sorted(bool(one.problem) for one in tried) == [False, False, True]
    assert "It knows her." in text_of(page)
    assert "Book me a table." in text_of(page)
    assert [one.problem for one in tried if one.problem] == [reason_in_words("unparsable")]
    assert not Judge.objects.exists()
    assert not Judgment.objects.exists()
    act = Act.objects.get(verb="judge.try")
    assert (act.study_id, act.parsed_arguments) == (study.pk, {"provider": "openai_compatible", "model": MODEL})


def test_a_failing_server_is_told_for_each_item(client, alice, server):
    server.answers += [error(400, "invalid_request_error", "no such model")] * 3
    page = send(client, study=dialogue_study(3).pk, p_max_retries="0", **{"try": "1"})
    assert [("no such model" in one.problem, one.label) for one in page.context["trials"]] == [(True, "")] * 3


def test_a_trial_leaves_out_what_is_held_out(client, alice):
    study = with_items(60, name="Held", slug="held")  # keys, which no seed sets, decide what is held out
    factories.CriterionFactory(study=study, key="task_completion", yes_no=True)
    HoldOut.objects.create(study=study, share=0.5, seed=1)
    page = send(client, "baseline", model="", study=study.pk, **{"try": "1"})
    shown = {one.item for one in page.context["trials"]}
    held_out = study.items.filter(position__in=positions(study)).values_list("dialogue__external_id", flat=True)
    assert len(shown) == 3
    assert not shown & set(held_out)


def test_a_judge_that_is_asked_in_no_words_is_tried_too(client, alice):
    page = send(client, "baseline", model="", study=pair_study(2).pk, **{"try": "1"})
    assert [one.prompt for one in page.context["trials"]] == [None, None]
    assert all(one.label for one in page.context["trials"])


def test_a_trial_needs_a_study_with_items(client, alice):
    assert "Choose the study" in send(client, **{"try": "1"}).context["form"].errors["study"][0]
    bare = factories.StudyFactory()
    assert "no items or no criteria" in send(client, study=bare.pk, **{"try": "1"}).context["form"].errors["study"][0]
