"""Measures of the datasets: who the users are, how evenly preferences are spread, how varied the dialogues' words.

A document of measures is kept by the hash of what it was made from. A worker makes one of much material, on request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, overload

import numpy as np
import numpy.typing as npt
from celery import current_app
from django.core.cache import cache
from django.utils.translation import gettext_noop

from annotation.stats.table import BoolArray, IntArray
from annotation.stats.words import words
from core.accounts.models.users import User
from core.errors import NotComputedError
from core.hashing import content_hash
from core.jobs import waiting
from simulation.experiments.models import PreferenceType
from simulation.results import charts
from simulation.results.measure_types import (
    DemographicsDocument,
    DialogueMeasuresDocument,
    MeasuresDocument,
    PreferenceDocument,
    ProfileMeasuresDocument,
)
from simulation.results.queries import datasets as queries
from simulation.results.queries.datasets import DatasetConversation, Values
from simulation.stats.cells import cell_means
from simulation.stats.diversity import compute_diversity, compute_self_bleu, mean_diversity
from simulation.stats.evenness import evenness
from simulation.stats.result_types import SideDiversityDocument
from simulation.stats.variety import Texts

TASK = "simulation.measure"
BOOTSTRAP = 500
SWEPT = 600
"""Seconds after which workers look for new material again."""

SIDES = (gettext_noop("user"), gettext_noop("assistant"), gettext_noop("both"))
TASKS = (gettext_noop("single"), gettext_noop("multi"), gettext_noop("all"))
CHOICES = gettext_noop(
    "Words and punctuation marks in lower case. Pooled: all utterances together, no interval. By dialogue: the mean "
    "over dialogues of each one's own value. Entropy in nats. Self-BLEU: each utterance against all others of its side "
    "and kind of task, the references held fixed. Intervals resample profiles."
)
"""What PersonaLens leaves open about its Table 10 and is chosen here."""


def measure_profiles(source: str, *, seed: int = 0) -> ProfileMeasuresDocument:
    """Measure the profiles of a source: Tables 1 and 6 to 9 of PersonaLens (arXiv 2506.09902)."""
    found, known = queries.values(source), queries.possible(source)
    return {
        "source": source,
        "profiles": found.n,
        "seed": seed,
        "bootstrap": BOOTSTRAP,
        "has_schema": bool(known),
        "domains": [
            {"domain": domain, "tasks": tasks, "scenarios": scenarios}
            for domain, tasks, scenarios in queries.domains(source)
        ],
        "demographics": demographics(found),
        "preferences": [preference(found, known, key, seed) for key in sorted(found.preferences)],
    }


def demographics(found: Values) -> list[DemographicsDocument]:
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


def preference(
    found: Values, known: Mapping[tuple[str, str], PreferenceType], key: tuple[str, str], seed: int
) -> PreferenceDocument:
    """A preference type and how evenly its values are spread.

    The possible values are those of the schema; of a type that is not categorical it has only examples. As in the
    paper, `generated` counts the values that occur, of a categorical type at most as many as are possible.
    """
    kind = known.get(key)
    possible = kind.possible_values if kind and kind.is_categorical else None
    result = evenness(found.preferences[key], possible, bootstrap=BOOTSTRAP, seed=seed)
    counts = sorted(result.counts.items(), key=lambda pair: (-pair[1], pair[0]))
    n_occurring = len(result.counts)
    return {
        "domain": key[0],
        "type": key[1],
        "is_categorical": None if kind is None else kind.is_categorical,
        **result.to_json(),
        "generated": n_occurring if result.n_possible is None else min(n_occurring, result.n_possible),
        "counts": dict(counts),
    }


def measure_dialogues(source: str, *, seed: int = 0) -> DialogueMeasuresDocument:
    """Measure all dialogues of a source: turns and words, and how varied the words are by side and kind of task."""
    said = read_texts(queries.conversations(source))
    k = len(said.profiles)
    sizes = [np.bincount(said.dialogue, minlength=k), np.bincount(said.dialogue, said.texts.lengths, minlength=k)]
    turns, n_words = cell_means(np.column_stack(sizes).astype(float), said.profiles, bootstrap=BOOTSTRAP, seed=seed)
    return {
        "source": source,
        "dialogues": k,
        "seed": seed,
        "bootstrap": BOOTSTRAP,
        "choices": CHOICES,
        "turns": turns.to_json(),
        "words": n_words.to_json(),
        "diversity": {side: {tasks: diversity(said, side, tasks, seed) for tasks in TASKS} for side in SIDES},
    }


@dataclass(frozen=True, eq=False)
class SideTexts:
    """What was said in k dialogues, in n turns.

    Attributes
    ----------
    texts
        The words of the turns.
    role, dialogue
        (n,) who said it, and in which dialogue.
    profiles, is_multi
        (k,) whose dialogue it is, and whether its task has several domains.
    """

    texts: Texts
    role: npt.NDArray[np.str_]
    dialogue: IntArray
    profiles: Sequence[str]
    is_multi: BoolArray


def read_texts(talks: Iterable[DatasetConversation]) -> SideTexts:
    """Read each dialogue once; the words are kept as numbers."""
    roles: list[str] = []
    dialogue: list[int] = []
    profiles: list[str] = []
    is_multi: list[bool] = []

    def tokenized() -> Iterator[list[str]]:
        for place, talk in enumerate(talks):
            profiles.append(talk.profile)
            is_multi.append(talk.is_multi)
            for turn in talk.turns:
                roles.append(str(turn.get("role")))
                dialogue.append(place)
                yield words(str(turn.get("content") or ""))

    texts = Texts.from_words(tokenized())
    return SideTexts(
        texts, np.array(roles, dtype=str), np.array(dialogue, dtype=np.int64), profiles, np.array(is_multi, bool)
    )


def diversity(said: SideTexts, side: str, tasks: str, seed: int) -> SideDiversityDocument:
    """One row of Table 10: the dialogues of one kind of task, as one side or both spoke."""
    of_kind = (
        said.is_multi if tasks == "multi" else ~said.is_multi if tasks == "single" else np.ones_like(said.is_multi)
    )
    kept = of_kind[said.dialogue] & np.isin(said.role, SIDES if side == "both" else [side])
    place = np.cumsum(of_kind) - 1
    profiles = [profile for profile, one in zip(said.profiles, of_kind.tolist(), strict=True) if one]
    means = mean_diversity(
        said.texts, np.where(kept, place[said.dialogue], -1), profiles, bootstrap=BOOTSTRAP, seed=seed
    )
    speakers = [said.profiles[one] for one in said.dialogue.tolist()]
    repeated = compute_self_bleu(said.texts, speakers, kept, bootstrap=BOOTSTRAP, seed=seed)
    return {
        "dialogues": len(profiles),
        "pooled": compute_diversity(said.texts, kept).to_json(),
        "by_dialogue": {name: one.to_json() for name, one in means.items()},
        "self_bleu": repeated.to_json(),
    }


# results that are kept


@dataclass(frozen=True)
class MeasureKind:
    """One kind of measures: how they are made, of how much at once, and the hash of what they are made from."""

    make: Callable[[str], MeasuresDocument]
    hash_of: Callable[[str], str]
    sources: Callable[[], list[tuple[str, int]]]
    at_once: int


KINDS = {
    "profiles": MeasureKind(measure_profiles, queries.profiles_hash, queries.sources, 100),
    "dialogues": MeasureKind(measure_dialogues, queries.dialogues_hash, queries.dialogue_sources, 300),
}
"""What is measured. More profiles or dialogues than `at_once` are left to a worker: they take more than a second."""


@overload
def measures(kind: Literal["profiles"], source: str, *, patient: bool = ...) -> ProfileMeasuresDocument: ...
@overload
def measures(kind: str, source: str, *, patient: bool = ...) -> MeasuresDocument: ...
def measures(kind: str, source: str, *, patient: bool = False) -> MeasuresDocument:
    """The kept measures of a source, or those made now. NotComputedError where a worker is to make them."""
    one = KINDS[kind]
    n = dict(one.sources()).get(source, 0)
    key = build_result_key(kind, source)
    if patient or n <= one.at_once:
        return waiting.load_or_make(key, lambda: one.make(source))
    found: MeasuresDocument | None = cache.get(key)
    if found is None:
        raise NotComputedError(
            "A worker measures more than {at_once} {kind}, on request.", field="source", at_once=one.at_once, kind=kind
        )
    return found


def build_result_key(kind: str, source: str) -> str:
    return f"measures-{kind}-{KINDS[kind].hash_of(source)}"


def choose_source(known: Sequence[tuple[str, int]], wanted: str = "") -> str:
    """The source that is wanted, else the one with most; empty where there is none."""
    if wanted in dict(known):
        return wanted
    return max(known, key=lambda pair: pair[1])[0] if known else ""


def draw_figure_3(profiles: ProfileMeasuresDocument) -> str:
    """Figure 3 for a page; empty where the profiles have no demographics."""
    fields = charts.figure_3(profiles["demographics"])
    return charts.draw_on_page(charts.bars, fields) if fields else ""


def send_due() -> None:
    """Have a worker measure what the page shows first, once in `SWEPT` seconds on the whole site."""
    if not cache.add("measures-swept", True, SWEPT):
        return
    for kind, one in KINDS.items():
        known = one.sources()
        source = choose_source(known)
        is_small = source and dict(known)[source] <= one.at_once
        if is_small and cache.get(build_result_key(kind, source)) is None:
            current_app.send_task(TASK, args=[kind, source, ""])


def ask(*, by: User, kind: str, source: str) -> None:
    """Leave the measures of a source to a worker. Raises InputError where none can be reached."""
    waiting.ask(by=by, key=build_key(kind, source), task=TASK, args=[kind, source, by.username])


def find_request(kind: str, source: str) -> waiting.DeferredRequest | None:
    """What stands of it; None where nobody has asked, or it is done."""
    return waiting.find_request(build_key(kind, source))


def compute(kind: str, source: str, reader: str) -> None:
    """What a worker does: measure, unless that is kept or another one is at it."""
    waiting.compute(build_key(kind, source), reader, lambda: prepare(kind, source))


def prepare(kind: str, source: str) -> None:
    """Keep the measures and the figure, which takes longer to draw than all else of the page."""
    found = measures(kind, source, patient=True)
    if "demographics" in found:
        draw_figure_3(found)


def build_key(kind: str, source: str) -> str:
    return f"measures-of-{kind}-{content_hash(source)[:16]}"


def csv_rows(found: ProfileMeasuresDocument) -> Iterable[list[object]]:
    """Every preference type as one flat row, the first row their names."""
    numbers = ("profiles", "n", "n_possible", "n_occurring", "generated")
    ends = ("value", "low", "high", "reason")
    yield [
        *("domain", "type", "is_categorical", *numbers, "unlisted"),
        *(f"{name}_{end}" for name in ("occurring", "possible") for end in ends),
    ]
    for one in found["preferences"]:
        row: Mapping[str, object] = one
        figures: tuple[Mapping[str, object], ...] = (one["occurring"], one["possible"])
        yield [
            *(row[name] for name in ("domain", "type", "is_categorical", *numbers)),
            "; ".join(one["unlisted"]),
            *(figure[end] for figure in figures for end in ends),
        ]
