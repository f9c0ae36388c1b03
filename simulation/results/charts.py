"""Charts of an experiment's tables, in the style of `judging.assessment.charts`. Pure; no Django, no files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.later import Later
from judging.assessment.charts import (
    FIGURES,
    FILE,
    Palette,
    choose_width,
    compute_row,
    draw_on_page,
    name_axis,
    place_bars,
    place_panels,
    style_chart,
    svg,
)

if TYPE_CHECKING:
    import altair as alt

    from simulation.results.measure_types import DemographicsDocument
    from simulation.results.result_types import ColumnDocument, RowDocument, TableDocument, TableFigure
else:
    alt = Later("altair")

WIDTH, TALL = 190, 190
"""Pixels: width of a panel of one measure, height of a curve."""

CURVE = 250
"""Pixels that a curve is wide on a narrow screen, beside its axis."""

CURVES = {"turns": "turn of the assistant", "drift": "turn of the user", "history": "percent of the history damaged"}
"""Tables whose rows are places on an axis, and what the axis is called."""

HEIGHTS = {"personalization": "personalization", "drift": "share of turns"}
"""What the height of a curve is called."""

NOT_POINTS = ("all", "mean", "published")
"""Keys of rows that are no points: lines through the others, and numbers from elsewhere."""

ACROSS = 3
"""Curves of more groups than there are dashes stand in panels of their own, so many side by side."""

DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4])
"""Of the lines of a curve: told apart without colours."""


def panels(table: TableDocument, palette: Palette) -> dict[str, object]:
    """A table as points with intervals: a panel for each measure, the rows below each other.

    A row with the key `mean`, else one with the key `all`, is drawn as a line through the other rows of its panel.
    """
    rows = [row for row in table["rows"] if row["key"] not in NOT_POINTS]
    names = [build_name(row) for row in rows]
    keys = {row["key"] for row in table["rows"]}
    means = [row for row in table["rows"] if row["key"] == ("mean" if "mean" in keys else "all")]
    columns = [column for column in table["columns"] if not column["key"].endswith("_published")]
    drawn = [panel(rows, names, column, means, palette, first=place == 0) for place, column in enumerate(columns)]
    return style_chart(place_panels(drawn, palette), palette)


def panel(
    rows: Sequence[RowDocument],
    names: Sequence[str],
    column: ColumnDocument,
    whole: Sequence[RowDocument],
    palette: Palette,
    *,
    first: bool,
) -> object:
    """One measure. Only the first panel names the rows, unless panels stand below each other."""
    cells = [row["cells"][column["key"]] for row in rows]
    values = [
        {"name": name, "value": cell["value"], "low": cell["low"], "high": cell["high"]}
        for name, cell in zip(names, cells, strict=True)
    ]
    axis = name_axis(names, palette) if first or palette.is_narrow else alt.Axis(labels=False)
    y = alt.Y("name:N", sort=list(names), title=None, axis=axis)
    scale = alt.Scale(domain=choose_domain(column, cells), nice=False)
    x_axis = alt.Axis(title=None, tickCount=4)
    base = alt.Chart(alt.InlineData(values=values)).encode(y=y)
    layers = [
        *zero(column, palette),
        *mean_line(column, whole, scale, palette),
        base.mark_rule(strokeWidth=1.5, color=palette.judge, aria=False).encode(
            x=alt.X("low:Q", scale=scale), x2="high:Q"
        ),
        base.mark_point(filled=True, opacity=1, size=70, shape="diamond", color=palette.judge).encode(
            x=alt.X("value:Q", scale=scale, axis=x_axis)
        ),
    ]
    title = alt.TitleParams(column["name"], anchor="start", frame="group")
    return alt.layer(*layers).properties(
        width=_choose_panel(palette), height=compute_row(names, palette) * max(len(rows), 1), title=title
    )


def _choose_panel(palette: Palette) -> int:
    return choose_width(palette) if palette.is_narrow else WIDTH


def mean_line(column: ColumnDocument, whole: Sequence[RowDocument], scale: alt.Scale, palette: Palette) -> list[object]:
    means = [row["cells"][column["key"]]["value"] for row in whole]
    found = alt.InlineData(values=[{"mean": mean} for mean in means if mean is not None])
    if not found.values:
        return []
    rule = alt.Chart(found).mark_rule(color=palette.quiet, strokeDash=[4, 3])
    return [rule.encode(x=alt.X("mean:Q", scale=scale))]


def zero(column: ColumnDocument, palette: Palette) -> list[object]:
    """A line where a difference is nothing."""
    if column["low"] is None or column["low"] >= 0:
        return []
    return [alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(color=palette.quiet).encode(x="zero:Q")]


def choose_domain(column: ColumnDocument, cells: Sequence[TableFigure]) -> list[float | None]:
    """The scale's ends; of a difference, or where there is no scale, what is there."""
    ends = [end for cell in cells for end in (cell["value"], cell["low"], cell["high"]) if end is not None]
    if column["low"] is not None and column["low"] >= 0:
        return [column["low"], column["high"]]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    margin = 0.06 * (high - low) or 1.0
    return [low - margin if low < 0 else 0.0, high + margin]


