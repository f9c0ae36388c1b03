"""What the personas' files are like: sections and keys that few of them have, and keys that look misspelt."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rapidfuzz import process
from rapidfuzz.fuzz import ratio

RARE = 0.1
"""A key that fewer than this share of the personas have is rare."""

LIKE = 80.0
"""A rare key at least this similar to a usual one of its section, in percent, may be a misspelling of it."""

DEPTH = 3
"""Keys are looked at down to here: a section, what stands in it, and what stands in that."""


@dataclass(frozen=True)
class PersonaKeys:
    """Keys of the personas' documents, as paths such as `Personality.MBTI`.

    Attributes
    ----------
    n
        How many personas.
    counts
        Path -> how many personas have it.
    rare
        Paths that few have.
    like
        Rare path -> the usual path that it resembles.
    """

    n: int
    counts: dict[str, int]
    rare: tuple[str, ...]
    like: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """As JSON types."""
        return {
            "n": self.n,
            "keys": len(self.counts),
            "rare": [{"key": key, "n": self.counts[key], "like": self.like.get(key)} for key in self.rare],
        }


def persona_keys(documents: Sequence[Mapping[str, Any]]) -> PersonaKeys:
    """The keys of all personas. Nothing is corrected: what looks misspelt is named."""
    counts = Counter(path for document in documents for path in set(paths(document)))
    usual = [path for path, n in counts.items() if n >= RARE * len(documents) and n > 1]
    rare = sorted(path for path in counts if path not in set(usual))
    like = {}
    for path in rare:
        section = path.rpartition(".")[0]
        beside = [other for other in usual if other.rpartition(".")[0] == section]
        found = process.extractOne(path, beside, scorer=ratio, score_cutoff=LIKE)
        if found:
            like[path] = found[0]
    return PersonaKeys(len(documents), dict(counts), tuple(rare), like)


def paths(document: Mapping[str, Any], before: str = "", depth: int = DEPTH) -> Iterator[str]:
    """Every key with the keys above it, as far down as `depth`."""
    for key, value in document.items():
        path = f"{before}.{key}" if before else str(key)
        yield path
        if depth > 1 and isinstance(value, Mapping):
            yield from paths(value, path, depth - 1)
