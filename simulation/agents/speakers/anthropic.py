"""Claude models as speakers, through Anthropic or Bedrock. Keys as for judges."""

from __future__ import annotations

from pydantic import Field

from judging.judges.providers import anthropic
from judging.judges.providers.anthropic import CACHEABLE
from judging.judges.providers.base import approximate_tokens
from judging.judges.providers.requests import Prompt
from simulation.agents.speakers.base import USUAL_REPLY, parse_messages, reply_limit, system_text


class AnthropicSpeakerParameters(anthropic.AnthropicParameters):
    max_tokens: int = Field(default=USUAL_REPLY, ge=16, le=64_000)


class Anthropic(anthropic.Anthropic):
    Parameters = AnthropicSpeakerParameters

    def arguments(self, prompt: Prompt) -> dict[str, object]:
        given, system = self.parameters, system_text(prompt, self.parameters.system)
        return {
            "model": self.model,
            "max_tokens": reply_limit(prompt, given.max_tokens),
            **({"system": system} if system else {}),
            "messages": self.messages(prompt),
            **({"extra_body": {"temperature": given.temperature}} if given.temperature is not None else {}),
        }

    def messages(self, prompt: Prompt) -> list[dict[str, object]]:
        """The conversation. All of it is kept by the other side where that is worth it: the next turn begins alike."""
        said: list[dict[str, object]] = [{"role": one.role, "content": one.content} for one in parse_messages(prompt)]
        if said and self.parameters.cache and approximate_tokens(prompt.user) >= CACHEABLE:
            kept = {"type": "text", "text": said[-1]["content"], "cache_control": {"type": "ephemeral"}}
            said[-1]["content"] = [kept]
        return said
