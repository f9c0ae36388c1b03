"""The one place where text becomes markup that pages do not escape: charts that this code draws, and rendered texts."""

from __future__ import annotations

from django.utils.safestring import SafeString, mark_safe


def to_safe_svg(svg: str) -> SafeString:
    """A chart of `core.charts` as a page shows it; nothing for an empty text.

    The renderer writes names as text, escaped. ValueError for anything that is no drawing or could run: the guard holds
    even if a renderer should change.
    """
    if svg and (not svg.startswith("<svg ") or "<script" in svg.lower() or "<foreignobject" in svg.lower()):
        raise ValueError("this is not a drawing that a page may show")
    return mark_safe(svg)  # noqa: S308  # nosec B308 B703 # only what vl-convert drew, checked above


def to_safe_html(html: str) -> SafeString:
    """What `core.rendering` made of a text: escaped, or cleaned by nh3, and without an element that could run."""
    if "<script" in html.lower():
        raise ValueError("this is not text that a page may show")
    return mark_safe(html)  # noqa: S308  # nosec B308 B703 # only what core.rendering wrote
