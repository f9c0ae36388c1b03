"""A model that asks to be left alone is left alone by all: who hears it first tells the others through the database."""

from __future__ import annotations

from datetime import datetime

from judging.judges.models.judges import Judge
from judging.judges.models.provider_backoff import Pause


def extend(*, judge: Judge, until: datetime) -> None:
    """Leave the judge's model alone until then, or longer if somebody said so."""
    Pause.objects.bulk_create([Pause(provider=judge.provider, model=judge.model, until=until)], ignore_conflicts=True)
    Pause.objects.filter(provider=judge.provider, model=judge.model, until__lt=until).update(until=until)
