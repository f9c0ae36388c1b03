"""How each annotator of a study rates: against the others, in time, and with signs of carelessness.

Nothing here proves anything against anybody. It says where a person should look.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from annotation.models import Assignment, Study
from annotation.queries import ratings
from annotation.queries.ratings import PeoplesRatings
from annotation.stats.annotators import AnnotatorProfile, annotator_report
from annotation.stats.dawid_skene import dawid_skene

LITTLE_AGREEMENT = 0.2
"""Kappa with the majority of the others; with an upper end below this on most criteria somebody is named."""

FAST = 1 / 3
"""Of the median time that the study's items take; an item done in less is too fast."""

OFTEN = 0.2
"""Share of items done too fast from which on somebody is named."""

ENOUGH = 20
"""Items with a time, or ratings, below which nobody is named."""


@dataclass(frozen=True)
class Pace:
    """Times of one annotator, without idle time: items with a time, median seconds, share done too fast."""

    n: int
    seconds: float
    too_fast: float


@dataclass(frozen=True)
class Quality:
    """One annotator.

    Attributes
    ----------
    annotator
        Username.
    rated
        Answers over all criteria.
    kappas
        (criterion's name, Cohen's kappa with the majority of the others as an estimate) for each criterion.
    pace
        None where no times were measured.
    signs
        Why somebody should look, in words; empty for most people.
    """

    annotator: str
    rated: int
    kappas: tuple[tuple[str, object], ...]
    pace: Pace | None
    signs: tuple[str, ...]


def of_study(study: Study, *, bootstrap: int = 500) -> list[Quality]:
    """Every annotator with ratings, those with signs first. Three queries."""
    profiles: dict[str, list[tuple[str, AnnotatorProfile]]] = defaultdict(list)
    for found in ratings.of_study(study):
        report = annotator_report(found.table, bootstrap=bootstrap, seed=study.seed)
        for profile in report.annotators:
            profiles[profile.annotator].append((found.criterion.name, profile))
    times = paces(study)
    rows = [quality(name, found, times.get(name)) for name, found in profiles.items()]
    return sorted(rows, key=lambda row: (not row.signs, row.annotator))


@dataclass(frozen=True)
class Errors:
    """What one annotator says where an answer is taken to be true, by Dawid and Skene.

    Attributes
    ----------
    annotator
        Username.
    n_ratings
        Answers it rests on.
    accuracy
        Probability of saying what is true, 0 to 1; NaN without ratings.
    rows
        For each true answer: its label, and the probability of each answer; NaN where nothing seems to be so.
    """

    annotator: str
    n_ratings: int
    accuracy: float
    rows: tuple[tuple[str, tuple[float, ...]], ...]


def errors(found: PeoplesRatings) -> list[Errors]:
    """The errors of every annotator on one criterion, estimated together with what is true."""
    if not found.table.n_ratings:
        return []
    fitted, labels = dawid_skene(found.table), [category["label"] for category in found.criterion.categories]
    return [
        Errors(name, int(n), float(accuracy), tuple(zip(labels, map(tuple, matrix.tolist()), strict=True)))
        for name, n, accuracy, matrix in zip(
            fitted.raters, fitted.n_ratings, fitted.accuracy, fitted.confusion, strict=True
        )
        if n
    ]


def document(study: Study, *, bootstrap: int = 500) -> dict[str, Any]:
    """All that is known of the annotators of a study, criterion by criterion, as JSON types. Two queries."""
    return {
        "study": study.name,
        "criteria": {
            found.criterion.key: {
                **annotator_report(found.table, bootstrap=bootstrap, seed=study.seed).as_json(),
                "dawid_skene": dawid_skene(found.table).as_json(),
            }
            for found in ratings.of_study(study)
            if found.table.n_ratings
        },
    }


def quality(name: str, profiles: Sequence[tuple[str, AnnotatorProfile]], pace: Pace | None) -> Quality:
    return Quality(
        annotator=name,
        rated=sum(profile.n_ratings for _, profile in profiles),
        kappas=tuple((criterion, profile.versus["majority_cohen_kappa"]) for criterion, profile in profiles),
        pace=pace,
        signs=tuple(signs(profiles, pace)),
    )


def signs(profiles: Sequence[tuple[str, AnnotatorProfile]], pace: Pace | None) -> list[str]:
    """What stands out, each with the criteria on which it does."""
    found = []
    backwards = [criterion for criterion, one in profiles if one.inverted]
    for words, criteria in (
        ("answers run against those of the others", backwards),
        ("always the same answer", [criterion for criterion, one in profiles if one.constant]),
        ("many equal answers in a row", [criterion for criterion, one in profiles if one.straight_lining]),
    ):
        if criteria:
            found.append(f"{words}: {', '.join(criteria)}")
    little = [criterion for criterion, one in profiles if agrees_little(one) and criterion not in backwards]
    if little and 2 * len(little) >= len(profiles) - len(backwards):
        found.append(f"agrees with the others hardly more than chance would: {', '.join(little)}")
    if pace and pace.n >= ENOUGH and pace.too_fast >= OFTEN:
        found.append(f"{100 * pace.too_fast:.0f} % of the items in less than a third of the usual time")
    return found


def agrees_little(profile: AnnotatorProfile) -> bool:
    kappa = profile.versus["majority_cohen_kappa"]
    return profile.n_ratings >= ENOUGH and kappa.high < LITTLE_AGREEMENT


def paces(study: Study) -> dict[str, Pace]:
    """By username, from the times that the pages measured."""
    submitted = study.assignments.filter(state=Assignment.State.SUBMITTED, active_seconds__isnull=False)
    by_name: dict[str, list[float]] = defaultdict(list)
    for name, seconds in submitted.values_list("annotator__username", "active_seconds").iterator(chunk_size=5000):
        by_name[name].append(seconds or 0.0)
    if not by_name:
        return {}
    usual = median(seconds for all_of_one in by_name.values() for seconds in all_of_one)
    return {
        name: Pace(len(found), median(found), sum(one < FAST * usual for one in found) / len(found))
        for name, found in by_name.items()
    }
