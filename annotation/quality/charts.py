"""The chart of gold accuracy and self-consistency over time; a helper process draws it, without the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.charts import Palette, inline, style_chart
from core.later import Later

if TYPE_CHECKING:
    import altair as alt
else:
    alt = Later("altair")

PANEL, COURSE, NARROW_COURSE = 70, 480, 270
"""Pixels: height of an annotator's panel, width of the course over time, and that on a narrow screen."""

MOST_PANELS = 40
"""Annotators that are drawn; the table holds all."""


@dataclass(frozen=True)
class Point:
    """The mean mark of a stretch of somebody's items, drawn at the number of its last item."""

    name: str
    kind: str
    number: int
    value: float
    low: float
    high: float
    n: int


def course(points: Sequence[Point], palette: Palette) -> dict[str, object]:
    """A panel for each annotator: filled circles for gold accuracy, open ones for self-consistency, with intervals."""
    names = list(dict.fromkeys(point.name for point in points))[:MOST_PANELS]
    kinds = ["gold accuracy", "self-consistency"]
    last = max((point.number for point in points), default=1)
    panels = [_course_panel(name, points, kinds, last, palette, is_last=name == names[-1]) for name in names]
    chart = alt.vconcat(*panels, spacing=12).resolve_scale(x="shared", color="shared", shape="shared")
    return style_chart(chart, palette)


def _course_panel(
    name: str, points: Sequence[Point], kinds: Sequence[str], last: int, palette: Palette, *, is_last: bool
) -> alt.LayerChart:
    rows = [
        {
            "kind": p.kind,
            "number": p.number + (p.kind == kinds[1]) * last / 100,
            "value": p.value,
            "low": p.low,
            "high": p.high,
            "n": p.n,
        }
        for p in points
        if p.name == name
    ]
    x = alt.X(
        "number:Q",
        title="items that the annotator was given" if is_last else None,
        scale=alt.Scale(domain=[0, 1.02 * last + 1], nice=False),
        axis=alt.Axis(labels=is_last, tickMinStep=1, format="d"),
    )
    y_scale = alt.Scale(domain=[0, 1])
    width = NARROW_COURSE if palette.is_narrow else COURSE
    base = alt.Chart(inline(rows), width=width, height=PANEL, title=alt.Title(name, anchor="start"))
    colour = alt.value(palette.people)
    interval = base.mark_rule(strokeWidth=1.5, aria=False).encode(
        x=x, y=alt.Y("low:Q", scale=y_scale, title=None), y2="high:Q", color=colour
    )
    line = base.mark_line(strokeWidth=1).encode(
        x=x,
        y=alt.Y("value:Q", scale=y_scale, title=None, axis=alt.Axis(values=[0, 0.5, 1], format="%", grid=True)),
        color=colour,
        strokeDash=alt.StrokeDash("kind:N", scale=alt.Scale(domain=kinds, range=[[1, 0], [4, 3]]), legend=None),
    )
    dot = base.mark_point(size=60, strokeWidth=1.5, opacity=1).encode(
        x=x,
        y=alt.Y("value:Q", scale=y_scale, title=None),
        stroke=colour,
        fill=alt.Fill("kind:N", scale=alt.Scale(domain=kinds, range=[palette.people, palette.paper]), legend=None),
    )
    return alt.layer(interval, line, dot)
