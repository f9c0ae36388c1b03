"""What a model under test is shown of the person, and how it answers. Pure; the settings are those of PersonaFeedback.

*none*: question and responses alone. *profile*: all that is known of the person. *memories*: of what is remembered,
the pieces that fit the question. *summary*: those pieces in the words of the model under test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from judging.judges.providers.requests import Person
from judging.stats.retrieval import passages

NONE, PROFILE, MEMORIES, SUMMARY = "none", "profile", "memories", "summary"
SETTINGS = {
    NONE: "no persona",
    PROFILE: "persona profile",
    MEMORIES: "memory retrieval",
    SUMMARY: "summary of retrieved memories",
}
BM25, EMBEDDINGS, ENDPOINT = "bm25", "embeddings", "endpoint"
RETRIEVERS = {
    BM25: "BM25, by the words that they share",
    EMBEDDINGS: "embeddings that come with Concord, by the words' meaning",
    ENDPOINT: "embeddings from a server",
}
CHOICE, LOG_PROBABILITY = "choice", "log_probability"
ANSWERS = {
    CHOICE: "by choice: explanation, then verdict",
    LOG_PROBABILITY: "by log-probability: the verdict alone, the more probable one counts",
}
PARTS = ("persona", "demographics", "preferences", "interactions")
"""What a profile is made of; memories stand beside it."""

MOST = 50
"""Memories retrieved, at most."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to ask, as a run records it.

    Attributes
    ----------
    shows
        A key of `SETTINGS`.
    answers
        A key of `ANSWERS`. Rules and scorers say what they say either way.
    retriever, k
        How memories are found, and how many at most.
    without
        Fields of the persona that are left out: a part of the profile, or a key of one as in `demographics.Age`.
    embedder
        Model and address of the server that makes embeddings, for `ENDPOINT`.
    """

    shows: str = NONE
    answers: str = CHOICE
    retriever: str = BM25
    k: int = 5
    without: tuple[str, ...] = ()
    embedder: Mapping[str, object] | None = None

    @classmethod
    def from_stored(cls, kept: Mapping[str, Any]) -> Setting | None:
        """As it was kept; None where there is none."""
        if not kept:
            return None
        known = {field.name for field in fields(cls)}
        given = {name: value for name, value in kept.items() if name in known}
        return cls(**{**given, "without": tuple(given.get("without", ()))})

    def to_json(self) -> dict[str, object]:
        """What is kept: without what has no meaning in this setting."""
        kept = {**asdict(self), "without": list(self.without)}
        for name in () if self.retrieves else ("retriever", "k"):
            del kept[name]
        if self.embedder is None or self.retriever != ENDPOINT or not self.retrieves:
            del kept["embedder"]
        return kept

    @property
    def retrieves(self) -> bool:
        return self.shows in (MEMORIES, SUMMARY)

    @property
    def name(self) -> str:
        """In words, as tables call it."""
        how = f" ({self.retriever}, {self.k})" if self.retrieves else ""
        left_out = f" without {', '.join(self.without)}" if self.without else ""
        return f"{SETTINGS[self.shows]}{how}{left_out}"

    def problems(self) -> Iterator[tuple[str, str]]:
        """What is wrong with it: field and sentence."""
        for field, value, known in (
            ("shows", self.shows, SETTINGS),
            ("answers", self.answers, ANSWERS),
            ("retriever", self.retriever, RETRIEVERS),
        ):
            if value not in known:
                yield field, f"{value!r} is not one of {', '.join(known)}."
        if not 1 <= self.k <= MOST:
            yield "k", f"From 1 to {MOST} memories can be retrieved, not {self.k}."
        if self.retriever == ENDPOINT and self.retrieves and not (self.embedder or {}).get("model"):
            yield "embedder", "Embeddings from a server need a model, and its address where it is not OpenAI's."


def select_known(known: Mapping[str, object], setting: Setting) -> Person:
    """What may be known of a person in this setting. All that is remembered: what fits is found later.

    `known` holds the parts of a profile by name, and its memories.
    """
    left = build_person(drop_fields(known, setting.without))
    if setting.shows == NONE:
        return Person()
    if setting.shows == PROFILE:
        return replace(left, memories=())
    return Person(memories=build_memories(left))


def build_person(known: Mapping[str, Any]) -> Person:
    return Person(
        persona=known.get("persona") or "",
        demographics=known.get("demographics") or {},
        preferences=known.get("preferences") or {},
        interactions=known.get("interactions") or {},
        memories=known.get("memories") or (),
    )


def drop_fields(known: Mapping[str, object], without: Sequence[str]) -> dict[str, object]:
    """The same without some fields."""
    left = dict(known)
    for field in without:
        part, _, key = field.partition(".")
        if not key:
            left.pop(part, None)
        elif isinstance(inner := left.get(part), Mapping):
            left[part] = {name: value for name, value in inner.items() if name != key}
    return left


def build_memories(person: Person) -> tuple[str, ...]:
    """What is remembered of the person; where nothing is, each thing that the profile says, as a memory of its own."""
    told = tuple(text for memory in person.memories if (text := to_memory(memory)))
    return told or tuple(list_memories(person))


def is_made(person: Person) -> bool:
    """Whether memories are made from the profile's own fields."""
    return not any(to_memory(memory) for memory in person.memories)


def list_memories(person: Person) -> Iterator[str]:
    """One memory for each entry of the profile, and for every two sentences of its text."""
    for part in (person.demographics, person.preferences, person.interactions):
        yield from leaves(part, ())
    yield from passages(person.persona)


def leaves(value: object, path: tuple[str, ...]) -> Iterator[str]:
    """`Travel, Business Trips: by train` for each leaf of nested data; keys that nobody knows are as good as others."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from leaves(part, (*path, str(key).replace("_", " ")))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from leaves(part, path)
    elif value not in (None, ""):
        yield f"{', '.join(path)}: {value}" if path else str(value)


def to_memory(memory: object) -> str:
    """A memory as text, whatever the source kept it as."""
    if isinstance(memory, Mapping):
        return "; ".join(leaves(memory, ()))
    return str(memory).strip() if memory is not None else ""


def list_fields(known: Mapping[str, object]) -> Iterator[str]:
    """The fields that can be left out: each part with something in it, and the keys of those that have any."""
    for part in PARTS:
        value = known.get(part)
        if value:
            yield part
        if isinstance(value, Mapping):
            yield from (f"{part}.{key}" for key in value)
    if known.get("memories"):
        yield "memories"
