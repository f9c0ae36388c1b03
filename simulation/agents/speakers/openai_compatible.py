"""A speaker behind any chat endpoint: OpenAI, vLLM, Ollama, llama.cpp and others. Keys and addresses as for judges."""

from __future__ import annotations

from pydantic import Field

from judging.judges.providers import openai_compatible
from judging.judges.providers.openai_compatible import OPENAI
from judging.judges.providers.requests import JudgeRequest, Prompt
from simulation.agents.speakers.base import USUAL_REPLY, chat_messages, reply_limit


class ChatSpeakerParameters(openai_compatible.ChatParameters):
    max_tokens: int = Field(default=USUAL_REPLY, ge=16, le=64_000)


class OpenAICompatible(openai_compatible.OpenAICompatible):
    Parameters = ChatSpeakerParameters

    def arguments(self, request: JudgeRequest, prompt: Prompt) -> dict[str, object]:
        given = self.parameters
        length = "max_completion_tokens" if self.address == OPENAI else "max_tokens"
        return {
            "model": self.model,
            "messages": chat_messages(prompt, given.system),
            "seed": request.seed,
            length: reply_limit(prompt, given.max_tokens),
            **({"temperature": given.temperature} if given.temperature is not None else {}),
        }
