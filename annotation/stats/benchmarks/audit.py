"""Everything that can be said against a benchmark from its own files, each figure with n and an interval."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz import process
from rapidfuzz.fuzz import ratio

from annotation.stats.benchmarks import repeats, scripts, shortcuts
from annotation.stats.benchmarks.cases import Case, shares
from annotation.stats.benchmarks.result_types import BenchmarkAuditDocument, PersonaKeysDocument
from annotation.stats.estimate import Estimate

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

    def to_json(self) -> PersonaKeysDocument:
        """As JSON types."""
        return {
            "n": self.n,
            "keys": len(self.counts),
            "rare": [{"key": key, "n": self.counts[key], "like": self.like.get(key)} for key in self.rare],
        }


def persona_keys(documents: Sequence[Mapping[str, object]]) -> PersonaKeys:
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


def paths(document: Mapping[str, object], before: str = "", depth: int = DEPTH) -> Iterator[str]:
    """Every key with the keys above it, as far down as `depth`."""
    for key, value in document.items():
        path = f"{before}.{key}" if before else str(key)
        yield path
        if depth > 1 and isinstance(value, Mapping):
            yield from paths(value, path, depth - 1)


BOOTSTRAP = 2000


@dataclass(frozen=True)
class Persona:
    """A persona of the benchmark: the document as its file has it, and how many memories it has."""

    id: str
    document: Mapping[str, object]
    memories: int


@dataclass(frozen=True)
class Audit:
    """What was found; see the functions of this package for each part."""

    n: int
    n_personas: int
    seed: int
    recurring: tuple[repeats.Recurring, ...]
    groups: tuple[repeats.Group, ...]
    circles: tuple[tuple[str, ...], ...]
    same_responses: tuple[str, ...]
    same_share: Estimate
    near_cases: tuple[tuple[str, str], ...]
    shortcuts: tuple[shortcuts.Shortcut, ...]
    unlike_in_form: Estimate
    shared_questions: tuple[tuple[str, int, int], ...]
    shared_share: Estimate
    scripts: scripts.ScriptMix
    keys: PersonaKeys
    without_persona: tuple[str, ...]
    without_memories: tuple[str, ...]
    bootstrap: int = BOOTSTRAP

    def to_json(self) -> BenchmarkAuditDocument:
        """As JSON types."""
        return {
            "n": self.n,
            "n_personas": self.n_personas,
            "bootstrap": self.bootstrap,
            "seed": self.seed,
            "resampled": "personas",
            "recurring": [one.to_json() for one in self.recurring],
            "repeated_pairs": [one.to_json() for one in self.groups],
            "contradicting_pairs": sum(group.opposite for group in self.groups),
            "circles": [list(circle) for circle in self.circles],
            "nearly_same_responses": {"cases": list(self.same_responses), "share": self.same_share.to_json()},
            "nearly_same_cases": [list(pair) for pair in self.near_cases],
            "near": repeats.NEAR,
            "shortcuts": [one.to_json() for one in self.shortcuts],
            "unlike_in_form": self.unlike_in_form.to_json(),
            "shared_questions": {
                "questions": [
                    {"question": question, "personas": n_personas, "cases": n}
                    for question, n_personas, n in self.shared_questions
                ],
                "cases_share": self.shared_share.to_json(),
            },
            "scripts": self.scripts.to_json(),
            "personas": {
                **self.keys.to_json(),
                "cases_without_persona": list(self.without_persona),
                "without_memories": list(self.without_memories),
            },
        }


def audit(cases: Sequence[Case], known: Sequence[Persona], *, bootstrap: int = BOOTSTRAP, seed: int = 0) -> Audit:
    """Audit a benchmark: its cases, and the personas that they are about. Intervals resample personas."""
    same = set(repeats.nearly_same_responses(cases))
    shared = count_shared_questions(cases)
    asked_of_several = {question for question, _, _ in shared}
    figures = shares(
        [
            np.array([float(case.id in same) for case in cases]),
            np.array(shortcuts.unlike_in_form(cases)),
            np.array([float(case.question in asked_of_several) for case in cases]),
        ],
        cases,
        bootstrap=bootstrap,
        seed=seed,
    )
    return Audit(
        n=len(cases),
        n_personas=len(known),
        seed=seed,
        recurring=tuple(repeats.compute_recurring(cases, bootstrap=bootstrap, seed=seed)),
        groups=tuple(repeats.groups(cases)),
        circles=tuple(repeats.circles(cases)),
        same_responses=tuple(case.id for case in cases if case.id in same),
        same_share=figures[0],
        near_cases=tuple(repeats.nearly_same_cases(cases)),
        shortcuts=tuple(shortcuts.shortcuts(cases, bootstrap=bootstrap, seed=seed)),
        unlike_in_form=figures[1],
        shared_questions=shared,
        shared_share=figures[2],
        scripts=scripts.script_mix(cases, bootstrap=bootstrap, seed=seed),
        keys=persona_keys([one.document for one in known]),
        without_persona=tuple(case.id for case in cases if not case.persona),
        without_memories=tuple(one.id for one in known if not one.memories),
        bootstrap=bootstrap,
    )


def count_shared_questions(cases: Sequence[Case]) -> tuple[tuple[str, int, int], ...]:
    """Questions that several personas are asked: question, personas, cases; those of most personas first."""
    found: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        found[case.question].append(case.persona)
    several = [(question, len(set(names)), len(names)) for question, names in found.items() if len(set(names)) > 1]
    return tuple(sorted(several, key=lambda row: (-row[1], -row[2], row[0])))
