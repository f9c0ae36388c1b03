"""Nine votes on pairs, as PersonaFeedback asks for them, simulated: tiers by both modes, and adaptive overlap.

    python scripts/bench_difficulty.py nine 100       repeats of each population

Nine simulated people vote on 200 pairs. The logit of a vote is a consistency times (pair + severity), the pair normal
with a standard deviation that says how often all nine agree. The true tier is that of the probability that two of the
nine agree. Every way of asking sees the same votes: nine for all, or three in random order and then, round by round,
one more for each pair that is worth it, nine at most. Exits 1 where in the population in which 6 of 10 pairs are
unanimous less than 25 % of the ratings are saved, or more than a point of the tiers that are right is lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from annotation.stats.bands import TIERS, Cuts, tier_places
from annotation.stats.difficulty.adaptive import WORTH, worth_asking
from annotation.stats.difficulty.items import AGREEMENT_CUTS, difficulty
from annotation.stats.table import MISSING, FloatArray, IntArray, RatingTable
from annotation.stats.tiers import item_kappas

SEED = 20260119
PAIRS, PEOPLE, OVERLAP = 200, 9, 3
SPREADS = (3.0, 4.0, 5.0, 6.0)
"""Standard deviations of pairs on the logit scale."""
HELD_TO = 5.0
SEVERITY, CONSISTENCY = 0.4, 0.2
KAPPA_CUTS: Cuts = (2 * AGREEMENT_CUTS[0] - 1, 2 * AGREEMENT_CUTS[1] - 1, 2 * AGREEMENT_CUTS[2] - 1)
"""The cuts of the difficulty model as kappas with chance 1/2, so that both modes mean the same tiers."""
LEAST_SAVED, MOST_LOST = 0.25, 0.01


@dataclass(frozen=True)
class Votes:
    """Codes (n, r) of all votes, and the true tier (n,) of each pair."""

    codes: IntArray
    truth: IntArray

    def table(self, seen: IntArray | None = None) -> RatingTable:
        """All votes, or those that were asked for."""
        n, r = self.codes.shape
        names = tuple(f"pair {i}" for i in range(n)), tuple(f"person {j}" for j in range(r))
        return RatingTable(self.codes if seen is None else seen, ("1", "2"), "nominal", *names)

    def right(self, places: IntArray) -> float:
        """Share of pairs in their true tier."""
        return float((places == self.truth).mean())


def draw(spread: float, rng: np.random.Generator) -> Votes:
    """One study."""
    severity, consistency = rng.normal(0, SEVERITY, PEOPLE), np.exp(rng.normal(0, CONSISTENCY, PEOPLE))
    pairs = spread * rng.normal(size=(PAIRS, 1))
    p = scipy.special.expit(consistency * (pairs + severity - severity.mean()))
    fresh = p.mean(axis=1)
    truth = np.searchsorted(AGREEMENT_CUTS, fresh**2 + (1 - fresh) ** 2)
    return Votes((rng.random(p.shape) < p).astype(np.int64), truth)


def ask_adaptively(votes: Votes, rng: np.random.Generator) -> tuple[RatingTable, IntArray]:
    """What was asked for, and how many votes (n,) each pair got."""
    order = np.argsort(rng.random(votes.codes.shape), axis=1)
    place = np.argsort(order, axis=1)
    n_votes = np.full(PAIRS, OVERLAP)
    while True:
        table = votes.table(np.where(place < n_votes[:, None], votes.codes, MISSING))
        asks = worth_asking(table, PEOPLE - n_votes).asks
        if not asks.any():
            return table, n_votes
        n_votes = n_votes + asks


def repeat(spread: float, number: int) -> dict[str, FloatArray]:
    """The figures of one simulated study: shares of tiers (4,), and single numbers (1,)."""
    rng = np.random.default_rng([SEED, int(10 * spread), number])
    votes = draw(spread, rng)
    whole = votes.table()
    counted = tier_places(item_kappas(whole, 0.5), KAPPA_CUTS)
    modelled = places(whole)
    asked, n_votes = ask_adaptively(votes, rng)
    unanimous = np.isin(votes.codes.sum(axis=1), (0, PEOPLE))
    numbers = {
        "unanimous": float(unanimous.mean()),
        "right counted": votes.right(counted),
        "right": votes.right(modelled),
        "right adaptive": votes.right(places(asked)),
        "lost": votes.right(modelled) - votes.right(places(asked)),
        "saved": 1 - float(n_votes.mean()) / PEOPLE,
        "right of as many": votes.right(places(as_many(votes, int(n_votes.sum()), rng))),
    }
    tiers = {"true": votes.truth, "counted": counted, "modelled": modelled}
    return {name: np.array([value]) for name, value in numbers.items()} | {
        name: shares(of) for name, of in tiers.items()
    }


def as_many(votes: Votes, n: int, rng: np.random.Generator) -> RatingTable:
    """As many votes as ``n``, evenly over all pairs."""
    each = np.full(PAIRS, n // PAIRS)
    each[rng.permutation(PAIRS)[: n % PAIRS]] += 1
    place = np.argsort(np.argsort(rng.random(votes.codes.shape), axis=1), axis=1)
    return votes.table(np.where(place < each[:, None], votes.codes, MISSING))


def places(table: RatingTable) -> IntArray:
    """The likeliest tier of each pair."""
    return np.asarray(difficulty(table).tiers.argmax(axis=1))


def shares(tiers: IntArray) -> FloatArray:
    return np.bincount(tiers, minlength=len(TIERS)) / len(tiers)


def interval(values: FloatArray) -> tuple[float, float, float]:
    """Mean over the repeats (R, 1), with its 95 % interval."""
    mean, half = float(values.mean()), 1.96 * float(values.std(ddof=1)) / float(np.sqrt(len(values)))
    return mean, mean - half, mean + half


def nine(repeats: int) -> list[str]:
    """Print the figures; returns the promises that were not kept."""
    print(
        f"nine votes: {PAIRS} pairs, {PEOPLE} people, {repeats} repeats, seed {SEED}, price of a rating {WORTH}; "
        f"tiers {', '.join(TIERS)}; 95 % intervals over the repeats"
    )
    return [line for spread in SPREADS for line in _population(spread, repeats)]


def _population(spread: float, repeats: int) -> list[str]:
    found = [repeat(spread, number) for number in range(repeats)]
    columns = {name: np.array([one[name] for one in found]) for name in found[0]}
    print(f"pairs with sd {spread:g}: unanimous {columns['unanimous'].mean():.0%}")
    for name in ("true", "counted", "modelled"):
        print(f"   {name:<10}{' '.join(f'{share:6.1%}' for share in columns[name].mean(axis=0))}")
    for name in ("right counted", "right", "right adaptive", "right of as many", "lost", "saved"):
        value, low, high = interval(columns[name])
        print(f"   {name:<18}{value:7.1%} ({low:.1%} to {high:.1%})")
    if spread != HELD_TO:
        return []
    saved, lost = interval(columns["saved"]), interval(columns["lost"])
    broken = []
    if saved[0] < LEAST_SAVED:
        broken.append(f"saves {saved[0]:.1%} of the ratings")
    if lost[0] > MOST_LOST:
        broken.append(f"loses {lost[0]:.1%} of the tiers")
    return broken
