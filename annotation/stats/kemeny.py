"""How far apart rankings of an item's responses lie.

As Kemeny and Snell (1962, Mathematical Models in the Social Sciences, chapter 2) say: 1 for each pair of responses that
two rankings order the other way round, 1/2 for each that only one of them calls a tie.
"""

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np

from annotation.stats.rankings import Ranking, parse_ranking, responses_of
from annotation.stats.table import FloatArray


def ranks_of(rankings: Sequence[str]) -> FloatArray:
    """(q, N) rank of each response, in alphabetical order, 1 the best; tied ones share the mean of their ranks."""
    return np.array([_ranks(parse_ranking(text)) for text in rankings], dtype=float)


def _ranks(ranking: Ranking) -> list[float]:
    rank: dict[str, float] = {}
    before = 0
    for group in ranking:
        rank |= dict.fromkeys(group, before + (len(group) + 1) / 2)
        before += len(group)
    return [rank[name] for name in sorted(rank)]


def kemeny_distances(rankings: Sequence[str]) -> FloatArray:
    """(q, q) distances, 0 to N (N - 1) / 2."""
    if not rankings:
        return np.zeros((0, 0))
    ranks = ranks_of(rankings)
    found = np.zeros((len(ranks), len(ranks)))
    for first, second in combinations(range(ranks.shape[1]), 2):
        order = np.sign(ranks[:, second] - ranks[:, first])
        found += np.abs(order[:, None] - order[None, :]) / 2
    return found


def kemeny_weights(rankings: Sequence[str]) -> FloatArray:
    """(q, q) share of pairs of responses on which two rankings agree, a tie against a preference counting half."""
    n = len(responses_of(rankings[0])) if rankings else 2
    return 1 - kemeny_distances(rankings) / comb(n, 2)


def random_agreement(n_responses: int, *, with_ties: bool) -> float:
    """Mean of `kemeny_weights` of two rankings drawn from all that there are, ties among them or not.

    With ties a pair is tied in a share t of them and otherwise ordered either way: (1 + t^2) / 2.
    """
    tied = _weak_orders(n_responses - 1) / _weak_orders(n_responses) if with_ties else 0.0
    return (1 + tied**2) / 2


def _weak_orders(n: int) -> int:
    """How many rankings of n responses there are with ties (Fubini numbers)."""
    found = [1]
    for size in range(1, n + 1):
        found.append(sum(comb(size, first) * found[size - first] for first in range(1, size + 1)))
    return found[n]
