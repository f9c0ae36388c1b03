"""What all charts share: palettes, the look, and files of a specification.

What is drawn stands in the cache that all processes share. The language of marks is that of the pages: people are
circles, intervals lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html import unescape
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from django.core.cache import cache
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

from core import helper_process
from core.csv_files import csv_text
from core.hashing import digest
from core.later import Later
from core.markup import to_safe_svg
from core.sentences import translate
from core.version import code_version

if TYPE_CHECKING:
    import altair as alt
    import vl_convert
else:
    alt = Later("altair")
    vl_convert = Later("vl_convert")


P = ParamSpec("P")
T = TypeVar("T")
Spec = dict[str, Any]

KEPT = 7 * 24 * 3600
"""Seconds that a drawn chart is kept."""

TIERS = ("easy", "medium", "hard", "contested")


@dataclass(frozen=True)
class Palette:
    """Colours by what they are for, and whether the chart has to fit on a phone."""

    ink: str
    quiet: str
    line: str
    people: str
    judge: str
    band: str
    tiers: Mapping[str, str] = field(default_factory=dict)
    paper: str = "#ffffff"
    is_narrow: bool = False


PAGE = Palette(
    ink="var(--ink)",
    quiet="var(--ink-2)",
    line="var(--line)",
    people="var(--mark-people)",
    judge="var(--mark-judge)",
    band="var(--band)",
    tiers={name: f"var(--tier-{name})" for name in TIERS},
    paper="var(--paper)",
)
"""Palette of an SVG inside a page, whose colours it takes."""

PHONE = replace(PAGE, is_narrow=True)
"""The same on a narrow screen."""

FILE = Palette(
    ink="#1b1c1e",
    quiet="#505258",
    line="#dedbd3",
    people="#1b1c1e",
    judge="#0d5570",
    band="#e9e5dc",
    tiers={"easy": "#e2bb6c", "medium": "#c0842a", "hard": "#885112", "contested": "#46280f"},
)
"""Palette of a stand-alone SVG: print, slides, a paper."""


def inline(values: Sequence[Mapping[str, object]]) -> alt.InlineData:
    """Rows as the data of a chart."""
    return alt.InlineData(values=[dict(value) for value in values])


def style_chart(chart: alt.TopLevelMixin, palette: Palette) -> dict[str, object]:
    """The specification of a chart with the look that all charts share."""
    text = {"labelColor": palette.ink, "titleColor": palette.quiet, "labelFontSize": 13, "titleFontSize": 12}
    axis = {
        **text,
        "gridColor": palette.line,
        "domainColor": palette.line,
        "tickColor": palette.line,
        "titleFontWeight": "normal",
    }
    config = {
        "font": "Liberation Sans, Arial, Helvetica, sans-serif",
        "background": None,
        "view": {"stroke": None},
        "axis": axis,
        "axisY": {"grid": False, "domain": False, "ticks": False},
        "text": {"fontSize": 12},
        "title": {"color": palette.ink, "fontSize": 13, "fontWeight": 600, "offset": 8},
        "legend": {"labelColor": palette.ink, "labelFontSize": 13, "titleColor": palette.quiet},
    }
    spec: Spec = chart.to_dict()
    spec["config"] = {**spec.get("config", {}), **config}
    return spec


def svg(chart: Callable[P, Spec], /, *arguments: P.args, **named: P.kwargs) -> str:
    """The chart as an SVG document with a transparent background. Texts in it are escaped.

    `chart` makes the specification; it runs in the helper process, so it must be a function of a module.
    """
    return _svg(helper_process.to_request(draw_svg, chart, *arguments, **named))


def _svg(request: bytes) -> str:
    """Draw once, for all processes, what a page, its report and the next reader show alike."""
    key = f"svg-{digest(request)}-{code_version()}"
    drawn: str | None = cache.get(key)
    if drawn is None:
        drawn = str(helper_process.run(request))
        cache.set(key, drawn, KEPT)
    return drawn


TEXT = re.compile(r"(<text\b[^>]*>)([^<]+)")
"""A text of an SVG document."""

Draw = Callable[[Callable[..., Spec], object], SafeString]
"""What makes markup of a chart and its rows."""


def draw_on_page(chart: Callable[[T, Palette], Spec], rows: T) -> SafeString:
    """The chart as a wide screen shows it and as a narrow one does; the style sheet hides one of the two."""
    wide, narrow = (to_safe_svg(_translate(svg(chart, rows, palette))) for palette in (PAGE, PHONE))
    return format_html('<div class="figure__wide">{}</div><div class="figure__narrow">{}</div>', wide, narrow)


def _translate(drawn: str) -> str:
    """The drawing with its texts in the language of the page."""
    return TEXT.sub(_translate_text, drawn)


def _translate_text(found: re.Match[str]) -> str:
    text = unescape(found[2])
    said = translate(text)
    return found[0] if said == text else found[1] + escape(said)


def draw_in_file(chart: Callable[[T, Palette], Spec], rows: T) -> SafeString:
    """The chart in a document of its own."""
    return to_safe_svg(svg(chart, rows, FILE))


def draw_svg(chart: Callable[P, Spec], /, *arguments: P.args, **named: P.kwargs) -> str:
    """Draw in this process, which from then on holds what draws charts."""
    drawn: str = vl_convert.vegalite_to_svg(chart(*arguments, **named), allowed_base_urls=[])
    return drawn


def draw_png(chart: Callable[P, Spec], /, *arguments: P.args, **named: P.kwargs) -> bytes:
    """The same as a picture on white, at twice the size for print and dense screens."""
    spec = {**chart(*arguments, **named), "background": "white"}
    drawn: bytes = vl_convert.vegalite_to_png(spec, scale=2, allowed_base_urls=[])
    return drawn


def draw_pdf(chart: Callable[P, Spec], /, *arguments: P.args, **named: P.kwargs) -> bytes:
    """The same as a page of PDF, with its texts as text: for a paper."""
    drawn: bytes = vl_convert.vegalite_to_pdf(chart(*arguments, **named), allowed_base_urls=[])
    return drawn


def draw_data(chart: Callable[P, Spec], /, *arguments: P.args, **named: P.kwargs) -> str:
    """The numbers that the chart shows, as CSV; `panel` is the title of the part that they stand in."""
    spec = chart(*arguments, **named)
    rows = list({repr(row): row for row in _list_rows(spec, "", spec.get("datasets", {}))}.values())
    hidden = set() if any(row["panel"] for row in rows) else {"panel"}
    columns = [name for name in dict.fromkeys(name for row in rows for name in row) if name not in hidden]
    return csv_text([columns, *([row.get(name, "") for name in columns] for row in rows)])


def _list_rows(part: Spec, panel: str, sets: Spec) -> Iterator[dict[str, object]]:
    """The rows of a specification and of the parts in it, each with the title above it; `sets` are rows with a name."""
    title = part.get("title", panel)
    panel = str(title.get("text", "") if isinstance(title, dict) else title)
    given = part.get("data", {})
    for row in given.get("values") or sets.get(given.get("name"), ()):
        yield {"panel": panel, **row}
    for name in ("layer", "vconcat", "hconcat", "concat"):
        for inner in part.get(name, ()):
            yield from _list_rows(inner, panel, sets)
    if "spec" in part:
        yield from _list_rows(part["spec"], panel, sets)


DRAWN: dict[str, Callable[..., str | bytes]] = {"png": draw_png, "pdf": draw_pdf, "csv": draw_data}
FIGURES: dict[str, Callable[..., str | bytes]] = {
    "svg": svg,
    **{ending: partial(helper_process.call, draw) for ending, draw in DRAWN.items()},
}
"""What writes a figure from a chart and its arguments, by the ending of the file. All draw in the helper process."""
