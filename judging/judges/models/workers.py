"""Which processes are alive. The pages read it, and abandoned work is recognised by it."""

from __future__ import annotations

from core.jobs.models import AbstractWorker


class Worker(AbstractWorker):
    """A process that works on runs, experiments or material."""
