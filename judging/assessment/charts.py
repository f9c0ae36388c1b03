"""Charts: from a result to an Altair specification, and from that to SVG. Pure; no Django, no files.

The language of marks is that of the pages: people are circles, judges diamonds, intervals lines, the human ceiling a
band. A palette names the colours: those of the page follow its light and dark tokens, those of a file stand alone.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.stats.result_types import EstimateDocument, TierPlanDocument
from core.charts import (
    FIGURES,
    FILE,
    PAGE,
    TIERS,
    Draw,
    Palette,
    Spec,
    draw_in_file,
    draw_on_page,
    inline,
    style_chart,
    svg,
)
from core.later import Later
from core.sentences import translate
from judging.assessment.agreement_types import CriterionAgreementDocument

if TYPE_CHECKING:
    import altair as alt
else:
    alt = Later("altair")

__all__ = [
    "CURVE",
    "FIGURES",
    "FILE",
    "PAGE",
    "ROW",
    "TIERS",
    "WIDTH",
    "Curve",
    "Draw",
    "Mark",
    "Palette",
    "Rows",
    "attainable",
    "build_rows",
    "choose_width",
    "compute_row",
    "curves",
    "draw_in_file",
    "draw_on_page",
    "forest",
    "inline",
    "name_axis",
    "name_judge",
    "place_bars",
    "place_panels",
    "style_chart",
    "svg",
    "tier_bars",
]

ROW, WIDTH, CURVE = 24, 480, 110
"""Pixels: height of a row, width of a plot, height of a curve's panel."""

NARROW = 300
"""Pixels: width of a plot on a narrow screen, where names stand above their rows."""

LETTER, CAPITAL, LINE = 7, 10, 15
"""Pixels of a letter, of a wide one, and of a line of a name."""

LONGEST = 26
"""Letters of a line beside a plot; a longer name has several lines."""


@dataclass(frozen=True)
class Mark:
    """One line of a forest plot: a name, an estimate with its interval, and whose it is (people or judge)."""

    name: str
    kind: str
    value: float | None
    low: float | None
    high: float | None
    reason: str | None = None

    @classmethod
    def from_estimate(cls, name: str, kind: str, estimate: EstimateDocument) -> Mark:
        """From an estimate as it stands in a document."""
        return cls(name, kind, estimate["value"], estimate["low"], estimate["high"], estimate["reason"])


@dataclass(frozen=True)
class Rows:
    """A criterion's part of a forest plot; `ceiling` is the interval of the human ceiling, where there is one."""

    title: str
    marks: Sequence[Mark]
    ceiling: tuple[float, float] | None


def build_rows(title: str, document: CriterionAgreementDocument, *, people: str = "annotators") -> Rows:
    """What a criterion's document shows in a forest plot: people and each judge by the scale's headline coefficient.

    `people` is what to call those who rated.
    """
    headline = document["headline"]
    among = Mark.from_estimate(people, "people", document["coefficients"][headline["people"]])
    judges = [
        Mark.from_estimate(name_judge(name, d["kind"]), "judge", d[headline["judge"]])
        for name, d in document["judges"].items()
    ]
    return Rows(title, [among, *judges], _ceiling(document))


def name_judge(name: str, kind: str) -> str:
    """What a plot calls a judge: one that is no model says so."""
    if kind == "judge":
        return name
    short = kind.removesuffix(" judge")
    return kind if name == short else f"{name} ({translate(short)})"


def _ceiling(document: CriterionAgreementDocument) -> tuple[float, float] | None:
    """The ceiling of the judge that scored most items, or among all where there is no judge."""
    judges = document["judges"].values()
    most = max(judges, key=lambda found: found["scored"], default=None)
    headline = document["headline"]
    held = document["coefficients"][headline["people"]] if most is None else most[headline["ceiling"]]
    return None if held["low"] is None or held["high"] is None else (held["low"], held["high"])


def forest(parts: Sequence[Rows], palette: Palette) -> Spec:
    """Kappas of people and judges, a panel per criterion, on one axis from 0 (or below) to 1."""
    ends = [x for part in parts for mark in part.marks for x in (mark.value, mark.low) if x is not None]
    ends += [part.ceiling[0] for part in parts if part.ceiling]
    scale = alt.Scale(domain=[min([0.0, *(end - 0.03 for end in ends)]), 1.0], nice=False)
    names = [mark.name for part in parts for mark in part.marks]
    panels = [_panel(part, scale, names, palette, last=part is parts[-1]) for part in parts]
    return style_chart(alt.vconcat(*panels, spacing=14), palette)


def choose_width(palette: Palette) -> int:
    """Pixels that a plot is wide."""
    return NARROW if palette.is_narrow else WIDTH


