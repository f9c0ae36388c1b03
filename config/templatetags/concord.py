"""How pages write numbers, marks, badges and frames: `{% load concord %}`. The gallery shows each of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from django import template
from django.conf import settings
from django.forms import BoundField
from django.forms.widgets import CheckboxInput, FileInput
from django.http import HttpRequest
from django.template import Context
from django.template.loader import render_to_string
from django.urls import NoReverseMatch, reverse
from django.utils.safestring import SafeString

register = template.Library()

DASH = "–"
TIERS = ("easy", "medium", "hard", "contested")
PLOT_WIDTH, PLOT_MARGIN = 120.0, 6.0


def number_or_none(value: Any) -> float | None:
    """The finite number that `value` holds, or None for what is missing or undefined."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def part(estimate: Any, key: str) -> Any:
    """`key` of an estimate, which is a mapping or an object; None if it has none."""
    return estimate.get(key) if isinstance(estimate, Mapping) else getattr(estimate, key, None)


@register.filter
def stat(value: Any, digits: int = 2) -> str:
    """A statistic with `digits` decimals and a true minus sign; a dash if it is missing or undefined."""
    number = number_or_none(value)
    if number is None:
        return DASH
    text = f"{number:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", "\N{MINUS SIGN}")


@register.filter
def percent(value: Any, digits: int = 0) -> str:
    """A share between 0 and 1 as a percentage."""
    number = number_or_none(value)
    return DASH if number is None else f"{stat(100 * number, digits)} %"


@register.filter
def count(value: Any) -> str:
    """A whole number with a comma between thousands."""
    number = number_or_none(value)
    return DASH if number is None else f"{round(number):,}"


def position(value: float, scale: tuple[float, float]) -> str:
    """Where on the small plot a value lies; values beyond the scale lie on its end."""
    low, high = scale
    share = min(max((value - low) / (high - low), 0.0), 1.0)
    return f"{PLOT_MARGIN + share * (PLOT_WIDTH - 2 * PLOT_MARGIN):.1f}"


@register.inclusion_tag("components/estimate.html")
def estimate(
    value: Any, n: int | None = None, digits: int = 2, mark: str = "", low: float = 0.0, high: float = 1.0
) -> dict[str, Any]:
    """An estimate {value, low, high, reason} with its interval and n; with `mark`, also drawn from `low` to `high`."""
    point, bottom, top = (number_or_none(part(value, key)) for key in ("value", "low", "high"))
    scale = (float(low), float(high))
    context: dict[str, Any] = {"point": point, "bottom": bottom, "top": top, "n": n, "digits": digits, "mark": mark}
    context["reason"] = part(value, "reason") or "not defined"
    if mark and point is not None:
        context |= {"x": position(point, scale), "zero": position(0.0, scale) if low <= 0 <= high else None}
        if bottom is not None and top is not None:
            context |= {"x_low": position(bottom, scale), "x_high": position(top, scale)}
    return context


@register.inclusion_tag("components/badge.html")
def badge(label: Any, kind: str = "plain", title: str = "") -> dict[str, Any]:
    """A short word in a frame. Kinds: plain, simulated and baseline (hatched), error, or a state."""
    return {"label": label, "kind": kind, "title": title}


@register.inclusion_tag("components/tier.html")
def tier(name: str, text: bool = True) -> dict[str, Any]:
    """A tier as one to four bars with its word; an unknown or missing tier is a dash."""
    level = TIERS.index(name) + 1 if name in TIERS else 0
    bars = [{"on": bar <= level, "x": 5 * bar - 4, "y": 13 - 3 * bar, "height": 3 * bar} for bar in range(1, 5)]
    return {"name": name if level else "", "level": level, "bars": bars, "text": text}


@register.inclusion_tag("components/progress.html")
def progress(done: int, total: int, label: str = "", unit: str = "", detail: str = "") -> dict[str, Any]:
    """How much of something is done: a bar, the counts and the share."""
    share = done / total if total else None
    return {"done": done, "total": total, "share": share, "label": label, "unit": unit, "detail": detail}


@register.inclusion_tag("components/field.html")
def field(bound: BoundField, label: str = "", help: str = "", optional: bool = True) -> dict[str, Any]:
    """A form field with label, help and errors, in the order in which they are read.

    The input of a file says how large a request may be, so that one that is larger is named before it is sent.
    """
    if isinstance(bound.field.widget, FileInput):
        bound.field.widget.attrs.setdefault("data-most-bytes", settings.MAX_UPLOAD_BYTES)
    return {
        "field": bound,
        "label": label or bound.label,
        "help": help or bound.help_text,
        "is_check": isinstance(bound.field.widget, CheckboxInput),
        "is_group": bound.use_fieldset,
        "says_optional": optional and not bound.field.required,
    }


@register.inclusion_tag("components/nav_link.html", takes_context=True)
def nav_link(context: Context, name: str, label: str, also: str = "") -> dict[str, Any]:
    """A link of the top bar to the page called `name`; nothing if there is none.

    Current on that page, below it, and where the address begins with one of the words of `also`.
    """
    try:
        href = reverse(name)
    except NoReverseMatch:
        return {"href": None}
    request: HttpRequest | None = context.get("request")
    places = (href, *(f"/{first}/" for first in also.split()))
    return {"href": href, "label": label, "current": request is not None and request.path.startswith(places)}


@register.inclusion_tag("components/sort_header.html", takes_context=True)
def sort_header(context: Context, key: str, label: str, numeric: bool = False, param: str = "sort") -> dict[str, Any]:
    """A column head whose link sorts on the server by `?sort=key`, and then by `?sort=-key`."""
    request: HttpRequest = context["request"]
    now = request.GET.get(param, "")
    query = request.GET.copy()
    query.pop("page", None)
    query[param] = f"-{key}" if now == key else key
    order = {key: "ascending", f"-{key}": "descending"}.get(now)
    return {"label": label, "order": order, "href": f"?{query.urlencode()}", "numeric": numeric}


def frame(name: str, content: SafeString, **parts: Any) -> SafeString:
    """A component around a block of the page."""
    return render_to_string(f"components/{name}.html", {"content": content, **parts})


@register.simple_block_tag(end_name="closetable")
def table(
    content: SafeString,
    caption: str,
    note: str = "",
    downloads: Sequence[Any] = (),
    filter: bool = False,
) -> SafeString:
    """The frame of a table: `{% table caption="…" downloads=links filter=True %}<thead>…</tbody>{% closetable %}`.

    `downloads` are (label, address) pairs. With `filter` a script offers a field that hides rows.
    """
    return frame("table", content, caption=caption, note=note, downloads=downloads, filter=filter)


@register.simple_block_tag(end_name="closefold")
def fold(content: SafeString, title: str, open: bool = False, note: str = "", id: str = "") -> SafeString:
    """A part that folds away: `{% fold "Goal" open=True %}…{% closefold %}`."""
    return frame("fold", content, title=title, open=open, note=note, id=id)


@register.simple_block_tag(end_name="closeplot")
def plot(content: SafeString, caption: str, downloads: Sequence[Any] = ()) -> SafeString:
    """A figure around an SVG, with what it shows in words and its data and files as (label, address) pairs."""
    return frame("plot", content, caption=caption, downloads=downloads)
