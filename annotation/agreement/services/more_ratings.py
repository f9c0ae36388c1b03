"""What more ratings would tell of the items of a study whose tier is unclear: the document of every reader.

It is kept in the cache that web and workers share, by the hash of what it is computed from.
"""

from __future__ import annotations

from django.core.cache import cache

from annotation.agreement.result_types import CriterionMoreRatingsDocument, MoreRatingsFound
from annotation.agreement.services import stored_difficulty
from annotation.agreement.services.difficulty import check_shares
from annotation.stats.bands import Cuts
from annotation.stats.difficulty.items import AGREEMENT_CUTS
from annotation.stats.difficulty.latent import NoConvergenceError
from annotation.stats.difficulty.more import AHEAD, compute_more_ratings
from annotation.stats.difficulty.preferences import Shown
from annotation.stats.difficulty.result_types import WantedItemDocument
from annotation.stats.result_types import EstimateDocument
from annotation.stats.table import RatingTable
from annotation.studies.models.studies import Study
from annotation.studies.queries import items
from annotation.studies.queries.preferences import preferences
from annotation.studies.queries.ratings import PeoplesRatings
from annotation.studies.queries.units import to_position, to_turn
from annotation.workbench.queries import overlap
from core.errors import InputError
from core.hashing import content_hash

AT_ONCE = 10_000
"""Ratings from which on a page leaves the fit to the command and the API."""

KEPT = 30 * 24 * 3600
SHOWN_ITEMS = 10
"""Items that the page names."""


def compute_criterion(
    study: Study, ratings: PeoplesRatings, *, cuts: Cuts = AGREEMENT_CUTS, ahead: int = AHEAD, patient: bool = True
) -> CriterionMoreRatingsDocument:
    """What up to `ahead` more ratings would tell of the unclear items of one criterion.

    Who is not patient is told where the fit takes long and is not kept. Raises InputError on cuts that are no shares.
    """
    check_shares(cuts)
    if not 1 <= ahead <= AHEAD:
        raise InputError("look from 1 to {ahead} ratings ahead", field="ahead", ahead=AHEAD)
    table, shown = preferences(ratings)
    found = _load_or_compute(table, shown, cuts, ahead, at_once=None if patient else AT_ONCE)
    if found["reason"]:
        return {
            "study": study.name,
            "criterion": ratings.criterion.key,
            "cuts": list(cuts),
            **found,
            "ask": [],
            "sentence": f"What more ratings would tell is not known: {found['reason']}.",
        }
    rows = _name_items(study, found["items"])
    likely = [row for row in rows if row["likely"]]
    return {
        "study": study.name,
        "criterion": ratings.criterion.key,
        "cuts": list(cuts),
        **found,
        "items": rows,
        "ask": list(dict.fromkeys(row["position"] for row in likely if not row["is_waiting"])),
        "n_waiting": sum(row["is_waiting"] for row in likely),
        "sentence": to_words(found, ratings.criterion.part_noun),
    }


def _load_or_compute(
    table: RatingTable, shown: Shown | None, cuts: Cuts, ahead: int, *, at_once: int | None
) -> MoreRatingsFound:
    key = f"more-{_input_hash(table, shown, cuts, ahead)}"
    kept: MoreRatingsFound | None = cache.get(key)
    if kept is not None:
        return kept
    if at_once is not None and table.n_ratings > at_once:
        reason = f"the study has more than {at_once:,} ratings; `plan --settle-tiers` and the API compute it"
        return {"reason": reason, "items": []}
    found: MoreRatingsFound
    try:
        found = {**compute_more_ratings(table, cuts=cuts, ahead=ahead, shown=shown).to_json(), "reason": None}
    except NoConvergenceError as why:
        found = {"reason": str(why), "items": []}
    cache.set(key, found, KEPT)
    return found


def _input_hash(table: RatingTable, shown: Shown | None, cuts: Cuts, ahead: int) -> str:
    """Of all that the figures depend on, and of the items' names, which the figures hold."""
    return content_hash([stored_difficulty.hash_input(table, shown), list(table.items), [*cuts, ahead]])


def _name_items(study: Study, rows: list[WantedItemDocument]) -> list[WantedItemDocument]:
    """The rows with the names of their items, and whether a rating of them is still to come. Two queries."""
    positions = [to_position(row["item"]) for row in rows]
    ids = items.external_ids(study, positions)
    slots = overlap.count_assignments_by_item(study) if rows else {}
    named = []
    for row, position in zip(rows, positions, strict=True):
        one: WantedItemDocument = {**row, "item": ids[position], "position": position}
        if turn := to_turn(row["item"]):
            one["turn"] = turn
        there = slots.get(position)
        one["is_waiting"] = bool(there and there.n_open)
        named.append(one)
    return named


def to_words(found: MoreRatingsFound, noun: str = "item") -> str:
    """The answer in a sentence or two. `noun`: what has a tier, an item or a part of it."""
    unclear, first, ahead = found["n_unclear"], found["n_first"], found["ahead"]
    if not found["n_items"]:
        return f"No {noun} has a difficulty."
    if not unclear:
        return f"All {found['n_items']:,} {noun}s have a clear tier."
    more = "1 more rating" if ahead == 1 else f"{ahead} more ratings"
    if not first:
        return f"None of the {unclear:,} unclear {noun}s is likely to become clear within {more}."
    said = (
        f"{_format_count(found['ratings'])} more ratings on {first:,} {noun}s are expected to settle "
        f"{_format_count(found['settled'])} of {unclear:,} unclear {noun}s."
    )
    rest = unclear - first
    return f"{said} {rest:,} lie too near a threshold to become clear within {more}." if rest else said


def _format_count(one: EstimateDocument) -> str:
    """12 (9 to 15)."""
    return f"{one['value']:,.0f} ({one['low']:,.0f} to {one['high']:,.0f})"


def build_more_context(study: Study, ratings: PeoplesRatings, *, cuts: Cuts = AGREEMENT_CUTS) -> dict[str, object]:
    """What `judging/_tier_more.html` shows, beside `study`: `more`, the document, and `more_items`, the first of it."""
    found = compute_criterion(study, ratings, cuts=cuts, patient=False)
    return {"more": found, "more_items": found["items"][:SHOWN_ITEMS]}
