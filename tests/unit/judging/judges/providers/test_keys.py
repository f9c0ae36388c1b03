from __future__ import annotations

import pytest

from core.jobs.backoff import PermanentError
from judging.judges.providers import create
from judging.judges.providers.keys import HIDDEN, Keyring, origin, redact_key
from tests.support.asking import CRITERION, request, run
from tests.support.model_server import KEY, MODEL, error

SECRET = "sk-of-the-project-1"


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com"),
        (" HTTPS://API.OpenAI.com:443/v1/ ", "https://api.openai.com"),
        ("http://gpu1:8000/v1", "http://gpu1:8000"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_keys_are_kept_by_scheme_host_and_port(address, found):
    assert origin(address) == found


@pytest.mark.parametrize(
    "address", ["", "api.openai.com", "ftp://models", "https://", "https://a:secret@b", "http://a:x"]
)
def test_what_is_no_address_has_no_key(address):
    with pytest.raises(ValueError, match=r"\w"):
        origin(address)
    assert Keyring({"https://b": SECRET}).find_key(address, "") == ""


def test_the_projects_key_goes_before_that_of_the_environment(monkeypatch):
    monkeypatch.setenv("SOME_KEY", "from-outside")
    ring = Keyring({"https://a.example": SECRET})
    assert ring.find_key("https://a.example/v1", "SOME_KEY") == SECRET
    assert ring.find_key("https://b.example/v1", "SOME_KEY") == "from-outside"
    assert (
        ring.find_key("http://a.example/v1", "SOME_KEY") == "from-outside"
    )  # not over a connection that anybody reads
    assert ring.find_key("https://b.example/v1", "") == ""


def test_a_key_that_cannot_be_read_is_not_replaced_by_another(monkeypatch):
    monkeypatch.setenv("SOME_KEY", "from-outside")
    ring = Keyring({}, frozenset({"https://a.example"}))
    assert ring.find_key("https://a.example", "SOME_KEY") == ""
    assert "enter it again" in ring.problem("https://a.example/v1")
    assert ring.problem("https://b.example/v1") == ""
    made = create("openai_compatible", model="m", parameters={"base_url": "https://a.example/v1"}, keys=ring)
    assert made.check([CRITERION]) == [ring.problem("https://a.example")]


def test_a_ring_tells_nobody_what_is_on_it():
    assert SECRET not in repr(Keyring({"https://a.example": SECRET}))


def test_an_error_that_repeats_the_key_is_told_without_it():
    assert redact_key(SECRET, f"wrong key {SECRET}!") == f"wrong key {HIDDEN}!"
    assert redact_key("", "nothing") == "nothing"


def judged(keys: Keyring, **parameters: object) -> object:
    async def asked() -> object:
        made = create("openai_compatible", model=MODEL, parameters={"max_retries": 0, **parameters}, keys=keys)
        try:
            return await made.judge(request())
        finally:
            await made.aclose()

    return run(asked())


@pytest.mark.parametrize("own", [True, False])
def test_a_judge_shows_the_projects_key_to_its_address_only(server, monkeypatch, own):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    server.key = ""
    kept = origin(server.url) if own else "https://api.openai.com"
    judged(Keyring({kept: SECRET}), base_url=f"{server.url}/v1")
    assert server.asked[0].headers["authorization"] == f"Bearer {SECRET if own else 'none'}"


def test_what_the_other_side_says_of_a_key_does_not_repeat_it(server):
    server.key = ""
    server.answers.append(error(401, "authentication_error", f"Incorrect key: {SECRET}."))
    with pytest.raises(PermanentError) as raised:
        judged(Keyring({origin(server.url): SECRET}), base_url=f"{server.url}/v1")
    assert SECRET not in str(raised.value)
    assert HIDDEN in str(raised.value)


def test_a_host_with_a_hyphen_does_not_get_the_key_of_one_with_a_dot(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY_LLM_LAB_ORG", KEY)
    hosts = ("llm.lab.org", "llm-lab.org")
    asked = [create("openai_compatible", parameters={"base_url": f"https://{host}/v1"}) for host in hosts]
    assert [made.key for made in asked] == [KEY, ""]


def test_a_scorers_endpoint_gets_the_sites_key_where_the_site_says_so_only(monkeypatch):
    monkeypatch.setenv("CONCORD_SCORER_KEY", KEY)
    made = {
        url: create("scorer", model="endpoint", parameters={"url": url}).scorer.headers()  # type: ignore[attr-defined]
        for url in ("https://scores.example/score", "http://localhost:9000/score")
    }
    assert made == {
        "https://scores.example/score": {},
        "http://localhost:9000/score": {"authorization": f"Bearer {KEY}"},
    }
    monkeypatch.setenv("CONCORD_SCORER_ADDRESS", "https://scores.example")
    named = create("scorer", model="endpoint", parameters={"url": "https://scores.example/score"})
    assert named.scorer.headers() == {"authorization": f"Bearer {KEY}"}  # type: ignore[attr-defined]
    ring = Keyring({"https://scores.example": SECRET})
    kept = create("scorer", model="endpoint", parameters={"url": "https://scores.example/score"}, keys=ring)
    assert kept.scorer.headers() == {"authorization": f"Bearer {SECRET}"}  # type: ignore[attr-defined]
