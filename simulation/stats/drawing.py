"""Who and what an experiment takes, and traits of personas, drawn by a seed. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from rapidfuzz import process
from rapidfuzz.fuzz import ratio

from annotation.stats.benchmarks.repeats import NEAR

USERS, TASKS = 1, 2
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


TRIES = 50
"""How often a combination that is there already is drawn anew."""

Traits = Mapping[str, object]


def combine(seeds: Sequence[Traits], n: int, *, seed: int) -> list[tuple[int, dict[str, object]]]:
    """Draw `n` combinations of traits, each with the place of the seed that it starts from.

    The first ones are the seeds as they stand. Each later one starts from a seed, in turn, and takes about half of the
    values from other seeds that have the same trait. Fewer than `n` come back where there are no more combinations to
    be found.
    """
    rng = np.random.default_rng(seed)
    found: list[tuple[int, dict[str, object]]] = []
    there: set[str] = set()
    for k in range(n):
        base = k % len(seeds)
        for _ in range(TRIES):
            traits = dict(seeds[base]) if k < len(seeds) else _mixed(seeds, base, rng)
            key = repr(sorted(traits.items()))
            if key not in there:
                there.add(key)
                found.append((base, traits))
                break
    return found


def _mixed(seeds: Sequence[Traits], base: int, rng: np.random.Generator) -> dict[str, object]:
    traits = dict(seeds[base])
    for name in traits:
        others = [one[name] for one in seeds if name in one]
        if rng.integers(2):
            traits[name] = others[int(rng.integers(len(others)))]
    return traits


def distinct(texts: Sequence[str], *, near: float = NEAR) -> list[int]:
    """The places of the texts that no earlier kept text is nearly the same as."""
    kept: list[int] = []
    known: list[str] = []
    for place, one in enumerate(texts):
        if process.extractOne(one, known, scorer=ratio, score_cutoff=near) is None:
            kept.append(place)
            known.append(one)
    return kept
