"""Sets of neighbouring answers that hold a person's answer with a stated probability: split conformal prediction.

Vovk, Gammerman and Shafer 2005, Algorithmic Learning in a Random World; on ordered scales sets without gaps (Lu,
Angelopoulos and Pomerantz 2022, MICCAI). A set starts at the median and takes the likelier of its two neighbours until
it holds enough.
"""

from dataclasses import dataclass

import numpy as np

from annotation.stats.table import BoolArray, FloatArray, IntArray

LEVEL = 0.9


@dataclass(frozen=True, eq=False)
class Sets:
    """Contiguous sets for n items.

    Attributes
    ----------
    level
        Probability with which a set holds an answer, over calibration and new items alike.
    threshold
        Rank of the set, 1 to q, that is needed; inf where too few items were told to calibrate on.
    holds
        (n, q) categories in the set.
    """

    level: float
    threshold: float
    holds: BoolArray

    @property
    def size(self) -> FloatArray:
        """(n,) number of categories."""
        return np.asarray(self.holds.sum(axis=1), dtype=float)


def compute_needed_mass(shares: FloatArray, answers: IntArray) -> FloatArray:
    """(n,) mass of the smallest nested set about the median that holds each answer, its size deciding between equals.

    ``shares`` (n, q) are told of each item, ``answers`` (n,) given.
    """
    n, q = shares.shape
    rank, mass = _nested(shares)
    rows = np.arange(n)
    return np.asarray(mass[rows, answers] + rank[rows, answers] / (1000.0 * q))


def contiguous_sets(shares: FloatArray, answers: IntArray, new: FloatArray, *, level: float = LEVEL) -> Sets:
    """Calibrate on items with shares (m, q) and one answer each (m,), and make sets for new items (n, q).

    Items must be exchangeable: of each cluster take one, or hold whole clusters out.

    Raises ``ValueError`` unless ``level`` lies between 0 and 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; it must lie between 0 and 1")
    m, q = len(answers), new.shape[1]
    place = int(np.ceil((m + 1) * level))
    threshold = float(np.sort(compute_needed_mass(shares, answers))[place - 1]) if 0 < place <= m else np.inf
    rank, mass = _nested(new)
    holds = mass + rank / (1000.0 * q) <= threshold + 1e-12
    holds[np.arange(len(new)), rank.argmin(axis=1)] = True
    return Sets(level, threshold, holds)


def _nested(shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n, q) when a category joins its item's set, from 1, and the mass that the set then holds."""
    n, q = shares.shape
    rows = np.arange(n)
    padded = np.pad(shares, ((0, 0), (1, 1)), constant_values=-1.0)
    low = (np.cumsum(shares, axis=1) < 0.5 - 1e-12).sum(axis=1).clip(0, q - 1)
    high = low.copy()
    rank, mass = np.zeros((n, q)), np.zeros((n, q))
    total = shares[rows, low]
    rank[rows, low], mass[rows, low] = 1.0, total
    for step in range(2, q + 1):
        down, up = padded[rows, low], padded[rows, high + 2]
        goes_down = (down > up) | ((down == up) & (low - 0 > q - 1 - high))
        low, high = low - goes_down, high + ~goes_down
        joined = np.where(goes_down, low, high)
        total = total + shares[rows, joined]
        rank[rows, joined], mass[rows, joined] = step, total
    return rank, mass
