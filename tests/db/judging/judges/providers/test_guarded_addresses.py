"""A judge's address is the word of a researcher: on a site it does not lead into the site's own network."""

from __future__ import annotations

import pytest

from core.errors import InputError
from core.jobs.backoff import PermanentError
from judging.judges.providers import create
from judging.judges.services import judges
from tests.support.asking import run


def provider(url: str):
    return create("openai_compatible", model="m", parameters={"base_url": url})


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000/v1", "http://169.254.169.254/v1", "http://[::1]/v1"])
def test_a_site_calls_no_private_model(monkeypatch, url):
    monkeypatch.setenv("CONCORD_HTTPS", "1")
    found = provider(url)
    assert "not a public address" in found.check([])[0]
    with pytest.raises(PermanentError, match="not a public address"):
        run(found.client())


def test_a_judge_at_a_private_address_cannot_run_on_a_site(db, monkeypatch):
    monkeypatch.setenv("CONCORD_HTTPS", "1")
    judge = judges.define(
        by=None, name="near", provider="openai_compatible", model="m", parameters={"base_url": "http://10.0.0.1/v1"}
    )
    with pytest.raises(InputError, match="not a public address"):
        judges.check(judge, [])


def test_a_laptop_calls_its_own_models(monkeypatch):
    monkeypatch.delenv("CONCORD_HTTPS", raising=False)
    assert provider("http://127.0.0.1:8000/v1").check([]) == []


def test_what_the_environment_names_is_the_sites_own_choice(monkeypatch):
    monkeypatch.setenv("CONCORD_HTTPS", "1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://10.0.0.1/v1")
    assert create("openai_compatible", model="m", parameters={}).check([]) == []


def test_a_call_follows_no_redirect_and_looks_again(monkeypatch):
    monkeypatch.setenv("CONCORD_HTTPS", "1")
    monkeypatch.setenv("CONCORD_ALLOWED_MODEL_HOSTS", "127.0.0.1")
    assert provider("http://127.0.0.1:8000/v1").build_guarded_client().follow_redirects is False
    monkeypatch.setenv("CONCORD_ALLOW_PRIVATE_ENDPOINTS", "1")
    assert provider("http://127.0.0.1:8000/v1").build_guarded_client().follow_redirects is False
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1")
    assert create("openai_compatible", model="m", parameters={}).build_guarded_client().follow_redirects is False
