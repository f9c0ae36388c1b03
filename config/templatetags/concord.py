"""How pages write numbers, marks, tables and fields. Every template has these tags; the gallery shows them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any
from urllib.parse import urlencode

from django import template
from django.conf import settings
from django.forms import BaseForm, BoundField
from django.forms.widgets import CheckboxInput, FileInput
from django.http import HttpRequest
from django.template import Context, Variable
from django.template.loader import render_to_string
from django.urls import NoReverseMatch, reverse
from django.utils.formats import get_format
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext_noop

from core import sentences
from core.accounts.services import first_account

register = template.Library()

DASH = "–"
TIERS = ("easy", "medium", "hard", "contested")
LONG_HEAD = 20  # characters from which on the head of a column breaks into lines
PLOT_WIDTH, PLOT_MARGIN = 120.0, 6.0


def number_or_none(value: Any) -> float | None:
    """The finite number that `value` holds, or None for what is missing or undefined."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def part(estimate: object, key: str) -> object:
    """`key` of an estimate, which is a mapping or an object; None if it has none."""
    return estimate.get(key) if isinstance(estimate, Mapping) else getattr(estimate, key, None)


def localise(number: str) -> str:
    """A number such as 1,234.5 as the language of the page writes it."""
    if (get_language() or "en").startswith("en"):
        return number
    marks = {",": get_format("THOUSAND_SEPARATOR"), ".": get_format("DECIMAL_SEPARATOR")}
    return "".join(marks.get(character, character) for character in number)


@register.filter
def stat(value: object, digits: int = 2) -> str:
    """A statistic with `digits` decimals and a true minus sign; a dash if it is missing or undefined."""
    number = number_or_none(value)
    if number is None:
        return DASH
    text = f"{number:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return localise(text.replace("-", "\N{MINUS SIGN}"))


@register.filter
def percent(value: object, digits: int = 0) -> str:
    """A share between 0 and 1 as a percentage."""
    number = number_or_none(value)
    return DASH if number is None else f"{stat(100 * number, digits)} %"


@register.filter
def count(value: object) -> str:
    """A whole number with a comma between thousands."""
    number = number_or_none(value)
    return DASH if number is None else localise(f"{round(number):,}")


def position(value: float, scale: tuple[float, float]) -> str:
    """Where on the small plot a value lies; values beyond the scale lie on its end."""
    low, high = scale
    share = min(max((value - low) / (high - low), 0.0), 1.0)
    return f"{PLOT_MARGIN + share * (PLOT_WIDTH - 2 * PLOT_MARGIN):.1f}"


@register.inclusion_tag("components/estimate.html")
def estimate(
    value: object,
    n: int | None = None,
    digits: int = 2,
    mark: str = "",
    low: float = 0.0,
    high: float = 1.0,
    reason: str = gettext_noop("not defined"),
) -> dict[str, object]:
    """An estimate {value, low, high, reason} with its interval and n; with `mark`, also drawn from `low` to `high`.

    `reason` says why there is none where the estimate itself does not.
    """
    point, bottom, top = (number_or_none(part(value, key)) for key in ("value", "low", "high"))
    scale = (float(low), float(high))
    context: dict[str, object] = {"point": point, "bottom": bottom, "top": top, "n": n, "digits": digits, "mark": mark}
    why = part(value, "reason")
    context["reason"] = why or reason
    context["no_interval"] = why if bottom is None or top is None else ""
    if mark and point is not None:
        context |= {"x": position(point, scale), "zero": position(0.0, scale) if low <= 0 <= high else None}
        if bottom is not None and top is not None:
            context |= {"x_low": position(bottom, scale), "x_high": position(top, scale)}
    return context


@register.inclusion_tag("components/badge.html")
def badge(label: object, kind: str = "plain", title: str = "") -> dict[str, object]:
    """A short word in a frame. Kinds: plain, simulated and baseline (hatched), error, or a state."""
    return {"label": label, "kind": kind, "title": title}


@register.inclusion_tag("components/tier.html")
def tier(name: str, text: bool = True) -> dict[str, object]:
    """A tier as one to four bars with its word; an unknown or missing tier is a dash."""
    level = TIERS.index(name) + 1 if name in TIERS else 0
    bars = [{"on": bar <= level, "x": 5 * bar - 4, "y": 13 - 3 * bar, "height": 3 * bar} for bar in range(1, 5)]
    return {"name": name if level else "", "level": level, "bars": bars, "text": text}


