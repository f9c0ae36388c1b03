"""Which price holds for a model on a day: what people entered, before what is published."""

from __future__ import annotations

from datetime import date

from django.utils import timezone

from judging.judges import pricing
from judging.judges.models import Judge, Price
from judging.judges.pricing import Rate


def find_rate(judge: Judge, on: date | None = None) -> Rate | None:
    """What the judge's model costs, today if no day is given. None if nobody has said. One query."""
    return pricing.choose_rate(
        [*pricing.load_published(), *list_entered(judge.provider)],
        judge.provider,
        judge.model,
        on or timezone.now().date(),
    )


def list_entered(provider: str = "") -> list[Rate]:
    """What people entered, of one provider or of all."""
    rows = Price.objects.filter(provider=provider) if provider else Price.objects.all()
    return [rate(row) for row in rows]


def rate(row: Price) -> Rate:
    return Rate(
        row.provider,
        row.model,
        row.valid_from,
        row.input,
        row.output,
        row.cache_read,
        row.cache_write,
        row.batch_input,
        row.batch_output,
    )
