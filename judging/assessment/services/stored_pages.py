"""What a page of a large study shows without reading its labels: what was computed last, with when that was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from django.core.cache import cache
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import get_language

from annotation.studies.models.studies import Study
from annotation.studies.queries.studies import has_more_handed_in, is_large
from core.audit.models import Act
from core.jobs.waiting import KEPT
from core.version import code_version
from judging.assessment.options import JudgedOptions
from judging.assessment.services.deferred_agreement import find_stored_id
from judging.assessment.services.rules import LOCK

AT_ONCE = 5_000
"""Assignments handed in that a page reads. Of more it shows what a worker computed last, if there is something."""

T = TypeVar("T")
State = tuple[str, int | None, int | None]


@dataclass(frozen=True)
class StoredPage(Generic[T]):
    """What a page shows.

    Attributes
    ----------
    found
        The document.
    at
        When it was computed.
    is_refreshed
        Whether a worker computes it again by itself, so that labels given since may be missing in it.
    """

    found: T
    at: datetime
    is_refreshed: bool


def is_refreshed(study: Study) -> bool:
    """Whether a worker computes its results, and a page need not. One query."""
    return has_more_handed_in(study, AT_ONCE)


def load_or_compute(study: Study, page: str, compute: Callable[[], T], *, anew: bool = False) -> StoredPage[T]:
    """What `compute` finds: now, or where a worker refreshes the study, last; then `anew` is for who insists.

    What is stored is shown until something is done to the study, or its agreement is computed of other labels.
    """
    if not is_refreshed(study):
        return StoredPage(compute(), timezone.now(), is_refreshed=False)
    kept: tuple[State, StoredPage[T]] | None = cache.get(_build_key(study, page))
    act = find_newest_act(study)
    if anew or kept is None or kept[0] != _build_state(study, act):
        return store(study, page, compute(), act=act)
    return kept[1]


def store(study: Study, page: str, found: T, *, act: int | None) -> StoredPage[T]:
    """Keep what was computed just now, unless it is of a study that no worker refreshes by itself.

    `act` is the newest one from before it was computed: what was done meanwhile may be missing in it.
    """
    stored = StoredPage(found, timezone.now(), is_refreshed=not is_large(study))
    if stored.is_refreshed:
        cache.set(_build_key(study, page), (_build_state(study, act), stored), KEPT)
    return stored


def _build_key(study: Study, page: str) -> str:
    return f"page-{page}-{study.pk}-{get_language()}"


def select_changing_acts() -> QuerySet[Act]:
    """Acts that may have changed a result. Labels are no acts: a study under way would never stand still."""
    others = Q(verb__startswith="export.") | Q(verb__startswith="account.sign_") | Q(verb=LOCK)
    return Act.objects.exclude(others)


def find_newest_act(study: Study) -> int | None:
    """The number of the newest act that may have changed the study. One query."""
    acts = select_changing_acts().filter(Q(study_id=study.pk) | Q(study_id=None))
    return acts.order_by("-number").values_list("number", flat=True).first()


def _build_state(study: Study, act: int | None) -> State:
    """The code, the newest kept agreement, and the newest act. One query."""
    return code_version(), find_stored_id(study, JudgedOptions()), act
