"""What the page *Tiers* says by the difficulty model: how many of each tier, what is unclear, people, other cuts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.core.paginator import Paginator
from django.utils.translation import gettext as _, gettext_noop

from annotation.agreement import queries as agreement_queries
from annotation.agreement.result_types import DifficultyDocument
from annotation.agreement.services import difficulty, stored_difficulty, tiers
from annotation.agreement.services.more_ratings import build_more_context
from annotation.agreement.services.stored_difficulty import Fit
from annotation.stats.bands import TIERS
from annotation.stats.difficulty.items import Difficulty
from annotation.stats.labels import Label
from annotation.stats.model_tiers import compute_expected_by, few_values, moves
from annotation.stats.table import BoolArray
from annotation.studies.models.studies import Criterion, Study
from annotation.studies.queries import items
from annotation.studies.queries.ratings import PeoplesRatings, load_annotators
from annotation.studies.queries.scales import name_label
from annotation.studies.queries.units import to_position, unit
from core.documents import Row, Rows
from core.errors import InputError
from judging.assessment import charts, wording
from judging.assessment.views.tier_requests import ALL, SHOWN, UNCLEAR, TierRequest, format_cuts

PER_PAGE = 25
LEAST = 0.05
"""Probability from which a tier is named for an item."""

MOST_MOVED = 5
"""Items that are linked for each way in which other cuts move some."""

STEEP = gettext_noop("Consistency: 1 is the mean of all annotators.")
PEOPLE = {
    "graded response": (
        gettext_noop("Severity: standard deviations by which a person’s thresholds lie above the mean."),
        STEEP,
    ),
    "categories": (gettext_noop("Consistency: how often a person knows the category of an average item."),),
    "Plackett-Luce": (STEEP,),
    "paired comparison": (
        gettext_noop("Log odds by which a person is drawn to the response shown first."),
        STEEP,
    ),
    "linear mixed model": (
        gettext_noop("Severity: standard deviations by which a person’s numbers lie below the mean."),
        STEEP,
    ),
}
"""By the model's method, sentences on people."""

SORTS = ("position", "difficulty", "certain")
NEW_CUTS = "new_cuts"


@dataclass(frozen=True)
class Fits:
    """Fits of the criteria that the page looks at, in the order of its ratings; `ours` is the one asked for."""

    ours: Fit
    each: tuple[tuple[PeoplesRatings, Fit], ...]

    @classmethod
    def read(cls, read: Sequence[PeoplesRatings], ours: PeoplesRatings, asked: TierRequest, *, patient: bool) -> Fits:
        """That of the criterion asked for, and of the others where bars show them."""
        (mine,) = stored_difficulty.load_or_fit_all([ours], asked.agreeing, patient=patient)
        others = [one for one in read if one is not ours and one.table.n_ratings and not asked.by and not mine.is_left]
        rest = stored_difficulty.load_or_fit_all(others, asked.agreeing, patient=patient)
        fits = {one.criterion.pk: fit for one, fit in zip(others, rest, strict=True)} | {ours.criterion.pk: mine}
        return cls(mine, tuple((one, fits[one.criterion.pk]) for one in read if one.criterion.pk in fits))


def context(
    study: Study, asked: TierRequest, ours: PeoplesRatings, fits: Fits, query: Mapping[str, str]
) -> dict[str, object]:
    """All that the page shows of a fitted criterion. Raises InputError on a grouping that there is not."""
    found = fits.ours.found
    assert found is not None
    counted = tiers.load_tiers(ours)
    document = difficulty.document(
        fits.ours, asked.agreeing, counted=counted, named=lambda rows: difficulty.list_item_names(study, rows)
    )
    who = load_annotators(study)
    simulated = [who[name].name for name in ours.table.raters if name in who and who[name].is_simulated]
    rows = document["items"]
    assert isinstance(rows, Rows)
    listed = _listed(asked, ours, rows, found, query)
    return {
        "model": document,
        "lead": wording.describe_tiers(ours.criterion.name, document, ours.criterion.part_noun),
        "simulated": simulated,
        "counts": [{**one, "href": asked.set_shown(one["tier"])} for one in wording.list_expected_counts(document)],
        "model_bars": charts.draw_on_page(charts.tier_bars, _bars(study, asked, ours, fits)),
        "model_bars_caption": _caption(asked),
        "left_out": [one.criterion.name for one, fit in fits.each if fit.is_left],
        "preview": _preview(study, asked, ours, found, query),
        "new_cuts": query.get(NEW_CUTS) or format_cuts(asked.agreeing),
        "shown": [(name, asked.set_shown(name)) for name in SHOWN],
        "page": Paginator(listed, PER_PAGE).get_page(query.get("page")),
        "people_note": " ".join(map(_, PEOPLE[found.method])),
        "people": [(who[one["person"]].name, one) for one in document["people"]],
        "thresholds": _thresholds(ours.criterion, ours.table.categories, document),
        "by_counted": [(row, [row["expected"][t] for t in charts.TIERS]) for row in document["by_counted"]],
        "few": few_values(ours.table),
        **build_more_context(study, ours, cuts=asked.agreeing),
    }


