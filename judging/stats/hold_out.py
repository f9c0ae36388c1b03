"""Which items are held out: whole clusters, told by a hash, so that items that are added later move none."""

import hashlib
from collections.abc import Sequence

import numpy as np

from annotation.stats.table import BoolArray


def draw_held_out(clusters: Sequence[str], share: float, seed: int) -> BoolArray:
    """(n,) whether each item's cluster is among the ``share`` (0 to 1) of clusters that is held out."""
    place = {name: _fraction(f"{seed}:{name}") for name in set(clusters)}
    return np.array([place[name] < share for name in clusters], dtype=bool)


def _fraction(text: str) -> float:
    """A number from 0 to 1 that is the same for the same text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64
