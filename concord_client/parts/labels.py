"""Labels of people, what is decided on them, and files of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from concord_client import types
from concord_client.transport import Json, Transport


class Labels(Transport):
    """Labels of people, what is decided on them, and files of them."""

    def annotations(self, slug: str, **query: Any) -> Iterator[types.Label]:
        """People's labels; criterion, rater, position and counting narrow them down."""
        return self.rows(f"studies/{slug}/annotations", **query)

    def add_annotations(
        self, slug: str, labels: Sequence[Mapping[str, Any]], *, on_error: str = "stop"
    ) -> types.Counts:
        """Bring labels in: item, rater, criterion, value or reason, order, turn."""
        body = {"labels": [dict(one) for one in labels], "on_error": on_error}
        return cast(types.Counts, self.post(f"studies/{slug}/annotations", body))

    def download_labels(self, slug: str, path: str | Path, *, format: str = "csv", tiers: bool = False) -> None:
        """All labels, people's and judges', into a file, piece by piece; with each item's tier by the model."""
        self._download(f"studies/{slug}/labels.{format}" + ("?tiers=true" if tiers else ""), path)

    def exclusions(self, slug: str) -> list[types.Exclusion]:
        """Whose labels do not count, now and before."""
        return cast("list[types.Exclusion]", self.get(f"studies/{slug}/exclusions"))

    def exclude(self, slug: str, **options: Any) -> types.Exclusion:
        """Leave an annotator's labels out: annotator, reason."""
        return cast(types.Exclusion, self.post(f"studies/{slug}/exclusions", options))

    def quality(self, slug: str, **query: Any) -> Json:
        """Each annotator as an instrument."""
        return cast(Json, self.get(f"studies/{slug}/quality", **query))

    def checks(self, slug: str) -> list[types.Stretch]:
        """Gold accuracy and self-consistency of each annotator over time."""
        return cast("list[types.Stretch]", self.get(f"studies/{slug}/checks"))

    def to_decide(self, **query: Any) -> Iterator[types.DecidedStudy]:
        """The studies in which one decides."""
        return self.rows("adjudication", **query)

    def disputes(self, slug: str, **query: Any) -> Iterator[types.Dispute]:
        """What people disagree on, most of all first: criterion."""
        return self.rows(f"studies/{slug}/disputes", **query)

    def dispute(self, slug: str, position: int, **query: Any) -> types.DisputedItem:
        """An item with what people said of it, without their names: criterion, turn."""
        return cast(types.DisputedItem, self.get(f"studies/{slug}/items/{position}/dispute", **query))

    def decisions(self, slug: str, position: int) -> list[types.Adjudication]:
        """What was decided on an item, newest last."""
        return cast("list[types.Adjudication]", self.get(f"studies/{slug}/items/{position}/adjudications"))

    def decide(self, slug: str, position: int, **options: Any) -> types.Adjudication:
        """Give an item its gold value: criterion, value, reason, turn."""
        return cast(types.Adjudication, self.post(f"studies/{slug}/items/{position}/adjudications", options))

    def tier_changes(self, slug: str, position: int) -> list[types.Override]:
        """Every tier that was set by hand on an item, newest first."""
        return cast("list[types.Override]", self.get(f"studies/{slug}/items/{position}/tier"))

    def set_tier(self, slug: str, position: int, **options: Any) -> types.Override:
        """Put an item into a tier by hand: criterion, tier, reason."""
        return cast(types.Override, self.post(f"studies/{slug}/items/{position}/tier", options))

    def late_answers(self, slug: str) -> list[types.Late]:
        """Answers that came too late and wait for a decision."""
        return cast("list[types.Late]", self.get(f"studies/{slug}/late"))

    def decide_late(self, slug: str, number: int, **options: Any) -> types.Late:
        """Use answers that came too late, or leave them out: decision."""
        return cast(types.Late, self.post(f"studies/{slug}/late/{number}", options))

    def exports(self, slug: str) -> list[types.Tool]:
        """The tools for which a study can be written."""
        return cast("list[types.Tool]", self.get(f"studies/{slug}/exports"))

    def export(self, slug: str, tool: str, path: str | Path) -> None:
        """A study as the files of another tool, as a ZIP file."""
        self._download(f"studies/{slug}/exports/{tool}.zip", path)

    def download_archive(self, slug: str, path: str | Path) -> None:
        """A study with all that it rests on, to be restored on another site."""
        self._download(f"studies/{slug}/archive.zip", path)
