"""Studies of pairs with known votes."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.corpus.models import ResponsePair
from annotation.studies.models.studies import Criterion, Study
from core.accounts.models.users import User
from tests.support.factories import (
    CriterionFactory,
    ItemFactory,
    ProfileFactory,
    ResponsePairFactory,
    SampleFactory,
    StudyFactory,
)
from tests.support.labelled import people_say

NINE = [f"v{k}" for k in range(1, 10)]

FITTED = 2 * [(9, 0), (0, 9), (8, 1), (1, 8), (7, 2), (2, 7), (5, 4), (4, 5), (9, 0), (1, 8), (6, 3), (8, 1)]
"""Votes on so many pairs that the difficulty model can be fitted to them."""


def pairs(n: int, *, personas: int = 2) -> list[ResponsePair]:
    """Pairs of a few personas, general and specific in turn."""
    people = [ProfileFactory(source="test", external_id=f"persona{k}") for k in range(personas)]
    return [
        ResponsePairFactory(
            external_id=f"pair{k}",
            profile=people[k % personas],
            question=f"Question {k}?",
            response_1=f"First answer to {k}.",
            response_2=f"Another answer to {k}.",
            kind=("general", "specific")[k % 2],
        )
        for k in range(n)
    ]


def study_of(found: Sequence[ResponsePair], *, with_tie: bool = False, **more) -> Criterion:
    """A closed study of the pairs that asks which response is better."""
    study = StudyFactory(kind="pair", state="closed", overlap=9, **more)
    sample = SampleFactory(study=study, frame_size=len(found), size=len(found))
    for pair in found:
        ItemFactory(study=study, sample=sample, pair=pair)
    criterion = CriterionFactory(study=study, preference=True, key="preference")
    if not with_tie:
        criterion.categories = criterion.categories[:2]
        criterion.save()
    return criterion


def vote(criterion: Criterion, counts: Sequence[tuple[int, ...]], *, people: Sequence[str] = NINE) -> None:
    """Item by item, so many votes for response 1, 2 and a tie, given by the people in their order."""
    rows = [[*["1"] * one, *["2"] * two, *["tie"] * (more[0] if more else 0)] for one, two, *more in counts]
    columns = {name: [row[k] if k < len(row) else None for row in rows] for k, name in enumerate(people)}
    people_say(criterion, columns)
    criterion.study.annotators.set(_people(people))


def _people(names: Sequence[str]):
    return User.objects.filter(username__in=names)


def only_pair_of(study: Study) -> ResponsePair:
    return ResponsePair.objects.get(items__study=study)
