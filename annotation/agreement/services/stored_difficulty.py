"""The difficulty model of one criterion, fitted once for the same labels and kept.

A fit is found again by the hash of what it was fitted to, so that every page, file, command and API answer shows the
same one, and none shows an old one. Other cut-offs describe the same fit. It is kept without anybody's name in the
cache that web and workers share; where that is emptied, the same labels give the same fit again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.core.cache import cache

from annotation.stats.bands import Cuts
from annotation.stats.difficulty.items import AGREEMENT_CUTS, Difficulty, FittedGroups, fit_groups
from annotation.stats.difficulty.latent import NoConvergenceError
from annotation.stats.difficulty.preferences import Shown
from annotation.stats.table import RatingTable
from annotation.studies.models.studies import Study
from annotation.studies.queries import ratings
from annotation.studies.queries.preferences import preferences
from annotation.studies.queries.ratings import PeoplesRatings
from core.accounts.models.users import User
from core.hashing import content_hash, digest
from core.jobs import waiting
from core.jobs.waiting import take_turn
from core.version import code_version

AT_ONCE = 10_000
"""Ratings that are fitted while somebody waits: about a second and a half."""

KEPT = 30 * 24 * 3600
TASK = "annotation.fit_difficulty"
LEFT = f"more than {AT_ONCE:,} ratings: a worker fits the model on request"


@dataclass(frozen=True, eq=False)
class Fit:
    """What is known of a table's difficulty.

    Attributes
    ----------
    found
        The fitted model; None where there is none.
    reason
        Why there is none.
    is_left
        Whether it is left to a worker.
    """

    found: Difficulty | None
    reason: str | None = None
    is_left: bool = False


@dataclass(frozen=True, eq=False)
class StoredFit:
    """A table's fit without names and cut-offs; `groups` is None where there is none, for this reason."""

    groups: FittedGroups | None
    reason: str | None = None

    def describe(self, cuts: Cuts) -> Fit:
        """At these cut-offs, still without names."""
        return Fit(None, self.reason) if self.groups is None else Fit(self.groups.describe(cuts))


def fit(table: RatingTable, shown: Shown | None = None) -> StoredFit:
    """The model fitted now, items and people by their places in the table; `shown` says how preferences were."""
    n, r = table.codes.shape
    unnamed = replace(table, items=tuple(map(str, range(n))), raters=tuple(map(str, range(r))))
    try:
        return StoredFit(fit_groups(unnamed, shown))
    except NoConvergenceError as why:
        return StoredFit(None, str(why))


def fit_and_describe(table: RatingTable, cuts: Cuts) -> Fit:
    """The model fitted now and not kept."""
    return _named(fit(table).describe(cuts), table)


def load_or_fit(
    table: RatingTable, cuts: Cuts = AGREEMENT_CUTS, *, shown: Shown | None = None, at_once: int | None = AT_ONCE
) -> Fit:
    """The kept fit at these cut-offs, or one made now.

    More than `at_once` ratings are left to a worker where nothing is kept of them; None leaves nothing to it.
    """
    key = f"difficulty-{hash_input(table, shown)}"
    at_cuts = f"{key}-{content_hash(list(cuts))[:16]}"
    if told := cache.get(at_cuts):
        return _named(told, table)
    kept = cache.get(key)
    if kept is None:
        if at_once is not None and table.n_ratings > at_once:
            return Fit(None, LEFT, is_left=True)
        kept = _fit_in_turn(key, table, shown)
    told = kept.describe(cuts)
    cache.set(at_cuts, told, KEPT)
    return _named(told, table)


def _fit_in_turn(key: str, table: RatingTable, shown: Shown | None) -> StoredFit:
    with take_turn(f"{key}-turn"):
        kept: StoredFit | None = cache.get(key)
        if kept is None:
            kept = fit(table, shown)
            cache.set(key, kept, KEPT)
    return kept


def load_or_fit_all(each: Sequence[PeoplesRatings], cuts: Cuts = AGREEMENT_CUTS, *, patient: bool = False) -> list[Fit]:
    """A fit of each criterion. Who is not patient gets what is kept, and what all together takes little time."""
    total = sum(one.table.n_ratings for one in each)
    at_once = None if patient else AT_ONCE if total <= AT_ONCE else 0
    tables = map(preferences, each)
    return [load_or_fit(table, cuts, shown=shown, at_once=at_once) for table, shown in tables]


def ask(*, by: User, study: Study, cuts: Cuts = AGREEMENT_CUTS) -> None:
    """Leave the fits of a study to a worker. Raises InputError where none can be reached."""
    waiting.ask(by=by, key=_key(study.pk, cuts), task=TASK, args=[study.pk, list(cuts), by.username])


def find_request(study: Study, cuts: Cuts) -> waiting.DeferredRequest | None:
    """What stands of it; None where nobody has asked, or it is done."""
    return waiting.find_request(_key(study.pk, cuts))


def compute(study_id: int, cuts: Sequence[float], reader: str) -> None:
    """What a worker does: fit every criterion, unless that is kept or another one is at it."""
    chosen = (cuts[0], cuts[1], cuts[2])

    def work() -> None:
        load_or_fit_all(ratings.load_study(Study.objects.get(pk=study_id)), chosen, patient=True)

    waiting.compute(_key(study_id, chosen), reader, work)


def _key(study_id: int, cuts: Cuts) -> str:
    return f"difficulty-of-{study_id}-{content_hash(list(cuts))[:16]}"


def hash_input(table: RatingTable, shown: Shown | None) -> str:
    """Of all that the fit depends on; strata are not among it, nor are names."""
    weights = None if table.weights is None else digest(table.weights.tobytes())
    scale: list[object] = [table.level, list(table.categories), None if table.values is None else list(table.values)]
    clusters = None if table.clusters is None else list(table.clusters)
    shape = [*table.codes.shape, str(table.codes.dtype)]
    pairs = None if shown is None else [digest(shown.order.tobytes()), [list(pair) for pair in shown.systems]]
    labels = [digest(table.codes.tobytes()), shape, scale, clusters, weights, pairs]
    return content_hash([*labels, code_version()])


def _named(told: Fit, table: RatingTable) -> Fit:
    """The same with the names of the table's items and people in place of their numbers."""
    if told.found is None:
        return told
    people = tuple(replace(one, person=table.raters[int(one.person)]) for one in told.found.people)
    return replace(told, found=replace(told.found, people=people, items=table.items))
