"""Nine votes on pairs, as PersonaFeedback asks for them, simulated: tiers by both modes, and adaptive overlap.

    python scripts/bench_difficulty.py nine 100       repeats of each population

Twelve simulated people may vote on 200 pairs. The logit of a vote is a consistency times (pair + severity), the
pair normal with a standard deviation that says how often nine agree. The true tier is that of the probability that two
of the twelve agree. Every way of asking sees the same votes in the same random order: nine for all, or three and then,
round by round, one more for each pair that is worth it, nine or twelve at most. Exits 1 where in the population where
6 of 10 pairs are unanimous and twelve are allowed less than 25 % of nine for all are saved, or the 95 % interval of
the tiers lost lies above 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from annotation.stats.bands import TIERS, Cuts, tier_places
from annotation.stats.difficulty.adaptive import WORTH, choose_items
from annotation.stats.difficulty.items import AGREEMENT_CUTS, difficulty
from annotation.stats.table import MISSING, FloatArray, IntArray, RatingTable
from annotation.stats.tiers import item_kappas

SEED = 20261124
PAIRS, PEOPLE, NINE, OVERLAP = 200, 12, 9, 3
MOST = (NINE, PEOPLE)
"""The most votes of a pair with adaptive overlap."""
SPREADS = (3.0, 4.0, 5.0, 6.0)
"""Standard deviations of pairs on the logit scale."""
HELD_TO = 5.0
SEVERITY, CONSISTENCY = 0.4, 0.2
KAPPA_CUTS: Cuts = (2 * AGREEMENT_CUTS[0] - 1, 2 * AGREEMENT_CUTS[1] - 1, 2 * AGREEMENT_CUTS[2] - 1)
"""The cuts of the difficulty model as kappas with chance 1/2, so that both modes mean the same tiers."""
LEAST_SAVED = 0.25


@dataclass(frozen=True)
class Votes:
    """Codes (n, r) of all votes, in which place each of a pair's votes comes (n, r), and the true tier (n,) of each."""

    codes: IntArray
    place: IntArray
    truth: IntArray

    def table(self, each: IntArray) -> RatingTable:
        """The first ``each`` (n,) votes of the pairs."""
        codes = np.where(self.place < each[:, None], self.codes, MISSING)
        names = tuple(f"pair {i}" for i in range(PAIRS)), tuple(f"person {j}" for j in range(PEOPLE))
        return RatingTable(codes, ("1", "2"), "nominal", *names)

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
    place = np.argsort(np.argsort(rng.random(p.shape), axis=1), axis=1)
    return Votes((rng.random(p.shape) < p).astype(np.int64), place, truth)


def ask_adaptively(votes: Votes, most: int) -> IntArray:
    """How many votes (n,) each pair got."""
    each = np.full(PAIRS, OVERLAP)
    while (asks := choose_items(votes.table(each), most - each).asks).any():
        each = each + asks
    return each


def repeat(spread: float, number: int) -> dict[str, FloatArray]:
    """The figures of one simulated study: shares of tiers (4,), and single numbers (1,)."""
    rng = np.random.default_rng([SEED, int(10 * spread), number])
    votes = draw(spread, rng)
    whole = votes.table(np.full(PAIRS, NINE))
    counted = tier_places(item_kappas(whole, 0.5), KAPPA_CUTS)
    modelled = places(whole)
    said = (whole.codes == 1).sum(axis=1)
    numbers = {
        "unanimous": float(np.isin(said, (0, NINE)).mean()),
        "right counted": votes.right(counted),
        "right": votes.right(modelled),
    }
    for most in MOST:
        each = ask_adaptively(votes, most)
        right = votes.right(places(votes.table(each)))
        numbers |= {
            f"right up to {most}": right,
            f"lost up to {most}": numbers["right"] - right,
            f"saved up to {most}": 1 - float(each.mean()) / NINE,
            f"evenly as up to {most}": votes.right(places(votes.table(evenly(int(each.sum()), rng)))),
        }
    tiers = {"true": votes.truth, "counted": counted, "modelled": modelled}
    return {name: np.array([value]) for name, value in numbers.items()} | {
        name: shares(of) for name, of in tiers.items()
    }


def evenly(n: int, rng: np.random.Generator) -> IntArray:
    """Votes (n,) of each pair, where ``n`` are spread evenly over all."""
    each = np.full(PAIRS, n // PAIRS)
    each[rng.permutation(PAIRS)[: n % PAIRS]] += 1
    return each


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
    print(f"pairs with sd {spread:g}: unanimous {columns.pop('unanimous').mean():.0%}")
    for name in ("true", "counted", "modelled"):
        print(f"   {name:<10}{' '.join(f'{share:6.1%}' for share in columns.pop(name).mean(axis=0))}")
    for name, values in columns.items():
        value, low, high = interval(values)
        print(f"   {name:<20}{value:7.1%} ({low:.1%} to {high:.1%})")
    if spread != HELD_TO:
        return []
    saved, lost = (interval(columns[f"{name} up to {PEOPLE}"]) for name in ("saved", "lost"))
    broken = []
    if saved[0] < LEAST_SAVED:
        broken.append(f"saves {saved[0]:.1%} of the ratings")
    if lost[1] > 0:
        broken.append(f"loses {lost[0]:.1%} of the tiers, at least {lost[1]:.1%}")
    return broken
