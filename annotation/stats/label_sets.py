"""Several of k categories as one label: ``accuracy|style`` in alphabetical order, ``-`` where none of them applies.

Two sets lie as far apart as MASI says (Passonneau 2006, "Measuring Agreement on Set-valued Items (MASI) for Semantic
and Pragmatic Annotation", LREC): 1 - J M. J is Jaccard's share of the categories of either that are of both; M is 1 for
the same set, 2/3 where one holds the other, 1/3 where both hold something the other lacks, 0 without a common one.
"""

from collections.abc import Callable, Iterable, Sequence
from math import comb

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

BESIDE, NONE = "|", "-"
"""What stands between the categories of a set, and in place of the empty one."""

LabelSet = frozenset[str]


def parse_set(text: str) -> LabelSet:
    """Read a set such as ``accuracy|style``; ``-`` is the empty one.

    Raises ``ValueError`` on a missing name and on one that stands twice.
    """
    if text.strip() == NONE:
        return frozenset()
    names = [name.strip() for name in text.split(BESIDE)]
    if not all(names):
        raise ValueError(f"{text!r} is not a set such as accuracy|style: a name is missing; none of them is {NONE}")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{text!r} names {twice!r} twice")
    return frozenset(names)


def spell_set(names: Iterable[str], order: Sequence[str] = ()) -> str:
    """Write a set as `parse_set` reads it, its names in the ``order`` given and otherwise in alphabetical order."""
    place = {name: number for number, name in enumerate(order)}
    return BESIDE.join(sorted(names, key=lambda name: (place.get(name, len(place)), name))) or NONE


def options_of(sets: Iterable[str]) -> tuple[str, ...]:
    """List the categories that occur in some sets, in alphabetical order."""
    return tuple(sorted({name for text in sets for name in parse_set(text)}))


def members_of(sets: Sequence[str], options: Sequence[str]) -> FloatArray:
    """(q, k) whether each set holds each of the options."""
    return np.array([[option in one for option in options] for one in map(parse_set, sets)], dtype=float).reshape(
        len(sets), len(options)
    )


def jaccard_weights(sets: Sequence[str]) -> FloatArray:
    """(q, q) share of the categories of either set that are of both; 1 for two empty sets."""
    size, common = _sizes(sets)
    union = size[:, None] + size[None, :] - common
    return np.where(union > 0, common / np.where(union > 0, union, 1.0), 1.0)


def masi_weights(sets: Sequence[str]) -> FloatArray:
    """(q, q) credit J M of each two sets, 0 to 1."""
    size, common = _sizes(sets)
    return jaccard_weights(sets) * _monotonicity(size[:, None], size[None, :], common)


def _sizes(sets: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """(q,) sizes of the sets, and (q, q) how many categories each two share."""
    members = members_of(sets, options_of(sets))
    return members.sum(axis=1), members @ members.T


def _monotonicity(first: FloatArray, second: FloatArray, common: FloatArray) -> FloatArray:
    """M of sets of the given sizes."""
    one_holds_other = common == np.minimum(first, second)
    partly = np.where(one_holds_other, 2 / 3, np.where(common > 0, 1 / 3, 0.0))
    return np.where((first == second) & one_holds_other, 1.0, partly)


def random_agreement(n_options: int) -> float:
    """Mean of `masi_weights` of two sets drawn from all the 2^k that k options make, the empty one among them."""
    return _mean_credit(n_options, lambda a, b, common: _credit(a, b, common)) / 4.0**n_options


def _mean_credit(k: int, credit: Callable[[int, int, int], float]) -> float:
    """Sum of the credit over all pairs of sets, by their sizes and by what they share."""
    return sum(
        comb(k, common) * comb(k - common, a - common) * comb(k - a, b - common) * credit(a, b, common)
        for a in range(k + 1)
        for b in range(k + 1)
        for common in range(max(0, a + b - k), min(a, b) + 1)
    )


def _credit(a: int, b: int, common: int) -> float:
    union = a + b - common
    if not union:
        return 1.0
    m = _monotonicity(np.array(float(a)), np.array(float(b)), np.array(float(common)))
    return float(m) * common / union
