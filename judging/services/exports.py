"""All labels of a study, those of people first and then those of judges."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import overload

from annotation.models import Assignment, Study
from annotation.queries import labels as people
from annotation.queries.labels import LabelRow, Labels
from judging.queries import labels as judges

RATING = Assignment.Purpose.RATING


@dataclass(frozen=True)
class AllLabels:
    """People's and judges' labels as one sequence that is read only where it is looked at."""

    people: Labels
    judges: Labels

    def __iter__(self) -> Iterator[LabelRow]:
        yield from self.people
        yield from self.judges

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
        return [*head, *tail]


def labels_of(study: Study, purposes: Collection[str] = (RATING,)) -> AllLabels:
    """What `export` and the API give out: of people their ratings, and answers of other `purposes` where asked."""
    return AllLabels(people.of_people(study, purposes), judges.of_judges(study))
