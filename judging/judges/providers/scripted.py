"""A judge that says what it was told to say. It stands in for a model when the machinery is tried out or tested.

It can be slow, refuse, stumble or say nonsense on purpose, so that every way a run can go is reachable without a model.
"""

from __future__ import annotations

import asyncio
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from annotation.stats.orders import to_place
from core.jobs.backoff import PermanentError, TransientError
from judging.judges.providers import base
from judging.judges.providers.base import Reply
from judging.judges.providers.requests import JudgeRequest, PairContent

HERE = "HERE"


class ScriptedTrouble(BaseModel):
    """What goes wrong with an item: an error of the call, or a reply (`text`, `stop`) without a verdict."""

    model_config = ConfigDict(extra="forbid")

    error: Literal["transient", "permanent", "crash", ""] = ""
    retry_after: float | None = None
    text: str = ""
    stop: base.Stop = "end"


class ScriptedParameters(base.Parameters):
    """`answers` by criterion: one value for all items, or values by item id.

    A preference may be given as the side shown (A, B, …) or as the response (1, 2, …); all that is not a choice as a
    person would enter it, responses by their sides. `otherwise` answers the rest. `where` goes before both: a text, and
    the answer on every item in which it stands; HERE is the response in which it stands. `delay` is in seconds, per
    call. `trouble` is by item id.
    """

    answers: dict[str, str | dict[str, str]] = Field(default_factory=dict)
    otherwise: str | None = None
    where: dict[str, str] = Field(default_factory=dict)
    delay: float = Field(default=0.0, ge=0)
    trouble: dict[str, ScriptedTrouble] = Field(default_factory=dict)
    problem: str = Field(default="", description="What `check` reports.")


class Scripted(base.Provider):
    Parameters = ScriptedParameters

    def check(self, criteria: object) -> list[str]:  # noqa: ARG002
        return [self.parameters.problem] if self.parameters.problem else []

    async def judge(self, request: JudgeRequest) -> Reply:
        await asyncio.sleep(self.parameters.delay)
        if trouble := self.parameters.trouble.get(request.item):
            return make(trouble, request)
        answer = self.answer(request)
        side = to_place(answer, request.order)
        value = side if side in request.criterion.values else answer
        return Reply(text=answer, value=value, explanation="Said as scripted.", details={"seed": request.seed})

    def answer(self, request: JudgeRequest) -> str:
        for text, said in self.parameters.where.items():
            if side := find_text(text, request):
                return side if said == HERE else str(said)
        answers = self.parameters.answers.get(request.criterion.key, self.parameters.otherwise)
        answer: str | None = (
            answers.get(request.item, self.parameters.otherwise) if isinstance(answers, dict) else answers
        )
        if answer is None:
            raise PermanentError(f"The script has no answer for {request.criterion.key} of {request.item}.")
        return answer


def find_text(text: str, request: JudgeRequest) -> str:
    """Where the text stands: A, B, … of responses, dialogue of a dialogue; empty if nowhere."""
    content = request.content
    if isinstance(content, PairContent):
        return next((side for side, said in content.responses.items() if text in said), "")
    return "dialogue" if any(text in turn.content for turn in content.turns) else ""


def make(trouble: ScriptedTrouble, request: JudgeRequest) -> Reply:
    if trouble.error == "transient":
        raise TransientError(f"Scripted to fail for now on {request.item}.", retry_after=trouble.retry_after)
    if trouble.error == "permanent":
        raise PermanentError(f"Scripted to fail on {request.item}.")
    if trouble.error == "crash":
        raise RuntimeError(f"Scripted to crash on {request.item}.")
    return Reply(text=trouble.text, stop=trouble.stop)
