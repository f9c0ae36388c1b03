"""How far a study has come: counts made in the database, and labels of a bounded number of items.

Whatever its size, a study costs the same number of queries here, and no more than `MOST_ITEMS` items are read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from django.db import connection
from django.db.models import CharField, Count, F, Max, Min, Q
from django.db.models.functions import Cast, Mod, Substr

from annotation.corpus.models import Task
from annotation.stats.by_level import explain_missing
from annotation.stats.orders import LETTERS, list_shown
from annotation.stats.sides import SideUse
from annotation.stats.table import FloatArray
from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation, Exclusion
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries.dependence import read_dependence
from annotation.studies.queries.item_features import load_shortest_times
from annotation.studies.queries.items import NONE, SEVERAL_DOMAINS
from annotation.studies.queries.ratings import Label, PeoplesRatings, build_ratings
from annotation.studies.queries.scales import load_scales, to_label
from annotation.studies.queries.studies import list_rated_items
from core import row_counts
from core.accounts.models.users import User

SUBMITTED, LEASED, SKIPPED = Assignment.State.SUBMITTED, Assignment.State.LEASED, Assignment.State.SKIPPED
RATING = Assignment.Purpose.RATING
MOST_ITEMS = 2000
"""Items whose labels are read; of more labelled items every k-th in the study's drawn order is taken."""

GROUP = {Study.Kind.DIALOGUE: "dialogue__scenario__task_id", Study.Kind.PAIR: "pair__kind"}
"""What tells an item's group: the domain is its task's."""


@dataclass(frozen=True)
class Coverage:
    """Items of one group by the number of ratings that count.

    Attributes
    ----------
    group
        Domain, or kind of pair.
    by_ratings
        Items with 0, 1, 2, … ratings.
    """

    group: str
    by_ratings: tuple[int, ...]

    @property
    def items(self) -> int:
        return sum(self.by_ratings)


@dataclass(frozen=True)
class WorkingAnnotator:
    """One annotator: what they handed in and hold, and when they were last seen doing so."""

    username: str
    name: str
    is_simulated: bool
    is_excluded: bool
    still_in: bool
    submitted: int
    lately: int
    held: int
    first: datetime | None
    last: datetime | None


@dataclass(frozen=True, eq=False)
class DrawSummary:
    """The labels of some items of the study, with when they were handed in.

    Attributes
    ----------
    ratings
        By criterion.
    when
        By criterion, (n, r) seconds since the epoch; NaN where there is no rating.
    seconds
        By username, the times that their items took, without idle time, each with the least in which it can be read.
    sides
        By username and criterion's name, which sides of the screen they chose, where one is asked for.
    items, step
        Items drawn, and that every how-manieth labelled item was.
    """

    ratings: tuple[PeoplesRatings, ...]
    when: tuple[FloatArray, ...]
    seconds: dict[str, list[tuple[float, float]]]
    sides: dict[str, list[tuple[str, SideUse]]]
    items: int
    step: int


def list_excluded_ids(study: Study) -> list[int]:
    """Ids of annotators whose labels do not count. One query."""
    return list(Exclusion.objects.filter(study=study, ended_at=None).values_list("annotator_id", flat=True))


def coverage(study: Study, left_out: Sequence[int]) -> list[Coverage]:
    """Each group of items. Two queries, grouped in the database; of a large study what it found a minute ago."""
    key = ("progress", study.pk, tuple(sorted(left_out)))
    return row_counts.count_cached(
        key, lambda: _coverage(study, left_out), lambda found: sum(one.items for one in found)
    )


def _coverage(study: Study, left_out: Sequence[int]) -> list[Coverage]:
    found: dict[str, Counter[int]] = defaultdict(Counter)
    counts = list(_by_group(study, left_out))
    names = load_domains([group for group, _, _ in counts]) if study.kind == Study.Kind.DIALOGUE else {}
    for group, ratings_there, n in counts:
        found[group_name(names.get(group, group))][ratings_there] += n
    most = max([study.overlap, *(ratings_there for one in found.values() for ratings_there in one)])
    return [Coverage(name, tuple(found[name][k] for k in range(most + 1))) for name in sorted(found)]


def _by_group(study: Study, left_out: Sequence[int]) -> Iterator[tuple[int | str | None, int, int]]:
    """(task, or kind of pair; number of ratings that count; number of items). The database reads each table once."""
    items, of = study.items.order_by().values_list("pk", GROUP[Study.Kind(study.kind)]).query.sql_with_params()
    ratings, by = list_rated_items(study, left_out).values_list("item", "n").query.sql_with_params()
    statement = f"""
        WITH items(id, grouped) AS ({items}), rated(id, n) AS ({ratings})
        SELECT grouped, coalesce(n, 0), count(*) FROM items LEFT JOIN rated ON rated.id = items.id GROUP BY 1, 2
    """  # noqa: S608 # nosec B608 # Django's own statements inside; what comes from outside are parameters
    with connection.cursor() as cursor:
        cursor.execute(statement, (*of, *by))
        yield from cursor.fetchall()


def load_domains(tasks: Collection[int | str | None]) -> dict[int | str | None, object]:
    """The domains of the tasks. One query."""
    return {None: None, **dict(Task.objects.filter(pk__in=set(tasks)).values_list("pk", "domains"))}


def group_name(group: object) -> str:
    if isinstance(group, list):
        return SEVERAL_DOMAINS if len(group) > 1 else "".join(group) or NONE
    return str(group or NONE)


def states(study: Study) -> dict[str, int]:
    """Slots by state. One query."""
    return dict(study.assignments.filter(purpose=RATING).order_by().values_list("state").annotate(n=Count("pk")))


