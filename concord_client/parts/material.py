"""The corpus: brought in, looked at, made by models, measured."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from concord_client import types
from concord_client.transport import Json, Transport


class Material(Transport):
    """The corpus: brought in, looked at, made by models, measured."""

    def import_file(self, path: str | Path, *, format: str, **told: str) -> types.Counts:
        """Bring a file in. `told` is what its format needs besides: source, study, judge; project and on_error."""
        return cast(types.Counts, self._upload("imports", path, {"format": format, **told}))

    def import_candidates(self, path: str | Path, *, on_error: str = "stop") -> types.Counts:
        """Bring a file of candidates in: profile_id, question, level and text on each line."""
        return cast(types.Counts, self._upload("candidates/imports", path, {"on_error": on_error}))

    def stocks(self) -> list[types.Stock]:
        """How many records of each kind there are, by source."""
        return cast("list[types.Stock]", self.get("material"))

    def profiles(self, **query: Any) -> Iterator[types.Profile]:
        """Profiles; q and source narrow them down."""
        return self.rows("profiles", **query)

    def profile(self, number: int) -> types.Profile:
        return cast(types.Profile, self.get(f"profiles/{number}"))

    def tasks(self, **query: Any) -> Iterator[types.Task]:
        """Tasks; q and source narrow them down."""
        return self.rows("tasks", **query)

    def task(self, number: int) -> types.Task:
        return cast(types.Task, self.get(f"tasks/{number}"))

    def dialogues(self, **query: Any) -> Iterator[types.Dialogue]:
        """Dialogues; q and source narrow them down."""
        return self.rows("dialogues", **query)

    def dialogue(self, number: int) -> types.Dialogue:
        return cast(types.Dialogue, self.get(f"dialogues/{number}"))

    def pairs(self, **query: Any) -> Iterator[types.Pair]:
        """Response pairs; q and source narrow them down."""
        return self.rows("pairs", **query)

    def pair(self, number: int) -> types.Pair:
        return cast(types.Pair, self.get(f"pairs/{number}"))

    def search(self, **query: Any) -> list[types.Found]:
        """People, studies, items and records by name or id: q."""
        return cast("list[types.Found]", self.get("search", **query))

    def import_formats(self) -> list[types.Format]:
        """Files that can be brought in, and what each needs besides."""
        return cast("list[types.Format]", self.get("imports/formats"))

    def profile_measures(self, **query: Any) -> Json:
        """Domains, demographics and evenness of one source's profiles: source."""
        return cast(Json, self.get("measures/profiles", **query))

    def ask_profile_measures(self, source: str) -> types.Queued:
        """Leave the measures of a source's profiles to a worker; `profile_measures` has them afterwards."""
        return cast(types.Queued, self.post("measures/profiles", {"source": source}))

    def dialogue_measures(self, **query: Any) -> Json:
        """Turns, words and variety of one source's dialogues: source."""
        return cast(Json, self.get("measures/dialogues", **query))

    def ask_dialogue_measures(self, source: str) -> types.Queued:
        """Leave the measures of a source's dialogues to a worker; `dialogue_measures` has them afterwards."""
        return cast(types.Queued, self.post("measures/dialogues", {"source": source}))

    def orders(self, **query: Any) -> Iterator[types.Making]:
        """Orders of material."""
        return self.rows("making", **query)

    def order(self, number: int) -> types.Making:
        return cast(types.Making, self.get(f"making/{number}"))

    def order_material(self, **options: Any) -> types.Making:
        """Order material from a model: kind, agent, source, and what the kind needs."""
        return cast(types.Making, self.post("making", options))

    def order_again(self, number: int) -> types.Making:
        """Try an order that failed once more."""
        return cast(types.Making, self.post(f"making/{number}/again"))

    def conflicts(self, **query: Any) -> Iterator[types.Conflict]:
        """Conflicts that were found in profiles."""
        return self.rows("conflicts", **query)

    def decide_conflict(self, number: int, **options: Any) -> types.Conflict:
        """Say whether it is a conflict: decision, note."""
        return cast(types.Conflict, self.post(f"conflicts/{number}/reviews", options))
