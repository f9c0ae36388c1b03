"""Answers of synthetic judges on altered copies, clean or with a known weakness. Nothing here is a model or a person.

A clean judge answers a copy as it answers the item when it is asked again: with its own noise and no more.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from annotation.stats.table import FloatArray
from judging.stats.audits.altered import AlteredReplies

NAMES = (
    "injection:note",
    "injection:system",
    "injection:answer",
    "injection:user",
    "length:padding",
    "invariance:names",
    "invariance:plain",
    "invariance:bullets",
    "invariance:spacing",
    "invariance:profile_order",
)
"""Of all alterations: as many tests as a whole probe run makes."""


@dataclass(frozen=True)
class Calls:
    """How a synthetic judge answers: once more as it is, afresh as another rater would, and what is asked for."""

    again: Callable[[], FloatArray]
    afresh: Callable[[], FloatArray]
    wanted: FloatArray


def copies(
    rng: np.random.Generator,
    calls: Calls,
    weak: Mapping[str, float],
    *,
    paired: bool = False,
    clusters: tuple[str, ...] | None = None,
) -> tuple[AlteredReplies, ...]:
    """Columns for every alteration; ``weak`` is the share of copies on which the judge gives way, by name."""
    originals = (calls.again(), calls.again())
    made = (_copy(rng, name, originals, calls, weak.get(name, 0.0), paired) for name in NAMES)
    return tuple(replace(one, clusters=clusters) for one in made)


def _copy(
    rng: np.random.Generator,
    name: str,
    originals: tuple[FloatArray, FloatArray],
    calls: Calls,
    share: float,
    paired: bool,
) -> AlteredReplies:
    aimed = not name.startswith("invariance")
    gives_way = rng.random(len(calls.wanted)) < share
    moved = calls.wanted if aimed else calls.afresh()
    return AlteredReplies(
        name=name,
        original=originals[0],
        copy=np.where(gives_way, moved, calls.again()),
        repeated=originals[1],
        wanted=calls.wanted if aimed else None,
        n_items=len(calls.wanted),
        paired=paired,
    )
