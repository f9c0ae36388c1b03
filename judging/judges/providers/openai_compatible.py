"""Any server that speaks chat completions, through OpenAI's official SDK: OpenAI, vLLM, Ollama, llama.cpp and others.

The address is the parameter `base_url`, else OPENAI_BASE_URL, else OpenAI's own. A key is never stored with the judge:
OPENAI_API_KEY goes to the address that the environment names and to no other; for an address given as parameter it is
looked for under that address, for example OPENAI_API_KEY_GPU1_8000 for http://gpu1:8000/v1. Many servers need none.
A key that the project keeps for the address goes before both.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from core.addresses import Rule, check
from core.jobs.backoff import PermanentError, TransientError
from judging.judges.providers import base
from judging.judges.providers.base import NoModelListError, list_objections
from judging.judges.providers.calls import translate_errors
from judging.judges.providers.chat_completions import ALTERNATIVES, ChatProvider, messages, response_format
from judging.judges.providers.keys import origin
from judging.judges.providers.requests import CriterionSpec, JudgeRequest, Prompt

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

OPENAI = "https://api.openai.com/v1"
NO_KEY = (
    "no API key: set {name} in the environment of the web server and of the worker, or have an owner enter one for "
    "{where} on the project's page Keys"
)
NO_MODEL = "no model: name one as the server calls it"


class ChatParameters(base.ModelParameters):
    """`structured` constrains the reply to JSON by schema; `logprobs` asks how probable each verdict was.

    Switch off what a server does not know. Name `context_window` for a server that cuts what does not fit, as Ollama
    does, so that nothing too long is sent.
    """

    base_url: str = ""
    concurrency: int = Field(default=4, ge=1, le=256, description=base.CONCURRENCY)
    max_tokens: int = Field(default=2000, ge=16, le=64_000, description=base.LONGEST)
    structured: bool = True
    logprobs: bool = True
    pictures: bool = Field(default=False, description=base.PICTURES)
    temperature: float | None = Field(default=None, ge=0, le=2, description=base.TEMPERATURE)
    context_window: int | None = Field(default=None, ge=256, description=base.WINDOW)

    @field_validator("base_url")
    @classmethod
    def is_address(cls, value: str) -> str:
        if value and (urlsplit(value).scheme not in ("http", "https") or not urlsplit(value).hostname):
            raise ValueError("an address such as http://localhost:8000/v1 is needed")
        return value


class OpenAICompatible(ChatProvider):
    Parameters = ChatParameters
    made: AsyncOpenAI | None = None

    def check(self, criteria: Sequence[CriterionSpec]) -> list[str]:  # noqa: ARG002
        return [*self.forbidden(), *self.list_problems(), *([] if self.model else [NO_MODEL])]

    def list_problems(self) -> list[str]:
        """What is wrong with the key."""
        if unreadable := self.keys.problem(self.address):
            return [unreadable]
        needed = self.address == OPENAI and not self.key
        return [NO_KEY.format(name=self.key_name, where=origin(self.address))] if needed else []

    def forbidden(self) -> list[str]:
        """Why the address may not be called. One that the environment names is the choice of whoever runs the site."""
        if self.address == find_address():
            return []
        return list_objections(lambda: check(self.address, Rule.build_model_rule()))

    @property
    def address(self) -> str:
        return str(self.parameters.base_url or find_address()).rstrip("/")

    @property
    def key_name(self) -> str:
        """The environment variable of the key for this address."""
        if self.address == find_address():
            return "OPENAI_API_KEY"
        host = urlsplit(self.address).netloc.replace("-", "__")  # else a.b could have the key of a-b
        return "OPENAI_API_KEY_" + re.sub(r"\W+", "_", host).upper()

    @property
    def key(self) -> str:
        return self.keys.find_key(self.address, self.key_name)

    @property
    def context_window(self) -> int | None:
        window: int | None = self.parameters.context_window
        return window

    async def client(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI

        if self.made is None and (problems := await asyncio.to_thread(self.forbidden)):
            raise PermanentError("; ".join(problems))
        if self.made is None:  # asked again: another call may have made it while this one looked at the address
            key, timeout = self.key or "none", self.parameters.timeout
            self.made = AsyncOpenAI(
                api_key=key,
                base_url=self.address,
                max_retries=0,
                timeout=timeout,
                http_client=self.build_guarded_client(),
            )
        return self.made

    def build_guarded_client(self) -> httpx2.AsyncClient:
        """A client that follows no redirect and connects only where the rule lets it."""
        from openai import DEFAULT_CONNECTION_LIMITS

        from judging.judges.providers import reaching

        rule = None if self.address == find_address() else Rule.build_model_rule()
        timeout = self.parameters.timeout
        return reaching.client(self.address, rule, limits=DEFAULT_CONNECTION_LIMITS, timeout=timeout)

    async def probe(self) -> list[str]:
        """Whether somebody answers, takes the key and knows the model. Servers that list no models are believed."""
        try:
            known = await self.list_models()
        except NoModelListError:
            return []
        except (PermanentError, TransientError) as error:
            return [str(error)]
        unknown = known and self.model not in known
        return [f"{self.address} has no model {self.model!r}; it has {', '.join(known[:10])}"] if unknown else []

    async def list_models(self) -> tuple[str, ...]:
        """The models of the server: by `/models`, which all but few have, else by the tags of Ollama."""
        import openai

        client = await self.client()
        try:
            with translate_errors(openai, timeout=self.parameters.timeout, key=self.key):
                return tuple(sorted([model.id async for model in client.models.list()]))
        except PermanentError as error:
            if not str(error).startswith("404"):
                raise PermanentError(f"{self.address} says: {error}") from error
        except TransientError as error:
            raise TransientError(f"{self.address}: {error}") from error
        return await self.list_tags()

    async def list_tags(self) -> tuple[str, ...]:
        """What Ollama lists beside chat completions."""
        import httpx2

        parts = urlsplit(self.address)
        try:
            async with self.build_guarded_client() as client:
                found = (await client.get(f"{parts.scheme}://{parts.netloc}/api/tags")).json()
            return tuple(sorted(str(one["name"]) for one in found["models"]))
        except (httpx2.HTTPError, ValueError, KeyError, TypeError, PermanentError) as error:
            raise NoModelListError(f"{self.address} has no list of models: enter the name of one.") from error

    @property
    def probed(self) -> str:
        return f"{self.address} answers and objects to nothing; servers that list no models are believed."

    def arguments(self, request: JudgeRequest, prompt: Prompt) -> dict[str, object]:
        given = self.parameters
        length = "max_completion_tokens" if self.address == OPENAI else "max_tokens"
        return {
            "model": self.model,
            "messages": messages(prompt, self.list_pictures(prompt)),
            "seed": request.seed,
            length: given.max_tokens,
            **({"temperature": self.temperature} if self.temperature is not None else {}),
            **({"logprobs": True, "top_logprobs": ALTERNATIVES} if given.logprobs else {}),
            **({"response_format": response_format(dict(prompt.schema))} if given.structured else {}),
        }

    async def aclose(self) -> None:
        made, self.made = self.made, None
        if made is not None:
            await made.close()


def find_address() -> str:
    """The address that the environment names, else OpenAI's own."""
    return (os.environ.get("OPENAI_BASE_URL") or OPENAI).rstrip("/")
