"""`check --deploy` does not let a site go out with the secrets of the example."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings as here

from config import checks

EXAMPLE = here.BASE_DIR / "deploy" / "concord.env.example"
GOOD = "kJ3h2-uW8sPq0ZrT5vXy7Lm9Nb4Cd6Ef1Gh2Ij3Kl4Mn5Op6Qr7"


def example() -> dict[str, str]:
    lines = (line for line in EXAMPLE.read_text().splitlines() if line and not line.startswith("#"))
    return dict(line.split("=", 1) for line in lines)


@pytest.fixture
def sound(settings, monkeypatch) -> None:
    settings.SECRET_KEY, settings.METRICS_TOKEN = GOOD, GOOD[:20]
    settings.SEALING_SECRETS = [GOOD]
    monkeypatch.setitem(settings.DATABASES["default"], "PASSWORD", GOOD)


def found() -> set[str | None]:
    return {one.id for one in checks.secrets_are_secret()}


def test_good_secrets_are_let_through(sound, settings):
    assert found() == set()
    settings.METRICS_TOKEN = ""
    assert found() == set(), "without a token nobody reads metrics by it"


@pytest.mark.parametrize("key", [example()["CONCORD_SECRET_KEY"], "short", "a" * 60, "replace-with" + GOOD])
def test_a_key_that_can_be_guessed_is_an_error(sound, settings, key):
    settings.SECRET_KEY = key
    assert found() == {"concord.E011"}


def test_so_is_a_sealing_secret(sound, settings):
    settings.SEALING_SECRETS = ["replace-with-this", GOOD]
    (one,) = checks.secrets_are_secret()
    assert "CONCORD_SEALING_SECRETS" in one.msg


@pytest.mark.parametrize("token", [example()["CONCORD_METRICS_TOKEN"], "secret"])
def test_a_metrics_token_that_can_be_guessed_is_an_error(sound, settings, token):
    settings.METRICS_TOKEN = token
    assert found() == {"concord.E012"}


def test_so_is_the_databases_password_of_the_example(sound, settings, monkeypatch):
    monkeypatch.setitem(settings.DATABASES["default"], "PASSWORD", "password")
    assert found() == {"concord.E013"}


def test_the_example_itself_does_not_pass(tmp_path: Path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CONCORD_", "DJANGO_"))}
    environment |= example() | {"CONCORD_DATA_DIR": str(tmp_path)}
    command = [sys.executable, "manage.py", "check", "--deploy"]
    done = subprocess.run(command, cwd=here.BASE_DIR, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    for number in ("E011", "E012", "E013"):
        assert f"concord.{number}" in done.stderr
