"""What the verbs of the corpus take."""

from __future__ import annotations

from pydantic import Field

from core.options.model import Options

LONGEST_MAPPING = 80


class NewMapping(Options):
    """A mapping under a name, to be used again for files of the same kind."""

    name: str = Field(
        min_length=1,
        max_length=LONGEST_MAPPING,
        title="Name of the mapping",
        description="One of this name in your project is replaced.",
    )
