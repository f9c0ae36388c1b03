"""What the assistant is told of the user: the conditions of an experiment, some with a damaged history (pure).

Three kinds of damage, each in steps of a quarter, to the summaries of the task's domains: sentences are dropped from
the end (shortened), replaced from the end by sentences about other domains (irrelevant), or the preferences that they
name are replaced by others that the user does not have (contradicted). Nothing is drawn: a step is always the same.

They are those of PersonaLens (arXiv 2506.09902): two lines of instruction (vanilla), a personal assistant that knows
nothing (base), and the same with demographics (D), summaries of past interactions (I), the situation (S), or all three;
and no instruction at all (none). `I retrieved` is the question that the paper leaves open: only the passages of the
summaries that fit what the user just said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

from judging.stats.retrieval import SENTENCE
from simulation.agents.prompts.scene import Scene
from simulation.stats.utterances import UNTELLING, list_values

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


BM25, EMBEDDINGS = "bm25", "embeddings"


@dataclass(frozen=True, slots=True)
class Condition:
    """What an assistant gets: the role whose text instructs it, perhaps none, and parts of what is known of the user.

    `damage` is a kind of `history.KINDS`, and `step` how many percent of the summaries it spoils.
    `retriever` finds the passages that are shown: BM25 or EMBEDDINGS.
    """

    key: str
    name: str
    instruction: str = "assistant"
    parts: frozenset[str] = frozenset()
    damage: str = ""
    step: int = 0
    retriever: str = ""


PUBLISHED = {
    condition.key: condition
    for condition in (
        Condition("vanilla", "vanilla: two lines of instruction", instruction="vanilla"),
        Condition("base", "base: knows nothing of the user"),
        Condition("base+D", "base + demographics", parts=frozenset({"demographics"})),
        Condition("base+I", "base + past interactions", parts=frozenset({"interactions"})),
        Condition("base+S", "base + situation", parts=frozenset({"situation"})),
        Condition("base+all", "base + all three", parts=frozenset({"demographics", "interactions", "situation"})),
        Condition("none", "none: no instruction", instruction=""),
        Condition(
            "base+I-retrieved",
            "base + past interactions found by BM25",
            parts=frozenset({"retrieved"}),
            retriever=BM25,
        ),
        Condition(
            "base+I-embedded",
            "base + past interactions found by embeddings",
            parts=frozenset({"retrieved"}),
            retriever=EMBEDDINGS,
        ),
    )
}
DAMAGED = {
    condition.key: condition
    for kind, says in KINDS.items()
    for step in STEPS
    for condition in [
        Condition(
            f"base+I-{kind}-{step}",
            f"base + past interactions, {step} % {kind}: {says}",
            parts=frozenset({"interactions"}),
            damage=kind,
            step=step,
        )
    ]
}
"""Of the experiment on the quality of the history. `base+I` is its step 0."""

CONDITIONS = {**PUBLISHED, **DAMAGED}


def unknown(keys: Iterable[str]) -> list[str]:
    """Those of the keys that name no condition."""
    return [key for key in keys if key not in CONDITIONS]
