"""Until when a model is left alone."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from judging.judges.models.judges import Judge
from judging.judges.models.provider_backoff import Pause


def find_end_of_pause(judge: Judge) -> datetime | None:
    """When the judge's model may be asked again; None if it may be now. One query."""
    row = Pause.objects.filter(provider=judge.provider, model=judge.model, until__gt=timezone.now())
    return row.values_list("until", flat=True).first()
