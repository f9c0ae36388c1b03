"""Summaries of past interactions made worse in stated steps, to see what their quality is worth (pure).

Three kinds of damage, each in steps of a quarter, to the summaries of the task's domains: sentences are dropped from
the end (shortened), replaced from the end by sentences about other domains (irrelevant), or the preferences that they
name are replaced by others that the user does not have (contradicted). Nothing is drawn: a step is always the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice
from typing import Any

from judging.stats.retrieval import SENTENCE
from simulation.agents.prompts.scene import Scene
from simulation.stats.leakage import UNTELLING, list_values

KINDS = {
    "shortened": "the last sentences dropped",
    "irrelevant": "the last sentences about something else",
    "contradicted": "preferences replaced by others",
}
STEPS = (25, 50, 75, 100)
"""Percent of the sentences, or of the preferences named, that are damaged."""


def damage(scene: Scene, kind: str, step: int) -> dict[str, str]:
    """The summaries of the task's domains with `step` percent of them damaged."""
    found = {domain: str(summary) for domain, summary in scene.relevant_interactions.items()}
    if kind == "contradicted":
        return contradict(scene, found, step)
    others = [
        sentence
        for domain, summary in scene.interactions.items()
        if domain not in found
        for sentence in sentences(str(summary))
    ]
    return {
        domain: " ".join(replace_last(sentences(summary), step, others if kind == "irrelevant" else ()))
        for domain, summary in found.items()
    }


def sentences(text: str) -> list[str]:
    return [part for part in SENTENCE.split(" ".join(text.split())) if part]


def replace_last(kept: Sequence[str], step: int, others: Sequence[str]) -> list[str]:
    """Without the last `step` percent, which the others take the place of as far as there are any."""
    n = round(len(kept) * step / 100)
    return [*kept[: len(kept) - n], *islice(cycle(others), n if others else 0)]


def contradict(scene: Scene, summaries: Mapping[str, str], step: int) -> dict[str, str]:
    """With `step` percent of the preferences that the summaries name replaced by ones that the user does not hold."""
    swaps = [
        (value, other) for value, other in choose_swaps(scene) if any(names(text, value) for text in summaries.values())
    ]
    chosen = swaps[: round(len(swaps) * step / 100)]
    return {domain: swap(text, chosen) for domain, text in summaries.items()}


def choose_swaps(scene: Scene) -> Iterator[tuple[str, str]]:
    """Each preference of the task's domains with one that could stand in its place; none twice."""
    known: set[str] = set()
    for domain in scene.relevant_interactions:
        for name, value in to_mapping(scene.preferences.get(domain)).items():
            held = [one for one in list_values(value) if one.casefold() not in UNTELLING]
            possible = to_mapping(scene.alternatives.get(domain)).get(name, ())
            free = [one for one in possible if one.casefold() not in {own.casefold() for own in list_values(value)}]
            for one, other in zip(held, cycle(free) if free else (), strict=False):
                if one.casefold() not in known:
                    known.add(one.casefold())
                    yield one, other


def to_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def names(text: str, value: str) -> bool:
    return pattern(value).search(text) is not None


def pattern(value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE)


def swap(text: str, swaps: Sequence[tuple[str, str]]) -> str:
    """All at once, so that what is put in is not replaced again."""
    if not swaps:
        return text
    others = {value.casefold(): other for value, other in swaps}
    either = "|".join(re.escape(value) for value in sorted(others, key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{either})(?!\w)", lambda match: others[match[0].casefold()], text, flags=re.IGNORECASE)
