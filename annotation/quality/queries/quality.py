"""How each annotator of a study rates: against the others, in time, and with signs of carelessness.

Nothing here proves anything against anybody. It says where a person should look.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from annotation.quality.queries import checks
from annotation.stats import checks as checked
from annotation.stats.annotators import annotator_report
from annotation.stats.checks import CheckRecord
from annotation.stats.dawid_skene import dawid_skene
from annotation.stats.signs import AnnotatorSigns, annotator_signs
from annotation.studies.models.studies import Assignment, Study
from annotation.studies.queries import ratings
from annotation.studies.queries.ratings import PeoplesRatings

LITTLE_AGREEMENT = 0.2
"""Kappa with the majority of the others; with an upper end below this on most criteria somebody is named."""

FAST = 1 / 3
"""Share of the study's median time per item; an item done in less is too fast."""

OFTEN = 0.2
"""Share of items done too fast from which on somebody is named."""

ENOUGH = 20
"""Items with a time, or ratings, below which nobody is named."""

FEW_RIGHT = 0.5
"""Of checks right, or of repeats answered as before; with an upper end of the interval below this somebody is named."""

ENOUGH_CHECKS = 10
"""Checks, or repeats, below which nobody is named for them."""


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
    accuracy, consistency
        Of checks and repeats; None where none were answered.
    signs
        Why somebody should look, in words; empty for most people.
    """

    annotator: str
    rated: int
    kappas: tuple[tuple[str, object], ...]
    pace: Pace | None
    signs: tuple[str, ...]
    accuracy: CheckRecord | None = None
    consistency: CheckRecord | None = None

    @property
    def unscored_in_checks(self) -> int:
        """Answers to checks and repeats that were left out, because one of the two is "cannot judge"."""
        return sum(one.unscored for one in (self.accuracy, self.consistency) if one)


def load_study(study: Study, *, bootstrap: int = 500) -> list[Quality]:
    """Every annotator with ratings, those with signs first. Eight queries."""
    profiles: dict[str, list[tuple[str, AnnotatorSigns]]] = defaultdict(list)
    for found in ratings.load_study(study):
        for profile in annotator_signs(found.table, bootstrap=bootstrap, seed=study.seed):
            profiles[profile.annotator].append((found.criterion.name, profile))
    times = paces(study)
    known = {(one.annotator, one.kind): one for one in records(study)}
    rows = [
        quality(name, found, times.get(name), known.get((name, "accuracy")), known.get((name, "consistency")))
        for name, found in profiles.items()
    ]
    return sorted(rows, key=lambda row: (not row.signs, row.annotator))


def records(study: Study) -> list[CheckRecord]:
    """What the checks and repeats of every annotator say, of excluded ones too. Four queries."""
    return checked.records(checks.load_study(study))


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
    """All that is known of the annotators of a study, criterion by criterion, as JSON types. Seven queries."""
    return {
        "study": study.name,
        "checks_and_repeats": [one.to_json() for one in records(study)],
        "criteria": {
            found.criterion.key: {
                **annotator_report(found.table, bootstrap=bootstrap, seed=study.seed).to_json(),
                "dawid_skene": dawid_skene(found.table).to_json(),
            }
            for found in ratings.load_study(study)
            if found.table.n_ratings
        },
    }


def quality(
    name: str,
    profiles: Sequence[tuple[str, AnnotatorSigns]],
    pace: Pace | None,
    accuracy: CheckRecord | None = None,
    consistency: CheckRecord | None = None,
) -> Quality:
    return Quality(
        annotator=name,
        rated=sum(profile.n_ratings for _, profile in profiles),
        kappas=tuple((criterion, profile.kappa) for criterion, profile in profiles),
        pace=pace,
        signs=(*signs(profiles, pace), *signs_of_checks(accuracy, consistency)),
        accuracy=accuracy,
        consistency=consistency,
    )


def signs(profiles: Sequence[tuple[str, AnnotatorSigns]], pace: Pace | None) -> list[str]:
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


def signs_of_checks(accuracy: CheckRecord | None, consistency: CheckRecord | None) -> list[str]:
    """What stands out in checks and repeats."""
    words = (
        (accuracy, "only {:.0f} % of {} checks are answered as is known"),
        (consistency, "only {:.0f} % of {} repeats are answered as before"),
    )
    return [
        says.format(100 * one.overall.value, one.overall.n_items)
        for one, says in words
        if one and one.overall.n_items >= ENOUGH_CHECKS and one.overall.high < FEW_RIGHT
    ]


def agrees_little(profile: AnnotatorSigns) -> bool:
    return profile.n_ratings >= ENOUGH and profile.kappa.high < LITTLE_AGREEMENT


def paces(study: Study) -> dict[str, Pace]:
    """Compute paces by username, from the times that pages measured."""
    submitted = study.assignments.filter(
        state=Assignment.State.SUBMITTED, purpose=Assignment.Purpose.RATING, active_seconds__isnull=False
    )
    by_name: dict[str, list[float]] = defaultdict(list)
    for name, seconds in submitted.values_list("annotator__username", "active_seconds").iterator(chunk_size=5000):
        by_name[name].append(seconds or 0.0)
    return compute_paces(by_name)


def compute_paces(by_name: Mapping[str, Sequence[float]]) -> dict[str, Pace]:
    """Compute paces by username, from the seconds of each of their items."""
    if not by_name:
        return {}
    usual = median(seconds for all_of_one in by_name.values() for seconds in all_of_one)
    return {
        name: Pace(len(found), median(found), sum(one < FAST * usual for one in found) / len(found))
        for name, found in by_name.items()
    }
