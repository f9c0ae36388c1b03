"""How far a study has come, as one document: coverage, pace, forecast, agreement as it grows, and who needs help."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import numpy as np
from django.utils import timezone

from annotation.agreement.options import IntervalOptions
from annotation.agreement.services import stored_difficulty
from annotation.quality.queries import quality
from annotation.quality.queries.quality import ENOUGH
from annotation.stats.forecast import ASSUMPTION, Forecast, forecast
from annotation.stats.growth import growth
from annotation.stats.result_types import GrowthPointDocument
from annotation.stats.signs import AnnotatorSigns, annotator_signs
from annotation.stats.table import MISSING, FloatArray, RatingTable
from annotation.studies.models.studies import Study
from annotation.workbench.models import OverlapRound
from annotation.workbench.queries import overlap, progress
from annotation.workbench.queries.progress import Coverage, DrawSummary, WorkingAnnotator
from core.hashing import content_hash, digest
from core.jobs.waiting import load_or_make
from judging.assessment.progress_types import (
    AdaptiveDocument,
    CriterionGrowthDocument,
    GrowthDocument,
    NeedsHelpDocument,
    OverlapRoundDocument,
    PaceDocument,
    ProgressDocument,
    StudyForecastDocument,
    WorkingAnnotatorDocument,
)

DAYS, HOURS = 14, 48
"""Days, or in a young study hours, that a forecast looks back."""

YOUNG = timedelta(days=3)
"""Age of a study below which its pace is told by the hour."""

IDLE = timedelta(days=3)
CANNOT_JUDGE = 0.2
"""Share of answers "cannot judge" from which on somebody is named."""


def compute_study(study: Study, *, now: datetime | None = None) -> ProgressDocument:
    """Everything, in the same number of queries for any size of study."""
    now = now or timezone.now()
    left_out = progress.list_excluded_ids(study)
    covered, slots, hours = progress.coverage(study, left_out), progress.states(study), progress.hours(study)
    people = progress.list_working(study, left_out, now - timedelta(days=1))
    items = sum(one.items for one in covered)
    labelled = sum(one.items - one.by_ratings[0] for one in covered)
    drawn = progress.draw_labels(study, labelled, left_out)
    planned, submitted = sum(slots.values()) or items * study.overlap, slots.get(progress.SUBMITTED, 0)
    remaining = max(planned - submitted, 0)
    return {
        "study": study.name,
        "state": study.state,
        "at": now.isoformat(),
        "items": items,
        "overlap": study.overlap,
        "planned": planned,
        "submitted": submitted,
        "remaining": remaining,
        "excluded_annotators": len(left_out),
        "coverage": [{"group": one.group, "items": one.items, "by_ratings": list(one.by_ratings)} for one in covered],
        "all": sum_groups(covered),
        "pace": pace(hours, now),
        "annotators": [annotator(one) for one in people],
        "forecast": build_forecast(hours, remaining, now),
        "growth": build_growth(drawn, labelled),
        "needs_help": list_needing_help(study, people, drawn, remaining, now),
        "adaptive": adaptive(study) if study.is_adaptive else None,
    }


def adaptive(study: Study) -> AdaptiveDocument:
    """Of an adaptive study: what was asked for, what as many as one may for all would be, and the last round.

    `saved` is the share of these that is not asked for as it stands now.
    """
    counts, last = overlap.count_planned_ratings(study), overlap.find_last_round(study)
    return {
        "most_overlap": study.most_overlap,
        "submitted": counts["submitted"],
        "planned": counts["planned"],
        "for_all": counts["for_all"],
        "saved": 1 - counts["planned"] / counts["for_all"] if counts["planned"] else None,
        "is_due": overlap.is_due(study),
        "last": None if last is None else _describe_round(last),
    }


def _describe_round(last: OverlapRound) -> OverlapRoundDocument:
    return {
        "at": last.created_at.isoformat(),
        "number": last.number,
        "n_ratings": last.n_ratings,
        "n_asked": last.n_asked,
        "n_clear": last.n_clear,
        "n_enough": last.n_enough,
        "n_full": last.n_full,
        "n_short": last.n_short,
        "n_waiting": last.n_waiting,
        "price": last.price,
        "reason": last.reason,
    }


def sum_groups(covered: Sequence[Coverage]) -> list[int]:
    """Items with 0, 1, 2, … ratings over all groups."""
    return [sum(column) for column in zip(*(one.by_ratings for one in covered), strict=True)]


def choose_unit(hours: Mapping[datetime, int], now: datetime) -> tuple[str, timedelta, int]:
    """Hours while the study is young, then days; how long one is; and how many a forecast looks back."""
    if hours and now - min(hours) < YOUNG:
        return "hour", timedelta(hours=1), HOURS
    return "day", timedelta(days=1), DAYS


def windows(hours: Mapping[datetime, int], now: datetime) -> list[tuple[datetime, int]]:
    """Start and ratings of each whole period since the first rating, the last ending with the last full hour."""
    if not hours:
        return []
    _, length, _ = choose_unit(hours, now)
    end = now.replace(minute=0, second=0, microsecond=0)
    periods = -(-(end - min(hours)) // length)
    counts = [0] * max(periods, 0)
    for hour, n in hours.items():
        back = (end - hour - timedelta(hours=1)) // length
        if 0 <= back < periods:
            counts[periods - 1 - back] += n
    return [(end - (periods - place) * length, n) for place, n in enumerate(counts)]


def pace(hours: Mapping[datetime, int], now: datetime) -> PaceDocument:
    """Ratings by period, up to the hour of the last one: a chart of these changes with the labels alone."""
    end = max(hours, default=now) + timedelta(hours=1)
    full = now.replace(minute=0, second=0, microsecond=0)
    return {
        "unit": choose_unit(hours, end)[0],
        "periods": [{"start": start.isoformat(), "ratings": n} for start, n in windows(hours, end)],
        "since_the_last_full_hour": sum(n for hour, n in hours.items() if hour >= full),
    }


def build_forecast(hours: Mapping[datetime, int], remaining: int, now: datetime) -> StudyForecastDocument:
    """When the ratings that are missing will be there, with what is assumed."""
    unit, length, back = choose_unit(hours, now)
    counts = [n for _, n in windows(hours, now)][-back:]
    found = forecast(counts, remaining)
    return {
        **found.to_json(),
        "unit": unit,
        "assumption": ASSUMPTION,
        "end": {name: build_forecast_time(found, name, length, now) for name in ("value", "low", "high")},
    }


def build_forecast_time(found: Forecast, name: str, length: timedelta, now: datetime) -> str | None:
    periods = getattr(found, name)
    if np.isnan(periods) or periods * length > timedelta(days=36500):
        return None
    end: datetime = now + periods * length
    return end.isoformat()


def annotator(one: WorkingAnnotator) -> WorkingAnnotatorDocument:
    """Ratings of one person; per day over the days from their first to their last rating."""
    days = max((one.last - one.first) / timedelta(days=1), 1.0) if one.first and one.last else None
    return {
        "annotator": one.username,
        "name": one.name,
        "is_simulated": one.is_simulated,
        "excluded": one.is_excluded,
        "ratings": one.submitted,
        "last_day": one.lately,
        "per_day": one.submitted / days if days else None,
        "held": one.held,
        "first": one.first.isoformat() if one.first else None,
        "last": one.last.isoformat() if one.last else None,
    }


def build_growth(drawn: DrawSummary, labelled: int) -> GrowthDocument:
    """Agreement over the order of the labels, and which items it rests on; intervals as on the page on agreement."""
    usual = IntervalOptions()
    criteria: list[CriterionGrowthDocument] = [
        {"key": found.criterion.key, "name": found.criterion.name, "points": compute_points(found.table, when, usual)}
        for found, when in zip(drawn.ratings, drawn.when, strict=True)
    ]
    told = next((found.design.describe(found.table) for found in drawn.ratings if found.table.n_items), "")
    return {
        "criteria": criteria,
        "items_read": drawn.items,
        "items_rated": labelled,
        "every": drawn.step,
        "dependence": told,
        "seed": usual.seed,
    }


def compute_points(table: RatingTable, when: FloatArray, options: IntervalOptions) -> list[GrowthPointDocument]:
    """The points of one criterion, computed once for the same ratings in the same order."""
    labels = [stored_difficulty.hash_input(table, None), table.strata, digest(when.tobytes()), options.model_dump()]
    return load_or_make(
        f"growth-{content_hash(labels)}",
        lambda: [point.to_json() for point in growth(table, when, **options.model_dump())],
    )


def list_needing_help(
    study: Study, people: Sequence[WorkingAnnotator], drawn: DrawSummary, remaining: int, now: datetime
) -> list[NeedsHelpDocument]:
    """Who somebody should look at, or write to, and why; by name."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for username, found in careless(drawn).items():
        reasons[username] += found
    for username, words in find_undecided(drawn).items():
        reasons[username].append(words)
    waiting = remaining > 0 and study.state == Study.State.OPEN
    for one in people:
        if waiting and one.still_in and not one.is_excluded and (words := idle(one, now)):
            reasons[one.username].append(words)
    names = {one.username: one.name for one in people}
    return [
        {"annotator": username, "name": names.get(username, username), "reasons": reasons[username]}
        for username in sorted(reasons)
    ]


