"""All labels of a study, those of people first and then those of judges."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import overload

from annotation.agreement.services.item_tiers import ItemTiers
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Study
from annotation.studies.queries import labels as people
from annotation.studies.queries.labels import LabelRow, Labels
from judging.runs.queries import labels as judges

RATING = Assignment.Purpose.RATING


@dataclass(frozen=True)
class AllLabels:
    """People's and judges' labels as one sequence that is read only where it is looked at.

    Where there are `tiers`, each row tells that of its item.
    """

    people: Labels
    judges: Labels
    tiers: ItemTiers | None = None

    def __iter__(self) -> Iterator[LabelRow]:
        rows = chain(self.people, self.judges)
        yield from rows if self.tiers is None else map(self.tiers.add_tier, rows)

    def __len__(self) -> int:
        return len(self.people) + len(self.judges)

    @overload
    def __getitem__(self, which: int) -> LabelRow: ...
    @overload
    def __getitem__(self, which: slice) -> list[LabelRow]: ...
    def __getitem__(self, which: int | slice) -> LabelRow | list[LabelRow]:
        if isinstance(which, int):
            return self[which : which + 1][0]
        n_people = len(self.people)
        start, stop, _ = which.indices(n_people + len(self.judges))
        head = self.people.page(start, min(stop, n_people)) if start < n_people else []
        tail = self.judges.page(max(start - n_people, 0), stop - n_people) if stop > n_people else []
        rows = [*head, *tail]
        return rows if self.tiers is None else [self.tiers.add_tier(row) for row in rows]


def load_labels(study: Study, purposes: Collection[str] = (RATING,), *, tiers: ItemTiers | None = None) -> AllLabels:
    """What `export` and the API give out: of people their ratings, and answers of other `purposes` where asked."""
    return AllLabels(people.load_people(study, purposes), judges.load_judges(study), tiers)
