"""A person's own system as the assistant under test: a Python callable that the environment names.

    CONCORD_ASSISTANTS="mine=my_package.my_module:reply, other=…"

The callable gets `messages` ([{"role", "content"}, …], the user's turn last) and `system` (what the condition grants),
and returns the reply as text. It may be a coroutine function; an ordinary one runs in a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from pydantic import Field

from core.jobs.backoff import PermanentError
from judging.judges.providers import base
from judging.judges.providers.base import Reply, list_objections
from judging.judges.providers.callables import call_within, list_callables, load_callable
from judging.judges.providers.requests import CriterionSpec, JudgeRequest
from simulation.agents.speakers.base import parse_messages

VARIABLE = "CONCORD_ASSISTANTS"


class CallableParameters(base.Parameters):
    timeout: float = Field(default=120, gt=0, description="Seconds for one turn.")


class CallableSpeaker(base.Provider):
    Parameters = CallableParameters

    def check(self, criteria: Sequence[CriterionSpec]) -> list[str]:  # noqa: ARG002
        return list_objections(lambda: self.function)

    @cached_property
    def function(self) -> Callable[..., object]:
        """The callable that goes by the model's name. PermanentError if there is none, or it cannot be imported."""
        named = list_callables(VARIABLE)
        if self.model not in named:
            raise PermanentError(f"{VARIABLE} names no {self.model!r}; it names: {', '.join(named) or 'none'}")
        return load_callable(named[self.model])

    async def judge(self, request: JudgeRequest) -> Reply:
        prompt = request.prompt
        messages = [{"role": message.role, "content": message.content} for message in parse_messages(prompt)]
        system = prompt.system if prompt else ""
        said = await call_within(self.parameters.timeout, self.model, self.function, messages, system=system)
        return Reply(text=str(said))
