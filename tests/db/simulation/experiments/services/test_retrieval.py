from __future__ import annotations

import math
from collections import Counter
from datetime import date
from decimal import Decimal

import pytest

from core.errors import InputError
from judging.judges.models import Price
from simulation.agents import services as agents_services
from simulation.experiments.models import Turn
from tests.support.model_server import EMBEDDINGS, KEY, running
from tests.support.simulation import begun, people, played

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(monkeypatch):
    with running() as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        yield server


def embedder(parameters: str = ""):
    return agents_services.embedder(f"openai_compatible:letters {parameters}")


def cosine(a: str, b: str) -> float:
    """Of the counts of letters, which is what the server gives."""
    first, second = (Counter(sign for sign in text.lower() if sign.isalpha()) for text in (a, b))
    product = sum(first[sign] * second[sign] for sign in first)
    return product / math.sqrt(sum(n * n for n in first.values()) * sum(n * n for n in second.values()))


def embedded(server) -> list[list[str]]:
    return [request.body["input"] for request in server.requests if request.path == EMBEDDINGS]


def test_what_is_nearest_to_the_turn_is_shown_and_kept(server):
    people(1, 1)

    played(conditions=["base+I-embedded"], embedder=embedder(), passages=1)

    said = "At eight, please."
    remembered = ["She likes Thai. She always books for eight.", "She reads late."]
    best = max(remembered, key=lambda passage: cosine(passage, said))
    [kept] = Turn.objects.get(number=4).retrieved
    assert kept["passage"] == best == "She reads late.", "it has the letters of what was said, and few others"
    assert (kept["domain"], kept["score"]) == ("Books", pytest.approx(cosine(best, said), abs=1e-4))
    assert Turn.objects.get(number=3).retrieved == []


def test_a_user_s_passages_are_embedded_once(server):
    people(2, 2)

    played(conditions=["base+I-embedded", "base+I-retrieved"], embedder=embedder())

    asked = embedded(server)
    assert sum(len(texts) > 1 for texts in asked) == 2, "once for each user"
    assert sum(len(texts) == 1 for texts in asked) == 12, "each of three turns of the assistant in four dialogues"


def test_what_is_embedded_is_part_of_the_cost(server):
    Price.objects.create(
        provider="openai_compatible", model="letters", valid_from=date(2026, 1, 2), input=1_000_000, output=0
    )
    people(1, 1)

    played(conditions=["base+I-embedded"], embedder=embedder())

    # a dollar a token, five tokens a text: two passages and the turn, then the turn alone
    costs = dict(Turn.objects.filter(side="assistant").values_list("number", "cost_usd"))
    assert costs == {2: Decimal(15), 4: Decimal(5), 6: Decimal(5)}


def test_an_unknown_price_is_unknown(server):
    people(1, 1)

    played(conditions=["base+I-embedded"], embedder=embedder())

    assert set(Turn.objects.filter(side="assistant").values_list("cost_usd", flat=True)) == {None}


def test_a_server_without_embeddings_stops_it_with_the_reason(server):
    people(3, 1)
    server.key = "another"

    experiment = played(conditions=["base+I-embedded"], embedder=embedder())

    assert experiment.state == "stopped"
    assert "could not go on: 401" in experiment.stop_reason


def test_the_condition_needs_somebody_who_embeds():
    people(1, 1)

    with pytest.raises(InputError, match="Name who makes the embeddings") as error:
        begun(conditions=["base+I-embedded"])
    assert error.value.field == "embedder"


def test_where_no_condition_needs_it_none_is_kept(server):
    people(1, 1)

    assert begun(embedder=embedder()).embedder is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("local", "Embeddings come from a server"),
        ("openai_compatible", "Embeddings come from a server"),
        ("openai_compatible:m {", "not JSON"),
        ('openai_compatible:m {"colour": 1}', "colour"),
    ],
)
def test_what_cannot_embed_is_said(text, message):
    with pytest.raises(InputError, match=message) as error:
        agents_services.embedder(text)
    assert error.value.field == "embedder"


def test_the_same_settings_are_the_same_agent(server):
    first = agents_services.find_or_create_agent(by=None, agent=embedder())

    assert embedder() == first
    assert agents_services.embedder("") is None
