"""How far the people of one kind agree with each other: every group of raters by itself.

A group of fewer than `LEAST_RATERS` raters is withheld: what is said of one or two people can be told of them.
Intervals resample items and hold the raters fixed, so that they are about these people on other items, not about others
of their kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.stats import chance_corrected as chance
from annotation.stats.alpha import krippendorff_alpha
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis, estimates
from annotation.stats.resampling import Resampling, SumStatistic, replicate
from annotation.stats.result_types import RaterGroupDocument
from annotation.stats.table import BoolArray, RatingTable

LEAST_RATERS = 3
"""Raters below which a group is withheld."""


@dataclass(frozen=True)
class RaterGroup:
    """Raters of one kind among themselves.

    Attributes
    ----------
    group
        What they have in common.
    n_raters, n_items, n_items_pairable, n_ratings
        Raters of the group with ratings; items that any of them rated; those that two of them did; their ratings.
    percent_agreement, fleiss_kappa, krippendorff_alpha
        Among them alone. NaN with a reason where no item has ratings of two of them, or chance alone agrees fully.
    """

    group: str
    n_raters: int
    n_items: int
    n_items_pairable: int
    n_ratings: int
    percent_agreement: Estimate
    fleiss_kappa: Estimate
    krippendorff_alpha: Estimate

    def to_json(self) -> RaterGroupDocument:
        """The group as JSON types."""
        return {
            "group": self.group,
            "n_raters": self.n_raters,
            "n_items": self.n_items,
            "n_items_pairable": self.n_items_pairable,
            "n_ratings": self.n_ratings,
            "percent_agreement": self.percent_agreement.to_json(),
            "fleiss_kappa": self.fleiss_kappa.to_json(),
            "krippendorff_alpha": self.krippendorff_alpha.to_json(),
        }


@dataclass(frozen=True)
class GroupedRaters:
    """Who of a table's raters belongs to which group.

    Attributes
    ----------
    members
        By group, its raters with ratings; only groups of enough of them, in the order of their names.
    n_raters, n_grouped, withheld
        Raters with ratings; those of them whose group is known; groups that are withheld, since too few rated.
    """

    members: dict[str, tuple[str, ...]]
    n_raters: int
    n_grouped: int
    withheld: int


def group_raters(table: RatingTable, groups: Sequence[str | None], *, least: int = LEAST_RATERS) -> GroupedRaters:
    """The groups of a table's raters. ``groups`` names the group of each, None where it is not known.

    Raises ``ValueError`` where there is not one per rater.
    """
    if len(groups) != len(table.raters):
        raise ValueError(f"{len(groups)} groups for {len(table.raters)} raters")
    rated: BoolArray = np.asarray((table.codes >= 0).any(axis=0))
    found: dict[str, list[str]] = {}
    for rater, group, here in zip(table.raters, groups, rated.tolist(), strict=True):
        if here and group is not None:
            found.setdefault(group, []).append(rater)
    kept = {group: tuple(found[group]) for group in sorted(found) if len(found[group]) >= least}
    grouped = sum(map(len, found.values()))
    return GroupedRaters(kept, int(rated.sum()), grouped, len(found) - len(kept))


def agreement_within(
    table: RatingTable,
    grouped: GroupedRaters,
    *,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> list[RaterGroup]:
    """Agreement of the raters of each group with each other, in the order of the groups' names.

    Examples
    --------
    >>> table = RatingTable.from_wide([["yes", "yes", "no", "no"], ["no", "no", "no", "no"], ["no", "no", "yes", "no"]])
    >>> grouped = group_raters(table, ["a", "a", "b", None], least=2)
    >>> (grouped.members, grouped.withheld)
    ({'a': ('r1', 'r2')}, 1)
    >>> [round(one.fleiss_kappa.value, 2) for one in agreement_within(table, grouped, bootstrap=0)]
    [1.0]
    """
    return [
        _of_group(group, table.select_raters(raters), bootstrap=bootstrap, confidence=confidence, seed=seed)
        for group, raters in grouped.members.items()
    ]


def _of_group(group: str, table: RatingTable, *, bootstrap: int, confidence: float, seed: int) -> RaterGroup:
    part = table.subset_items(np.asarray(table.ratings_per_item > 0))
    pairable = part.pairable
    n_pairable, n_raters = int(pairable.sum()), len(part.raters)
    resampling = Resampling.from_table(part, bootstrap=bootstrap, confidence=confidence, seed=seed)
    basis = Basis(n_pairable, n_raters, int(part.ratings_per_item[pairable].sum()))
    why = chance.explain_undefined(part)
    statistics = [
        _first_two(chance.chance_corrected(part)),
        krippendorff_alpha(part, item_weights=resampling.item_weights),
    ]
    of_chance, of_alpha = replicate(statistics, resampling)
    percent, kappa = estimates(of_chance, resampling, [basis] * 2, [why] * 2, scale=("share", "coefficient"))
    (alpha,) = estimates(of_alpha, resampling, [basis], [why], scale="coefficient")
    return RaterGroup(group, n_raters, part.n_items, n_pairable, part.n_ratings, percent, kappa, alpha)


def _first_two(statistic: SumStatistic) -> SumStatistic:
    """Percent agreement and Fleiss' kappa alone."""
    return SumStatistic(
        statistic.contributions,
        lambda sums: statistic.function(sums)[..., :2],
        lambda sums: chance.count_pairable(sums)[..., :2],
    )
