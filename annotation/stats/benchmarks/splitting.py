"""Splits in which nothing leaks: what has a persona or a pair of responses in common stays on one side."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from annotation.stats.benchmarks.cases import Case

TOLERANCE = 1e-9
UNEVEN = 0.1
"""How far the share of a split may be from the wanted one."""


def split(
    cases: Sequence[Case],
    shares: Mapping[str, float],
    *,
    seed: int,
    by_question: bool = False,
    shared: Collection[str] = (),
) -> list[str]:
    """The split of each case.

    Cases of one persona, or with a response in common, are linked, and with ``by_question`` those with the same
    question too; what is linked, directly or through others, goes into one split. Such blocks are taken in a seeded
    order, the larger ones first, each into the split that is furthest below its share; the last ones into those that
    would else stay empty.

    Parameters
    ----------
    shares
        Name -> wanted share of the cases; they sum to 1. With few large blocks the shares that come out differ: see
        `find_uneven`.
    shared
        Responses that link no cases: written for anybody, they are the same for each persona.

    Raises
    ------
    ValueError
        If the shares are not positive numbers that sum to 1.
    """
    if not all(share > 0 for share in shares.values()) or not abs(sum(shares.values()) - 1) <= TOLERANCE:  # nor NaN
        raise ValueError(f"shares are {dict(shares)}; they must be above 0 and sum to 1")
    blocks = find_blocks(cases, by_question=by_question, shared=shared)
    rng = np.random.default_rng(seed)
    order = sorted(rng.permutation(len(blocks)).tolist(), key=lambda k: -len(blocks[k]))
    filled, found = dict.fromkeys(shares, 0), [""] * len(cases)
    for place, k in enumerate(order):
        empty = [name for name in shares if not filled[name]]
        open_to = empty if len(order) - place <= len(empty) else shares
        name = max(open_to, key=lambda one: (shares[one] - filled[one] / max(len(cases), 1), -list(shares).index(one)))
        filled[name] += len(blocks[k])
        for row in blocks[k]:
            found[row] = name
    return found


def find_uneven(places: Sequence[str], shares: Mapping[str, float], *, tolerance: float = UNEVEN) -> str:
    """Say which splits are empty or too far from their share; empty where none is. One case more or less is allowed."""
    found, n = Counter(places), len(places)
    wrong = [
        f"{name} has {found[name]} of {n} cases, {100 * share:.0f} % were asked for"
        for name, share in shares.items()
        if not found[name] or abs(found[name] - share * n) > max(tolerance * n, 1)
    ]
    return "; ".join(wrong)


def find_blocks(cases: Sequence[Case], *, by_question: bool = False, shared: Collection[str] = ()) -> list[list[int]]:
    """Rows of cases that are linked, in the order of their first."""
    parent = list(range(len(cases)))

    def root(row: int) -> int:
        while parent[row] != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    seen: dict[tuple[str, str], int] = {}
    for row, case in enumerate(cases):
        links = [("response", text) for text in (case.response_1, case.response_2) if text not in shared]
        links += [("persona", case.persona)] if case.persona else []
        links += [("question", case.question)] if by_question else []
        for link in links:
            first = seen.setdefault(link, row)
            a, b = root(first), root(row)
            parent[max(a, b)] = min(a, b)
    found: dict[int, list[int]] = {}
    for row in range(len(cases)):
        found.setdefault(root(row), []).append(row)
    return list(found.values())
