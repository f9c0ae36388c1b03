"""Splits in which nothing leaks: what has a persona or a pair of responses in common stays on one side."""

from collections.abc import Mapping, Sequence

import numpy as np

from annotation.stats.benchmarks.cases import Case

TOLERANCE = 1e-9


def split(cases: Sequence[Case], shares: Mapping[str, float], *, seed: int, by_question: bool = False) -> list[str]:
    """The split of each case.

    Cases of one persona, or with a response in common, are linked, and with ``by_question`` those with the same
    question too; what is linked, directly or through others, goes into one split. Such blocks are taken in a seeded
    order, the larger ones first, each into the split that is furthest below its share.

    Parameters
    ----------
    shares
        Name -> wanted share of the cases; they sum to 1. With few large blocks the shares that come out differ.

    Raises
    ------
    ValueError
        If the shares are not positive numbers that sum to 1.
    """
    if not shares or min(shares.values()) <= 0 or abs(sum(shares.values()) - 1) > TOLERANCE:
        raise ValueError(f"shares are {dict(shares)}; they must be above 0 and sum to 1")
    blocks = blocks_of(cases, by_question=by_question)
    rng = np.random.default_rng(seed)
    order = sorted(rng.permutation(len(blocks)).tolist(), key=lambda k: -len(blocks[k]))
    filled, found = dict.fromkeys(shares, 0), [""] * len(cases)
    for k in order:
        name = max(shares, key=lambda one: (shares[one] - filled[one] / max(len(cases), 1), -list(shares).index(one)))
        filled[name] += len(blocks[k])
        for row in blocks[k]:
            found[row] = name
    return found


def blocks_of(cases: Sequence[Case], *, by_question: bool = False) -> list[list[int]]:
    """Rows of cases that are linked, in the order of their first."""
    parent = list(range(len(cases)))

    def root(row: int) -> int:
        while parent[row] != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    seen: dict[tuple[str, str], int] = {}
    for row, case in enumerate(cases):
        links = [("response", case.response_1), ("response", case.response_2)]
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
