"""From a figure to the items under it: addresses of the list of items."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

from django.urls import reverse

from annotation.studies.models.studies import Study
from judging.assessment.services.agreement import TIER

MOST_LISTED = 300
"""Positions that an address holds."""


def build_items_address(study: Study, key: str) -> Callable[..., str]:
    """What gives the address of the list of items on a criterion that a query lets through."""
    base = reverse("item_list", args=[study.slug])

    def address(**query: str) -> str:
        return f"{base}?{urlencode({'criterion': key, **query})}"

    return address


def name_run(judge: str, run: int | None) -> dict[str, str]:
    """What the address of the list of items says of a judge: its run, so that the list stays what it was."""
    return {"run": str(run)} if run else {"judge": judge}


def name_group(by: str, group: str) -> dict[str, str]:
    """What the address of the list of items says of a group."""
    return {"tier": group} if by == TIER else {"by": by, "group": group}
