"""Everything that can be said against a benchmark from its own files, each figure with n and an interval."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.stats.benchmarks import personas, repeats, scripts, shortcuts
from annotation.stats.benchmarks.cases import Case, shares
from annotation.stats.estimate import Estimate

BOOTSTRAP = 2000


@dataclass(frozen=True)
class Persona:
    """A persona of the benchmark: the document as its file has it, and how many memories it has."""

    id: str
    document: Mapping[str, Any]
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
    keys: personas.PersonaKeys
    without_persona: tuple[str, ...]
    without_memories: tuple[str, ...]
    bootstrap: int = BOOTSTRAP

    def to_json(self) -> dict[str, Any]:
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
        keys=personas.persona_keys([one.document for one in known]),
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
