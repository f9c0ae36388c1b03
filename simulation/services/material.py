"""Measures of the datasets: who the users are, how evenly preferences are spread, how varied the dialogues' words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from annotation.stats.estimate import number_or_none
from judging.stats.words import words
from simulation.queries import material as queries
from simulation.queries.material import Values
from simulation.stats.cells import cell_means
from simulation.stats.diversity import diversity
from simulation.stats.evenness import evenness
from simulation.stats.self_bleu import self_bleu

BOOTSTRAP = 500
MOST_DIALOGUES = 2000
"""Dialogues of a source that are read for their words; all measures of words depend on how much there is."""


def of_profiles(source: str, *, seed: int = 0) -> dict[str, Any]:
    """Demographics, and evenness per preference type, as in tables 8 and 9 of PersonaLens (arXiv 2506.09902)."""
    found, known = queries.values(source), queries.possible(source)
    return {
        "source": source,
        "profiles": found.n,
        "has_schema": bool(known),
        "demographics": demographics(found),
        "preferences": [
            preference(found, key, known[key].possible_values if is_closed(known, key) else None, seed)
            for key in sorted(found.preferences)
        ],
    }


def is_closed(known: Mapping[tuple[str, str], Any], key: tuple[str, str]) -> bool:
    """Whether the possible values are all there are: of what is not categorical the schema only has examples."""
    return key in known and known[key].is_categorical


def demographics(found: Values) -> list[dict[str, Any]]:
    """Field by field, the values with their shares, the most frequent first."""
    return [
        {
            "field": field,
            "n": counts.total(),
            "shares": [
                {"value": value, "n": n, "share": n / counts.total()}
                for value, n in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
            ],
        }
        for field, counts in sorted(found.demographics.items())
    ]


def preference(found: Values, key: tuple[str, str], possible: Sequence[str] | None, seed: int) -> dict[str, Any]:
    """A preference type: how many values are possible and occur, and how evenly they do.

    A value that occurs though the schema does not name it is counted among the possible ones, and said.
    """
    counts = found.preferences[key]
    strange = sorted(set(counts) - set(possible)) if possible is not None else []
    all_values = None if possible is None else [*dict.fromkeys(possible), *strange]
    result = evenness(list(counts.elements()), all_values, bootstrap=BOOTSTRAP, seed=seed)
    return {
        "domain": key[0],
        "type": key[1],
        "profiles": found.holders[key],
        "held": counts.total(),
        "n_possible": result.n_possible if possible is not None else None,
        "n_used": result.n_used,
        "not_in_schema": strange,
        "evenness": result.evenness.as_json(),
        "counts": dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))),
    }


def of_dialogues(source: str, *, seed: int = 0) -> dict[str, Any]:
    """Turns and words per dialogue, and how varied the words of each side are."""
    talks = queries.conversations(source, most=MOST_DIALOGUES)
    said = {side: [text_of(turn) for turns in talks for turn in turns if turn.get("role") == side] for side in SIDES}
    turns, n_words = per_dialogue(talks)
    names = [str(n) for n in range(len(talks))]
    columns = np.column_stack([turns, n_words]) if talks else np.empty((0, 2))
    means = cell_means(columns, names, bootstrap=BOOTSTRAP, seed=seed)
    return {
        "source": source,
        "dialogues": len(talks),
        "turns": means[0].as_json(),
        "words": means[1].as_json(),
        "sides": [
            {"side": side, **diversity(texts).as_json(), "self_bleu": self_bleu(texts, seed=seed).as_json()}
            for side, texts in said.items()
        ],
    }


SIDES = ("user", "assistant")


def per_dialogue(talks: Sequence[Sequence[Mapping[str, Any]]]) -> tuple[list[float], list[float]]:
    turns = [float(len(one)) for one in talks]
    return turns, [float(sum(len(words(text_of(turn))) for turn in one)) for one in talks]


def text_of(turn: Mapping[str, Any]) -> str:
    return str(turn.get("content") or "")


def csv_rows(found: Mapping[str, Any]) -> Iterable[list[Any]]:
    """Every preference type as one flat row, the first row their names."""
    yield [
        *("domain", "type", "profiles", "values", "n_possible", "n_used"),
        *("evenness", "low", "high", "reason", "not_in_schema"),
    ]
    for one in found["preferences"]:
        figure = one["evenness"]
        yield [
            *(one[name] for name in ("domain", "type", "profiles", "held", "n_possible", "n_used")),
            *(number_or_none(figure[name]) for name in ("value", "low", "high")),
            figure["reason"],
            "; ".join(one["not_in_schema"]),
        ]
