"""Rankings of an item's responses as labels: ``B>A=C`` puts B first, and A and C level behind it.

Two rankings lie as far apart as Kemeny and Snell (1962, Mathematical Models in the Social Sciences, chapter 2) say: 1
for each pair of responses that they order the other way round, 1/2 for each that only one of them calls a tie.
"""

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

BETTER, TIED = ">", "="

Ranking = tuple[tuple[str, ...], ...]
"""Groups of responses from the best to the worst; those of one group are tied."""


def parse_ranking(text: str) -> Ranking:
    """Read a ranking such as ``B>A=C``; names within a group come in alphabetical order.

    Raises ``ValueError`` on an empty or repeated name, and on fewer than two responses.
    """
    groups = tuple(tuple(sorted(name.strip() for name in group.split(TIED))) for group in text.split(BETTER))
    names = [name for group in groups for name in group]
    if not all(names):
        raise ValueError(f"{text!r} is not a ranking such as B>A=C: a name is missing")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{text!r} ranks {twice!r} twice")
    if len(names) < 2:
        raise ValueError(f"{text!r} is one response; a ranking needs two or more, such as B>A=C")
    return groups


def spell_ranking(ranking: Ranking) -> str:
    """Write a ranking as `parse_ranking` reads it."""
    return BETTER.join(TIED.join(group) for group in ranking)


def responses_of(text: str) -> tuple[str, ...]:
    """List the responses that a ranking is of, in alphabetical order."""
    return tuple(sorted(name for group in parse_ranking(text) for name in group))


def check_responses(text: str, responses: Sequence[str]) -> None:
    """Raise ``ValueError`` unless a ranking is of these responses, each once."""
    found, wanted = set(responses_of(text)), set(responses)
    if missing := sorted(wanted - found):
        raise ValueError(f"{text!r} does not rank {', '.join(missing)}; all rankings need the same responses")
    if foreign := sorted(found - wanted):
        raise ValueError(f"{text!r} ranks {', '.join(foreign)}, which is not among {', '.join(sorted(wanted))}")


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


def have_ties(rankings: Sequence[str]) -> bool:
    """Whether a ranking calls two responses tied."""
    return any(TIED in text for text in rankings)


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
