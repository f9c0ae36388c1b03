"""Encryption of backups, in chunks: a file of any size needs the same little memory.

The chunks are sealed with AES-256-GCM of the `cryptography` package, in the STREAM construction (Hoang, Reyhanitabar,
Rogaway and Vizár 2015; age and Tink use it too): a chunk's nonce is its number and whether it is the last one. A chunk
that was altered, moved or left out therefore does not open, nor does a file that was cut. The key of a file follows
from a key of the site and the file's own salt by HKDF (RFC 5869), so that chunks of other files do not open either.

Fernet holds a whole file in memory, and bindings of age decrypt from beginning to end. `zipfile` reads at any place:
with chunks it reads from the encrypted file, and nothing lies decrypted on a disk.
"""

from __future__ import annotations

import base64
import binascii
import io
import os
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from core.errors import InputError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

MAGIC = b"Concord backup, encrypted, form 1\n"
SALT, PROOF, KEY, TAG = 32, 16, 32, 16
HEADER = len(MAGIC) + SALT + PROOF
CHUNK = 2**16
"""Bytes before encryption. Each chunk is longer by a tag."""


class DamagedError(OSError):
    """An encrypted file cannot be opened: it was changed or cut, or the key is another one."""


def new_key() -> str:
    """A random key, as CONCORD_BACKUP_KEY holds it."""
    return base64.urlsafe_b64encode(secrets.token_bytes(KEY)).decode()


def keys() -> list[bytes]:
    """The keys in CONCORD_BACKUP_KEY. InputError where it holds something else: a password is guessed, a key is not."""
    return [decode(text) for text in settings.BACKUP_KEYS]


def decode(text: str) -> bytes:
    try:
        key = base64.b64decode(text, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):  # the latter for what is not ASCII
        key = b""
    if len(key) != KEY:
        raise InputError("CONCORD_BACKUP_KEY is not a key. `manage.py backup --new-key` makes one.")
    return key


def derive(key: bytes, salt: bytes) -> tuple[AESGCM, bytes]:
    """The cipher of one file, and the proof in its header that this is the right key."""
    derived = HKDF(algorithm=SHA256(), length=KEY + PROOF, salt=salt, info=MAGIC).derive(key)
    return AESGCM(derived[:KEY]), derived[KEY:]


def nonce(number: int, *, last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([last])


class Encrypting(io.RawIOBase):
    """What is written to it goes into a file encrypted. The file can be opened once `finish` was called."""

    def __init__(self, into: BinaryIO, key: bytes) -> None:
        salt = secrets.token_bytes(SALT)
        self.cipher, proof = derive(key, salt)
        self.into, self.waiting, self.number = into, bytearray(), 0
        into.write(MAGIC + salt + proof)

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        self.waiting += data
        while len(self.waiting) > CHUNK:  # the last chunk is sealed as such, so at least one byte waits for `finish`
            self._seal(self.waiting[:CHUNK], last=False)
            del self.waiting[:CHUNK]
        return memoryview(data).nbytes

    def finish(self) -> None:
        self._seal(self.waiting, last=True)

    def _seal(self, chunk: bytearray, *, last: bool) -> None:
        self.into.write(self.cipher.encrypt(nonce(self.number, last=last), chunk, None))
        self.number += 1


class Decrypting(io.RawIOBase):
    """An encrypted file as it was before. DamagedError where it cannot be opened, also later while it is read."""

    def __init__(self, file: BinaryIO, keys: Sequence[bytes]) -> None:
        if not keys:
            raise DamagedError("it is encrypted: set CONCORD_BACKUP_KEY to the key that it was made with")
        self.file, self.at, self.loaded = file, 0, (-1, b"")
        self.cipher = find_cipher(file, keys)
        body = file.seek(0, os.SEEK_END) - HEADER
        self.chunks = max(1, -(-body // (CHUNK + TAG)))
        self.size = body - self.chunks * TAG
        self._chunk(self.chunks - 1)  # a file that was cut does not end with a last chunk

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self.at = offset + (0, self.at, self.size)[whence]
        return self.at

    def readinto(self, buffer: WriteableBuffer) -> int:
        if self.at >= self.size:
            return 0
        view = memoryview(buffer)
        number, begin = divmod(self.at, CHUNK)
        piece = self._chunk(number)[begin : begin + view.nbytes]
        view[: len(piece)] = piece
        self.at += len(piece)
        return len(piece)

    def _chunk(self, number: int) -> bytes:
        if self.loaded[0] != number:
            self.file.seek(HEADER + number * (CHUNK + TAG))
            sealed, last = self.file.read(CHUNK + TAG), number == self.chunks - 1
            try:
                self.loaded = number, self.cipher.decrypt(nonce(number, last=last), sealed, None)
            except InvalidTag:
                raise DamagedError(f"part {number + 1} of {self.chunks} was changed, moved or cut") from None
        return self.loaded[1]


def find_cipher(file: BinaryIO, keys: Sequence[bytes]) -> AESGCM:
    """The cipher of the file, from the one of the keys that it was encrypted with."""
    file.seek(0)
    header = file.read(HEADER)
    salt, proof = header[len(MAGIC) : -PROOF], header[-PROOF:]
    if len(header) < HEADER:
        raise DamagedError("it was cut")
    for cipher, expected in (derive(key, salt) for key in keys):
        if secrets.compare_digest(proof, expected):
            return cipher
    raise DamagedError("it was encrypted with another key than those in CONCORD_BACKUP_KEY")


def open_decrypted(file: BinaryIO) -> BinaryIO:
    """The file itself, or what was encrypted in it."""
    encrypted = file.read(len(MAGIC)) == MAGIC
    file.seek(0)
    return io.BufferedReader(Decrypting(file, keys()), CHUNK) if encrypted else file
