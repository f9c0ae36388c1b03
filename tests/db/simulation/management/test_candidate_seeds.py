"""A run from seeds by command, API and page: priced first, begun, and told stage by stage."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from judging.judges.models import Price
from simulation.generation.models import CandidateRun
from tests.support import seed_model
from tests.support.model_server import KEY, MODEL, running

pytestmark = pytest.mark.django_db

NUMBERS = {"personas": 3, "specific": 1, "general": 1, "memories": 1}
LINES = "".join(json.dumps(one) + "\n" for one in seed_model.seeds(3))


@pytest.fixture
def model(monkeypatch):
    with running() as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        server.by_default = seed_model.answer
        yield server


@pytest.fixture
def command(model, tmp_path):
    path = tmp_path / "seeds.jsonl"
    path.write_text(LINES)
    agent = f'openai_compatible:{MODEL} {{"concurrency": 8}}'
    numbers = [word for name, n in NUMBERS.items() for word in (f"--{name}", str(n))]
    return ["candidates", "seeds", str(path), "--name", "Small", "--agent", agent, "--judge", agent, *numbers]


@pytest.mark.long
def test_it_is_priced_before_it_starts_and_takes_what_was_reckoned(model, command, capsys):
    Price.objects.create(provider="openai_compatible", model=MODEL, valid_from="2020-01-01", input=1, output=10)
    call_command(*command, "--estimate", "--json")
    found = json.loads(capsys.readouterr().out)["estimate"]
    assert not model.asked
    assert not CandidateRun.objects.exists()
    assert found["usd"] == pytest.approx((found["input_tokens"] + 10 * found["output_tokens"]) / 1e6, rel=0.01)
    call_command(*command, "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["state"], told["pairs"], told["unfit"]) == ("done", 6, {})
    assert found["requests"] == len(model.asked)
    assert CandidateRun.objects.get().makings.count() == told["done"]
    call_command(*command)
    shown = capsys.readouterr().out
    assert "personas: 3\n" in shown
    assert "responses that pass the checks: 18" in shown
    assert len(model.asked) == found["requests"], "the same command again asks for nothing"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (["--personas", "-1"], "field personas"),
        (["--specific", "0", "--general", "0"], "field specific"),
        (["--levels", "full", "generic"], "field against"),
    ],
)
def test_what_no_benchmark_comes_of_is_refused(command, change, said):
    with pytest.raises(CommandError, match=said) as caught:
        call_command(*command, *change)
    assert caught.value.returncode == 2
    assert not CandidateRun.objects.exists()


def test_it_begins_in_the_api_and_the_page_shows_its_stages(model, alice, client):
    agent = {"provider": "openai_compatible", "model": MODEL}
    body = {"name": "Small", "agent": agent, "seeds": seed_model.seeds(3), **NUMBERS}
    post = {"content_type": "application/json"}
    asked = client.post("/api/v1/candidates/seeds", {**body, "estimate": True}, **post).json()
    assert (asked["requests"], CandidateRun.objects.count()) == (3 + 3 * 3 + 1 + 3 + 1 + 12, 0)
    begun = client.post("/api/v1/candidates/seeds", body, **post)
    assert (begun.status_code, begun.json()["stage"], begun.json()["orders"]) == (201, "personas", 3)
    found = client.get(f"/api/v1/candidates/runs/{begun.json()['run']}").json()["from_seeds"]
    assert found["stages"][0] == {"what": "seeds", "n": 3, "left_out": {}}
    shown = client.get(reverse("candidate_run", args=[begun.json()["run"]])).content.decode()
    assert "Stages" in shown
    assert 'hx-trigger="every 2s"' in shown
    nothing = client.post("/api/v1/candidates/seeds", {**body, "seeds": [{"id": "1", "traits": {}}]}, **post)
    assert nothing.status_code == 400


def test_the_form_prices_and_begins_it(model, alice, client):
    form = {"name": "Small", "agent": f"openai_compatible:{MODEL}", "seed": "0", **NUMBERS}
    form |= {"levels": ["none", "full"], "against": ["full-none"]}

    def sent(text: str, **more: str):
        file = SimpleUploadedFile("seeds.jsonl", text.encode())
        return client.post(reverse("candidate_seeds"), {**form, **more, "file": file})

    assert "not known" in sent(LINES, estimate="1").content.decode()
    assert not CandidateRun.objects.exists()
    assert "seeds.jsonl, line 1, field traits" in sent('{"id": 1, "traits": {}}\n').content.decode()
    assert sent(LINES).status_code == 302
    assert CandidateRun.objects.get().plan["personas"] == 3
