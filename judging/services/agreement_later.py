"""Agreement of a large study, left to a worker: asked for, under way, failed or kept.

What is asked for stands in the cache that web and workers share, and the result is a row as any other. Where the cache
is emptied, nothing is lost but the sentence that somebody is waiting: asking again is harmless.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from time import time
from typing import Any

from celery import current_app
from django.core.cache import cache
from kombu.exceptions import OperationalError

from annotation.errors import InputError
from annotation.hashing import content_hash
from annotation.models import AgreementRun, Criterion, Study, User
from annotation.queries.raters import Annotator, annotators_of
from annotation.services.turns import alone
from judging.services import agreement
from judging.services.agreement import StudyRatings
from judging.services.comparison import JudgedOptions

TASK = "judging.agree"
REMEMBERED = 24 * 3600


@dataclass(frozen=True)
class Asked:
    """That somebody asked for it.

    Attributes
    ----------
    by, at
        Who, by username, and when, in seconds since the epoch.
    begun
        When a worker began; none before that.
    error
        Why there is no result.
    is_alive
        Whether a worker is at it now.
    """

    by: str
    at: float
    begun: float | None = None
    error: str = ""
    is_alive: bool = False

    @property
    def says(self) -> str:
        """What stands of it, in words."""
        asked = f"sked for {int(time() - self.at):,} s ago by {self.by}"
        if self.begun is None:
            return f"A{asked}; no worker has begun yet."
        return f"Being computed for {int(time() - self.begun):,} s; a{asked}."

    @property
    def is_lost(self) -> bool:
        """Whether the worker that began is gone."""
        return self.begun is not None and not self.is_alive and not self.error


@dataclass(frozen=True)
class Shown:
    """A criterion with those who rated it, as far as a kept result names them."""

    criterion: Criterion
    raters: tuple[str, ...]


def key_of(study: Study, options: JudgedOptions) -> str:
    return f"agreement-{study.pk}-{content_hash(asdict(options))[:32]}"


def asked_for(study: Study, options: JudgedOptions) -> Asked | None:
    """What stands of it; None where nobody has asked, or it is done."""
    key = key_of(study, options)
    found = cache.get(key)
    return None if found is None else Asked(**found, is_alive=cache.get(f"{key}-alive") is not None)


def remember(key: str, asked: Asked) -> None:
    said = {"by": asked.by, "at": asked.at, "begun": asked.begun, "error": asked.error}
    cache.set(key, said, REMEMBERED)


def ask(*, by: User, study: Study, options: JudgedOptions) -> None:
    """Leave it to a worker. One who is at it already is left alone. Raises InputError where none can be reached."""
    found, key = asked_for(study, options), key_of(study, options)
    if found and found.is_alive:
        return
    remember(key, Asked(by.username, time()))
    try:
        current_app.send_task(TASK, args=[study.pk, asdict(options), by.pk])
    except OperationalError as error:
        cache.delete(key)
        raise InputError("No worker can be reached now. Nothing was lost; ask again later.") from error


def compute(study_id: int, parameters: dict[str, Any], by: int | None) -> None:
    """What a worker does: compute and keep, unless it is kept or another one is at it. An error is told on the page."""
    study, options = Study.objects.get(pk=study_id), JudgedOptions(**parameters)
    reader = None if by is None else User.objects.filter(pk=by).first()
    key = key_of(study, options)
    found = asked_for(study, options) or Asked(reader.username if reader else "", time())
    with alone(f"{key}-alive") as is_mine:
        if not is_mine:
            return
        remember(key, replace(found, begun=time(), error=""))
        try:
            agreement.of_study(by=reader, study=study, options=options, ratings=StudyRatings.of(study, options))
        except InputError as error:
            remember(key, replace(found, error=str(error)))
        except Exception as error:
            remember(key, replace(found, error=f"{type(error).__name__}: {error}"[:300]))
            raise
        else:
            cache.delete(key)


def kept(study: Study, options: JudgedOptions) -> AgreementRun | None:
    """The newest result with these options, whatever labels there were. Two queries."""
    rows = AgreementRun.objects.filter(study=study, seed=options.seed).order_by("-created_at")
    pk = next((pk for pk, given in rows.values_list("pk", "parameters") if given == options.as_json()), None)
    return None if pk is None else AgreementRun.objects.get(pk=pk)


def shown(study: Study, run: AgreementRun) -> tuple[tuple[Shown, ...], dict[str, Annotator]]:
    """The criteria of a kept result with their raters, and the annotators of the study, without reading a label."""
    documents = run.result["criteria"]
    criteria = [criterion for criterion in study.criteria.all() if criterion.key in documents]
    found = tuple(Shown(criterion, raters_of(documents[criterion.key])) for criterion in criteria)
    return found, annotators_of(study)


def raters_of(document: dict[str, Any]) -> tuple[str, ...]:
    """Who is named in a document. One rater alone is in no pair, and is not."""
    return tuple(dict.fromkeys(pair[side] for pair in document["pairs"] for side in ("a", "b")))
