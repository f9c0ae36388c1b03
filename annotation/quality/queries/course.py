"""Gold accuracy and self-consistency of each annotator over time: the plot, and its files."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.safestring import SafeString

from annotation.quality.charts import Point, course
from annotation.quality.queries import quality
from annotation.stats.checks import CheckRecord
from annotation.stats.estimate import Estimate
from annotation.studies.models.studies import Study
from core.accounts.models.users import User
from core.charts import FIGURES, FILE, draw_on_page
from core.csv_files import csv_text

KINDS = {"accuracy": "gold accuracy", "consistency": "self-consistency"}
CHECK_COLUMNS = ("annotator", "kind", "first_item", "last_item", "until", "items", "value", "low", "high")


def plot_course(rows: Sequence[quality.Quality]) -> SafeString:
    """Draw the course over time for a page; empty without checks and repeats."""
    points = build_points([record for row in rows for record in (row.accuracy, row.consistency) if record])
    return draw_on_page(course, points) if points else SafeString("")


def build_points(records: Sequence[CheckRecord]) -> list[Point]:
    people = User.objects.in_bulk({one.annotator for one in records}, field_name="username")
    return [
        Point(
            plain_name(people[one.annotator]), KINDS[one.kind], part.last, *ends(part.estimate), part.estimate.n_items
        )
        for one in records
        for part in one.stretches
    ]


def ends(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.value, estimate.low, estimate.high


def plain_name(person: User) -> str:
    """A name for a plot, which has no badges."""
    return f"{person} (simulated)" if person.is_simulated else str(person)


def checks_csv(records: Sequence[CheckRecord]) -> str:
    parts = [(record, part) for record in records for part in record.stretches]
    rows = [
        [
            *(record.annotator, KINDS[record.kind], part.first, part.last, part.until.isoformat()),
            *(part.estimate.n_items, *ends(part.estimate)),
        ]
        for record, part in parts
    ]
    return csv_text([CHECK_COLUMNS, *rows])


def checks_figure(study: Study, ending: str) -> str | bytes | None:
    """The plot as a file, as csv its stretches with all that is known of them; None where there is nothing to draw."""
    records = quality.records(study)
    if ending == "csv":
        return checks_csv(records)
    points = build_points(records)
    return FIGURES[ending](course, points, FILE) if points else None