def careless(drawn: DrawSummary) -> dict[str, list[str]]:
    """The signs of the quality page, on the items read."""
    profiles: dict[str, list[tuple[str, AnnotatorSigns]]] = defaultdict(list)
    for found in drawn.ratings:
        if found.table.n_ratings:
            for profile in annotator_signs(found.table):
                profiles[profile.annotator].append((found.criterion.name, profile))
    times = quality.compute_paces(drawn.seconds)
    told = {name: quality.signs(mine, times.get(name), drawn.sides.get(name, ())) for name, mine in profiles.items()}
    return {name: signs for name, signs in told.items() if signs}


def find_undecided(drawn: DrawSummary) -> dict[str, str]:
    """Who often cannot judge."""
    unscored: dict[str, int] = defaultdict(int)
    answered: dict[str, int] = defaultdict(int)
    for found in drawn.ratings:
        rated = (found.table.codes != MISSING).sum(axis=0)
        for name, n in zip(found.table.raters, rated.tolist(), strict=True):
            answered[name] += n
        for name, n in found.unscored.items():
            unscored[name] += n
            answered[name] += n
    return {
        name: f"could not judge {n:,} of {answered[name]:,} answers"
        for name, n in unscored.items()
        if answered[name] >= ENOUGH and n / answered[name] >= CANNOT_JUDGE
    }


def idle(one: WorkingAnnotator, now: datetime) -> str:
    """That they have stopped, or not begun; empty if they go on."""
    begun = f", with {one.held} begun or skipped" if one.held else ""
    if one.last is None:
        return f"has rated nothing yet{begun}"
    days = (now - one.last) // timedelta(days=1)
    return f"nothing for {days} days{begun}" if now - one.last >= IDLE else ""
