"""Models on a benchmark of binary choices: how often they choose what people chose, with intervals over personas.

A case is a question of one persona with two responses, of which people prefer one (the gold answer). A model answers it
in one or two orders. Its *score* on a case is the share of its scored answers that name the gold response; an unscored
answer is no answer, so it counts neither as right nor as wrong, and a case without any scored answer has no score.
Accuracy is the mean score over cases. Cases of one persona are alike, so that whole personas are resampled: every
figure is a ratio of sums over personas (`annotation.stats.resampling`), and all figures share the draws, so that
differences between models and settings are paired by case and by draw.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import numpy.typing as npt

from annotation.stats.arrays import ratio
from annotation.stats.bands import DEFAULT_CUTS, TIERS, Cuts, band_positions
from annotation.stats.estimate import Estimate
from annotation.stats.intervals import Basis, estimates
from annotation.stats.jackknife import Scale
from annotation.stats.resampling import Resampling, SumStatistic, replicate
from annotation.stats.table import BoolArray, FloatArray, IntArray

ORDERS = ("AB", "BA")
NO_ANSWER = "no scored answer"
NO_VOTES = "no votes are known of these cases"
NO_KAPPA = "no kappa is known of these cases, so other thresholds cannot be tried"
NO_BOTH = "no case was answered in both orders"
NO_PAIR = "no case that both answered"

SHIFTS = (-0.1, 0.0, 0.1)
"""By how much the cut-offs of tiers are moved to see what hangs on them."""

LEAST_IN_GROUP, MOST_GROUPS = 10, 30

Strings = npt.NDArray[np.str_]


@dataclass(frozen=True, eq=False)
class Cases:
    """The cases of an evaluation, column by column.

    Attributes
    ----------
    ids
        (n,) their ids.
    persona
        (n,) index of each case's persona, 0 … ``n_personas`` - 1. A case without one is a persona of its own.
    n_personas
        How many there are.
    tier, kind
        (n,) names, empty where not known.
    gold
        (n,) 1 or 2, the response that people chose.
    longer
        (n,) 1 or 2, the longer response; 0 where both are as long.
    kappa
        (n,) of the votes; NaN where it is not known.
    votes
        (n, 3) votes for response 1, for 2 and for neither; NaN where they are not known.
    groups
        By field of the persona, (n,) its value as text; empty where it is not known.
    odds
        (n, 4) probability of each of `TIERS`, where the difficulty model made the tiers; NaN for a case without.
    """

    ids: IntArray
    persona: IntArray
    n_personas: int
    tier: Strings
    kind: Strings
    gold: IntArray
    longer: IntArray
    kappa: FloatArray
    votes: FloatArray
    groups: Mapping[str, Strings] = field(default_factory=dict)
    odds: FloatArray | None = None

    @property
    def n(self) -> int:
        return len(self.ids)

    def cells(self) -> dict[str, BoolArray]:
        """By name, all cases, those of each tier, of each kind, and of each tier of a kind, where several are."""
        tiers = [tier for tier in reversed(TIERS) if (self.tier == tier).any()]
        kinds = sorted({str(kind) for kind in self.kind} - {""})
        kinds = kinds if len(kinds) > 1 else []
        found = {"all": np.ones(self.n, dtype=bool)}
        found |= {tier: self.tier == tier for tier in tiers}
        found |= {f"kind {kind}": self.kind == kind for kind in kinds}
        found |= {f"{kind} {tier}": (self.kind == kind) & (self.tier == tier) for kind in kinds for tier in tiers}
        return {name: mask for name, mask in found.items() if mask.any()}


@dataclass(frozen=True, eq=False)
class Answers:
    """What one model said in one setting.

    Attributes
    ----------
    said
        (n, 2) the response named in the orders of `ORDERS`, 1 or 2; 0 where there is no verdict.
    asked
        (n, 2) where a reply came at all.
    confidence
        (n, 2) how probable the verdict was; NaN where that is not known.
    """

    said: IntArray
    asked: BoolArray
    confidence: FloatArray

    @property
    def unscored(self) -> BoolArray:
        """(n, 2) replies that held no verdict."""
        found: BoolArray = self.asked & (self.said == 0)
        return found

    def right(self, cases: Cases) -> FloatArray:
        """(n, 2) 1 where the verdict is the gold one, 0 where it is the other, NaN where there is none."""
        return np.where(self.said > 0, (self.said == cases.gold[:, None]).astype(float), np.nan)

    def scores(self, cases: Cases) -> FloatArray:
        """(n,) the share of scored answers that are right; NaN where there is none."""
        return compute_mean_of_known(self.right(cases))


def compute_mean_of_known(values: FloatArray) -> FloatArray:
    """The mean of each row's numbers; NaN for a row without."""
    known = np.isfinite(values)
    total: FloatArray = np.where(known, values, 0.0).sum(axis=1)
    return ratio(total, known.sum(axis=1).astype(float))


