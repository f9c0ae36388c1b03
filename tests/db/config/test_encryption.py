"""An encrypted file opens with its key and as it was written; whatever else is done to it is noticed."""

from __future__ import annotations

import base64
import io
import random
from collections.abc import Callable

import pytest

from config import checks
from config.backups import encryption
from config.backups.encryption import CHUNK, HEADER, TAG, DamagedError, Decrypting, Encrypting
from core.errors import InputError

KEY, OTHER = bytes(range(32)), bytes(32)
SEALED = CHUNK + TAG
PLAIN = random.Random(1).randbytes(3 * CHUNK + 5)


def encrypted(plain: bytes, key: bytes = KEY, piece: int = 7777) -> bytes:
    into = io.BytesIO()
    encrypting = Encrypting(into, key)
    for start in range(0, len(plain), piece):
        encrypting.write(plain[start : start + piece])
    encrypting.finish()
    return into.getvalue()


def opened(sealed: bytes, *keys: bytes) -> io.BufferedReader:
    return io.BufferedReader(Decrypting(io.BytesIO(sealed), keys or [KEY]))


def parts(sealed: bytes) -> list[bytes]:
    """The header, and each chunk."""
    return [sealed[:HEADER], *(sealed[at : at + SEALED] for at in range(HEADER, len(sealed), SEALED))]


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 5])
@pytest.mark.parametrize("piece", [1000, CHUNK, 5 * CHUNK])
def test_what_was_written_is_read_whatever_its_size_and_pieces(size, piece):
    sealed = encrypted(PLAIN[:size], piece=piece)
    assert opened(sealed).read() == PLAIN[:size]
    assert len(sealed) == HEADER + size + TAG * max(1, -(-size // CHUNK))


def test_any_place_can_be_read():
    draw, file = random.Random(3), opened(encrypted(PLAIN))
    for _ in range(200):
        at, size = draw.randrange(len(PLAIN) + 10), draw.randrange(2 * CHUNK)
        assert file.seek(at) == at
        assert file.read(size) == PLAIN[at : at + size]
    assert file.seek(-5, io.SEEK_END) == len(PLAIN) - 5
    assert file.read() == PLAIN[-5:]


def test_the_same_content_never_looks_the_same():
    one, two = encrypted(PLAIN), encrypted(PLAIN)
    assert not set(parts(one)) & set(parts(two))
    assert PLAIN[:16] not in one


def test_only_a_little_is_held_in_memory():
    encrypting = Encrypting(io.BytesIO(), KEY)
    for _ in range(100):
        encrypting.write(PLAIN)
        assert len(encrypting.waiting) <= CHUNK


def altered(at: int) -> Callable[[bytes], bytes]:
    return lambda sealed: sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :]


def arranged(*order: int) -> Callable[[bytes], bytes]:
    return lambda sealed: b"".join(parts(sealed)[number] for number in order)


def mixed(sealed: bytes) -> bytes:
    """A chunk of another file of the same site, in its place."""
    other = parts(encrypted(PLAIN[::-1]))
    return b"".join([*parts(sealed)[:2], other[2], *parts(sealed)[3:]])


DAMAGE = {
    "the salt altered": altered(HEADER - 20),
    "the proof altered": altered(HEADER - 1),
    "the first chunk altered": altered(HEADER),
    "a tag altered": altered(HEADER + SEALED - 1),
    "the last byte altered": altered(-1 % (HEADER + len(PLAIN) + 4 * TAG)),
    "cut inside the header": lambda sealed: sealed[: HEADER - 1],
    "cut after the header": lambda sealed: sealed[:HEADER],
    "cut after a chunk": arranged(0, 1, 2, 3),
    "cut inside a chunk": lambda sealed: sealed[: HEADER + SEALED + 100],
    "cut inside a tag": lambda sealed: sealed[:-1],
    "two chunks swapped": arranged(0, 2, 1, 3, 4),
    "a chunk left out": arranged(0, 1, 3, 4),
    "a chunk twice": arranged(0, 1, 1, 2, 3, 4),
    "the last chunk twice": arranged(0, 1, 2, 3, 4, 4),
    "something appended": lambda sealed: sealed + b"x",
    "a chunk of another file": mixed,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_damage_is_noticed(damage):
    with pytest.raises(DamagedError):
        opened(damage(encrypted(PLAIN))).read()


def test_a_file_that_was_never_finished_does_not_open():
    into = io.BytesIO()
    Encrypting(into, KEY).write(PLAIN)
    with pytest.raises(DamagedError, match="part 3 of 3 was changed, moved or cut"):
        opened(into.getvalue())


class TestKeys:
    def test_one_of_several_opens(self):
        assert opened(encrypted(PLAIN), OTHER, KEY).read() == PLAIN

    def test_another_key_does_not(self):
        with pytest.raises(DamagedError, match="another key"):
            opened(encrypted(PLAIN), OTHER)

    def test_none_says_what_to_set(self):
        with pytest.raises(DamagedError, match="set CONCORD_BACKUP_KEY"):
            Decrypting(io.BytesIO(encrypted(b"")), [])

    def test_a_new_key_is_a_key_and_another_each_time(self, settings):
        settings.BACKUP_KEYS = [encryption.new_key(), encryption.new_key()]
        one, two = encryption.keys()
        assert len(one) == len(two) == 32
        assert one != two

    @pytest.mark.parametrize("text", ["password", "pässwörd", base64.b64encode(bytes(31)).decode(), "!" * 44])
    def test_a_password_is_no_key(self, settings, text):
        settings.BACKUP_KEYS = [text]
        with pytest.raises(InputError, match="--new-key"):
            encryption.keys()

    def test_a_site_without_a_good_key_is_told_before_the_night(self, settings):
        settings.BACKUP_KEYS = []
        assert [found.id for found in checks.backups_can_be_made()] == ["concord.W021"]
        settings.BACKUP_KEYS = ["password"]
        assert [found.id for found in checks.backups_can_be_made()] == ["concord.E020"]
        settings.BACKUP_KEYS = [encryption.new_key()]
        assert checks.backups_can_be_made() == []
