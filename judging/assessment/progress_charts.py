"""Charts of a study under way: coverage, pace, and agreement as it grows. Pure; no Django, no files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.charts import Spec
from core.documents import Row
from core.later import Later
from judging.assessment.charts import (
    CURVE,
    Palette,
    choose_width,
    compute_row,
    inline,
    name_axis,
    place_bars,
    style_chart,
)
from judging.assessment.progress_types import ProgressDocument

if TYPE_CHECKING:
    import altair as alt
else:
    alt = Later("altair")

WIDEST = 40
"""Pixels of a bar where there are few periods."""

Rows = list[Row]

SHOWN = {"krippendorff_alpha": "Krippendorff’s alpha", "fleiss_kappa": "Fleiss’ kappa"}


@dataclass(frozen=True)
class ProgressPlot:
    """A plot of a study's progress: its name in addresses, its caption, its rows, and its specification."""

    key: str
    caption: str
    rows: Callable[[ProgressDocument], Rows]
    spec: Callable[[Rows, Palette], Spec]


def coverage_rows(document: ProgressDocument) -> Rows:
    """Items of each group by their number of ratings."""
    return [
        {"group": "all items" if len(document["coverage"]) == 1 else one["group"], "ratings": ratings, "items": n}
        for one in document["coverage"]
        for ratings, n in enumerate(one["by_ratings"])
    ]


def coverage(rows: Rows, palette: Palette) -> Spec:
    """A bar of each group, the more ratings the stronger its colour."""
    most = max((row["ratings"] for row in rows), default=0)
    groups = list(dict.fromkeys(row["group"] for row in rows))
    shade = alt.Scale(domain=list(range(most + 1)), range=[0.06, 1])  # in equal steps
    legend = alt.Legend(orient="top", title="ratings", symbolType="square")
    bars = (
        alt.Chart(inline(rows))
        .mark_bar(color=palette.judge, stroke=palette.line, strokeWidth=0.5, **place_bars(palette))
        .encode(
            x=alt.X("items:Q", stack="normalize", axis=alt.Axis(title="share of the items", format=".0%", tickCount=5)),
            y=alt.Y("group:N", sort=groups, title=None, axis=name_axis(groups, palette)),
            order="ratings:O",
            opacity=alt.Opacity("ratings:O", scale=shade, legend=legend),
        )
    )
    size = {"width": choose_width(palette), "height": (compute_row(groups, palette) + 4) * len(groups)}
    return style_chart(bars.properties(**size), palette)


def pace_rows(document: ProgressDocument) -> Rows:
    """Ratings by hour or day."""
    return [{**period} for period in document["pace"]["periods"]]


def pace(rows: Rows, palette: Palette) -> Spec:
    """A bar for each period, the oldest on the left."""
    bars = (
        alt.Chart(inline([{**row, "place": place} for place, row in enumerate(rows, start=1)]))
        .mark_bar(color=palette.people, size=min(WIDEST, 0.8 * choose_width(palette) / len(rows)))
        .encode(
            x=alt.X(
                "place:O",
                axis=alt.Axis(title="hour or day since the first rating", labelAngle=0, labelOverlap=True, ticks=False),
            ),
            y=alt.Y("ratings:Q", axis=alt.Axis(title="ratings", tickMinStep=1, tickCount=4)),
        )
    )
    return style_chart(bars.properties(width=choose_width(palette), height=CURVE), palette)


def growth_rows(document: ProgressDocument) -> Rows:
    """Every criterion's coefficients at each point; without those that are undefined."""
    return [
        {
            "criterion": one["name"],
            "coefficient": label,
            "ratings": point["n_ratings"],
            "items": point["n_items"],
            "value": estimate["value"],
            "low": estimate["low"],
            "high": estimate["high"],
        }
        for one in document["growth"]["criteria"]
        for point in one["points"]
        for key, label in SHOWN.items()
        if (estimate := point["coefficients"][key])["value"] is not None
    ]


def growth(rows: Rows, palette: Palette) -> Spec:
    """A panel for each criterion: alpha as a line with its interval, kappa as a dashed line."""
    ends = [end for row in rows for end in (row["value"], row["low"]) if end is not None]
    scale = alt.Scale(domain=[min([0.0, *ends]), 1.0], nice=False)
    criteria = list(dict.fromkeys(row["criterion"] for row in rows))
    panels = [_growth([row for row in rows if row["criterion"] == name], name, scale, palette) for name in criteria]
    return style_chart(alt.vconcat(*panels, spacing=14), palette)


def _growth(rows: Rows, name: str, scale: alt.Scale, palette: Palette) -> alt.LayerChart:
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("ratings:Q", axis=alt.Axis(title="ratings, in the order in which they came", format="d"))
    )
    y = alt.Y("value:Q", scale=scale, axis=alt.Axis(title="agreement", tickCount=5))
    dash = alt.StrokeDash(
        "coefficient:N",
        scale=alt.Scale(domain=list(SHOWN.values()), range=[[1, 0], [5, 3]]),
        legend=alt.Legend(orient="top", title=None),
    )
    alpha = [dict(row) for row in rows if row["coefficient"] == SHOWN["krippendorff_alpha"]]
    known = [row for row in alpha if row["low"] is not None and row["high"] is not None]
    x = alt.X("ratings:Q")
    layers = [base.mark_line(color=palette.people, strokeWidth=1.5).encode(y=y, strokeDash=dash)]
    if known:  # a layer without marks would be a picture without a text
        ends = alt.Chart(inline(known)).mark_rule(color=palette.quiet)
        layers.append(ends.encode(x=x, y=alt.Y("low:Q", scale=scale, title="agreement"), y2="high:Q"))
    if alpha:
        points = alt.Chart(inline(alpha)).mark_point(filled=True, opacity=1, size=40, color=palette.people)
        layers.append(points.encode(x=x, y=y))
    title = alt.TitleParams(name, anchor="start", frame="group")
    return alt.layer(*layers).properties(width=choose_width(palette), height=CURVE + 20, title=title)


PLOTS = {
    plot.key: plot
    for plot in (
        ProgressPlot(
            "coverage",
            caption="Items by how many ratings they have: the more, the stronger the colour.",
            rows=coverage_rows,
            spec=coverage,
        ),
        ProgressPlot(
            "pace",
            caption="Ratings handed in by period, up to the last one; periods without one are there too.",
            rows=pace_rows,
            spec=pace,
        ),
        ProgressPlot(
            "growth",
            caption="Agreement over the first tenth of the ratings, the first two tenths, and so on: Krippendorff’s "
            "alpha with its 95 % interval, Fleiss’ kappa dashed.",
            rows=growth_rows,
            spec=growth,
        ),
    )
}
