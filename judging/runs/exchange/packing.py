"""A study for another tool, whichever it is."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.corpus.exchange.registry import EXCHANGES
from annotation.studies.models.studies import Study
from core.files.streaming import Member, below
from judging.runs.exchange import dataset, writing


def members(study: Study, tool: str) -> Iterator[Member] | None:
    """The files for that tool, in a folder that names study and tool; None where studies of that kind have none."""
    exchange = EXCHANGES.get(tool)
    if tool == dataset.KEY:
        found = dataset.members(study)
    elif exchange is not None and exchange.files and study.kind in exchange.kinds:
        found = writing.members(study, exchange)
    else:
        return None
    return below(f"{study.slug}-{tool}", found)
