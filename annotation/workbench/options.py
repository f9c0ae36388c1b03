"""What the verbs of rating an item take, beside its answers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from annotation.studies.queries.given_answers import LONGEST_REASON
from core.options.model import Hint, Options

LONGEST_MESSAGE = 5_000
"""Characters."""


class NewMessage(Options):
    """A message to the researchers of a study, or their answer."""

    text: Annotated[str, Hint(rows=3)] = Field(min_length=1, max_length=LONGEST_MESSAGE, title="Message")


class ThreadAnswer(NewMessage):
    """An answer to the annotator who asked."""

    annotator: str = Field(min_length=1, max_length=150, description="Username.")


class ItemMarks(Options):
    """What is noted of an item; what is not given stays as it is."""

    flagged: bool | None = Field(None, title="Flag for the researcher")
    later: bool | None = Field(None, title="Mark for later")


class ItemReason(Options):
    """Why nothing of an item can be judged."""

    reason: str = Field(min_length=1, max_length=LONGEST_REASON, title="Why nothing of this item can be judged")
