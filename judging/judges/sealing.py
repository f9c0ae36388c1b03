"""Secrets that the database holds: readable with the site's secret, and by nothing that the database holds itself.

Fernet (AES-128-CBC and HMAC-SHA256, of the `cryptography` package) under a key that follows from a secret of the site
by HKDF (RFC 5869). The first secret of `settings.SEALING_SECRETS` seals; the others open what was sealed before a
change.
What is sealed names what it belongs to, so that a row's text is of no use in another row.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from functools import cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

PURPOSE = b"concord: keys of models"


class UnreadableError(Exception):
    """It was sealed with another secret, for something else, or altered."""


def seal(secret: str, *, of: str) -> str:
    """The secret as it may be stored. `of` says what it belongs to."""
    return _box().encrypt(json.dumps([of, secret]).encode()).decode()


def unseal(sealed: str, *, of: str) -> str:
    """What was sealed. UnreadableError if it cannot be read here, or belongs to something else."""
    try:
        owner, secret = json.loads(_box().decrypt(sealed.encode()))
    except InvalidToken as error:
        raise UnreadableError("it was sealed with another secret of the site, or altered") from error
    if owner != of:
        raise UnreadableError("it was sealed for something else")
    return str(secret)


def _box() -> MultiFernet:
    return MultiFernet([_fernet(secret) for secret in settings.SEALING_SECRETS])


@cache
def _fernet(secret: str) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(secret.encode())
    return Fernet(urlsafe_b64encode(derived))
