"""What the verbs of a queue take."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from core.options.model import Hint, Options


class NewRules(Options):
    """What is not given stays as it is. The service says which numbers are allowed."""

    check_every: int | None = Field(
        None, title="One item in … is a check", description="From 2, for example 20. 0 for no checks."
    )
    repeat_every: int | None = Field(
        None,
        title="One item in … is a repeat",
        description="From 2: an item that the same person rated before, for self-consistency. 0 for none.",
    )
    repeat_after: int | None = Field(None, title="Other items before a repeat, at least")
    item_limit: Annotated[int | None, Hint(null=True)] = Field(
        None, title="Items per person, at most", description="Checks and repeats included. Empty for no limit."
    )
    pass_mark: Annotated[float | None, Hint(null=True)] = Field(
        None,
        title="Pass mark of the qualification",
        description="Share of right answers, from 0 to 1. Without one nothing is asked before the work.",
    )
