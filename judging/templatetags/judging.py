"""`{% load judging %}`: amounts of money, and parts of documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from django import template
from django.utils.html import format_html

from annotation.agreement.result_types import DifficultyDocument, PeopleFiguresDocument
from annotation.stats.result_types import EstimateDocument
from core import sentences
from judging.assessment import wording
from judging.assessment.agreement_figures import drop_codes, name_biases
from judging.assessment.result_types import HoldOutDocument, ItemTiersDocument
from judging.judges.pricing import format_dollars
from judging.runs.queries.judgments import reason_in_words
from judging.stats.result_types import FindingDocument

register = template.Library()


@register.filter
def dollars(amount: Decimal | None) -> str:
    """US dollars; a dash for an unknown amount."""
    return "\N{EN DASH}" if amount is None else format_dollars(amount)


@register.filter
def part(document: Mapping[str, object], name: str) -> object:
    """The part of a document of this name, which may hold a hyphen; None where there is none."""
    return document.get(name)


@register.filter
def join_names(names: Mapping[str, str], usernames: Iterable[str]) -> str:
    """What these users are called, in one text."""
    return ", ".join(names[one] for one in usernames)


@register.filter
def biases(probes: Mapping[str, str]) -> str:
    """The names of the probes that found something, of a certificate."""
    return name_biases({name: {"found": True, "not found": False}.get(said) for name, said in probes.items()})


@register.filter
def audited(probes: Iterable[FindingDocument]) -> str:
    """The names of the probes that found something, of an audit."""
    return name_biases({one["name"]: one["found"] for one in probes})


@register.filter
def spoken(text: str) -> str:
    """A sentence, or the name of a probe, without the codes of figures and probes, in the language of the page."""
    return drop_codes(sentences.translate(text), sentences.translate)


@register.filter
def reason_text(reason: str) -> str:
    """Why a reply held no verdict, of its code."""
    return reason_in_words(reason)


@register.filter
def item_tiers(found: ItemTiersDocument) -> str:
    """What the tiers of an audit are."""
    return wording.item_tiers(found)


@register.filter
def describe_hold_out(found: HoldOutDocument) -> str:
    """Which part of the items a report is of, and who looked at the other."""
    return wording.describe_hold_out(found)


@register.filter
def among_people(document: PeopleFiguresDocument) -> EstimateDocument:
    """People's agreement on a criterion by the headline coefficient of its scale."""
    return wording.find_headline(document)


@register.filter
def interval(estimate: EstimateDocument | str | None, digits: int = 3) -> str:
    """An estimate as text: 0.61 [0.52, 0.69]; a dash, with the reason where it is undefined."""
    if not estimate or isinstance(estimate, str):  # what a template does not find is an empty text
        return "\N{EN DASH}"
    if estimate["value"] is None:
        return f"\N{EN DASH} ({sentences.translate(estimate['reason'])})"
    return wording.interval(estimate, digits)


@register.simple_tag(name="linked")
def render_linked(text: object, href: str) -> object:
    """The text as a link where there is an address; in a file there is none."""
    return format_html('<a href="{}">{}</a>', href, text) if href else text


@register.filter
def expected_counts(document: DifficultyDocument) -> list[wording.ExpectedCount]:
    """Of a criterion's difficulty, the expected number of items of each tier with its interval, from easy on."""
    return wording.list_expected_counts(document)


@register.filter
def fitted(difficulty: Mapping[str, DifficultyDocument]) -> list[DifficultyDocument]:
    """Of the difficulty of all criteria, those that a model could be fitted to."""
    return [found for found in difficulty.values() if found["method"]]