def place_panels(panels: Sequence[alt.LayerChart], palette: Palette) -> alt.HConcatChart | alt.VConcatChart:
    """Panels side by side; below each other on a narrow screen."""
    return alt.vconcat(*panels, spacing=18) if palette.is_narrow else alt.hconcat(*panels, spacing=18)


def compute_row(names: Sequence[str], palette: Palette) -> int:
    """Pixels that each row is high: as many lines as the longest name has; its marks stand beside or below them."""
    lines = count_lines(names, palette)
    return 2 * (LETTER + LINE * lines) if palette.is_narrow else ROW + LINE * (lines - 1)


def count_lines(names: Sequence[str], palette: Palette) -> int:
    """Lines of the longest name."""
    return max((len(split_name(name, palette)) for name in names), default=1)


def split_name(name: str, palette: Palette) -> list[str]:
    """The lines of a name."""
    return textwrap.wrap(name, NARROW // LETTER if palette.is_narrow else LONGEST) or [name]


def name_axis(names: Sequence[str], palette: Palette) -> alt.Axis:
    """An axis of names, as wide as the longest line needs, so that panels stand under each other.

    On a narrow screen the names stand above the marks.
    """
    lines = {name: split_name(name, palette) for name in names}
    split = f"({json.dumps(lines)})[datum.label]"
    if palette.is_narrow:
        up = LETTER + LINE * (count_lines(names, palette) - 1)
        above = {"labelAlign": "left", "labelBaseline": "bottom", "labelOffset": -up, "labelPadding": 0}
        return alt.Axis(labelExpr=split, labelLimit=NARROW, minExtent=0, maxExtent=0, zindex=1, **above)
    room = CAPITAL + max((_measure(line) for each in lines.values() for line in each), default=0)
    return alt.Axis(labelExpr=split, labelLimit=room, minExtent=room + 12, maxExtent=room + 12, labelPadding=10)


def place_bars(palette: Palette) -> dict[str, int]:
    """Where bars lie in their rows: on a narrow screen below the names."""
    return {"size": ROW - 8, "yOffset": LETTER} if palette.is_narrow else {}


def _measure(line: str) -> int:
    return sum(LETTER if letter.isascii() and not letter.isupper() else CAPITAL for letter in line)


def _panel(part: Rows, scale: alt.Scale, names: Sequence[str], palette: Palette, *, last: bool) -> alt.LayerChart:
    x_axis = alt.Axis(title="kappa" if last else None, labels=last, ticks=last, tickCount=6, format=".1f")
    y = alt.Y("name:N", sort=[mark.name for mark in part.marks], title=None, axis=name_axis(names, palette))
    x = alt.X("value:Q", scale=scale, axis=x_axis)
    shown = [_values(mark) for mark in part.marks]
    base = alt.Chart(inline(shown)).encode(y=y)
    layers = [
        *_band(part.ceiling, scale, palette),
        base.mark_rule(strokeWidth=1.5, aria=False).encode(
            x=alt.X("low:Q", scale=scale), x2="high:Q", color=_by_kind(palette)
        ),
        base.mark_point(filled=True, opacity=1, size=90).encode(x=x, color=_by_kind(palette), shape=_shape()),
        base.transform_filter("datum.text")
        .mark_text(align="left", dx=4, color=palette.quiet, limit=choose_width(palette) - CAPITAL)
        .encode(x=alt.XDatum(scale.domain[0]), text="text:N"),
    ]
    size = {"width": choose_width(palette), "height": compute_row(names, palette) * len(part.marks)}
    return alt.layer(*layers).properties(**size, title=alt.TitleParams(part.title, anchor="start", frame="group"))


def _values(mark: Mark) -> Spec:
    undefined = f"– {mark.reason}" if mark.value is None else ""
    return {
        "name": mark.name,
        "kind": mark.kind,
        "value": mark.value,
        "low": mark.low,
        "high": mark.high,
        "text": undefined,
    }


def _shape() -> alt.Shape:
    shapes = alt.Scale(domain=["people", "judge"], range=["circle", "diamond"])
    return alt.Shape("kind:N", scale=shapes, legend=None)


def _by_kind(palette: Palette) -> alt.Color:
    colours = alt.Scale(domain=["people", "judge"], range=[palette.people, palette.judge])
    return alt.Color("kind:N", scale=colours, legend=None)


def _band(ceiling: tuple[float, float] | None, scale: alt.Scale, palette: Palette) -> list[alt.Chart]:
    if ceiling is None:
        return []
    ends = inline([{"from": ceiling[0], "to": ceiling[1]}])
    return [alt.Chart(ends).mark_rect(color=palette.band, opacity=1).encode(x=alt.X("from:Q", scale=scale), x2="to:Q")]


@dataclass(frozen=True)
class Curve:
    """A criterion's part of a plot by turn: a mark for each turn, the ends of the scale, and whose turns they are."""

    title: str
    marks: Sequence[Mark]
    scale: tuple[float, float]
    side: str = "assistant"


def describe_turns(parts: Sequence[Curve]) -> str:
    """Whose turns a plot is by, in words."""
    return f"turn of the {' or '.join(sorted({part.side for part in parts}))}"


def curves(parts: Sequence[Curve], palette: Palette) -> Spec:
    """Means by turn with their intervals, a panel per criterion, all on the same numbers of turns."""
    turns = list(dict.fromkeys(mark.name for part in parts for mark in part.marks))
    numbers, said = sorted(turns, key=int), describe_turns(parts)
    panels = [_turns_panel(part, numbers, palette, below=said if part is parts[-1] else "") for part in parts]
    return style_chart(alt.vconcat(*panels, spacing=14), palette)


def _turns_panel(part: Curve, turns: Sequence[str], palette: Palette, *, below: str) -> alt.LayerChart:
    x_axis = alt.Axis(title=below or None, labels=bool(below), labelAngle=0, ticks=False)
    x = alt.X("name:O", sort=list(turns), scale=alt.Scale(domain=list(turns)), axis=x_axis)
    scale = alt.Scale(domain=list(part.scale), nice=False, zero=False)
    y_axis = alt.Axis(title=None, tickCount=4, grid=True, minExtent=30, maxExtent=30)
    defined = [_values(mark) for mark in part.marks if mark.value is not None]
    base = alt.Chart(inline(defined)).encode(x=x)
    y = alt.Y("value:Q", scale=scale, axis=y_axis)
    layers = [
        base.mark_line(color=palette.judge, strokeWidth=1).encode(y=y),
        base.mark_rule(strokeWidth=1.5, aria=False).encode(
            y=alt.Y("low:Q", scale=scale, axis=y_axis), y2="high:Q", color=_by_kind(palette)
        ),
        base.mark_point(filled=True, opacity=1, size=90).encode(y=y, color=_by_kind(palette), shape=_shape()),
    ]
    title = alt.TitleParams(part.title, anchor="start", frame="group")
    return alt.layer(*layers).properties(width=choose_width(palette), height=CURVE, title=title)


def tier_bars(counts: Sequence[tuple[str, Mapping[str, float]]], palette: Palette) -> Spec:
    """Shares of items by tier, one stacked bar per name, with the counts written on it."""
    values = [
        {"name": name, "tier": tier, "n": found.get(tier, 0), "rank": rank}
        for name, found in counts
        for rank, tier in enumerate(TIERS)
        if found.get(tier, 0)
    ]
    names = [name for name, _ in counts]
    y = alt.Y("name:N", sort=names, title=None, axis=name_axis(names, palette))
    axis = alt.Axis(format=".0%", title="share of items", tickCount=5)
    base = alt.Chart(inline(values)).encode(y=y, order="rank:O")
    bars = base.mark_bar(stroke=palette.line, strokeWidth=0.5, **place_bars(palette)).encode(
        x=alt.X("n:Q", stack="normalize", axis=axis), color=_by_tier(palette)
    )
    size = {"width": choose_width(palette), "height": (compute_row(names, palette) + 4) * len(names)}
    return style_chart(bars.properties(**size), palette)


def _by_tier(palette: Palette) -> alt.Color:
    colours = alt.Scale(domain=list(TIERS), range=[palette.tiers[name] for name in TIERS])
    return alt.Color("tier:N", scale=colours, legend=alt.Legend(orient="top", title=None, symbolType="square"))


def attainable(plan: TierPlanDocument, palette: Palette) -> Spec:
    """The kappas that an item can have, as ticks on the bands of the tiers."""
    low, cuts = min([0.0, *plan["values"]]), list(plan["cuts"])
    edges = [low, *cuts, 1.0]
    bands = [{"tier": tier, "from": edges[k], "to": edges[k + 1]} for k, tier in enumerate(reversed(TIERS))]
    x = alt.Scale(domain=[low, 1.0], nice=False)
    axis = alt.Axis(title="kappa of an item", values=[*cuts, 0, 1], format=".2~f")
    span = alt.X("from:Q", scale=x, axis=axis)
    areas = alt.Chart(inline(bands)).mark_rect()
    ticks = alt.Chart(inline([{"kappa": value} for value in plan["values"]])).mark_rule(
        color=palette.ink, strokeWidth=2
    )
    layers = [
        areas.encode(x=span, x2="to:Q", y=alt.value(0), y2=alt.value(14), color=_by_tier(palette)),
        ticks.encode(x=alt.X("kappa:Q", scale=x), y=alt.value(16), y2=alt.value(30)),
    ]
    return style_chart(alt.layer(*layers).properties(width=choose_width(palette), height=32), palette)
