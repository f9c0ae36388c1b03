"""Requests that are equal: the first is asked, and the others wait for its answer.

Items of the same text are in the same part of a run, so that one process has them all. Where a run asks anew what was
answered before, every item is asked by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from core.jobs.backoff import PermanentError
from judging.runs.services.request_pool import Answer, Ask


class RequestCoalescing:
    """Which requests are on their way, by key, and which ones wait for them. A request without a key is on its own."""

    def __init__(self, *, together: bool) -> None:
        self.together = together
        self.behind: dict[str, list[Ask]] = {}

    def join(self, ask: Ask) -> bool:
        """Whether the request waits for an equal one. Otherwise it goes, and later ones wait for it."""
        if not self.together or not ask.key:
            return False
        if ask.key in self.behind:
            self.behind[ask.key].append(ask)
            return True
        self.behind[ask.key] = []
        return False

    def release(self, answers: Iterable[Answer]) -> tuple[list[Answer], list[Ask]]:
        """What the answers mean for the requests behind them: an equal answer, or that the first of them goes next.

        A fault that would come again is theirs too; one that may pass is not.
        """
        equal: list[Answer] = []
        next_ones: list[Ask] = []
        for answer in answers:
            waiting = self.behind.pop(answer.ask.key, [])
            if answer.reply or isinstance(answer.fault, PermanentError):
                equal += [replace(answer, ask=ask, cached=True, latency_ms=0) for ask in waiting]
            else:
                next_ones += [ask for ask in waiting if not self.join(ask)]
        return equal, next_ones

    def drop(self, asks: Iterable[Ask], unwanted: Callable[[Ask], bool]) -> tuple[int, list[Ask]]:
        """The requests `asks` will not be made, and no other that is `unwanted`.

        Returns how many that waited are gone with them, and those that go next in the place of one that they waited
        for.
        """
        before = sum(map(len, self.behind.values()))
        for key, waiting in self.behind.items():
            self.behind[key] = [ask for ask in waiting if not unwanted(ask)]
        gone = before - sum(map(len, self.behind.values()))
        next_ones = [ask for one in asks for ask in self.behind.pop(one.key, []) if not self.join(ask)]
        return gone, next_ones
