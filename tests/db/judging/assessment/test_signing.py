"""The keys that sign certificates: where they stand, who may read them, and what follows another."""

from __future__ import annotations

import stat

import pytest

from config import checks
from core.errors import InputError
from judging.assessment import signing


@pytest.fixture(autouse=True)
def own_file(settings, tmp_path):
    settings.SIGNING_KEYS, settings.SIGNING_KEY_FILE = [], tmp_path / "signing_keys"
    return settings.SIGNING_KEY_FILE


def test_ed25519_by_the_first_test_of_rfc_8032():
    """RFC 8032, 7.1, test 1: the empty message."""
    public = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    signature = bytes.fromhex(
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24"
        "655141438e7a100b"
    )
    assert signing.is_signed_by(public, signature, b"")
    assert not signing.is_signed_by(public, signature, b"x")
    assert not signing.is_signed_by(b"short", signature, b"")


def test_a_file_is_made_once_and_is_the_owners_alone(own_file):
    assert signing.read_keys() == []
    (first,) = signing.load_keys()
    assert stat.S_IMODE(own_file.stat().st_mode) == 0o600
    signing.make_file(own_file)  # of two processes that start at once, the second
    assert signing.load_keys()[0].public == first.public
    assert list(own_file.parent.iterdir()) == [own_file]
    key, signature = signing.sign(b"content")
    assert signing.is_signed_by(first.public, signature, b"content")
    assert key.public == first.public


def test_rotation_keeps_the_public_half_alone(own_file):
    (old,) = signing.load_keys()
    private = own_file.read_text().strip()
    new = signing.rotate()
    assert [key.public for key in signing.load_keys()] == [new.public, old.public]
    assert private not in own_file.read_text()
    assert signing.load_keys()[1].private is None
    assert stat.S_IMODE(own_file.stat().st_mode) == 0o600


def test_keys_of_the_environment_come_first(settings, own_file):
    (filed,) = signing.load_keys()
    old, new = signing.new_key(), signing.new_key()
    settings.SIGNING_KEYS = [new, f"public:{signing.read_key(old, '').hex}"]
    found = signing.load_keys()
    wanted = [*(signing.read_key(text, "").public for text in (new, old)), filed.public]
    assert [key.public for key in found] == wanted
    with pytest.raises(InputError, match="stands in CONCORD_SIGNING_KEY"):
        signing.rotate()


@pytest.mark.parametrize("bad", ["short", "ä" * 43, "public:ab", "public:" + "z" * 64])
def test_what_is_no_key_is_refused_and_found_by_the_checks(settings, bad):
    settings.SIGNING_KEYS = [bad]
    with pytest.raises(InputError, match="CONCORD_SIGNING_KEY"):
        signing.load_keys()
    assert [one.id for one in checks.check_signing_key(app_configs=None)] == ["concord.E021"]


def test_a_public_key_alone_signs_nothing(settings):
    settings.SIGNING_KEYS = [f"public:{signing.read_key(signing.new_key(), '').hex}"]
    with pytest.raises(InputError, match="must be a private one"):
        signing.load_keys()
    assert [one.id for one in checks.check_signing_key(app_configs=None)] == ["concord.E021"]
    settings.SIGNING_KEYS = [signing.new_key()]
    assert checks.check_signing_key(app_configs=None) == []


def test_several_hosts_take_a_key_of_the_environment(settings, monkeypatch):
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", "config.postgresql")
    assert [one.id for one in checks.check_signing_key_shared(app_configs=None)] == ["concord.W022"]
    settings.SIGNING_KEYS = [signing.new_key()]
    assert checks.check_signing_key_shared(app_configs=None) == []
