"""A provider's request to wait holds for all: whoever gets it first tells the others through the database."""

from __future__ import annotations

import time
from collections.abc import Hashable
from datetime import UTC, datetime
from typing import Generic

from core.jobs.backoff import PausedError
from core.jobs.request_pool import A, R, RequestPool
from judging.judges.models import Judge, Pause
from judging.judges.providers.calls import PATIENCE
from judging.judges.queries.workers import find_pause


def extend_pause(*, judge: Judge, until: datetime) -> None:
    """Leave the judge's model alone until then, or longer if somebody said so."""
    Pause.objects.bulk_create([Pause(provider=judge.provider, model=judge.model, until=until)], ignore_conflicts=True)
    Pause.objects.filter(provider=judge.provider, model=judge.model, until__lt=until).update(until=until)


class ProviderBackoff(Generic[A, R]):
    """Has a pool and the other processes that ask the same model keep to what one of them was told."""

    def __init__(self, judge: Judge, pool: RequestPool[A, R], model: Hashable) -> None:
        self.judge, self.pool, self.model = judge, pool, model
        self.paused_until = 0.0

    def tell(self) -> None:
        """Write down until when nobody may ask the model, if the pool was just told."""
        if (until := self.pool.paused_until[self.model]) > self.paused_until:
            self.paused_until = until
            extend_pause(judge=self.judge, until=datetime.fromtimestamp(until, tz=UTC))

    def keep(self) -> PausedError | None:
        """Wait with the others where one of them was told to. Returns why to come back later where that is long."""
        if not (pause := find_pause(self.judge)):
            return None
        until = pause.timestamp()
        self.paused_until = max(self.paused_until, until)
        self.pool.pause_until(self.model, until)
        if (seconds := until - time.time()) <= PATIENCE:
            return None
        return PausedError(f"The provider allows no requests for {seconds:.0f} s.", retry_after=seconds)
