"""Plots of a judge's calibration: each a title, rows of data, and a specification made of them (pure).

The rows are what the download of the data holds, so that a plot shows nothing that cannot be had as numbers. People are
circles, the judge a diamond, what both together say a square.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from annotation.stats.result_types import EstimateDocument
from core.charts import Spec
from core.documents import Row
from core.later import Later
from judging.assessment.charts import Palette, choose_width, compute_row, inline, name_axis, style_chart
from judging.assessment.result_types import CriterionFiguresDocument
from judging.stats.calibration_types import BoardRowDocument, CalibrationFiguresDocument, CorrectedDocument

if TYPE_CHECKING:
    import altair as alt
else:
    alt = Later("altair")

Rows = list[Row]

TALL = 260
"""Pixels: height of a plot with two numeric axes."""

KINDS = ("people", "judge", "both")
SHAPES = ("circle", "diamond", "square")


@dataclass(frozen=True)
class CalibrationPlot:
    """A plot of one criterion.

    Attributes
    ----------
    key, caption
        Its name in addresses, and in words what is to be seen.
    rows
        The data, from a criterion's calibration; empty where there is nothing to draw.
    spec
        The specification, from the data and a palette.
    """

    key: str
    caption: str
    rows: Callable[[CriterionFiguresDocument], Rows]
    spec: Callable[[Rows, Palette], Spec]


def sweep_rows(found: CriterionFiguresDocument) -> Rows:
    """Winning rate by epsilon."""
    if not found["alt_test"]:
        return []
    chosen = found["alt_test"]["epsilon"]
    return [
        {"epsilon": at["epsilon"], "winning_rate": at["winning_rate"], "chosen": at["epsilon"] == chosen}
        for at in found["alt_test"]["sweep"]
        if at["winning_rate"] is not None
    ]


def sweep(rows: Rows, palette: Palette) -> Spec:
    """Winning rate over epsilon, the half that is needed as a line."""
    base = alt.Chart(inline(rows))
    x = alt.X("epsilon:Q", title="ε, the judge's discount", axis=alt.Axis(tickCount=7, format=".2f"))
    y = alt.Y("winning_rate:Q", title="winning rate ω", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=5))
    needed = alt.Chart(inline([{"half": 0.5}])).mark_rule(color=palette.quiet, strokeDash=[4, 3])
    layers = [
        needed.encode(y="half:Q"),
        base.mark_line(color=palette.judge, strokeWidth=1.5).encode(x=x, y=y),
        base.mark_point(shape="diamond", filled=True, opacity=1, color=palette.judge).encode(
            x=x, y=y, size=alt.condition("datum.chosen", alt.value(180), alt.value(60))
        ),
    ]
    return style_chart(alt.layer(*layers).properties(width=choose_width(palette), height=TALL - 60), palette)


def correction_rows(found: CriterionFiguresDocument) -> Rows:
    """Each way to the mean or rate, with its interval; of several categories one row for each and way."""
    parts = list_parts(found)
    rows: Rows = [
        {"name": f"{name}: {label}" if name else label, "kind": kind, **_ends(part[key])}
        for name, part in parts.items()
        for label, kind, key in WAYS
    ]
    if found["rogan_gladen"]:
        rows.append({"name": "Rogan–Gladen", "kind": "both", **_ends(found["rogan_gladen"])})
    return [row for row in rows if row["value"] is not None]


def list_parts(found: CalibrationFiguresDocument) -> Mapping[str, CorrectedDocument]:
    """The corrected figure, whose name is empty; on a scale without a mean that of each category."""
    return found["by_category"] or {"": found}


Way = Literal["human_only", "judge_only", "ppi"]
WAYS: tuple[tuple[str, str, Way], ...] = (
    ("people alone", "people", "human_only"),
    ("judge alone", "judge", "judge_only"),
    ("corrected (PPI++)", "both", "ppi"),
)


def _ends(estimate: EstimateDocument) -> Row:
    return {"value": estimate["value"], "low": estimate["low"], "high": estimate["high"]}


def intervals(rows: Rows, palette: Palette, *, title: str = "") -> Spec:
    """Named estimates under each other, with their intervals."""
    names = [row["name"] for row in rows]
    y = alt.Y("name:N", sort=names, title=None, axis=name_axis(names, palette))
    scale = alt.Scale(zero=False, nice=True)
    base = alt.Chart(inline(rows)).encode(y=y)
    colour, shape = _by_kind(palette)
    layers = [
        base.mark_rule(strokeWidth=1.5).encode(
            x=alt.X("low:Q", scale=scale, title=title or None), x2="high:Q", color=colour
        ),
        base.mark_point(filled=True, opacity=1, size=90).encode(
            x=alt.X("value:Q", scale=scale), color=colour, shape=shape
        ),
    ]
    size = {"width": choose_width(palette), "height": compute_row(names, palette) * len(rows)}
    return style_chart(alt.layer(*layers).properties(**size), palette)


def _by_kind(palette: Palette) -> tuple[alt.Color, alt.Shape]:
    colours = alt.Scale(domain=list(KINDS), range=[palette.people, palette.judge, palette.people])
    shapes = alt.Scale(domain=list(KINDS), range=list(SHAPES))
    return alt.Color("kind:N", scale=colours, legend=None), alt.Shape("kind:N", scale=shapes, legend=None)


def reliability_rows(found: CriterionFiguresDocument) -> Rows:
    """The bins before and after the map: mean score, what people say there, how many items."""
    if not found["scores"]:
        return []
    scores = found["scores"]
    names = (("as it is", scores["before"]), ("recalibrated", scores["after"]))
    return [
        {
            "scores": name,
            "low": one["low"],
            "high": one["high"],
            "n": one["n"],
            "score": one["score"],
            "people": one["human"]["value"],
            "people_low": one["human"]["low"],
            "people_high": one["human"]["high"],
        }
        for name, side in names
        for one in side["bins"]
    ]


def reliability(rows: Rows, palette: Palette) -> Spec:
    """What people say over what the judge says; on the diagonal it means what it says."""
    ends = [row[key] for row in rows for key in ("low", "high", "score")]
    scale = alt.Scale(domain=[min(ends), max(ends)], nice=False)
    x = alt.X("score:Q", title="mean score of the judge", scale=scale, axis=alt.Axis(tickCount=6))
    y = alt.Y("people:Q", title="mean label of people", scale=scale, axis=alt.Axis(tickCount=6))
    base = alt.Chart(inline(rows))
    names = ["as it is", "recalibrated"]
    colour = alt.Color(
        "scores:N",
        scale=alt.Scale(domain=names, range=[palette.judge, palette.people]),
        legend=alt.Legend(orient="top", title=None),
    )
    shape = alt.Shape("scores:N", scale=alt.Scale(domain=names, range=["diamond", "square"]), legend=None)
    diagonal = inline([{"at": min(ends)}, {"at": max(ends)}])
    line = alt.Chart(diagonal).mark_line(color=palette.quiet, strokeDash=[4, 3])
    layers = [
        line.encode(x=alt.X("at:Q", scale=scale), y=alt.Y("at:Q", scale=scale)),
        base.mark_rule(strokeWidth=1.2).encode(
            x=x, y=alt.Y("people_low:Q", scale=scale), y2="people_high:Q", color=colour
        ),
        base.mark_point(filled=True, opacity=1, size=80).encode(x=x, y=y, color=colour, shape=shape),
    ]
    return style_chart(
        alt.layer(*layers).properties(width=min(TALL + 80, choose_width(palette)), height=TALL + 40), palette
    )


def risk_rows(found: CriterionFiguresDocument) -> Rows:
    """Share kept and share wrong at each threshold; nothing to draw where all verdicts are equally sure."""
    points: Rows = [{**point} for point in found["risk_coverage"]["points"]]
    return points if len(points) > 1 else []


def risk(rows: Rows, palette: Palette) -> Spec:
    """How often the judge is wrong when only its surest verdicts are kept."""
    x = alt.X("coverage:Q", title="share of verdicts kept", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format=".0%"))
    most = max(0.05, *(row["risk"] for row in rows))
    scale = alt.Scale(domain=[0, most])
    y = alt.Y("risk:Q", title="share of these that people contradict", scale=scale, axis=alt.Axis(format=".0%"))
    chart = alt.Chart(inline(rows)).mark_line(
        color=palette.judge, strokeWidth=1.5, point=alt.OverlayMarkDef(color=palette.judge, size=20)
    )
    return style_chart(chart.encode(x=x, y=y).properties(width=choose_width(palette), height=TALL - 60), palette)


def board_rows(found: CriterionFiguresDocument) -> Rows:
    """Strengths of assistants by people, by the judge, corrected; in the order of people's (or the judge's) board."""
    boards = found["leaderboard"]
    if not boards:
        return []
    order = [place["assistant"] for place in sort_standings(boards["people"]) or sort_standings(boards["judge"])]
    rows: Rows = [
        {"name": f"{place['assistant']}: {label}", "kind": kind, "assistant": place["assistant"], **_ends(strength)}
        for label, kind, board in BOARDS
        for place in boards[board]
        if (strength := place["strength"])["value"] is not None
    ]
    kinds = [kind for _, kind, _ in BOARDS]
    return sorted(rows, key=lambda row: (order.index(row["assistant"]), kinds.index(row["kind"])))


BOARDS: tuple[tuple[str, str, Literal["people", "judge", "corrected"]], ...] = (
    ("people", "people", "people"),
    ("judge", "judge", "judge"),
    ("corrected", "both", "corrected"),
)


def sort_standings(board: Sequence[BoardRowDocument]) -> list[BoardRowDocument]:
    """The standings of a board, the best first; those without a rank last."""
    return sorted(board, key=lambda place: (place["rank"]["value"] is None, place["rank"]["value"], place["assistant"]))


def board(rows: Rows, palette: Palette) -> Spec:
    """Strengths under each other, assistant by assistant."""
    return intervals(rows, palette, title="log strength (0 is the mean of the assistants)")


PLOTS = {
    plot.key: plot
    for plot in (
        CalibrationPlot(
            "alt-test",
            caption="Winning rate by ε. From one half on the judge may stand in for a person.",
            rows=sweep_rows,
            spec=sweep,
        ),
        CalibrationPlot(
            "correction",
            caption="The figure by people alone (circle), by the judge alone (diamond), and corrected (square).",
            rows=correction_rows,
            spec=intervals,
        ),
        CalibrationPlot(
            "reliability",
            caption="What people say where the judge gives a score. On the dashed line the score means what it says.",
            rows=reliability_rows,
            spec=reliability,
        ),
        CalibrationPlot(
            "risk-coverage",
            caption="How often people contradict the judge when only its surest verdicts are kept.",
            rows=risk_rows,
            spec=risk,
        ),
        CalibrationPlot(
            "leaderboard",
            caption="Strength of each assistant by people (circle), by the judge (diamond), and corrected (square).",
            rows=board_rows,
            spec=board,
        ),
    )
}
