"""System checks: a bad setting says what to do about it before anything runs."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from annotation.management.base import SETTINGS
from config import data_folder
from config.backups import encryption
from config.data_folder import HINT
from config.logs import FORMATS
from core.errors import InputError
from judging.assessment import signing


@register(SETTINGS)
def data_folder_is_writable(**kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    if os.access(settings.DATA_DIR, os.W_OK):
        return []
    return [Error(f"The data folder {settings.DATA_DIR} cannot be written.", hint=HINT, id="concord.E001")]


@register(SETTINGS)
def files_are_private(**kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    """Database and backups hold password hashes: other accounts of the machine may not read them."""
    kept = settings.DATABASES["default"]
    database = Path(kept["NAME"]) if kept["ENGINE"].endswith("sqlite3") else None
    if not (paths := data_folder.open_paths(settings.DATA_DIR, database)):
        return []
    names = [shlex.quote(str(path)) for path in paths]
    message = f"Other accounts of this machine can read or enter {', '.join(names)}."
    return [Warning(message, hint=f"Close it: chmod go= {' '.join(names)}", id="concord.W020")]


@register(SETTINGS)
def audit_heads_are_writable(**kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    """The folder is made with the first act, in the nearest one that is there."""
    folder = next(path for path in (settings.AUDIT_HEADS, *settings.AUDIT_HEADS.parents) if path.exists())
    if folder.is_dir() and os.access(folder, os.W_OK):
        return []
    hint = "Set CONCORD_AUDIT_HEADS to a folder that this user may write."
    return [
        Error(
            f"The newest event of the audit log cannot be written down in {settings.AUDIT_HEADS}.",
            hint=hint,
            id="concord.E006",
        )
    ]


@register(SETTINGS)
def worker_times_fit(**kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    if settings.WORKER_GONE_SECONDS >= 3 * settings.WORKER_BEAT_SECONDS:
        return []
    hint = "Set CONCORD_WORKER_GONE_SECONDS to at least three times CONCORD_WORKER_BEAT_SECONDS."
    return [Error("Living workers would be taken for gone.", hint=hint, id="concord.E002")]


@register(SETTINGS, deploy=True)
def files_are_for_one_machine(**kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    if not settings.CELERY_BROKER_URL.startswith("filesystem"):
        return []
    hint = "Set CELERY_BROKER_URL to Redis or RabbitMQ where workers run on several machines."
    return [Warning("The broker lives in files of this machine.", hint=hint, id="concord.W001")]


@register(SETTINGS)
def check_log_format(**kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    form = os.environ.get("CONCORD_LOG_FORMAT", "line")
    if form in FORMATS:
        return []
    hint = f"Set CONCORD_LOG_FORMAT to {' or '.join(FORMATS)}."
    return [Error(f"No log format is called {form!r}.", hint=hint, id="concord.E003")]


@register(SETTINGS)
def periods_are_periods(**kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    from config import retention  # models are not there yet when this module is loaded

    found: list[CheckMessage] = []
    for kind in retention.KINDS:
        try:
            retention.period(kind)
        except InputError as error:
            hint = f"Set {kind.variable} to a number of days, or to {retention.ALWAYS}."
            found.append(Error(str(error), hint=hint, id="concord.E009"))
    return found


@register(SETTINGS)
def second_factor_is_of_somebody(**kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    from config.second_factor import CHOICES, EVERYONE  # models are not there yet when this module is loaded

    if settings.REQUIRE_SECOND_FACTOR in CHOICES:
        return []
    hint = f"Set CONCORD_REQUIRE_SECOND_FACTOR to {', '.join(filter(None, CHOICES))}, or leave it empty."
    message = f"{settings.REQUIRE_SECOND_FACTOR!r} does not say who needs a second factor; until then {EVERYONE} does."
    return [Error(message, hint=hint, id="concord.E010")]


@register(SETTINGS, deploy=True)
def backups_can_be_made(**kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    hint = "Set CONCORD_BACKUP_KEY to what `manage.py backup --new-key` prints, and keep a copy elsewhere."
    try:
        found = encryption.keys()
    except InputError as error:
        return [Error(str(error), hint=hint, id="concord.E020")]
    return [] if found else [Warning("Backups cannot be encrypted, so none are made.", hint=hint, id="concord.W021")]


@register(SETTINGS)
def check_signing_key(**kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    """That it is private and a key; the file of the data folder is only made when a certificate is issued."""
    try:
        found = [signing.read_key(text, signing.VARIABLE) for text in settings.SIGNING_KEYS]
    except InputError as error:
        return [Error(str(error), hint=SIGNING_HINT, id="concord.E021")]
    if found and found[0].private is None:
        return [Error("The first key in CONCORD_SIGNING_KEY is public.", hint=SIGNING_HINT, id="concord.E021")]
    return []


SIGNING_HINT = "Set CONCORD_SIGNING_KEY to what `manage.py signing_keys --new-key` prints, on every host alike."


@register(SETTINGS, deploy=True)
def check_signing_key_shared(**kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    """A file of one machine is enough for a site that is one machine."""
    if settings.SIGNING_KEYS or settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        return []
    message = "The key that signs certificates lies in a file of this machine; another host would sign with another."
    return [Warning(message, hint=SIGNING_HINT, id="concord.W022")]


@register(SETTINGS, deploy=True)
def names_are_given(**kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    """A site that others reach answers to its own name only, and over HTTPS."""
    found: list[CheckMessage] = []
    if "*" in settings.ALLOWED_HOSTS:
        hint = "Set CONCORD_ALLOWED_HOSTS to the names of the site, with commas between them."
        found.append(Error("The site answers to any name.", hint=hint, id="concord.E004"))
    if not settings.HTTPS:
        hint = "Set CONCORD_HTTPS=1, and CONCORD_BEHIND_PROXY=1 where a proxy holds the certificate."
        found.append(Error("Passwords and cookies would cross the network readable.", hint=hint, id="concord.E005"))
    return found


PLACEHOLDER = "replace-with"
"""How values begin in deploy/concord.env.example that are to be replaced."""

SHORTEST_SECRET, SHORTEST_TOKEN = 50, 16


@register(SETTINGS, deploy=True)
def secrets_are_secret(**kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    """Whoever has the example can otherwise sign sessions, open sealed keys, read metrics or open the database."""
    found: list[CheckMessage] = []
    hint = 'Set it to what `python3 -c "import secrets; print(secrets.token_urlsafe(50))"` prints.'
    *sealing, _ = settings.SEALING_SECRETS
    *audit, _ = settings.AUDIT_SECRETS
    given = [("SECRET_KEY", settings.SECRET_KEY)]
    given += [("SEALING_SECRETS", one) for one in sealing] + [("AUDIT_KEY", one) for one in audit]
    for name, secret in given:
        if is_weak(secret, SHORTEST_SECRET):
            found.append(Error(f"CONCORD_{name} can be guessed.", hint=hint, id="concord.E011"))
    if settings.METRICS_TOKEN and is_weak(settings.METRICS_TOKEN, SHORTEST_TOKEN):
        found.append(Error("CONCORD_METRICS_TOKEN can be guessed.", hint=hint, id="concord.E012"))
    if settings.DATABASES["default"].get("PASSWORD") == "database-password":  # that of the example
        hint = "Give the database's account a password of its own, and put it into DATABASE_URL."
        found.append(Error("The database's password is that of the example.", hint=hint, id="concord.E013"))
    return found


def is_weak(secret: str, shortest: int) -> bool:
    return secret.startswith(PLACEHOLDER) or len(secret) < shortest or len(set(secret)) < 5


@register(SETTINGS, deploy=True)
def database_is_for_many(**kwargs: object) -> list[CheckMessage]:  # noqa: ARG001
    if not settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        return []
    hint = "Set DATABASE_URL to PostgreSQL where the web server and workers run on several machines."
    return [Warning("The database is a file of this machine.", hint=hint, id="concord.W002")]
