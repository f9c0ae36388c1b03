"""How pages show texts that people wrote or models said: as their users saw them, or as they are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django import template
from django.template import Context
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from annotation.corpus.models import SourceText
from core.rendering.markdown import render_markdown
from core.rendering.sections import ATTACHED, Section, build_attached, build_sections

register = template.Library()


@register.filter
def markdown(text: object) -> SafeString:
    """A guideline, an instruction or a consent text, rendered."""
    return render_markdown(to_lines(str(text or "")))


@register.inclusion_tag("components/content.html", takes_context=True)
def content(context: Context, said: object, part: str = "", css: str = "", form: str = "") -> dict[str, object]:
    """What is rated: a turn, or a text of a pair. `part` is its name where words in it can be marked.

    The form is the study's, `rendered` where there is none. Who asks for `?form=plain` sees it as it is written.
    """
    source = read_source(said)
    text, request = to_lines(source), context.get("request")
    rendered = (form or find_form(context)) == "rendered"
    return {
        "text": text,
        "sections": write_sections(build_sections(text, source.parts) if rendered else list_attached(text, source)),
        "rendered": rendered,
        "as_written": rendered and request is not None and request.GET.get("form") == "plain",
        "part": part,
        "css": css,
        "lang": source.lang,
    }


def list_attached(text: str, source: SourceText) -> list[Section]:
    """Pictures and sounds, which a text as it is written cannot show."""
    parts = [part for part in source.parts if part["kind"] in ATTACHED]
    return [build_attached(text[part["start"] : part["end"]], part) for part in parts]


def write_sections(sections: Iterable[Section]) -> SafeString:
    """The HTML of sections one after the other. Most are text, which needs no template: a page has hundreds."""
    written = (
        one.html if one.kind == "text" else render_to_string("components/_content_section.html", {"one": one})
        for one in sections
    )
    return SafeString("".join(written))  # nosec B703 # rendered by the engine


def read_source(said: object) -> SourceText:
    """The text of a turn or of a response, with its parts."""
    if isinstance(said, Mapping):
        return SourceText.build(str(said["content"]), said.get("parts", ()), str(said.get("lang", "")))
    return said if isinstance(said, SourceText) else SourceText(said or "")


def find_form(context: Context) -> str:
    """The form that the page's study shows."""
    return str(getattr(context.get("study"), "content_form", "rendered"))


def to_lines(text: str) -> str:
    """With line ends as a browser has them: what offsets count in."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
