"""How each annotator of a study rates: against the others, in time, and with signs of carelessness.

Nothing here proves anything against anybody. It says where a person should look.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypedDict

from django.utils.translation import gettext as _

from annotation.quality.queries import checks
from annotation.stats import checks as checked
from annotation.stats.annotators import annotator_report
from annotation.stats.by_level import explain_missing
from annotation.stats.checks import CheckRecord
from annotation.stats.dawid_skene import dawid_skene
from annotation.stats.result_types import AnnotatorReportDocument, SideBiasDocument
from annotation.stats.sides import SideUse
from annotation.stats.signs import AnnotatorSigns, annotator_signs
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.studies import Study
from annotation.studies.queries import ratings
from annotation.studies.queries.item_features import load_shortest_times
from annotation.studies.queries.preferences import load_side_bias
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

LEAST_SHOWN = 1e-6
"""A probability below this is called so."""

ENOUGH_CHECKS = 10
"""Checks, or repeats, below which nobody is named for them."""


@dataclass(frozen=True)
class Pace:
    """Times of one annotator, without idle time.

    Attributes
    ----------
    n
        Items with a time.
    seconds
        Their median.
    too_fast
        Share done in less than `FAST` of the study's median time.
    unread
        Share done in less time than anybody needs to read the item.
    """

    n: int
    seconds: float
    too_fast: float
    unread: float


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


def load_study(
    study: Study, *, bootstrap: int = 2000, compared: Sequence[PeoplesRatings] | None = None
) -> list[Quality]:
    """Every annotator with ratings, those with signs first. A constant number of queries, and two for each preference.

    `compared` is what `load_compared` says, where that is read already.
    """
    profiles: dict[str, list[tuple[str, AnnotatorSigns]]] = defaultdict(list)
    sides: dict[str, list[tuple[str, SideUse]]] = defaultdict(list)
    for found in load_compared(study) if compared is None else compared:
        for profile in annotator_signs(found.table, bootstrap=bootstrap):
            profiles[profile.annotator].append((found.criterion.name, profile))
        bias = load_side_bias(found, bootstrap=0)
        for use in bias.annotators if bias else ():
            sides[use.annotator].append((found.criterion.name, use))
    times = paces(study)
    known = {(one.annotator, one.kind): one for one in records(study)}
    rows = [
        quality(
            name, found, times.get(name), known.get((name, "accuracy")), known.get((name, "consistency")), sides[name]
        )
        for name, found in profiles.items()
    ]
    return sorted(rows, key=lambda row: (not row.signs, row.annotator))


def load_compared(study: Study) -> list[PeoplesRatings]:
    """The ratings of the criteria on which annotators can be compared with each other one by one."""
    return [one for one in ratings.load_study(study) if explain_missing("quality", one.table.level) is None]


def list_left_out(study: Study) -> list[dict[str, str]]:
    """The other criteria, each with the reason."""
    return [
        {"criterion": one.key, "name": one.name, "reason": reason}
        for one in study.criteria.all()
        if (reason := explain_missing("quality", one.level))
    ]


def records(study: Study) -> list[CheckRecord]:
    """What the checks and repeats of every annotator say, of excluded ones too; queries as of `checks.load_study`."""
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
    """The errors of every annotator on one criterion, estimated together with what is true; of a scale alone."""
    if not found.table.n_ratings or not found.table.has_scale:
        return []
    fitted, labels = dawid_skene(found.table), [category["label"] for category in found.criterion.categories]
    return [
        Errors(name, int(n), float(accuracy), tuple(zip(labels, map(tuple, matrix.tolist()), strict=True)))
        for name, n, accuracy, matrix in zip(
            fitted.raters, fitted.n_ratings, fitted.accuracy, fitted.confusion, strict=True
        )
        if n
    ]


class CriterionQualityDocument(AnnotatorReportDocument):
    dawid_skene: dict[str, object] | None
    sides: SideBiasDocument | None


class QualityDocument(TypedDict):
    study: str
    checks_and_repeats: list[dict[str, object]]
    criteria: dict[str, CriterionQualityDocument]
    left_out: list[dict[str, str]]


def document(study: Study, *, bootstrap: int = 2000) -> QualityDocument:
    """All that is known of the annotators of a study, criterion by criterion, as JSON types. Seven queries, and two for
    each preference.
    """
    return {
        "study": study.name,
        "checks_and_repeats": [one.to_json() for one in records(study)],
        "criteria": {
            found.criterion.key: {
                **annotator_report(found.table, bootstrap=bootstrap).to_json(),
                "dawid_skene": dawid_skene(found.table).to_json() if found.table.has_scale else None,
                "sides": bias.to_json() if (bias := load_side_bias(found, bootstrap=bootstrap)) else None,
            }
            for found in load_compared(study)
            if found.table.n_ratings
        },
        "left_out": list_left_out(study),
    }


def quality(
    name: str,
    profiles: Sequence[tuple[str, AnnotatorSigns]],
    pace: Pace | None,
    accuracy: CheckRecord | None = None,
    consistency: CheckRecord | None = None,
    sides: Sequence[tuple[str, SideUse]] = (),
) -> Quality:
    return Quality(
        annotator=name,
        rated=sum(profile.n_ratings for _, profile in profiles),
        kappas=tuple((criterion, profile.kappa) for criterion, profile in profiles),
        pace=pace,
        signs=(*signs(profiles, pace, sides), *signs_of_checks(accuracy, consistency)),
        accuracy=accuracy,
        consistency=consistency,
    )


def signs(
    profiles: Sequence[tuple[str, AnnotatorSigns]], pace: Pace | None, sides: Sequence[tuple[str, SideUse]] = ()
) -> list[str]:
    """What stands out, each with the criteria on which it does.

    An answer that follows the side says nothing of the responses: who gives it does not answer against the others.
    """
    one_side = {criterion: use for criterion, use in sides if use.is_always_one}
    found = [say_one_side(criterion, use) for criterion, use in one_side.items()]
    backwards = [criterion for criterion, one in profiles if one.inverted and criterion not in one_side]
    for words, criteria in (
        (_("answers run against those of the others: {criteria}"), backwards),
        (_("always the same answer: {criteria}"), [criterion for criterion, one in profiles if one.constant]),
        (
            _("many equal answers in a row: {criteria}"),
            [criterion for criterion, one in profiles if one.straight_lining],
        ),
    ):
        if criteria:
            found.append(words.format(criteria=", ".join(criteria)))
    little = [criterion for criterion, one in profiles if agrees_little(one) and criterion not in backwards]
    if little and 2 * len(little) >= len(profiles) - len(backwards):
        says = _("agrees with the others hardly more than chance would: {criteria}")
        found.append(says.format(criteria=", ".join(little)))
    if pace and pace.n >= ENOUGH and pace.unread >= OFTEN:
        says = _("{percent:.0f} % of the items in less time than anybody needs to read them")
        found.append(says.format(percent=100 * pace.unread))
    if pace and pace.n >= ENOUGH and pace.too_fast >= OFTEN:
        says = _("{percent:.0f} % of the items in less than a third of the usual time")
        found.append(says.format(percent=100 * pace.too_fast))
    return found


def say_one_side(criterion: str, use: SideUse) -> str:
    says = _("nearly always the same side: {side} in {n_most} of {n}, probability {probability}: {criterion}")
    if use.n_most == use.n:
        says = _("always the same side: {side} in {n_most} of {n}, probability {probability}: {criterion}")
    probability = format_probability(use.probability)
    return says.format(side=use.side, n_most=use.n_most, n=use.n, probability=probability, criterion=criterion)


def format_probability(value: float) -> str:
    """Two digits, and what is very small as such."""
    return f"{value:#.2g}" if value >= LEAST_SHOWN else _("below {least:.6f}").format(least=LEAST_SHOWN)


def signs_of_checks(accuracy: CheckRecord | None, consistency: CheckRecord | None) -> list[str]:
    """What stands out in checks and repeats."""
    words = (
        (accuracy, _("only {percent:.0f} % of {n} checks are answered as is known")),
        (consistency, _("only {percent:.0f} % of {n} repeats are answered as before")),
    )
    return [
        says.format(percent=100 * one.overall.value, n=one.overall.n_items)
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
    rows = list(submitted.values_list("annotator__username", "item__position", "active_seconds"))
    least = load_shortest_times(study) if rows else {}
    by_name: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for name, position, seconds in rows:
        by_name[name].append((seconds or 0.0, least[position]))
    return compute_paces(by_name)


def compute_paces(by_name: Mapping[str, Sequence[tuple[float, float]]]) -> dict[str, Pace]:
    """Compute paces by username, from the seconds of each of their items and the least in which it can be read."""
    if not by_name:
        return {}
    usual = median(seconds for all_of_one in by_name.values() for seconds, _ in all_of_one)
    return {name: compute_pace(found, usual) for name, found in by_name.items()}


def compute_pace(found: Sequence[tuple[float, float]], usual: float) -> Pace:
    n = len(found)
    return Pace(
        n=n,
        seconds=median(seconds for seconds, _ in found),
        too_fast=sum(seconds < FAST * usual for seconds, _ in found) / n,
        unread=sum(seconds < least for seconds, least in found) / n,
    )
