"""A person's own scorer: a Python callable that the environment names.

    CONCORD_SCORERS="mine=my_package.my_module:score, other=…"

The callable gets `persona`, `question` and `response` as texts and returns a number, the higher the better. It may be
a coroutine function; an ordinary one runs in a thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from core.jobs.backoff import PermanentError
from judging.judges.providers.base import list_objections
from judging.judges.providers.callables import call_within, list_callables, load_callable
from judging.judges.providers.scorer.protocol import Score, Scorer, to_score

VARIABLE = "CONCORD_SCORERS"


class NamedScorer(Scorer):
    is_asked = True

    def problems(self) -> list[str]:
        return list_objections(lambda: self.function)

    @cached_property
    def function(self) -> Callable[..., object]:
        """PermanentError if the environment names none, or it cannot be imported."""
        named = list_callables(VARIABLE)
        if self.name not in named:
            known = ", ".join(("embedding", "endpoint", "model", *named))
            raise PermanentError(f"there is no scorer {self.name!r}; there are {known}, and what {VARIABLE} names")
        return load_callable(named[self.name])

    async def score(self, persona: str, question: str, response: str, *, seed: int = 0) -> Score:  # noqa: ARG002
        return to_score(
            await call_within(self.parameters.timeout, self.name, self.function, persona, question, response)
        )
