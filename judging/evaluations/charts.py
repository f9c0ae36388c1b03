"""Charts of an evaluation: accuracy by model, setting and tier; how far confidence can be believed. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from core.later import Later
from judging.assessment.charts import Palette, choose_width, compute_row, inline, name_axis, place_panels, style_chart

if TYPE_CHECKING:
    import altair as alt

    from judging.evaluations.result_types import EvaluationDocument
else:
    alt = Later("altair")

PANEL, TALL = 150, 280
"""Pixels: width of a tier's panel, height of the reliability diagram."""

HUMAN = "human, leave one out"
LONGER = "the longer response"


def accuracy_rows(found: EvaluationDocument, cells: Sequence[str]) -> list[dict[str, object]]:
    """List a row for each model and setting, for people and for the longer response, in each of the cells."""
    named = {run["key"]: f"{run['judge']}, {run['setting_name']}" for run in found["runs"]}
    models = [(named[row["key"]], "judge", row["cells"]) for row in found["accuracy"]]
    people = [(line["name"], "people", line["cells"]) for line in found["lines"] if line["name"] == HUMAN]
    rules = [(line["name"], "rule", line["cells"]) for line in found["lines"] if line["name"] == LONGER]
    return [
        {
            "name": name,
            "kind": kind,
            "cases": cell,
            **{key: figures[cell][key] for key in ("value", "low", "high")},
            "n": figures[cell]["n_items"],
            "reason": figures[cell]["reason"],
        }
        for name, kind, figures in [*models, *rules, *people]
        for cell in cells
    ]


def accuracy(rows: Sequence[Mapping[str, object]], palette: Palette) -> dict[str, object]:
    """Draw a panel for all cases and one for each tier; the dashed line is chance."""
    names = list(dict.fromkeys(str(row["name"]) for row in rows))
    cells = list(dict.fromkeys(str(row["cases"]) for row in rows))
    panels = [_panel([row for row in rows if row["cases"] == cell], names, cell, palette, cells) for cell in cells]
    return style_chart(place_panels(panels, palette), palette)


def _panel(
    rows: Sequence[Mapping[str, object]], names: Sequence[str], cell: str, palette: Palette, cells: Sequence[str]
) -> object:
    is_named = palette.is_narrow or cell == cells[0]
    axis = name_axis(names, palette) if is_named else alt.Axis(labels=False)
    y = alt.Y("name:N", sort=list(names), title=None, axis=axis)
    scale = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("value:Q", scale=scale, axis=alt.Axis(title=None, values=[0, 0.5, 1], format=".1f"))
    kinds = ["people", "judge", "rule"]
    colour = alt.Color(
        "kind:N", scale=alt.Scale(domain=kinds, range=[palette.people, palette.judge, palette.quiet]), legend=None
    )
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=["circle", "diamond", "triangle-up"]), legend=None)
    base = alt.Chart(inline(rows)).encode(y=y)
    chance = alt.Chart(inline([{"at": 0.5}])).mark_rule(color=palette.quiet, strokeDash=[4, 3])
    layers = [
        chance.encode(x=alt.X("at:Q", scale=scale)),
        base.mark_rule(strokeWidth=1.5, aria=False).encode(x=alt.X("low:Q", scale=scale), x2="high:Q", color=colour),
        base.mark_point(filled=True, opacity=1, size=70).encode(x=x, color=colour, shape=shape),
    ]
    title = alt.TitleParams("all cases" if cell == "all" else cell, anchor="start", frame="group")
    return alt.layer(*layers).properties(
        width=choose_width(palette) if palette.is_narrow else PANEL,
        height=compute_row(names, palette) * max(len(names), 1),
        title=title,
    )


def reliability_rows(found: EvaluationDocument, key: str) -> list[dict[str, object]]:
    """List the bins of one model's confidence."""
    told = found["confidence_in_verdicts"].get(key)
    return [
        {
            "low": one["low"],
            "high": one["high"],
            "confidence": one["confidence"],
            "accuracy": one["accuracy"]["value"],
            "accuracy_low": one["accuracy"]["low"],
            "accuracy_high": one["accuracy"]["high"],
            "n": one["accuracy"]["n_items"],
        }
        for one in (told["bins"] if told else [])
    ]


def reliability(rows: Sequence[Mapping[str, object]], palette: Palette) -> dict[str, object]:
    """Draw the share of right answers over confidence; on the diagonal the model is right as often as it is sure."""
    across, up = alt.Scale(domain=[0.5, 1], nice=False), alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("confidence:Q", title="confidence", scale=across, axis=alt.Axis(tickCount=6, format=".1f"))
    y = alt.Y("accuracy:Q", title="share right", scale=up, axis=alt.Axis(tickCount=6, format=".1f"))
    base = alt.Chart(inline(rows))
    diagonal = alt.Chart(inline([{"at": 0.5}, {"at": 1.0}])).mark_line(color=palette.quiet, strokeDash=[4, 3])
    layers = [
        diagonal.encode(x=alt.X("at:Q", scale=across), y=alt.Y("at:Q", scale=up)),
        base.mark_rule(strokeWidth=1.2, color=palette.judge).encode(
            x=x, y=alt.Y("accuracy_low:Q", scale=up), y2="accuracy_high:Q"
        ),
        base.mark_point(filled=True, opacity=1, size=80, shape="diamond", color=palette.judge).encode(x=x, y=y),
    ]
    return style_chart(
        alt.layer(*layers).properties(width=TALL - 30 if palette.is_narrow else TALL + 40, height=TALL), palette
    )
