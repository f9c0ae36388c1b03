"""What the verbs of a judge take: defined, limited, priced, and given a key."""

from __future__ import annotations

from datetime import date
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from core.options.model import Dollars, Hint, Options

LONGEST_KEY = 4000


def check_limit(value: int) -> int:
    if value < 1:
        raise ValueError("A limit is at least 1; leave it empty for none.")
    return value


Rate = Annotated[Dollars, Field(ge=0)]
OptionalRate = Annotated[Rate | None, Hint(null=True)]
Limit = Annotated[int, AfterValidator(check_limit), Field(le=2**31 - 1)]
OptionalLimit = Annotated[Limit | None, Hint(null=True)]


class NewJudge(Options):
    """The settings of a judge, which never change: other settings are another version."""

    makes_root: ClassVar[bool] = True

    name: str = Field(min_length=1, max_length=120, title="Name", description="Shown in tables and plots.")
    provider: str = Field(min_length=1, max_length=40, title="Provider")
    model: str = Field(
        "",
        max_length=120,
        title="Model",
        description="As its server calls it, for example claude-haiku-4-5. For a local one a GGUF file on this "
        "machine; empty for SmolLM2. The baseline: longer, first or chance for pairs; empty counts words.",
    )
    parameters: dict[str, object] = Field(
        {},
        title="Parameters",
        description='JSON, such as {"concurrency": 8, "max_tokens": 1000}; never a key. Empty for the defaults.',
    )


class Limits(Options):
    """What is left out or null is no limit."""

    daily_budget_usd: Annotated[Dollars | None, Hint(null=True)] = Field(
        None, title="Daily budget in US dollars", description="For all versions together. Empty: none."
    )
    requests_per_minute: OptionalLimit = Field(
        None, title="Requests a minute", description="To this model, by all judges and workers together."
    )
    tokens_per_minute: OptionalLimit = Field(None, title="Tokens a minute", description="Input and output.")


class NewPrice(Options):
    """What a model costs from a day on, in US dollars per million tokens."""

    provider: str = Field(min_length=1, max_length=40, title="Provider")
    model: str = Field(min_length=1, max_length=120, title="Model", description="As the judge names it.")
    valid_from: date = Field(title="From")
    input: Rate = Field(title="Input tokens")
    output: Rate = Field(title="Output tokens")
    cache_read: OptionalRate = Field(None, title="Cached input tokens")
    cache_write: OptionalRate = Field(None, title="Cache write tokens")
    batch_input: OptionalRate = Field(None, title="Batch input tokens")
    batch_output: OptionalRate = Field(None, title="Batch output tokens")
    note: str = Field("", max_length=200, title="Source of the price")


class NewKey(Options):
    """A key of a model, and the address that it is for. It goes in and never comes out."""

    address: str = Field(
        min_length=1,
        max_length=300,
        title="Address",
        description="The server that needs the key: https://api.openai.com, https://api.anthropic.com, or your own. "
        "The path does not matter. The key is sent there and nowhere else.",
    )
    key: str = Field(
        min_length=1,
        max_length=LONGEST_KEY,
        title="Key",
        description="Replaces the key that is stored for this address.",
    )
    note: str = Field("", max_length=200, title="Note", description="Who pays, for example.")
