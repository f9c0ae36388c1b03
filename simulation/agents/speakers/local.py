"""The language model on this machine as a speaker. It is small: expect it to fall out of its part."""

from __future__ import annotations

from pydantic import Field

from judging.judges.providers import local
from judging.judges.providers.chat_completions import response_format
from judging.judges.providers.requests import JudgeRequest, Prompt
from simulation.agents.speakers.base import chat_messages, reply_limit


class LocalSpeakerParameters(local.LocalParameters):
    """`temperature` None is the model's own default; `repeat_penalty` above 1 keeps a small model from circling."""

    max_tokens: int = Field(default=120, ge=16, le=4096)
    temperature: float | None = Field(default=0.0, ge=0, le=2)  # type: ignore[assignment]
    repeat_penalty: float = Field(default=1.1, ge=1, le=2)


class Local(local.Local):
    Parameters = LocalSpeakerParameters

    @property
    def reply_tokens(self) -> int:
        most: int = self.parameters.max_tokens
        return most

    def arguments(self, request: JudgeRequest, prompt: Prompt) -> dict[str, object]:
        given = self.parameters
        return {
            "model": self.name,
            "messages": chat_messages(prompt, given.system),
            "seed": request.seed,
            "max_tokens": reply_limit(prompt, given.max_tokens),
            **({"temperature": given.temperature} if given.temperature is not None else {}),
            **({"response_format": response_format(dict(prompt.schema))} if prompt.schema else {}),
            "extra_body": {"cache_prompt": given.reuse, "repeat_penalty": given.repeat_penalty},
        }
