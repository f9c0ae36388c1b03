"""One's own work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from concord_client import types
from concord_client.transport import Transport


class Work(Transport):
    """One's own work."""

    def next_item(self, slug: str, holding: Sequence[int] = ()) -> types.Assignment | None:
        """The next item to rate; None when nothing is left."""
        return cast("types.Assignment | None", self.post(f"work/{slug}/next", {"holding": list(holding)}))

    def submit(self, assignment: str, answers: Mapping[str, Mapping[str, Any]]) -> None:
        """Hand labels in: by the name of the ask, a value or an unscored_reason, perhaps a note."""
        self.send("PUT", f"work/items/{assignment}/answers", {"answers": {k: dict(v) for k, v in answers.items()}})

    def my_studies(self) -> list[types.MyStudy]:
        """The open studies that one rates in."""
        return cast("list[types.MyStudy]", self.get("work"))

    def assignment(self, assignment: str) -> types.Assignment:
        """An item in one's own work."""
        return cast(types.Assignment, self.get(f"work/items/{assignment}"))

    def save_draft(self, assignment: str, **options: Any) -> types.Kept:
        """Keep what is entered and not handed in: changes, active_seconds."""
        return cast(types.Kept, self.send("PATCH", f"work/items/{assignment}/draft", options))

    def skip(self, assignment: str) -> types.Submitted:
        """Put an item off."""
        return cast(types.Submitted, self.post(f"work/items/{assignment}/skip"))

    def put_back(self, assignment: str) -> types.Freed:
        """Free an item that was never worked on."""
        return cast(types.Freed, self.post(f"work/items/{assignment}/put-back"))