@dataclass(eq=False)
class Sheet:
    """Columns of figures to be estimated together: each is a mean over the cases where it has a number."""

    cases: Cases
    bootstrap: int = 2000
    confidence: float = 0.95
    seed: int = 0
    keys: list[tuple[str, ...]] = field(default_factory=list)
    sums: list[FloatArray] = field(default_factory=list)
    counts: list[FloatArray] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    scales: list[Scale] = field(default_factory=list)

    def add(
        self,
        key: tuple[str, ...],
        values: FloatArray,
        *,
        where: BoolArray | FloatArray | None = None,
        reason: str,
        scale: Scale = "share",
    ) -> None:
        """A column (n,), or (n, 2) of answers, NaN where there is no number.

        `where` (n,) says which cases belong to it, or with which probability; `scale`, where its interval is symmetric.
        """
        columns = values[:, None] if values.ndim == 1 else values
        member = np.ones(self.cases.n) if where is None else np.asarray(where, dtype=float)
        rows, places = np.nonzero(np.isfinite(columns) & (member > 0)[:, None])
        persona, n = self.cases.persona[rows], self.cases.n_personas
        self.keys.append(key)
        self.sums.append(np.bincount(persona, member[rows] * columns[rows, places], minlength=n).astype(float))
        self.counts.append(np.bincount(persona, member[rows], minlength=n).astype(float))
        self.reasons.append(reason)
        self.scales.append(scale)

    def estimates(self) -> dict[tuple[str, ...], Estimate]:
        """All columns with their intervals.

        ``n_items`` is how many cases (or answers) a figure rests on, by probability as a rounded sum.
        """
        if not self.keys:
            return {}
        m, resampling = len(self.keys), self.resampling()
        columns = np.column_stack([*self.sums, *self.counts])
        means = SumStatistic(
            columns, lambda sums: ratio(sums[..., :m], sums[..., m:]), counted=lambda sums: sums[..., m:]
        )
        (found,) = replicate([means], resampling)
        totals = [round(float(count.sum())) for count in self.counts]
        bases = [Basis(n, int((count > 0).sum()), n) for n, count in zip(totals, self.counts, strict=True)]
        figures = estimates(found, resampling, bases, self.reasons, scale=self.scales)
        return dict(zip(self.keys, figures, strict=True))

    def resampling(self) -> Resampling:
        """Personas, drawn whole."""
        n = self.cases.n_personas
        return Resampling(
            np.arange(n),
            np.zeros(n, dtype=np.int64),
            np.ones(n),
            self.bootstrap,
            self.confidence,
            self.seed,
            unit_name="clusters",
        )


def add_cell_columns(sheet: Sheet, name: str, values: FloatArray, *, reason: str = NO_ANSWER) -> None:
    """A column for each cell of the cases."""
    for cell, mask in sheet.cases.cells().items():
        sheet.add((name, cell), values, where=mask, reason=reason)


def likely_tiers(cases: Cases) -> dict[str, FloatArray]:
    """By tier, the easiest first, (n,) how probable it is of each case; no tiers where no probability is known."""
    if cases.odds is None or np.isnan(cases.odds).all():
        return {}
    found = {tier: np.nan_to_num(cases.odds[:, place]) for place, tier in reversed(list(enumerate(TIERS)))}
    return {tier: odds for tier, odds in found.items() if odds.any()}


def lines(cases: Cases) -> dict[str, tuple[FloatArray, str]]:
    """What models are held to: by name, (n,) scores and why one may be missing.

    Chance is a half by definition. So is the response shown first, over both orders. The longer response has a score
    of a half where both are as long. The human line is what one annotator's vote is worth against the others'.
    """
    half = np.full(cases.n, 0.5)
    longer = np.where(cases.longer == 0, 0.5, (cases.longer == cases.gold).astype(float))
    return {
        "chance": (half, ""),
        "the longer response": (longer, ""),
        "the response shown first, over both orders": (half, ""),
        "human, leave one out": (leave_one_out(cases.votes), NO_VOTES),
    }


