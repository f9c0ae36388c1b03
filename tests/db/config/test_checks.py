"""`check --deploy` does not let a site go out with the secrets of the example."""

from __future__ import annotations

import pytest
from django.conf import settings as here
from django.core.management import call_command
from django.core.management.base import SystemCheckError

from config import checks
from config.settings import database

EXAMPLE = here.BASE_DIR / "deploy" / "concord.env.example"
GOOD = "kJ3h2-uW8sPq0ZrT5vXy7Lm9Nb4Cd6Ef1Gh2Ij3Kl4Mn5Op6Qr7"


def example() -> dict[str, str]:
    lines = (line for line in EXAMPLE.read_text().splitlines() if line and not line.startswith("#"))
    return dict(line.split("=", 1) for line in lines)


@pytest.fixture
def sound(settings, monkeypatch) -> None:
    settings.SECRET_KEY, settings.METRICS_TOKEN = GOOD, GOOD[:20]
    settings.SEALING_SECRETS = settings.AUDIT_SECRETS = [GOOD]
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


@pytest.mark.parametrize(
    ("setting", "variable"), [("SEALING_SECRETS", "CONCORD_SEALING_SECRETS"), ("AUDIT_SECRETS", "CONCORD_AUDIT_KEY")]
)
def test_so_is_any_other_secret(sound, settings, setting, variable):
    setattr(settings, setting, ["replace-with-this", GOOD])
    (one,) = checks.secrets_are_secret()
    assert variable in one.msg


@pytest.mark.parametrize("token", [example()["CONCORD_METRICS_TOKEN"], "secret"])
def test_a_metrics_token_that_can_be_guessed_is_an_error(sound, settings, token):
    settings.METRICS_TOKEN = token
    assert found() == {"concord.E012"}


def test_so_is_the_databases_password_of_the_example(sound, settings, monkeypatch):
    password = database(example()["DATABASE_URL"])["PASSWORD"]
    monkeypatch.setitem(settings.DATABASES["default"], "PASSWORD", password)
    assert found() == {"concord.E013"}


@pytest.mark.long
def test_the_command_ends_with_an_error(sound, settings):
    settings.SECRET_KEY = example()["CONCORD_SECRET_KEY"]
    with pytest.raises(SystemCheckError, match="E011"):
        call_command("check", deploy=True)
