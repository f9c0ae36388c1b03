"""Rankings of an item's responses, ties among them: every item has responses of its own strengths.

A person names the best of what is left, again and again: the responses S, tied where there are several, out of R with
probability f(S) / sum of f over the subsets of R, log f(S) = d_|S| + c (mean of the strengths of S), d_1 = 0
(Plackett and Luce, with the ties of Davidson 1970: Turner, van Etten, Firth and Kosmidis 2020, Computational Statistics
35:1027-1057). c is a person's consistency. The N strengths of an item are normal with means m, the same for all items,
and standard deviation s; only their differences count. Two responses make Davidson's model of a pair.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
import scipy

from annotation.stats.difficulty.latent import FLOOR, Tables, blocks
from annotation.stats.difficulty.preferences import CONSISTENCY_SD, MEAN_SD, SPREAD_AT, SPREAD_SD, TIES_SD
from annotation.stats.rankings import Ranking, parse_ranking, responses_of
from annotation.stats.table import FloatArray, IntArray

MOST_RESPONSES = 6
"""Beyond it the nodes lie too far apart for the strengths of an item."""

COARSE_NODES, FINE_NODES = 256, 1024
"""Points of a scrambled Sobol sequence that stand for the strengths of an item: for fitting, and for its difficulty."""

SEED = 20260120
"""Of their scrambling: the same for every table."""


@dataclass(frozen=True, eq=False)
class RankingModel:
    """The model of some people and q rankings of the same N responses.

    Attributes
    ----------
    rankings
        The q rankings that are told apart; what is left of all that there are is never looked at.
    n_responses
        N.
    most_tied
        As many responses as one group of a ranking holds at most.
    """

    n_people: int
    rankings: tuple[Ranking, ...]
    n_responses: int
    most_tied: int
    with_priors: bool = True
    n_nodes: int = COARSE_NODES

    @classmethod
    def from_categories(cls, n_people: int, categories: Sequence[str]) -> "RankingModel":
        """Of people who gave the rankings ``categories``."""
        rankings = tuple(parse_ranking(text) for text in categories)
        tied = max(len(group) for ranking in rankings for group in ranking)
        return cls(n_people, rankings, len(responses_of(categories[0])), tied)

    @property
    def n_categories(self) -> int:
        """Number of rankings told apart, q."""
        return len(self.rankings)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of d from 2 on, logarithms of c (all but the last), m (all but the last), the logarithm of s."""
        return (self.most_tied - 1, self.n_people - 1, self.n_responses - 1, 1)

    def finer(self) -> "RankingModel":
        return replace(self, n_nodes=FINE_NODES)

    def start(self, counts: FloatArray) -> FloatArray:  # noqa: ARG002 - the protocol's
        return np.append(np.zeros(sum(self.sizes) - 1), SPREAD_AT)

    @cached_property
    def nodes(self) -> FloatArray:
        """(N, M) standard normal strengths less their mean."""
        sobol = scipy.stats.qmc.Sobol(self.n_responses - 1, rng=np.random.default_rng(SEED))
        free = scipy.special.ndtri(np.clip(sobol.random(self.n_nodes), 1e-9, 1 - 1e-9))
        return np.asarray((free @ scipy.linalg.helmert(self.n_responses)).T)

    @cached_property
    def sets(self) -> list[tuple[int, ...]]:
        """The U sets of responses, the largest first."""
        return [one for size in range(self.n_responses, 0, -1) for one in combinations(range(self.n_responses), size)]

    @cached_property
    def mean_of(self) -> FloatArray:
        """(U, N) that takes strengths to the mean of each set."""
        return np.array([[(i in one) / len(one) for i in range(self.n_responses)] for one in self.sets])

    @cached_property
    def within(self) -> list[tuple[int, IntArray]]:
        """Each set of two or more, and the sets that can be named best in it."""
        return [
            (place, np.array([k for k, part in enumerate(self.sets) if self._can_be_best(part, one)], dtype=np.int64))
            for place, one in enumerate(self.sets)
            if len(one) > 1
        ]

    def _can_be_best(self, part: tuple[int, ...], of: tuple[int, ...]) -> bool:
        return len(part) <= self.most_tied and set(part) <= set(of)

    @cached_property
    def choices(self) -> list[tuple[int, int]]:
        """E choices that occur in the rankings: the set that is named best, and the set that it is chosen from."""
        return sorted({one for ranking in self.rankings for one in self._choices_of(ranking)})

    def _choices_of(self, ranking: Ranking) -> Iterator[tuple[int, int]]:
        place = {one: k for k, one in enumerate(self.sets)}
        number = {name: k for k, name in enumerate(sorted(name for group in ranking for name in group))}
        left = tuple(range(self.n_responses))
        for group in ranking:
            if len(left) > 1:  # the last one is chosen from itself
                best = tuple(sorted(number[name] for name in group))
                yield place[best], place[left]
                left = tuple(k for k in left if k not in best)

    @cached_property
    def made_of(self) -> FloatArray:
        """(q, E) whether a ranking is made of a choice."""
        place = {one: k for k, one in enumerate(self.choices)}
        found = np.zeros((len(self.rankings), len(place)))
        for row, ranking in enumerate(self.rankings):
            found[row, [place[one] for one in self._choices_of(ranking)]] = 1.0
        return found

    def consistencies(self, free: FloatArray) -> FloatArray:
        """(people,) c."""
        own = blocks(free, self.sizes)[1]
        return np.asarray(np.exp(np.append(own, -own.sum())))

    def contrast_of_consistencies(self) -> FloatArray:
        """(people, f) that takes the parameters to the logarithms of the consistencies."""
        start, size = self.sizes[:2]
        found = np.zeros((self.n_people, sum(self.sizes)))
        found[:, start : start + size] = np.vstack([np.eye(size), -np.ones(size)])
        return found

    def strengths(self, free: FloatArray) -> FloatArray:
        """(N, M) of the nodes."""
        _, _, means, spread = blocks(free, self.sizes)
        return np.asarray(np.append(means, -means.sum())[:, None] + np.exp(spread[0]) * self.nodes)

    def tables(self, free: FloatArray) -> Tables:
        named, total = self._chances(free)
        best, left = np.array(self.choices).T
        p = np.maximum(np.exp(self.made_of @ (named[:, best] - total[:, left])), FLOOR)
        return Tables(np.full(self.n_nodes, -np.log(self.n_nodes)), p, (named, total))

    def _chances(self, free: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(people, U, M) log f of each set, and the logarithm of the sum of f over what can be best in it."""
        ties = np.r_[0.0, blocks(free, self.sizes)[0], np.zeros(self.n_responses)]
        size = np.array([len(one) for one in self.sets])
        strength = self.mean_of @ self.strengths(free)
        named = ties[size - 1][:, None] + self.consistencies(free)[:, None, None] * strength
        total = np.zeros_like(named)
        for place, parts in self.within:
            total[:, place] = scipy.special.logsumexp(named[:, parts], axis=1)
        return named, total

    def gradient(self, free: FloatArray, tables: Tables, expected: FloatArray, totals: FloatArray) -> FloatArray:  # noqa: ARG002
        named, total = tables.parts
        best, left = (np.eye(len(self.sets))[:, list(places)] for places in zip(*self.choices, strict=True))
        chosen = self.made_of.T @ expected
        rest, tried = best @ chosen, left @ chosen
        for place, parts in self.within:
            rest[:, parts] -= tried[:, place, None] * np.exp(named[:, parts] - total[:, place, None])
        steep = self.consistencies(free)[:, None, None]
        of_person = (rest * steep * (self.mean_of @ self.strengths(free))).sum(axis=(1, 2))
        of_strength = self.mean_of.T @ (rest * steep).sum(axis=0)
        of_mean, size = of_strength.sum(axis=1), np.array([len(one) for one in self.sets])
        return np.concatenate(
            [
                [rest[:, size == tied].sum() for tied in range(2, self.most_tied + 1)],
                of_person[:-1] - of_person[-1],
                of_mean[:-1] - of_mean[-1],
                [float((of_strength * np.exp(free[-1]) * self.nodes).sum())],
            ]
        )

    def penalty(self, free: FloatArray) -> tuple[float, FloatArray]:
        if not self.with_priors:
            return 0.0, np.zeros(len(free))
        value, slopes = 0.0, []
        sds = (TIES_SD, CONSISTENCY_SD, MEAN_SD, SPREAD_SD)
        for part, (own, sd) in enumerate(zip(blocks(free, self.sizes), sds, strict=True)):
            centred = own - SPREAD_AT if part == 3 else own
            last = -centred.sum() if part in (1, 2) else 0.0  # they add up to 0
            value -= 0.5 * float(centred @ centred + last**2) / sd**2
            slopes.append(-(centred - last) / sd**2)
        return value, np.concatenate(slopes)

    def pair_answers(self, free: FloatArray, share: FloatArray) -> FloatArray:
        """(3, pairs, M) chance that a fresh person prefers the first of two responses, ties them, prefers the second.

        A person is drawn by ``share`` (people,). Each set that can be left over is reached with some probability.
        """
        named, total = self._chances(free)
        place = {one: k for k, one in enumerate(self.sets)}
        pairs = list(combinations(range(self.n_responses), 2))
        reached = np.zeros_like(named)
        reached[:, 0] = 1.0
        found = np.zeros((3, len(pairs), self.n_nodes))
        for left, parts in self.within:
            chance = reached[:, left, None] * np.exp(named[:, parts] - total[:, left, None])
            mixed = np.einsum("j,jkm->km", share, chance)
            for row, part in enumerate(parts.tolist()):
                if rest := tuple(i for i in self.sets[left] if i not in self.sets[part]):
                    reached[:, place[rest]] += chance[:, row]
                for which, pair in enumerate(pairs):
                    if set(pair) <= set(self.sets[left]) and (answer := _answer(pair, self.sets[part])) is not None:
                        found[answer, which] += mixed[row]
        return found


def _answer(pair: tuple[int, int], best: tuple[int, ...]) -> int | None:
    """Which answer of a pair is told where these are named best: first, tie or second; None where neither is."""
    first, second = (one in best for one in pair)
    return 1 if first and second else 0 if first else 2 if second else None


def pairwise_agreement(answers: FloatArray) -> FloatArray:
    """(M,) share of pairs on which two fresh people agree, a tie against a preference counting half."""
    first, tied, second = answers
    return np.asarray((first**2 + tied**2 + second**2 + tied * (1 - tied)).mean(axis=0))