@register.inclusion_tag("components/progress.html")
def progress(done: int, total: int, label: str = "", unit: str = "", detail: str = "") -> dict[str, object]:
    """How much of something is done: a bar, the counts and the share."""
    share = done / total if total else None
    return {"done": done, "total": total, "share": share, "label": label, "unit": unit, "detail": detail}


@register.filter(name="translated")
def translate(text: object) -> str:
    """A text that a module has in English, of a form or about a result, in the language of the page."""
    return sentences.translate(str(text)) if text else ""


@register.inclusion_tag("components/field.html")
def field(bound: BoundField, label: str = "", help: str = "", optional: bool = True) -> dict[str, object]:
    """A form field with label, help and errors, in the order in which they are read.

    The input of a file says how large a request may be, so that one that is larger is named before it is sent.
    """
    if isinstance(bound.field.widget, FileInput):
        bound.field.widget.attrs.setdefault("data-most-bytes", settings.MAX_UPLOAD_BYTES)
    return {
        "field": bound,
        "label": label or translate(bound.label),
        "help": help or translate(bound.help_text),
        "is_check": isinstance(bound.field.widget, CheckboxInput),
        "is_group": bound.use_fieldset,
        "says_optional": optional and not bound.field.required and not getattr(bound.field, "shows_default", False),
    }


@register.simple_tag
def fields(form: BaseForm | Sequence[BoundField], names: str = "", optional: bool = True) -> SafeString:
    """Several fields of a form, all of them, or a list of fields: `{% fields form "name provider model" %}`."""
    chosen = [form[name] for name in names.split()] if isinstance(form, BaseForm) and names else list(form)
    return format_html_join(
        "", "{}", ((render_to_string("components/field.html", field(bound, optional=optional)),) for bound in chosen)
    )


@register.inclusion_tag("components/control.html")
def control(
    name: str, label: str, id: str, optional: bool = False, help: str = "", **attributes: object
) -> dict[str, object]:
    """A labelled input that belongs to no Django form; with `rows` a text area.

    Other keyword arguments are attributes of the input; True stands for one without a value.
    """
    value = attributes.pop("value", "")
    said = [(key, "" if given is True else given) for key, given in attributes.items()]
    return {
        "name": name,
        "label": label,
        "id": id,
        "optional": optional,
        "help": help,
        "value": value,
        "is_long": "rows" in attributes,
        "attributes": format_html_join("", ' {}="{}"', said),
    }


@register.inclusion_tag("components/nav_link.html", takes_context=True)
def nav_link(context: Context, name: str, label: str, also: str = "") -> dict[str, object]:
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
def sort_header(
    context: Context, key: str, label: str, numeric: bool = False, param: str = "sort"
) -> dict[str, object]:
    """A column head whose link sorts on the server by `?sort=key`, and then by `?sort=-key`."""
    request: HttpRequest = context["request"]
    now = request.GET.get(param, "")
    query = request.GET.copy()
    query.pop("page", None)
    query[param] = f"-{key}" if now == key else key
    order = {key: "ascending", f"-{key}": "descending"}.get(now)
    return {"label": label, "order": order, "href": f"?{query.urlencode()}", "numeric": numeric}


@register.simple_tag
def columns(*names: str) -> SafeString:
    """The head of a table: `{% columns "Annotator ^" "#Answers ^" "Why" "(Actions)" %}`.

    "#" says that the column holds numbers, "^" at the end that a script sorts by it, brackets that the name is only
    read aloud. Of a list among `names` each entry is a column, and an empty name is none.
    """
    lists = ([entry] if isinstance(entry, str | Promise) else map(translate, entry) for entry in names)
    each = (column(str(name)) for name in chain.from_iterable(lists) if name)
    heads = format_html_join("", '<th{} scope="col"{}>{}</th>', each)
    return format_html("<thead><tr>{}</tr></thead>", heads)


def column(name: str) -> tuple[SafeString, SafeString, SafeString | str]:
    """The class, the sort and the label of a column of this name."""
    is_numeric, is_sorted = name.startswith("#"), name.endswith(" ^")
    label: SafeString | str = name.removeprefix("#").removesuffix(" ^")
    classes = " ".join(["numeric"] * is_numeric + ["wraps"] * (len(label) > LONG_HEAD))
    if name.startswith("(") and name.endswith(")"):
        label = format_html('<span class="hidden-text">{}</span>', name[1:-1])
    sort = format_html(' data-sort="{}"', "number" if is_numeric else "text") if is_sorted else SafeString("")
    return format_html(' class="{}"', classes) if classes else SafeString(""), sort, label


@register.filter
def numeric(names: Sequence[object]) -> list[str]:
    """Names of columns that hold numbers, for `columns`."""
    return [f"#{translate(name)}" for name in names]


