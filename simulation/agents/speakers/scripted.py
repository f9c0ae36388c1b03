"""A speaker that says what it was told to say. It stands in for a model when the machinery is tried out or tested."""

from __future__ import annotations

import asyncio
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from core.jobs.backoff import PermanentError, TransientError
from judging.judges.providers import base
from judging.judges.providers.base import Reply, Usage, approximate_tokens
from judging.judges.providers.requests import JudgeRequest


class Trouble(BaseModel):
    """What goes wrong from turn `turn` of a dialogue on."""

    model_config = ConfigDict(extra="forbid")

    turn: int = Field(default=1, ge=1)
    error: Literal["transient", "permanent", "crash", "refusal", "too_long"]


class ScriptedSpeakerParameters(base.Parameters):
    """`lines` are the turns of this side, in order; `by_dialogue` has others for dialogues whose name contains the key.

    In a line `$n` is the turn's number, `$dialogue` the dialogue's name. After the last line comes `otherwise`.
    `delay` is in seconds, per turn.
    """

    lines: list[str] = Field(default_factory=list)
    by_dialogue: dict[str, list[str]] = Field(default_factory=dict)
    otherwise: str = "Something new: $n."
    delay: float = Field(default=0.0, ge=0)
    trouble: dict[str, Trouble] = Field(default_factory=dict)


class Scripted(base.Provider):
    Parameters = ScriptedSpeakerParameters

    async def judge(self, request: JudgeRequest) -> Reply:
        await asyncio.sleep(self.parameters.delay)
        for key, trouble in self.parameters.trouble.items():
            if key in request.item and request.repeat >= trouble.turn:
                return fail(trouble.error, request.item)
        line = self.line(request).replace("$n", str(request.repeat)).replace("$dialogue", request.item)
        asked = request.prompt.user if request.prompt else ""
        return Reply(text=line, usage=Usage(approximate_tokens(asked), approximate_tokens(line)))

    def line(self, request: JudgeRequest) -> str:
        """The n-th line of the side that speaks at this turn: both sides count their own turns."""
        found = (lines for key, lines in self.parameters.by_dialogue.items() if key in request.item)
        lines: list[str] = next(found, self.parameters.lines)
        place = (request.repeat - 1) // 2
        return lines[place] if place < len(lines) else str(self.parameters.otherwise)


def fail(error: str, item: str) -> Reply:
    if error == "transient":
        raise TransientError(f"Scripted to fail for now on {item}.")
    if error == "permanent":
        raise PermanentError(f"Scripted to fail on {item}.")
    if error == "crash":
        raise RuntimeError(f"Scripted to crash on {item}.")
    return Reply(stop="refusal") if error == "refusal" else Reply(unscored="too_long")