def _bars(study: Study, asked: TierRequest, ours: PeoplesRatings, fits: Fits) -> list[tuple[str, Mapping[str, float]]]:
    """The groups of this criterion where it is grouped, else all criteria."""
    if asked.by and fits.ours.found is not None:
        named = items.groups(study, asked.by)
        return list(compute_expected_by(fits.ours.found, [named[position] for position in ours.positions]).items())
    return [(one.criterion.name, fit.found.expected_counts) for one, fit in fits.each if fit.found is not None]


def _caption(asked: TierRequest) -> str:
    by = wording.name_grouping(asked.by) if asked.by else _("criterion")
    contested, hard, medium = (f"{cut:g}" for cut in asked.agreeing)
    return _(
        "Expected share of items per tier, by {by}: two fresh people agree with a probability above {medium} on an "
        "easy item, above {hard} on a medium one, above {contested} on a hard one."
    ).format(by=by, medium=medium, hard=hard, contested=contested)


def _listed(asked: TierRequest, ours: PeoplesRatings, rows: Rows, found: Difficulty, query: Mapping[str, str]) -> Rows:
    """The items that are asked for, those first whose tier is least certain."""
    kept = rows.take(np.flatnonzero(_mask(asked.shown, found)))
    sort = query.get("sort", "")
    name = sort.removeprefix("-") if sort.removeprefix("-") in SORTS else "certain"
    listed = kept.sort_by(name, descending=sort.startswith("-"))
    by_hand = {name: one.tier for name, one in agreement_queries.load_overrides(ours.criterion).items()}
    return Rows(listed.order, lambda which: [_build_row(row, by_hand) for row in listed.made(which)], listed.columns)


def _build_row(row: Row, by_hand: Mapping[str, str]) -> Row:
    """With the tiers that the item may have, the likeliest first, and the one that a person set."""
    there = [(tier, p) for tier, p in row["tiers"].items() if p is not None and p >= LEAST]
    return {
        **row,
        "likely": sorted(there, key=lambda one: -one[1]),
        "by_hand": by_hand.get(unit(row["position"], row.get("turn", 0))),
    }


def _mask(shown: str, found: Difficulty) -> BoolArray:
    if shown == ALL:
        return np.ones(len(found.items), dtype=bool)
    if shown == UNCLEAR:
        return np.asarray(found.fitted & ~found.clear)
    return np.array([tier == shown for tier in found.tier], dtype=bool)


def _thresholds(
    criterion: Criterion, categories: Sequence[Label], document: DifficultyDocument
) -> list[tuple[str, str, list[float]]]:
    """Where each category ends and the next one begins, by group of people who share items."""
    labels = [name_label(criterion, str(one)) for one in categories]
    rows = list(zip(*document["thresholds"], strict=True))
    return [(labels[k], labels[k + 1], list(values)) for k, values in enumerate(rows)]


def _preview(
    study: Study, asked: TierRequest, ours: PeoplesRatings, found: Difficulty, query: Mapping[str, str]
) -> dict[str, object] | None:
    """What other cuts would change; nothing where none are asked for, an error where they make no sense."""
    if not query.get(NEW_CUTS):
        return None
    try:
        cuts = difficulty.parse_model_cuts(query[NEW_CUTS], NEW_CUTS)
    except InputError as error:
        return {"error": error.message}
    (fit,) = stored_difficulty.load_or_fit_all([ours], cuts)
    there = {"cuts": format_cuts(cuts), "href": asked.set_agreeing(cuts), "same": cuts == asked.agreeing}
    if fit.found is None:
        return {**there, "left": fit.reason}
    rise = moves(found, fit.found)
    return {
        **there,
        "easier": int((rise > 0).sum()),
        "harder": int((rise < 0).sum()),
        "moved": _moved(study, found, fit.found),
        "tiers": [(tier, found.expected_counts[tier], fit.found.expected_counts[tier]) for tier in charts.TIERS],
        "clear": (int(found.clear.sum()), int(fit.found.clear.sum())),
    }


def _moved(study: Study, before: Difficulty, after: Difficulty) -> list[dict[str, object]]:
    """For each tier and the one that its items move to: how many, and the first of them."""
    pairs: dict[tuple[str, str], list[str]] = {}
    for name, old, new in zip(before.items, before.tier, after.tier, strict=True):
        if old is not None and new is not None and old != new:
            pairs.setdefault((old, new), []).append(name)
    first = {to_position(row) for rows in pairs.values() for row in rows[:MOST_MOVED]}
    ids = items.external_ids(study, first)
    return [
        {"from": old, "to": new, "n": len(rows), "more": max(len(rows) - MOST_MOVED, 0),
         "items": [(to_position(row), ids[to_position(row)]) for row in rows[:MOST_MOVED]]}
        for (old, new), rows in sorted(pairs.items(), key=lambda one: [TIERS.index(name) for name in one[0]])
    ]  # fmt: skip