def curve(table: TableDocument, palette: Palette) -> dict[str, object]:
    """The first measure by turn, or by step of damage, a line for each group, with its interval as a band."""
    column = table["columns"][0]
    groups = list(dict.fromkeys(row["group"] for row in table["rows"]))
    values = [
        {
            "place": int(row["name"]),
            "group": row["group"],
            "value": cell["value"],
            "low": cell["low"],
            "high": cell["high"],
        }
        for row in table["rows"]
        if (cell := row["cells"][column["key"]])["value"] is not None
    ]
    apart = len(groups) > len(DASHES)
    base = alt.Chart().encode(x=alt.X("place:Q", axis=alt.Axis(title=CURVES[table["key"]], format="d", tickMinStep=1)))
    scale = alt.Scale(domain=[column["low"], column["high"]], nice=False)
    y = alt.Y("value:Q", scale=scale, axis=alt.Axis(title=HEIGHTS[column["key"]], tickCount=4))
    dash = alt.StrokeDash(
        "group:N",
        scale=alt.Scale(domain=groups, range=[list(DASHES[0 if apart else n]) for n in range(len(groups))]),
        legend=alt.Legend(orient="top", title=None) if len(groups) > 1 and not apart else None,
    )
    layers = [
        base.mark_area(opacity=0.15, color=palette.judge, clip=True).encode(
            y=alt.Y("low:Q", scale=scale), y2="high:Q", detail="group:N"
        ),
        base.mark_line(color=palette.judge).encode(y=y, strokeDash=dash),
        base.mark_point(filled=True, opacity=1, size=50, shape="diamond", color=palette.judge).encode(
            y=y, detail="group:N"
        ),
    ]
    data = alt.InlineData(values=values)
    if not apart:
        return style_chart(
            alt.layer(*layers, data=data).properties(width=CURVE if palette.is_narrow else 2 * WIDTH, height=TALL),
            palette,
        )
    small = alt.layer(*layers, data=data).properties(width=CURVE if palette.is_narrow else WIDTH, height=TALL / 2)
    across = 1 if palette.is_narrow else ACROSS
    return style_chart(small.facet(facet=alt.Facet("group:N", sort=groups, title=None), columns=across), palette)


FIGURE_3 = ("gender", "age", "ethnicity", "religion", "region")
"""Demographics that Figure 3 of PersonaLens shows."""

MOST_BARS = 12


def figure_3(fields: Sequence[DemographicsDocument]) -> list[DemographicsDocument]:
    """The fields of Figure 3 that the profiles have, in its order; of others those with few values."""
    known = {one["field"]: one for one in fields}
    shown = [known[name] for name in FIGURE_3 if name in known]
    return shown or [one for one in fields if len(one["shares"]) <= MOST_BARS]


def bars(fields: Sequence[DemographicsDocument], palette: Palette) -> dict[str, object]:
    """A panel of bars for each field of the demographics."""
    drawn = []
    for field in fields:
        values = [{"name": one["value"], "n": one["n"]} for one in field["shares"]]
        names = [str(one["name"]) for one in values]
        y = alt.Y("name:N", sort=names, title=None, axis=name_axis(names, palette))
        x = alt.X("n:Q", axis=alt.Axis(title="profiles", tickCount=4, format="d"))
        bar = (
            alt.Chart(alt.InlineData(values=values))
            .mark_bar(color=palette.judge, **place_bars(palette))
            .encode(x=x, y=y)
        )
        title = alt.TitleParams(str(field["field"]).replace("_", " ").capitalize(), anchor="start", frame="group")
        drawn.append(
            bar.properties(width=_choose_panel(palette), height=compute_row(names, palette) * len(values), title=title)
        )
    return style_chart(alt.concat(*drawn, columns=1 if palette.is_narrow else 2, spacing=18), palette)


def table_chart(table: TableDocument, palette: Palette) -> dict[str, object]:
    """The table as curves where its rows are places on an axis, else as points."""
    return curve(table, palette) if table["key"] in CURVES else panels(table, palette)


def build_name(row: RowDocument) -> str:
    return f"{row['name']} ({row['group']})" if row["group"] else row["name"]


__all__ = ["FIGURES", "FILE", "bars", "draw_on_page", "figure_3", "svg", "table_chart"]