@register.filter
def pluck(things: Sequence[object], key: str) -> list[object]:
    """One attribute or entry of each."""
    return [part(thing, key) for thing in things or ()]


@register.filter
def utc_time(written: str) -> str:
    """A time as documents hold it, 2026-11-27T02:24:38+00:00, as pages write it: 2026-11-27 02:24 UTC."""
    return datetime.fromisoformat(written).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC") if written else DASH


@register.filter
def or_dash(value: object, reason: str = gettext_noop("not given")) -> object:
    """The value, or where there is none a dash that says why."""
    if value in (None, "", DASH):
        return render_to_string("components/dash.html", {"reason": reason})
    return value


@register.simple_tag
def key(keys: str, action: str) -> SafeString:
    """What a key does, in a list of facts: `{% key "a b or 1 2" "choose the response" %}`."""
    words = ((word if word in ("or", "…") else format_html("<kbd>{}</kbd>", word),) for word in keys.split())
    return format_html("<dt>{}</dt><dd>{}</dd>", format_html_join(" ", "{}", words), action)


@register.simple_tag
def numbers(*values: object) -> SafeString:
    """Cells of a row that hold numbers as text: `{% numbers one.n|count one.share|percent %}`."""
    return format_html_join("", '<td class="numeric">{}</td>', ((value,) for value in values))


@register.simple_tag
def cells(*values: object) -> SafeString:
    """Cells of a row that hold text."""
    return format_html_join("", "<td>{}</td>", ((value,) for value in values))


@register.simple_tag
def estimates(*values: object, **options: Any) -> SafeString:
    """Cells of a row that hold estimates, all written alike; `options` as for `estimate`."""
    return cells(*(render_to_string("components/estimate.html", estimate(value, **options)) for value in values))


@register.simple_tag
def row(name: object, *values: object) -> SafeString:
    """A row of a table: its name, then cells that hold numbers."""
    return format_html('<tr><th scope="row">{}</th>{}</tr>', name, numbers(*values))


@register.simple_tag
def link(text: object, name: str, *args: object, **query: object) -> SafeString:
    """A link to the page called `name`: `{% link item.name "item_detail" study.slug item.position criterion=key %}`.

    Nothing where there is no text.
    """
    if text in (None, ""):
        return SafeString("")
    address = reverse(name, args=args) + (f"?{urlencode(query)}" if query else "")
    return format_html('<a href="{}">{}</a>', address, text)


@register.simple_tag
def no_rows(columns: int, text: str) -> SafeString:
    """The only row of a table that has none: `{% empty %}{% no_rows 6 "Nobody has rated yet." %}`."""
    return format_html('<tr><td colspan="{}">{}</td></tr>', columns, text)


@register.inclusion_tag("components/choice.html")
def choice(
    name: str, options: Any, now: Any, label: str, any: str = "", value: str = "key", text: str = "name", id: str = ""
) -> dict[str, object]:
    """A list to choose from in a form above a table, or with `id` as a field of a longer form.

    `options` are words, (value, label) pairs, or objects with the attributes `value` and `text`; `any` names the choice
    of none.
    """
    found = [
        (option, translate(option))
        if isinstance(option, str)
        else option
        if isinstance(option, tuple | list)
        else (Variable(f"one.{value}").resolve({"one": option}), Variable(f"one.{text}").resolve({"one": option}))
        for option in options
    ]
    return {"name": name, "options": found, "now": now, "label": label, "any": any, "id": id}


@register.inclusion_tag("components/figure.html")
def figure(drawn: object, caption: str = "") -> dict[str, object]:
    """A plot with its caption and files."""
    return {"drawn": drawn, "caption": caption or part(drawn, "caption")}


@register.inclusion_tag("components/action.html", takes_context=True)
def action(
    context: Context,
    address: str,
    label: str,
    of: object = "",
    kind: str = "",
    name: str = "",
    value: str = "",
    size: str = "small",
) -> dict[str, object]:
    """A button that is a form of its own; `of` says to a screen reader what it acts on."""
    context_of_form = {"csrf_token": context.get("csrf_token"), "address": address, "label": label, "of": of}
    return context_of_form | {"kind": kind, "name": name, "value": value, "size": size}


@register.simple_tag
def script_texts_address(language: str) -> str:
    """The address of the texts of scripts in a language, which is another one after each change of them."""
    return f"{reverse('script_texts')}?{urlencode({'language': language, 'version': settings.LOCALE_PATHS[0].name})}"


register.simple_tag(first_account.is_needed, name="first_account_needed")
