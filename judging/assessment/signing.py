"""The keys that sign certificates: Ed25519 (RFC 8032), of the `cryptography` package.

A private key stands in CONCORD_SIGNING_KEY, or in a file of the data folder that is made on first use; never in the
database. Behind it stand the keys that signed before, as private or public keys: what they signed can be checked, and
nothing new is signed with them. Whoever takes a key out of the list says that it is not to be believed any more.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from django.conf import settings

from core.errors import InputError

ALGORITHM = "Ed25519"
KEY = 32
"""Bytes of a key."""

PUBLIC = "public:"
"""Stands before the hexadecimal digits of a key that only checks."""

VARIABLE = "CONCORD_SIGNING_KEY"


@dataclass(frozen=True)
class Key:
    """One key of the site: its public part, and the private one where it is there."""

    public: bytes
    private: Ed25519PrivateKey | None = None

    @property
    def hex(self) -> str:
        """The public key as files and pages show it."""
        return self.public.hex()

    @property
    def key_id(self) -> str:
        """A short name of the public key."""
        return name_key(self.public)


def name_key(public: bytes) -> str:
    """Sixteen hexadecimal digits of the SHA-256 of a public key."""
    return hashlib.sha256(public).hexdigest()[:16]


def new_key() -> str:
    """A random private key, as CONCORD_SIGNING_KEY holds it."""
    return base64.urlsafe_b64encode(secrets.token_bytes(KEY)).decode()


def read_keys() -> list[Key]:
    """All keys that the site has: of its environment, then of its file. InputError where one is none."""
    found = [read_key(text, VARIABLE) for text in settings.SIGNING_KEYS]
    return found + [read_key(text, str(settings.SIGNING_KEY_FILE)) for text in read_lines(settings.SIGNING_KEY_FILE)]


def load_keys() -> list[Key]:
    """The same, made where there is none yet. The first one signs. InputError where it cannot."""
    if not settings.SIGNING_KEYS and not settings.SIGNING_KEY_FILE.exists():
        make_file(settings.SIGNING_KEY_FILE)
    found = read_keys()
    if not found or found[0].private is None:
        raise InputError(
            "The first key in {describe_location} must be a private one.", describe_location=describe_location()
        )
    return found


def describe_location() -> str:
    """Where the signing key stands, for a person."""
    return VARIABLE if settings.SIGNING_KEYS else str(settings.SIGNING_KEY_FILE)


def find_key(public: bytes, keys: Iterable[Key]) -> Key | None:
    """The one of the keys that has this public key."""
    return next((key for key in keys if key.public == public), None)


def sign(content: bytes) -> tuple[Key, bytes]:
    """The signature of the content, with the key that made it."""
    key = load_keys()[0]
    assert key.private is not None  # load_keys has looked
    return key, key.private.sign(content)


def is_signed_by(public: bytes, signature: bytes, content: bytes) -> bool:
    """Whether the signature is one of this content by the private half of this key."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, content)
    except (InvalidSignature, ValueError):
        return False
    return True


def read_key(text: str, origin: str) -> Key:
    """A private key (base64), or a public one (`public:` and hexadecimal). InputError names where it stands."""
    if text.startswith(PUBLIC):
        return Key(read_public_key(text, origin))
    try:
        raw = base64.b64decode(text, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):  # the latter for what is not ASCII
        raw = b""
    if len(raw) != KEY:
        raise InputError(
            "{origin} holds something that is not a key. `manage.py signing_keys --new-key` makes one.", origin=origin
        )
    private = Ed25519PrivateKey.from_private_bytes(raw)
    return Key(private.public_key().public_bytes_raw(), private)


def read_public_key(text: str, origin: str) -> bytes:
    """The bytes of a public key: 64 hexadecimal digits. InputError where it is none."""
    try:
        raw = bytes.fromhex(text.strip().removeprefix(PUBLIC))
    except ValueError:
        raw = b""
    if len(raw) != KEY:
        raise InputError(
            "{origin} is not a public key: that has {digits} hexadecimal digits", origin=origin, digits=2 * KEY
        )
    return raw


def read_lines(path: Path) -> list[str]:
    """The keys in a file, one a line; none where it is not there."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("cannot be read: {error}", file=str(path), error=error) from error
    return [line.strip() for line in text.splitlines() if line.strip()]


def make_file(path: Path) -> None:
    """A file with a new key, readable by its owner only. Of two processes that make it at once, one wins."""
    written = write_beside(path, [new_key()])
    with suppress(FileExistsError):
        os.link(written, path)
    written.unlink()


def rotate() -> Key:
    """Sign with a new key from now on. The keys so far only check, and their private halves are forgotten.

    Raises InputError where keys stand in the environment, which whoever runs the site changes.
    """
    if settings.SIGNING_KEYS:
        raise InputError(
            "The key stands in {variable}. Put what `manage.py signing_keys --new-key` prints before it, with a "
            "comma between them, and write the old one as `{public}` and its public key",
            variable=VARIABLE,
            public=PUBLIC,
        )
    retired = [f"{PUBLIC}{key.hex}" for key in load_keys()]
    os.replace(write_beside(settings.SIGNING_KEY_FILE, [new_key(), *retired]), settings.SIGNING_KEY_FILE)
    return load_keys()[0]


def write_beside(path: Path, lines: Iterable[str]) -> Path:
    """A whole file in the same folder, which may then take the other's name."""
    written = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    handle = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in lines))
    return written
