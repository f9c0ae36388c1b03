"""What the providers that speak chat completions have in common: one call and its reply, read with OpenAI's SDK."""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.jobs.backoff import TransientError
from judging.judges.providers import base
from judging.judges.providers.base import Reply, Usage
from judging.judges.providers.calls import NO_ANSWER, judge_patiently, translate_errors
from judging.judges.providers.requests import JudgeRequest, Picture, Prompt, to_openai_pictures

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletion
    from openai.types.chat.chat_completion import Choice

STOPS: dict[str | None, base.Stop] = {"length": "length", "content_filter": "refusal"}
ALTERNATIVES = 20
"""How many tokens to ask for in each place: the most that servers give."""


class ChatProvider(base.Provider):
    needs_prompt = True

    @abstractmethod
    async def client(self) -> AsyncOpenAI:
        """The SDK's client, connected to a server. Made once."""

    @abstractmethod
    def arguments(self, request: JudgeRequest, prompt: Prompt) -> dict[str, Any]:
        """What `chat.completions.create` is called with."""

    async def judge(self, request: JudgeRequest) -> Reply:
        return await judge_patiently(self, request, lambda prompt: self.request_reply(request, prompt))

    async def request_reply(self, request: JudgeRequest, prompt: Prompt) -> Reply:
        """One call."""
        import openai

        client = await self.client()
        with translate_errors(openai, timeout=self.parameters.timeout, key=self.key):
            completion = await client.chat.completions.create(**self.arguments(request, prompt))
        return to_reply(completion, request.criterion.values)


def messages(prompt: Prompt, pictures: Sequence[Picture] = ()) -> list[dict[str, object]]:
    """System text and message; pictures of the item stand before its words."""
    said: list[dict[str, object]] = [{"role": "system", "content": prompt.system}] if prompt.system else []
    words: object = [*to_openai_pictures(pictures), {"type": "text", "text": prompt.user}] if pictures else prompt.user
    return [*said, {"role": "user", "content": words}]


def response_format(schema: dict[str, object]) -> dict[str, object]:
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}


def to_reply(completion: ChatCompletion, values: Sequence[str]) -> Reply:
    """The reply in a completion. The SDK hands on whatever came, so a proxy's page is recognised here."""
    choices = getattr(completion, "choices", None)
    if not choices or getattr(choices[0], "message", None) is None:
        raise TransientError(f"{NO_ANSWER}: no completion.")
    choice = choices[0]
    refusal = choice.message.refusal
    details: dict[str, object] = {"model": completion.model, "id": completion.id}
    found = distribution(list_token_probabilities(choice), values)
    if found:
        details["scale_mass"] = round(found.mass, 6)
    if timings := (completion.model_extra or {}).get("timings"):
        details["timings"] = timings
    return Reply(
        text=refusal or choice.message.content or "",
        stop="refusal" if refusal else STOPS.get(choice.finish_reason, "end"),
        details=details,
        usage=parse_usage(completion),
        distribution=dict(found.probabilities) if found else {},
    )


def list_token_probabilities(choice: Choice) -> list[Token]:
    said = choice.logprobs.content if choice.logprobs and choice.logprobs.content else []
    return [Token(one.token, {other.token: other.logprob for other in one.top_logprobs or ()}) for one in said]


def parse_usage(completion: ChatCompletion) -> Usage | None:
    usage = completion.usage
    if usage is None:
        return None
    cached = usage.prompt_tokens_details.cached_tokens if usage.prompt_tokens_details else 0
    return Usage(usage.prompt_tokens, usage.completion_tokens, cached or 0)


VERDICT = re.compile(r'"(?:verdict|score|rating)"\s*:\s*"?|\b(?:verdict|score|rating)\W{0,4}[:=]\W{0,4}', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it was said, and the most probable tokens in its place with their log-probabilities."""

    text: str
    alternatives: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Distribution:
    """Probabilities that sum to 1, and how much of the model's probability they stand for."""

    probabilities: Mapping[str, float]
    mass: float


def distribution(tokens: Sequence[Token], values: Sequence[str]) -> Distribution | None:
    """The distribution over `values` where the last verdict begins; None if there is none to tell.

    The verdict's first token decides: its alternatives are the values that could have stood there. What the model
    would rather have said than any value is left out, and the share that was left is told.

    A value that is the beginning of another one, or begins with the same token, cannot be told apart by one token.
    """
    at = verdict_start("".join(token.text for token in tokens))
    found = token_at(tokens, at) if at is not None else None
    if found is None:
        return None
    token, offset = found
    masses = dict.fromkeys(values, 0.0)
    for text, logprob in token.alternatives.items():
        if text[:offset] != token.text[:offset]:
            continue
        meant = [value for value in values if begins(value, text[offset:])]
        if len(meant) > 1:
            return None
        for value in meant:
            masses[value] += math.exp(logprob)
    mass = sum(masses.values())
    return Distribution({value: part / mass for value, part in masses.items()}, min(mass, 1.0)) if mass > 0 else None


def verdict_start(text: str) -> int | None:
    """Where the last verdict's value begins in the text."""
    found = list(VERDICT.finditer(text))
    return found[-1].end() if found else None


def token_at(tokens: Sequence[Token], position: int) -> tuple[Token, int] | None:
    """The token that holds the character, and where in it."""
    for token in tokens:
        if position < len(token.text):
            return token, position
        position -= len(token.text)
    return None


def begins(value: str, said: str) -> bool:
    """Whether the value is what the token begins to say: "2", "2" with the closing quote, the "ye" of "yes"."""
    said = said.strip().strip("\"'").casefold()
    return bool(said) and value.casefold().startswith(said)
