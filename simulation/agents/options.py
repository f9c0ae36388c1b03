"""What describes an agent."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from core.options.model import Options

Prompt = Annotated[str, StringConstraints(strip_whitespace=False), Field(max_length=50_000)]
"""A text in place of Concord's own."""


class AgentOptions(Options):
    """Who speaks. Parameters are as the provider takes them; never a key."""

    provider: str = Field(min_length=1, max_length=40)
    model: str = Field("", max_length=120)
    parameters: dict[str, Any] = {}
