"""Frames around a part of a page: tables, plots, forms, messages, heads. Every template has these tags."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django import template
from django.forms import BaseForm
from django.template import Context
from django.template.loader import render_to_string
from django.utils.html import format_html, strip_tags
from django.utils.safestring import SafeString

register = template.Library()


def frame(name: str, content: SafeString, **parts: object) -> SafeString:
    """A component around a block of the page."""
    return render_to_string(f"components/{name}.html", {"content": content, **parts})


@register.simple_block_tag(end_name="closetable")
def table(
    content: SafeString,
    caption: str,
    note: str = "",
    downloads: Sequence[object] = (),
    filter: bool = False,
    stacked: bool = False,
) -> SafeString:
    """The frame of a table: `{% table caption="…" downloads=links filter=True %}<thead>…</tbody>{% closetable %}`.

    `downloads` are (label, address) pairs. With `filter` a script offers a field that hides rows. On a phone the cells
    of a `stacked` one stand under each other, each below the name of its column.
    """
    content = label_cells(content) if stacked else content
    given = {"caption": caption, "note": note, "downloads": downloads, "filter": filter, "stacked": stacked}
    return frame("table", content, **given)


CELL = re.compile(r"<t([hd])\b( data-column=)?")


def label_cells(content: SafeString) -> SafeString:
    """Write the name of its column on each cell of a table whose rows have one cell a column."""
    head, end, body = content.partition("</thead>")
    names = [" ".join(strip_tags(one).split()) for one in re.findall(r"<th\b.*?</th>", head, re.DOTALL)]
    rows = []
    for row in re.split(r"(?=<tr\b)", body):
        columns = iter(names)
        rows.append(CELL.sub(lambda cell: _name_cell(cell, next(columns, "")), row))  # noqa: B023 - used at once
    return SafeString(head + end + "".join(rows))  # nosec B703 # rendered by the engine


def _name_cell(cell: re.Match[str], column: str) -> str:
    if cell[1] == "h" or cell[2] or not column:
        return cell[0]
    return f'<td data-column="{column.replace(chr(34), "&quot;")}"'


@register.simple_block_tag(end_name="closefold")
def fold(
    content: SafeString, title: str, open: bool = False, note: str = "", id: str = "", narrow: bool = False
) -> SafeString:
    """A part that folds away: `{% fold "Goal" open=True %}…{% closefold %}`; with `narrow` on a narrow screen only."""
    return frame("fold", content, title=title, open=open or narrow, note=note, id=id, narrow=narrow)


@register.simple_block_tag(end_name="closeplot")
def plot(content: SafeString, caption: str, downloads: Sequence[object] = ()) -> SafeString:
    """A figure around an SVG, with what it shows in words and its data and files as (label, address) pairs."""
    return frame("plot", content, caption=caption, downloads=downloads)


def strip_rendered(content: SafeString) -> SafeString:
    """Strip white space around what the engine has rendered, and so escaped."""
    return SafeString(content.strip())  # nosec B703 # rendered by the engine


@register.simple_block_tag(end_name="closepagehead")
def pagehead(content: SafeString, title: object, study: object = None, up: object = "") -> SafeString:
    """The head of a page: its title, what is said below it and, above it, a link to what it belongs to.

    That is `study`, or the link `up`.
    """
    return frame("page_head", strip_rendered(content), title=title, study=study, up=up)


@register.simple_block_tag(end_name="closestudyhead", takes_context=True)
def studyhead(context: Context, content: SafeString, title: object) -> SafeString:
    """The head of a page of a study: its title, what is said below it, the study's line and the tabs of the step."""
    given = {"study": context["study"], "steps": context.get("steps"), "title": title, "lead": strip_rendered(content)}
    return render_to_string("judging/_head.html", given)


@register.simple_block_tag(end_name="closefact")
def fact(content: SafeString, term: object, css: str = "") -> SafeString:
    """One term of a list of facts: `<dl class="facts">{% fact "Code" %}…{% closefact %}</dl>`."""
    return format_html("<dt>{}</dt><dd{}>{}</dd>", term, format_html(' class="{}"', css) if css else "", content)


@register.simple_block_tag(end_name="closemessage")
def message(content: SafeString, kind: str = "info", title: str = "") -> SafeString:
    """Something the reader should know, when it takes more than a sentence."""
    return frame("message", content, kind=kind, title=title)


@register.simple_block_tag(end_name="closeform", takes_context=True)
def form(
    context: Context,
    content: SafeString,
    submit: str,
    form: BaseForm | None = None,
    action: str = "",
    title: str = "",
    kind: str = "primary",
    cancel: str = "",
    back: str = "",
    note: str = "",
    estimate: str = "",
    css: str = "form",
) -> SafeString:
    """A form sent by POST: errors of `form`, the fields that stand in the block or else all of `form`, a button.

    `cancel` is where one goes instead, by a button named `back`; `note` is said beside the buttons. A button
    named `estimate` asks first what it would take.
    """
    parts: dict[str, object] = {"form": form, "submit": submit, "action": action, "title": title, "kind": kind}
    parts |= {"cancel": cancel, "back": back, "note": note, "estimate": estimate}
    return frame("form", strip_rendered(content), csrf_token=context.get("csrf_token"), css=css, **parts)
