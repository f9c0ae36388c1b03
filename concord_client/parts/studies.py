"""Studies: made, sampled, opened, closed; their criteria, items and people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast
from urllib.parse import quote

from concord_client import types
from concord_client.transport import Json, Transport


class Studies(Transport):
    """Studies: made, sampled, opened, closed; their criteria, items and people."""

    def studies(self, **query: Any) -> Iterator[types.Study]:
        """All studies; `state` and `kind` narrow them down."""
        return self.rows("studies", **query)

    def study(self, slug: str) -> types.Study:
        return cast(types.Study, self.get(f"studies/{slug}"))

    def create_study(self, name: str, *, kind: str, **options: Any) -> types.Study:
        """A draft without items. `options` are those of the API: criteria, overlap, seed, …"""
        return cast(types.Study, self.post("studies", {"name": name, "kind": kind, **options}))

    def draw(self, slug: str, **options: Any) -> types.Sample:
        """Draw items into a draft: method, size, strata, filters, seed."""
        return cast(types.Sample, self.post(f"studies/{slug}/samples", options))

    def add_annotators(self, slug: str, usernames: Sequence[str]) -> list[Json]:
        return cast(list[Json], self.post(f"studies/{slug}/annotators", {"annotators": list(usernames)}))

    def open_study(self, slug: str) -> types.Study:
        return cast(types.Study, self.post(f"studies/{slug}/open"))

    def set_clustering(self, slug: str, clustering: str) -> types.Study:
        """Say what dependent items share: none, a grouping, or a key of their source; empty for what the site knows."""
        return cast(types.Study, self.send("PUT", f"studies/{slug}/clustering", {"clustering": clustering}))

    def close_study(self, slug: str) -> types.Study:
        return cast(types.Study, self.post(f"studies/{slug}/close"))

    def items(self, slug: str, **query: Any) -> Iterator[types.Item]:
        return self.rows(f"studies/{slug}/items", **query)

    def criteria(self) -> list[types.Template]:
        """Criteria that a study can be made with."""
        return cast("list[types.Template]", self.get("criteria"))

    def criterion(self, slug: str, key: str) -> types.Criterion:
        return cast(types.Criterion, self.get(f"studies/{slug}/criteria/{key}"))

    def edit_criterion(self, slug: str, key: str, **options: Any) -> types.Criterion:
        """A new version of what is asked: reason, and question, guideline or categories."""
        return cast(types.Criterion, self.send("PATCH", f"studies/{slug}/criteria/{key}", options))

    def criterion_versions(self, slug: str, key: str) -> list[types.Version]:
        """All versions of what is asked, newest first."""
        return cast("list[types.Version]", self.get(f"studies/{slug}/criteria/{key}/versions"))

    def samples(self, slug: str) -> list[types.Sample]:
        """The draws of a study's items."""
        return cast("list[types.Sample]", self.get(f"studies/{slug}/samples"))

    def study_progress(self, slug: str) -> types.Progress:
        """How far a study has come."""
        return cast(types.Progress, self.get(f"studies/{slug}/progress"))

    def progress_details(self, slug: str, **query: Any) -> Json:
        """Coverage, pace, forecast, agreement as it grows, and who needs help."""
        return cast(Json, self.get(f"studies/{slug}/progress/details", **query))

    def annotators(self, slug: str) -> list[types.Annotator]:
        """A study's annotators with what they have done."""
        return cast("list[types.Annotator]", self.get(f"studies/{slug}/annotators"))

    def ask_for_ratings(self, slug: str, **options: Any) -> types.Changed:
        """Ask for one more rating of each of these items: positions."""
        return cast(types.Changed, self.post(f"studies/{slug}/tiers/more", options))

    def release_annotator(self, slug: str, user: str) -> types.Changed:
        """Give what somebody has in work or skipped to the others."""
        return cast(types.Changed, self.post(f"studies/{slug}/annotators/{quote(user, safe='')}/release"))

    def readmit(self, slug: str, user: str, **options: Any) -> types.Exclusion:
        """Let somebody's labels count again: reason."""
        return cast(types.Exclusion, self.post(f"studies/{slug}/annotators/{quote(user, safe='')}/readmit", options))

    def item(self, slug: str, position: int) -> types.Item:
        return cast(types.Item, self.get(f"studies/{slug}/items/{position}"))

    def queue_changes(self, slug: str, **query: Any) -> Iterator[types.Change]:
        """Who set the rules of the queue when."""
        return self.rows(f"studies/{slug}/queue/changes", **query)

    def known_item(self, slug: str, number: int) -> types.KnownItem:
        return cast(types.KnownItem, self.get(f"studies/{slug}/known/{number}"))

    def invitation(self, slug: str, number: int) -> types.Invitation:
        return cast(types.Invitation, self.get(f"studies/{slug}/invitations/{number}"))
