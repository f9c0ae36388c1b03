"""Who and what an experiment takes, drawn by a seed. Pure functions."""

from collections.abc import Sequence

import numpy as np

USERS, TASKS, DIALOGUES = 1, 2, 3
"""Streams: what tells one draw from another with the same seed."""


def draw_names(names: Sequence[str], n: int, *, seed: int, stream: int) -> list[str]:
    """`n` of the names, each as likely as any other, in sorted order; the same whatever order they come in.

    Raises
    ------
    ValueError
        If there are fewer names than `n`.
    """
    known = sorted(set(names))
    if not 1 <= n <= len(known):
        raise ValueError(f"cannot draw {n} of {len(known)}")
    places = np.random.default_rng([seed, stream]).choice(len(known), size=n, replace=False)
    return [known[place] for place in sorted(places.tolist())]