def unanimous_tiers(cases: Cases) -> dict[str, int]:
    """By tier, how many cases have votes, of the tiers in which every case's votes are the same.

    There the human line is 1 by construction: nobody disagrees where disagreement would have changed the tier.
    """
    known = np.isfinite(cases.votes).all(axis=1) & (np.nan_to_num(cases.votes).sum(axis=1) > 1)
    agreed = np.nan_to_num(cases.votes).max(axis=1) == np.nan_to_num(cases.votes).sum(axis=1)
    tiers = {tier: known & (cases.tier == tier) for tier in TIERS}
    return {tier: int(mask.sum()) for tier, mask in tiers.items() if mask.any() and agreed[mask].all()}


def leave_one_out(votes: FloatArray) -> FloatArray:
    """(n,) what one vote is worth as an answer to what most of the others choose, on average over a case's voters.

    1 where they choose the same and 0 where the other; a half where the others are tied, or the vote is for neither:
    that is what a guess is worth. NaN where the votes are not known or fewer than two.

    Parameters
    ----------
    votes
        (n, 3) votes for response 1, for 2 and for neither.
    """
    one, two, neither = (np.where(np.isfinite(column), column, 0.0) for column in votes.T)
    lead = one - two
    right = one * compute_vote_worth(lead - 1) + two * compute_vote_worth(-lead - 1) + neither / 2
    n = one + two + neither
    return np.where(np.isfinite(votes).all(axis=1) & (n > 1), ratio(right, n), np.nan)


def compute_vote_worth(lead: FloatArray) -> FloatArray:
    """(n,) of a vote, by how many more of the others choose the same than the other response."""
    return (np.sign(lead) + 1) / 2


def consistent(answers: Answers) -> FloatArray:
    """(n,) 1 where both orders name the same response, 0 where not; NaN where one of them has no verdict."""
    both = (answers.said > 0).all(axis=1)
    return np.where(both, (answers.said[:, 0] == answers.said[:, 1]).astype(float), np.nan)


def mark_both_right(answers: Answers, cases: Cases) -> FloatArray:
    """(n,) 1 where both orders name the gold response; NaN where one of them has no verdict."""
    right = answers.right(cases)
    return np.where(np.isfinite(right).all(axis=1), right.min(axis=1), np.nan)


def mark_first_shown(answers: Answers) -> FloatArray:
    """(n, 2) 1 where the response shown first was named: response 1 in order AB, response 2 in order BA."""
    return np.where(answers.said > 0, (answers.said == np.array([1, 2])).astype(float), np.nan)


def build_differences(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Every two, the later minus the earlier."""
    for earlier, later in combinations(names, 2):
        yield later, earlier


def demographic_groups(cases: Cases) -> Iterator[tuple[str, str, BoolArray]]:
    """Field, value and (n,) cases of each group that is large enough; fields with too many or only one group not."""
    for name, values in cases.groups.items():
        found = {str(value): values == value for value in np.unique(values) if value}
        large = {value: mask for value, mask in found.items() if mask.sum() >= LEAST_IN_GROUP}
        if 1 < len(large) <= MOST_GROUPS:
            for value, mask in large.items():
                yield name, value, mask


def iterate_shifted_tiers(cases: Cases, cuts: Cuts = DEFAULT_CUTS) -> Iterator[tuple[Cuts, dict[str, BoolArray]]]:
    """The cases of each tier as it would be with other cut-offs. Cases without kappa are in none."""
    known = np.isfinite(cases.kappa)
    filled = np.where(known, cases.kappa, 0.0)
    for shift in SHIFTS:
        moved = (round(cuts[0] + shift, 3), round(cuts[1] + shift, 3), round(cuts[2] + shift, 3))
        band = band_positions(filled, moved)
        yield moved, {tier: known & (band == place) for place, tier in reversed(list(enumerate(TIERS)))}


def find_unsolved(cases: Cases, everybody: Iterable[Answers]) -> IntArray:
    """Positions of the cases to which nobody gave a right answer in any order, of those that somebody answered."""
    right = np.zeros(cases.n, dtype=bool)
    answered = np.zeros(cases.n, dtype=bool)
    for answers in everybody:
        found = answers.right(cases)
        right |= (found == 1).any(axis=1)
        answered |= np.isfinite(found).any(axis=1)
    return np.flatnonzero(answered & ~right)
