"""One at a time: signs of life while somebody computes, and whoever wants the same waits for the result."""

from __future__ import annotations

from threading import Event, Thread

import pytest
from django.core.cache import cache

from core.jobs import waiting as single_flight

pytestmark = pytest.mark.django_db


def test_signs_of_life_are_given_until_it_is_done(monkeypatch):
    monkeypatch.setattr(single_flight, "BEAT", 0.01)
    with single_flight.alone("here") as is_mine:
        assert is_mine
        cache.delete("here")
        for _ in range(500):
            if cache.get("here"):
                break
            Event().wait(0.01)
        assert cache.get("here")
    assert cache.get("here") is None


def test_the_second_waits_for_the_first_and_begins_when_it_is_done(monkeypatch):
    monkeypatch.setattr(single_flight, "LOOK", 0.01)
    told: list[str] = []

    def second() -> None:
        with single_flight.take_turn("same"):
            told.append("second")

    waiting = Thread(target=second)
    with single_flight.take_turn("same"):
        waiting.start()
        Event().wait(0.1)
        told.append("first")
    waiting.join(10)
    assert told == ["first", "second"]


def test_an_error_leaves_the_turn_to_the_next():
    with pytest.raises(ValueError, match="lost"), single_flight.take_turn("lost"):
        raise ValueError("lost")
    with single_flight.take_turn("lost"):
        assert cache.get("lost")
