"""Vote counts of cases, and what follows from counts alone: kappa, tier, gold, agreement.

Who voted is not needed for any of it, so that a released benchmark can be described again from its own files.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.stats import chance_corrected as chance
from annotation.stats.bands import DEFAULT_CUTS, Cuts, find_tier
from annotation.stats.benchmarks.result_types import VoteAgreementDocument
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis, estimates
from annotation.stats.jackknife import find_scales
from annotation.stats.majority import majority
from annotation.stats.resampling import Resampling, replicate
from annotation.stats.result_types import TierGroupDocument
from annotation.stats.table import MISSING, RatingTable
from annotation.stats.tiers import Chance, chance_agreement, group_tiers, item_kappas

VALUES = ("1", "2", "tie")
STATES = ("too few", "tied", "no preference", "contested", "hard", "medium", "easy")
"""What votes can make of a case. Too few to say; several answers share the first place; most people said tie; or a
tier. A tie for the first place is told from other contested cases, since asking once more may end it."""


@dataclass(frozen=True, slots=True)
class Votes:
    """How many people chose response 1, response 2 and neither."""

    one: int
    two: int
    tie: int = 0

    @property
    def total(self) -> int:
        """How many people voted."""
        return self.one + self.two + self.tie

    def __str__(self) -> str:
        return f"{self.one} to {self.two}" + (f", {self.tie} for a tie" if self.tie else "")


@dataclass(frozen=True)
class CaseVotes:
    """What the votes of a case make of it.

    Attributes
    ----------
    kappa
        Of its votes; NaN below two.
    tier
        By its kappa, or as it was given; None where it has none.
    state
        One of `STATES`.
    gold
        "1" or "2"; empty where the votes give none.
    """

    votes: Votes
    kappa: float
    tier: str | None
    state: str
    gold: str

    def to_reason(self) -> str:
        """For example ``contested: 5 to 3 votes, 1 tie, kappa -0.11``."""
        if not self.votes.total:
            return "too few: nobody voted"
        votes = f"{self.state}: {self.votes.one} to {self.votes.two} votes"
        if self.votes.tie:
            votes = f"{votes}, {self.votes.tie} {'tie' if self.votes.tie == 1 else 'ties'}"
        return votes if np.isnan(self.kappa) else f"{votes}, kappa {self.kappa:.2f}"


def build_table(
    votes: Sequence[Votes], names: Sequence[str], *, with_tie: bool, clusters: Sequence[str] | None = None
) -> RatingTable:
    """A table of nameless raters with these counts: good for whatever looks at counts only.

    ``with_tie`` says whether a tie could be chosen; it belongs to the scale even where nobody did.
    """
    width = max((one.total for one in votes), default=0)
    codes = np.full((len(votes), width), MISSING, dtype=np.int64)
    for row, one in enumerate(votes):
        codes[row, : one.total] = np.repeat([0, 1, 2], [one.one, one.two, one.tie])
    categories = VALUES if with_tie else VALUES[:2]
    raters = tuple(f"vote {k}" for k in range(1, width + 1))
    together = None if clusters is None else tuple(clusters)
    return RatingTable(codes, categories, "nominal", tuple(names), raters, clusters=together)


def count_votes(
    votes: Sequence[Votes],
    *,
    with_tie: bool,
    cuts: Cuts = DEFAULT_CUTS,
    chance_from: Chance = "uniform",
    min_votes: int = 2,
    tiers: Sequence[str | None] | None = None,
    by_kappa: bool = True,
) -> list[CaseVotes]:
    """Kappa, tier, state and gold of each case.

    Parameters
    ----------
    votes, with_tie
        The counts, and whether a tie could be chosen.
    cuts, chance_from
        How kappa becomes a tier, and where chance agreement comes from, as in `annotation.stats.tiers.tiers`.
    min_votes
        Below this many there are too few.
    tiers
        (n,) tiers that people set by hand or a model found; None where there is none. They decide on what is contested.
    by_kappa
        Whether kappa makes the tiers of all other cases; else these have none.
    """
    table = build_table(votes, [str(k) for k in range(len(votes))], with_tie=with_tie)
    kappas = item_kappas(table, chance_agreement(table, chance_from)).tolist() if len(votes) else []
    most = majority(table)
    given = tiers or [None] * len(votes)
    return [
        _counted(
            one, kappa, set_tier or (find_tier(kappa, cuts) if by_kappa else None), int(code), bool(tied), min_votes
        )
        for one, kappa, set_tier, code, tied in zip(votes, kappas, given, most.codes, most.tied, strict=True)
    ]


def _counted(votes: Votes, kappa: float, tier: str | None, code: int, tied: bool, min_votes: int) -> CaseVotes:
    state = tier or "too few"
    if votes.total < max(min_votes, 1):
        state = "too few"
    elif tied:
        state = "tied"
    elif VALUES[code] == "tie":
        state = "no preference"
    gold = VALUES[code] if state in ("hard", "medium", "easy") else ""
    return CaseVotes(votes, kappa, tier, state, gold)


@dataclass(frozen=True)
class Agreement:
    """How far the people of a group of cases agree."""

    group: str
    n: int
    votes: int
    tier: str | None
    percent: Estimate
    fleiss: Estimate
    ac1: Estimate

    def to_json(self) -> VoteAgreementDocument:
        """As JSON types."""
        return {
            "group": self.group,
            "n": self.n,
            "votes": self.votes,
            "tier": self.tier,
            "percent_agreement": self.percent.to_json(),
            "fleiss_kappa": self.fleiss.to_json(),
            "gwet_ac1": self.ac1.to_json(),
        }


def compute_agreement(table: RatingTable, *, group: str = "all", bootstrap: int = 2000, seed: int = 0) -> Agreement:
    """Percent agreement, Fleiss' kappa and AC1 of the table with their intervals, and the tier of the group.

    All three look at counts only, so that it does not matter who the raters are.
    """
    resampling = Resampling.from_table(table, bootstrap=bootstrap, seed=seed)
    pairable = table.pairable
    basis = Basis(int(pairable.sum()), table.n_raters, int(table.ratings_per_item[pairable].sum()))
    replicates = replicate([chance.chance_corrected(table)], resampling)[0]
    bases = [basis] * len(chance.NAMES)
    why = [chance.explain_undefined(table)] * len(bases)
    figures = estimates(replicates, resampling, bases, why, scale=find_scales(chance.NAMES))
    found = dict(zip(chance.NAMES, figures, strict=True))
    return Agreement(
        group,
        table.n_items,
        table.n_ratings,
        find_tier(found["fleiss_kappa"].value),
        found["percent_agreement"],
        found["fleiss_kappa"],
        found["gwet_ac"],
    )


def compute_agreement_by(
    table: RatingTable, groups: Sequence[str], *, bootstrap: int = 2000, seed: int = 0
) -> list[TierGroupDocument]:
    """Fleiss' kappa of each group with its tier, as JSON types."""
    return [one.to_json() for one in group_tiers(table, groups, bootstrap=bootstrap, seed=seed)]
