"""Tiers of a benchmark's cases by the difficulty model, fitted to all votes of all cases together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from annotation.agreement.services import stored_difficulty
from annotation.agreement.services.difficulty import check_shares
from annotation.benchmarks.queries.lineages import Lineage, Vote
from annotation.benchmarks.result_types import ModelTiersDocument
from annotation.stats.bands import TIERS, Cuts
from annotation.stats.benchmarks.votes import VALUES
from annotation.stats.difficulty.items import CLEAR, Difficulty
from annotation.stats.difficulty.preferences import Shown, split_by_strength
from annotation.stats.model_tiers import compare_with_counted, count_intervals
from annotation.stats.table import MISSING, RatingTable
from annotation.studies.queries.dependence import weigh
from core.errors import InputError

FIELD = "tiers"
ORDERS = {"AB": 1, "BA": -1}
STRENGTHS = {"much": 2, "slightly": 1}


def fit_cases(
    lineages: Sequence[Lineage],
    votes: Sequence[Mapping[int, Vote]],
    *,
    with_tie: bool,
    cuts: Cuts,
    min_votes: int,
) -> Difficulty:
    """The model of all cases (n,) and of all people who voted on them, in any study; `cuts` are probabilities to agree.

    A case without votes has no tier. Raises InputError where the model cannot be fitted to a case with enough votes.
    """
    table, shown = to_table(lineages, votes, with_tie=with_tie)
    fit = stored_difficulty.load_or_fit(table, check_shares(cuts), shown=shown, at_once=None)
    if fit.found is None:
        raise InputError("The difficulty model cannot be fitted: {reason}.", field=FIELD, reason=fit.reason)
    voted = table.ratings_per_item >= max(min_votes, 1)
    if left_out := int((voted & ~fit.found.fitted).sum()):
        why = "; ".join(dict.fromkeys(fit.found.reasons.values()))
        raise InputError(
            "The difficulty model cannot be fitted to {left_out} cases with votes: {why}.",
            field=FIELD,
            left_out=left_out,
            why=why,
        )
    return fit.found


def to_table(
    lineages: Sequence[Lineage], votes: Sequence[Mapping[int, Vote]], *, with_tie: bool
) -> tuple[RatingTable, Shown]:
    """The votes with a row for each case and a column for each person, and how the pairs were shown."""
    column = {person: k for k, person in enumerate(sorted({person for one in votes for person in one}))}
    code = {value: k for k, value in enumerate(VALUES)}
    shape = (len(votes), len(column))
    codes, order, strength = np.full(shape, MISSING, dtype=np.int64), np.zeros(shape, int), np.zeros(shape, int)
    for row, one in enumerate(votes):
        for person, vote in one.items():
            place = (row, column[person])
            codes[place] = code[vote.value]
            order[place], strength[place] = ORDERS.get(vote.order, 0), STRENGTHS.get(vote.strength, 0)
    table = RatingTable(
        codes,
        VALUES if with_tie else VALUES[:2],
        "nominal",
        tuple(map(str, range(len(votes)))),
        tuple(map(str, column)),
        weights=weigh(np.array([one.items[0].inclusion_probability for one in lineages])),
    )
    pairs = [one.last.pair for one in lineages]
    return split_by_strength(table, strength), Shown(order, [(p.model_1, p.model_2) if p else ("", "") for p in pairs])


def probabilities(found: Difficulty) -> list[dict[str, float] | None]:
    """By case, the probability of each tier, the easiest first; None where it has none."""
    rows = zip(found.tiers.tolist(), found.fitted.tolist(), strict=True)
    return [dict(zip(reversed(TIERS), reversed(row), strict=True)) if there else None for row, there in rows]


def describe(found: Difficulty, counted: Sequence[str | None]) -> ModelTiersDocument:
    """How sure the tiers of the cases with votes are, for the benchmark's record; `counted` are those by kappa.

    ``sure`` is the mean probability of a case's likeliest tier, ``clear`` how many have one of at least
    ``clear_from``; ``likeliest`` counts the cases by it. No person is named.
    """
    likeliest = [tier for tier in found.tier if tier]
    return {
        "method": found.method,
        "n_cases": int(found.fitted.sum()),
        "sure": float(found.tiers[found.fitted].max(axis=1).mean()),
        "clear": int(found.clear.sum()),
        "clear_from": CLEAR,
        "likeliest": {tier: likeliest.count(tier) for tier in reversed(TIERS)},
        "expected": found.expected_counts,
        "intervals": {tier: list(ends) for tier, ends in count_intervals(found.tiers).items()},
        "by_counted": compare_with_counted(found, counted),
    }
