"""`{% load judging %}`: amounts of money."""

from __future__ import annotations

from decimal import Decimal

from django import template

from judging.pricing import in_dollars

register = template.Library()


@register.filter
def dollars(amount: Decimal | None) -> str:
    """US dollars; a dash for an unknown amount."""
    return "\N{EN DASH}" if amount is None else in_dollars(amount)
