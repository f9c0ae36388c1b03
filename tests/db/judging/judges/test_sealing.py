from __future__ import annotations

import pytest

from judging.judges import sealing


def test_what_is_sealed_is_not_to_be_read_and_comes_back():
    sealed = sealing.seal("sk-123", of="1 https://a.example")
    assert "sk-123" not in sealed
    assert sealing.unseal(sealed, of="1 https://a.example") == "sk-123"
    assert sealing.seal("sk-123", of="1 https://a.example") != sealed


def test_a_row_that_was_copied_is_of_no_use(settings):
    sealed = sealing.seal("sk-123", of="1 https://a.example")
    with pytest.raises(sealing.UnreadableError, match="something else"):
        sealing.unseal(sealed, of="2 https://a.example")


def test_another_secret_opens_nothing_and_an_old_one_still_does(settings):
    settings.SEALING_SECRETS = ["old"]
    sealed = sealing.seal("sk-123", of="x")
    settings.SEALING_SECRETS = ["new"]
    with pytest.raises(sealing.UnreadableError, match="another secret"):
        sealing.unseal(sealed, of="x")
    settings.SEALING_SECRETS = ["new", "old"]
    assert sealing.unseal(sealed, of="x") == "sk-123"


@pytest.mark.parametrize("altered", ["", "no token", "gAAAAA"])
def test_what_was_altered_is_not_read(altered):
    with pytest.raises(sealing.UnreadableError):
        sealing.unseal(altered, of="x")
