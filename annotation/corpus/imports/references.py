"""Profiles and tasks that records name by id: looked up in the record's own source first, then anywhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from annotation.corpus.models import Dialogue, Profile, ResponsePair, Task
from core.errors import InputError

Referable = Profile | Task | Dialogue | ResponsePair


class References:
    """Looks up ids of one kind of record. `prepare` fetches many in one query; `find` then says which row is meant."""

    def __init__(self, model: type[Referable], source: str | None, noun: str) -> None:
        self.model, self.source, self.noun = model, source, noun
        self.found: dict[str, dict[str, int]] = {}

    def prepare(self, names: Iterable[str]) -> None:
        """Fetch what the names may mean: an id, or `source:id`."""
        wanted = set(names) - self.found.keys()
        ids = wanted | {name.partition(":")[2] for name in wanted if ":" in name}
        by_id: dict[str, dict[str, int]] = defaultdict(dict)
        rows = self.model._default_manager.filter(external_id__in=ids).values_list("external_id", "source", "pk")
        for external_id, source, pk in rows.iterator():
            by_id[external_id][source] = pk
        for name in wanted:
            source, _, external_id = name.partition(":")
            qualified = by_id[external_id].get(source) if external_id else None
            self.found[name] = by_id[name] or ({source: qualified} if qualified is not None else {})

    def find(self, name: str) -> int:
        """The row that a prepared name means; LookupFailed where it means none or several."""
        matches = self.found[name]
        if self.source in matches:
            return matches[self.source]
        if len(matches) == 1:
            return next(iter(matches.values()))
        if matches:
            options = " or ".join(f"{source}:{name}" for source in sorted(matches))
            raise InputError(f"several sources have a {self.noun} {name!r}: write {options}")
        raise InputError(f"there is no {self.noun} {name!r}")
