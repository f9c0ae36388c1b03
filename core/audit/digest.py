"""Keyed digests of the audit log: who can write to the database cannot compute them.

HMAC-SHA-256 under a key that follows by HKDF (RFC 5869) from a secret that the database does not hold. The first of
`settings.AUDIT_SECRETS` makes new digests; the others check those made before a change. Each row names its key.
"""

from __future__ import annotations

import hashlib
import hmac
from functools import cache

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

PURPOSE = b"concord: audit log"
ID_LENGTH = 8


class UnknownKeyError(Exception):
    """The site does not have the key with which a digest was made."""


def compute_digest(content: bytes, *, key_id: str) -> str:
    """The HMAC-SHA-256 of the content, in hexadecimal. UnknownKeyError where no secret of the site has this id."""
    for secret in settings.AUDIT_SECRETS:
        if name_key(secret) == key_id:
            return hmac.new(derive_key(secret), content, hashlib.sha256).hexdigest()
    raise UnknownKeyError(key_id)


def current_key_id() -> str:
    """The id of the key for new digests."""
    return name_key(settings.AUDIT_SECRETS[0])


@cache
def name_key(secret: str) -> str:
    """What a row calls the key of this secret: a few digits of its SHA-256, which do not lead back to it."""
    return hashlib.sha256(derive_key(secret)).hexdigest()[:ID_LENGTH]


@cache
def derive_key(secret: str) -> bytes:
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(secret.encode())