def hours(study: Study) -> dict[datetime, int]:
    """Ratings handed in, by the hour (UTC) in which they were. One query.

    The hour is cut from the time's text: SQLite has no function for it, and one in Python takes seconds.
    """
    submitted = study.assignments.filter(purpose=RATING, state=SUBMITTED, submitted_at__isnull=False).order_by()
    hour = Substr(Cast("submitted_at", CharField()), 1, len("2026-01-31 18"))
    counted = submitted.annotate(hour=hour).values_list("hour").annotate(n=Count("pk"))
    return {datetime.strptime(text, "%Y-%m-%d %H").replace(tzinfo=UTC): n for text, n in counted}


def list_working(study: Study, left_out: Sequence[int], since: datetime) -> list[WorkingAnnotator]:
    """List who rates or has rated in the study; `lately` counts from `since`. Two queries."""
    counted = {
        annotator: figures
        for annotator, *figures in study.assignments.filter(purpose=RATING)
        .exclude(annotator=None)
        .order_by()
        .values_list("annotator")
        .annotate(
            submitted=Count("pk", filter=Q(state=SUBMITTED)),
            lately=Count("pk", filter=Q(state=SUBMITTED, submitted_at__gte=since)),
            held=Count("pk", filter=Q(state__in=[LEASED, SKIPPED])),
            first=Min("submitted_at"),
            last=Max("submitted_at"),
        )
    }
    here = set(study.annotators.values_list("pk", flat=True))
    people = User.objects.filter(pk__in=here | counted.keys()).order_by("username")
    return [
        WorkingAnnotator(
            person.username,
            str(person),
            person.is_simulated,
            person.pk in left_out,
            person.pk in here,
            *counted.get(person.pk, (0, 0, 0, None, None)),
        )
        for person in people
    ]


def draw_labels(study: Study, labelled: int, left_out: Sequence[int] = ()) -> DrawSummary:
    """Labels of at most about `MOST_ITEMS` of the `labelled` items, with their clusters and weights. Five queries."""
    step = max(1, -(-labelled // MOST_ITEMS))
    remainder = study.seed % step
    of_items = study.criteria.filter(unit=Criterion.Unit.ITEM)
    criteria = [one for one in of_items if explain_missing("progress", one.level) is None]
    scales, by_id = load_scales(criteria), {one.pk: one for one in criteria}
    place = "assignment__item__position"
    rows = (
        Annotation.objects.only_counting()
        .filter(assignment__study=study, criterion__in=criteria)
        .annotate(rest=Mod(F(place), step))
        .filter(rest=remainder)
        .order_by(place, "assignment__annotator__username")
        .values_list("criterion_id", place, "turn", "assignment__annotator__username", "value", "assignment__order")
    )
    labels: dict[int, list[Label]] = defaultdict(list)
    chosen: dict[tuple[int, str], list[tuple[str, str]]] = defaultdict(list)
    for pk, position, turn, username, value, order in rows.iterator(chunk_size=5000):
        labels[pk].append(Label(position, turn, username, to_label(by_id[pk], value, None)))
        if by_id[pk].is_preference and len(order) > 1 and (shown := list_shown(order).get(value)):
            chosen[pk, username].append((shown, order))
    times = load_assignments(study, step)
    at = {(position, username): when for position, username, _, when, _ in times}
    least = load_shortest_times(study, {position for position, *_, active in times if active is not None})
    seconds: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for position, username, *_, active in times:
        if active is not None:
            seconds[username].append((active, least[position]))
    there = read_dependence(study, among=study.items.annotate(rest=Mod(F("position"), step)).filter(rest=remainder))
    ratings = tuple(build_ratings(one, labels[one.pk], scales[one.pk]).add_dependence(there) for one in criteria)
    items = len({position for position, _, annotator, *_ in times if annotator not in left_out})
    return DrawSummary(
        ratings, tuple(moments(one, at) for one in ratings), dict(seconds), sides(criteria, chosen), items, step
    )


def sides(
    criteria: Sequence[Criterion], chosen: Mapping[tuple[int, str], Sequence[tuple[str, str]]]
) -> dict[str, list[tuple[str, SideUse]]]:
    """By username, how often they chose which place on each criterion. `chosen` are the places with the orders."""
    found: dict[str, list[tuple[str, SideUse]]] = defaultdict(list)
    names = {one.pk: one.name for one in criteria}
    for (key, name), given in chosen.items():
        sizes = [len(order) for _, order in given]
        counts = Counter(place for place, _ in given)
        places = tuple(counts[place] for place in LETTERS[: max(sizes)])
        found[name].append((names[key], SideUse(name, places, min(sizes))))
    return dict(found)


def load_assignments(study: Study, step: int) -> list[tuple[int, str, int, datetime | None, float | None]]:
    """Position, annotator with id, time of submission and active seconds of the drawn items' submitted slots."""
    return list(
        study.assignments.filter(state=SUBMITTED, purpose=RATING)
        .annotate(rest=Mod(F("item__position"), step))
        .filter(rest=study.seed % step)
        .values_list("item__position", "annotator__username", "annotator_id", "submitted_at", "active_seconds")
    )


def moments(found: PeoplesRatings, at: dict[tuple[int, str], datetime | None]) -> FloatArray:
    """(n, r) when each rating was handed in."""
    table = found.table
    when = np.full(table.codes.shape, np.nan)
    column = {name: k for k, name in enumerate(table.raters)}
    row = {int(item): k for k, item in enumerate(table.items)}
    for (position, username), moment in at.items():
        if position in row and username in column and moment is not None:
            when[row[position], column[username]] = moment.timestamp()
    return when
