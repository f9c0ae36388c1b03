"""Claude models through Anthropic's official SDK: Messages, Message Batches, and Messages through Amazon Bedrock.

The key is the project's, else that of ANTHROPIC_API_KEY; the address, if another one is wanted, comes from
ANTHROPIC_BASE_URL. Through Bedrock the key comes from AWS_BEARER_TOKEN_BEDROCK or, with boto3 installed, from where AWS
keeps its own. None is stored with the judge.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from core.jobs.backoff import PermanentError, TransientError
from judging.judges.providers import base
from judging.judges.providers.base import (
    BatchState,
    NoModelListError,
    Reply,
    TokenCount,
    TooLongError,
    UnknownBatchError,
    Usage,
    approximate_tokens,
)
from judging.judges.providers.calls import NO_ANSWER, failure, judge_patiently, translate_errors
from judging.judges.providers.keys import ENVIRONMENT, Keyring, origin
from judging.judges.providers.requests import CriterionSpec, JudgeRequest, Prompt, to_anthropic_pictures

REMEMBERED = 256


class Turns:
    """Who sends at the same time pays for the same beginning several times over, since nothing has been kept yet."""

    def __init__(self) -> None:
        self.first: OrderedDict[str, asyncio.Event] = OrderedDict()

    @asynccontextmanager
    async def wait_for_first(self, beginning: str) -> AsyncIterator[None]:
        """Wait while the first request with this beginning is on its way. An empty beginning waits for nobody."""
        if not beginning:
            yield
            return
        if (ahead := self.first.get(beginning)) is not None:
            await ahead.wait()
            yield
            return
        gone = self.first[beginning] = asyncio.Event()
        while len(self.first) > REMEMBERED:
            self.first.popitem(last=False)
        try:
            yield
        finally:
            gone.set()


if TYPE_CHECKING:
    from datetime import datetime

    from anthropic import AsyncAnthropic, AsyncAnthropicBedrock
    from anthropic.types import ContentBlock, Message
    from anthropic.types.messages import MessageBatch, MessageBatchIndividualResponse

ANTHROPIC = "https://api.anthropic.com"
VARIABLE = "ANTHROPIC_API_KEY"
NO_KEY = (
    "no API key: set ANTHROPIC_API_KEY in the environment of the web server and of the worker, or have an owner enter "
    "one for {where} on the project's page Keys"
)
NO_AWS = (
    "no way into Bedrock: set AWS_BEARER_TOKEN_BEDROCK in the environment of the web server and of the worker, "
    "or set up AWS credentials and install boto3, which Concord does not bring along (pip install 'boto3>=1.35')"
)
NO_REGION = "no AWS region: give the parameter region or set AWS_REGION"
NO_BATCHES = "Bedrock takes no Message Batches."
NO_MODEL = "no model: name one, for example claude-haiku-4-5"
STOPS: dict[str | None, base.Stop] = {
    "refusal": "refusal",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}
CACHEABLE = 1024
"""Tokens from which a beginning is kept by the models that keep the shortest ones."""

MOST_OF_A_BATCH = 100_000
STATUS = {
    "rate_limit_error": 429,
    "overloaded_error": 529,
    "api_error": 500,
    "timeout_error": 504,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
}
"""What an error inside a batch would have been as an answer by itself."""


class AnthropicParameters(base.ModelParameters):
    """`structured` constrains the verdict: JSON by schema, a tool that the model must call (for models that know no
    schemas), or the prompt alone. `cache` keeps what several requests begin with, which costs a little where nothing
    is asked twice. `temperature` and `effort` are sent only if they are given, since not every model takes them; a new
    judge is given temperature 0, and asked without where the model turns it down.
    """

    concurrency: int = Field(default=4, ge=1, le=256, description=base.CONCURRENCY)
    max_tokens: int = Field(default=2000, ge=64, le=64_000, description=base.LONGEST)
    structured: Literal["schema", "tool", "no"] = "schema"
    cache: bool = True
    temperature: float | None = Field(default=None, ge=0, le=1, description=base.TEMPERATURE)
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    context_window: int = Field(default=200_000, ge=1000, description=base.WINDOW)
    pictures: bool = Field(default=True, description=base.PICTURES)
    through: Literal["anthropic", "bedrock"] = "anthropic"
    region: str = Field(default="", description="AWS region, for Bedrock.")


class Anthropic(base.BatchProvider):
    Parameters = AnthropicParameters
    without_effect = base.BatchProvider.without_effect | {"cache", "context_window"}
    needs_prompt = True

    def __init__(
        self, *, model: str = "", parameters: Mapping[str, object] | None = None, keys: Keyring = ENVIRONMENT
    ) -> None:
        super().__init__(model=model, parameters=parameters, keys=keys)
        self.turns = Turns()

    def check(self, criteria: Sequence[CriterionSpec]) -> list[str]:  # noqa: ARG002
        return [*self.no_access(), *([] if self.model else [NO_MODEL])]

    def no_access(self) -> list[str]:
        if not self.is_bedrock:
            unreadable = self.keys.problem(self.address)
            return [] if self.key else [unreadable or NO_KEY.format(where=origin(self.address))]
        keyed = os.environ.get("AWS_BEARER_TOKEN_BEDROCK") or importlib.util.find_spec("boto3")
        return [problem for problem, there in ((NO_AWS, keyed), (NO_REGION, self.region)) if not there]

    @property
    def address(self) -> str:
        return os.environ.get("ANTHROPIC_BASE_URL") or ANTHROPIC

    @property
    def key(self) -> str:
        return "" if self.is_bedrock else self.keys.find_key(self.address, VARIABLE)

    @property
    def is_bedrock(self) -> bool:
        return bool(self.parameters.through == "bedrock")

    @property
    def region(self) -> str:
        given: str = self.parameters.region
        return given or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or ""

    @property
    def context_window(self) -> int:
        window: int = self.parameters.context_window
        return window

    @cached_property
    def client(self) -> AsyncAnthropic | AsyncAnthropicBedrock:
        from anthropic import AsyncAnthropic, AsyncAnthropicBedrock

        if problems := self.no_access():
            raise PermanentError("; ".join(problems))
        timeout = self.parameters.timeout
        if self.is_bedrock:
            return AsyncAnthropicBedrock(aws_region=self.region, max_retries=0, timeout=timeout)
        return AsyncAnthropic(api_key=self.key, max_retries=0, timeout=timeout)

    @property
    def direct(self) -> AsyncAnthropic:
        """The client where Anthropic itself is needed: Bedrock has no list of models, token counts or batches."""
        from anthropic import AsyncAnthropic

        if not isinstance(self.client, AsyncAnthropic):
            raise PermanentError(NO_BATCHES)
        return self.client

    async def probe(self) -> list[str]:
        """Whether the key is taken and the model known. Bedrock cannot be asked without paying."""
        import anthropic

        if self.is_bedrock:
            return self.no_access()
        try:
            with translate_errors(anthropic, timeout=self.parameters.timeout, key=self.key):
                await self.direct.models.retrieve(self.model)
        except (PermanentError, TransientError) as error:
            return [f"Anthropic: {error}"]
        return []

    async def list_models(self) -> tuple[str, ...]:
        """Those that the key may use. Bedrock has no such list."""
        import anthropic

        if self.is_bedrock:
            raise NoModelListError("Bedrock has no list of models: enter the name of one.")
        with translate_errors(anthropic, timeout=self.parameters.timeout, key=self.key):
            return tuple([model.id async for model in self.direct.models.list()])

    @property
    def probed(self) -> str:
        if self.is_bedrock:
            return "Settings are complete. Whether key and model are right, Bedrock does not tell without being paid."
        return "Anthropic takes the key and knows the model."

    async def judge(self, request: JudgeRequest) -> Reply:
        beginning = self.find_cached_prefix(request.prompt) if request.prompt else ""
        async with self.turns.wait_for_first(beginning):
            return await judge_patiently(self, request, self.request_reply)

    async def request_reply(self, prompt: Prompt) -> Reply:
        """One call."""
        import anthropic

        with translate_errors(anthropic, timeout=self.parameters.timeout, key=self.key):
            message = await self.client.messages.create(**self.arguments(prompt))
        return to_reply(message)

    def find_cached_prefix(self, prompt: Prompt) -> str:
        """The beginning that the other side is asked to keep; empty if it is to keep none."""
        shared = prompt.system + prompt.parts[0]
        worth = prompt.shared > 0 and approximate_tokens(shared) >= CACHEABLE
        return shared if self.parameters.cache and worth else ""

    def arguments(self, prompt: Prompt) -> dict[str, Any]:
        """What `messages.create` is called with. It has no `temperature`; the API takes it where the model does."""
        given = self.parameters
        return {
            "model": self.model,
            "max_tokens": given.max_tokens,
            **self.build_body(prompt),
            **({"output_config": config} if (config := self.output_config(prompt)) else {}),
            **(tool(prompt) if given.structured == "tool" else {}),
            **({"extra_body": {"temperature": self.temperature}} if self.temperature is not None else {}),
        }

    def build_body(self, prompt: Prompt) -> dict[str, Any]:
        """System text and message, with a mark behind the part that other requests begin with too."""
        said = {"system": prompt.system} if prompt.system else {}
        shown = to_anthropic_pictures(self.list_pictures(prompt))
        if not self.find_cached_prefix(prompt):
            content = [*shown, {"type": "text", "text": prompt.user}] if shown else prompt.user
            return {**said, "messages": [{"role": "user", "content": content}]}
        shared, rest = prompt.parts
        kept = {"type": "text", "text": shared, "cache_control": {"type": "ephemeral"}}
        blocks = [*shown, kept, *([{"type": "text", "text": rest}] if rest.strip() else [])]
        return {**said, "messages": [{"role": "user", "content": blocks}]}

    def output_config(self, prompt: Prompt) -> dict[str, object]:
        given = self.parameters
        config: dict[str, object] = {"effort": given.effort} if given.effort else {}
        if given.structured == "schema":
            config["format"] = {"type": "json_schema", "schema": dict(prompt.schema)}
        return config

    async def count_tokens(self, request: JudgeRequest) -> TokenCount:
        """Counted by Anthropic, which is free; estimated for Bedrock, which does not count."""
        import anthropic

        prompt = request.prompt
        if prompt is None or self.is_bedrock:
            return self.estimate_tokens(request)
        with translate_errors(anthropic, timeout=self.parameters.timeout, key=self.key):
            count = await self.direct.messages.count_tokens(model=self.model, **self.build_body(prompt))
        return TokenCount(count.input_tokens, exact=True)

    async def submit(self, requests: Mapping[str, JudgeRequest]) -> str:
        import anthropic

        if not 1 <= len(requests) <= MOST_OF_A_BATCH:
            raise PermanentError(f"A batch holds from 1 to {MOST_OF_A_BATCH:,} requests; these are {len(requests):,}.")
        lines: list[Any] = [{"custom_id": key, "params": self.body(request)} for key, request in requests.items()]
        with translate_errors(anthropic, timeout=self.parameters.timeout, key=self.key):
            return (await self.direct.messages.batches.create(requests=lines)).id

    def body(self, request: JudgeRequest) -> dict[str, object]:
        """The request as it stands in a batch."""
        if request.prompt is None:
            raise PermanentError("A model needs a prompt.")
        arguments = self.arguments(request.prompt)
        more: dict[str, object] = arguments.pop("extra_body", {})
        return arguments | more

    def no_batches(self) -> str:
        return NO_BATCHES if self.is_bedrock else ""

    async def list_batches(self, since: datetime) -> Mapping[str, int]:
        import anthropic

        found: dict[str, int] = {}
        with translate_errors(anthropic, timeout=self.parameters.timeout, key=self.key):
            async for batch in self.direct.messages.batches.list(limit=100):  # the newest come first
                if batch.created_at < since:
                    break
                found[batch.id] = batch.request_counts.processing + done(batch)
        return dict(reversed(found.items()))

    async def poll(self, batch: str) -> BatchState:
        import anthropic

        with translate_errors(anthropic, timeout=self.parameters.timeout, key=self.key):
            try:
                found = await self.direct.messages.batches.retrieve(batch)
            except anthropic.NotFoundError as error:
                raise UnknownBatchError(f"There is no batch {batch} any more.") from error
        return BatchState(found.processing_status == "ended", found.request_counts.processing, done(found))

    async def fetch(self, batch: str) -> AsyncIterator[tuple[str, Reply | TransientError | PermanentError]]:
        import anthropic

        if not (await self.poll(batch)).ended:
            raise TransientError(f"The batch {batch} has not ended yet.")
        with translate_errors(anthropic, timeout=self.parameters.timeout, key=self.key):
            async for line in await self.direct.messages.batches.results(batch):
                yield line.custom_id, outcome(line)

    async def cancel(self, batch: str) -> None:
        import anthropic

        with translate_errors(anthropic, timeout=self.parameters.timeout, key=self.key):
            await self.direct.messages.batches.cancel(batch)

    async def aclose(self) -> None:
        if "client" in self.__dict__:
            await self.client.close()


def tool(prompt: Prompt) -> dict[str, object]:
    """A tool with the verdict as its input, which the model has to call."""
    verdict = {"name": "verdict", "description": "Give the verdict.", "input_schema": dict(prompt.schema)}
    return {"tools": [verdict], "tool_choice": {"type": "tool", "name": "verdict"}}


def to_reply(message: Message, *, batched: bool = False) -> Reply:
    """The reply in a message. The SDK hands on whatever came, so a proxy's page is recognised here."""
    usage = getattr(message, "usage", None)
    if usage is None or not isinstance(message.content, list):
        raise TransientError(f"{NO_ANSWER}: no message.")
    read, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    return Reply(
        text="".join(find_text(block) for block in message.content),
        stop=STOPS.get(message.stop_reason, "end"),
        details={"model": message.model, "id": message.id},
        usage=Usage(usage.input_tokens + read + written, usage.output_tokens, read, written, batched),
    )


def find_text(block: ContentBlock) -> str:
    if block.type == "tool_use":
        return json.dumps(block.input, ensure_ascii=False)
    return str(block.text) if block.type == "text" else ""


def done(batch: MessageBatch) -> int:
    counts = batch.request_counts
    return counts.succeeded + counts.errored + counts.canceled + counts.expired


def outcome(line: MessageBatchIndividualResponse) -> Reply | TransientError | PermanentError:
    """What became of one request of a batch."""
    result = line.result
    if result.type == "succeeded":
        return to_reply(result.message, batched=True)
    if result.type != "errored":
        return TransientError(f"The request was {result.type}.")
    error = result.error.error
    found = failure(STATUS.get(error.type, 400), error.message, {})
    return base.does_not_fit(said=str(found)) if isinstance(found, TooLongError) else found
