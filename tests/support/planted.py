"""Synthetic judges with a known bias, to test the audits themselves. Nothing here is a model or a person.

A clean synthetic judge has no bias; its noise is that of a synthetic person times a factor. A planted bias is then
added in a known size. The audits have to find it, and must find nothing in a clean judge, whatever its noise and
whether or not items depend on each other: every rater sees the items of one profile with an error of their own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from annotation.stats.table import FloatArray, IntArray
from judging.stats.audits.altered import AlteredReplies
from judging.stats.audits.columns import PairColumns, ScoreColumns
from judging.stats.audits.design import SamplingDesign

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
    """Columns for every alteration; ``weak`` is the share of copies on which the judge gives way, by name.

    A clean judge answers a copy as it answers the item when it is asked again: with its own noise and no more.
    """
    originals = (calls.again(), calls.again())
    made = (_copy(rng, name, originals, calls, weak.get(name, 0.0), paired) for name in NAMES)
    return tuple(replace(one, design=SamplingDesign(clusters)) for one in made)


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


CATEGORIES = (1.0, 5.0)
CLEAN_NOISE = 0.1
"""Share of calls that even a clean judge answers afresh: about 6 % of its repeats differ, which is tolerated."""
PEOPLE = 3
PERSON_NOISE = 0.6
"""Of a person's score of an item, in points; that of preferences is 1."""


@dataclass(frozen=True)
class PlantedDesign:
    """What clean and biased judges have in common.

    Attributes
    ----------
    n
        Items.
    noise
        The judge's noise in units of a person's.
    per_profile
        Items of one profile; 1 where items are independent.
    profile_effect
        Standard deviation of a rater's own error on all items of a profile, in points (of a preference: in units of a
        person's noise).
    """

    n: int = 300
    noise: float = 1.0
    per_profile: int = 1
    profile_effect: float = 0.35

    @property
    def profile(self) -> IntArray:
        """(n,) profile of each item."""
        return np.arange(self.n) // self.per_profile

    @property
    def clusters(self) -> tuple[str, ...] | None:
        """The profiles as the probes take them."""
        return None if self.per_profile == 1 else tuple(map(str, self.profile))

    def error(self, rng: np.random.Generator, *criteria: int) -> FloatArray:
        """(n, …) a rater's error that all items of a profile share, on each criterion."""
        shape = (int(self.profile.max()) + 1, *criteria)
        drawn: FloatArray = rng.normal(0, self.profile_effect if self.per_profile > 1 else 0.0, shape)
        return drawn[self.profile]


INDEPENDENT = PlantedDesign()


@dataclass(frozen=True)
class Planted:
    """Sizes of the planted biases; 0 everywhere is a clean judge.

    Attributes
    ----------
    position
        Share of pairs in which the judge takes the first place without reading.
    length
        Pairs: shift of the judged difference per standard deviation of the length difference, in standard deviations
        of a person's noise. Scores: points per standard deviation of log length.
    self_preference
        Pairs: share of pairs given to the judge's own kind without reading. Scores: points added to its own kind.
    leniency
        Points added to every score.
    compression
        0 … 1: how far every score is drawn to the middle of the scale.
    subgroup, background
        Points added to one of five groups of items, which vary within profiles, or of profiles.
    halo
        0 … 1: how far the scores of all criteria are drawn to their common mean (which stays as spread as before).
    noise
        Share of calls on which a repeat is answered afresh, as another rater would; at least `CLEAN_NOISE`.
    regress
        Standard deviation of the noise that the newer version has on top of the older one's.
    obeys
        Share of copies with a planted instruction that get what it asks for without reading.
    padded
        Share of copies made longer that get the highest score, or win, without reading.
    names
        Share of copies under another name that are answered afresh, as another rater would.
    """

    position: float = 0.0
    length: float = 0.0
    self_preference: float = 0.0
    leniency: float = 0.0
    compression: float = 0.0
    subgroup: float = 0.0
    background: float = 0.0
    halo: float = 0.0
    noise: float = 0.0
    regress: float = 0.0
    obeys: float = 0.0
    padded: float = 0.0
    names: float = 0.0

    @property
    def weak(self) -> Mapping[str, float]:
        """By alteration, the share of copies on which the judge gives way."""
        return {"injection:note": self.obeys, "length:padding": self.padded, "invariance:names": self.names}


CLEAN = Planted()


def plant_pairs(bias: Planted, *, design: PlantedDesign = INDEPENDENT, seed: int = 0) -> PairColumns:
    """Preferences of three synthetic people and a synthetic judge on n pairs, of the judge in both orders.

    Half of the pairs hold one response of the judge's own kind, on either side.
    """
    rng, n, noise = np.random.default_rng(seed), design.n, design.noise
    difference = rng.normal(0, 1, n)
    length = rng.normal(0, 1, n)
    own = rng.choice([-1.0, 0.0, 0.0, 1.0], n)
    people = np.column_stack([difference + rng.normal(0, 1, n) + design.error(rng) > 0 for _ in range(PEOPLE)])
    # one call's noise is partly the judge's view of the pair and partly the call's: repeats agree more than raters do
    view = difference + noise * rng.normal(0, 0.9, n) + design.error(rng) + bias.length * length
    ab, ba = (_preference(rng, view, own, bias, noise, first=first) for first in (True, False))
    calls = Calls(
        again=lambda: _preference(rng, view, own, bias, noise, first=True),
        afresh=lambda: (difference + rng.normal(0, 1, n) > 0).astype(float),
        wanted=rng.choice([0.0, 1.0], n),
    )
    return PairColumns(
        people=people.astype(float),
        judge_ab=ab,
        judge_ba=ba,
        length=length,
        own=own,
        design=SamplingDesign(design.clusters),
        altered=copies(rng, calls, bias.weak, paired=True, clusters=design.clusters),
    )


def _preference(
    rng: np.random.Generator, view: FloatArray, own: FloatArray, bias: Planted, noise: float, *, first: bool
) -> FloatArray:
    preference = (view + noise * rng.normal(0, 0.45, len(view)) > 0).astype(float)
    unread_own = (rng.random(len(view)) < bias.self_preference) & (own != 0)
    preference = np.where(unread_own, (own > 0).astype(float), preference)
    unread_place = rng.random(len(view)) < bias.position
    return np.where(unread_place, float(first), preference)


def plant_scores(bias: Planted, *, design: PlantedDesign = INDEPENDENT, seed: int = 0) -> ScoreColumns:
    """Scores from 1 to 5 on three criteria by three synthetic people and a synthetic judge.

    With a repeat and a previous version. Five groups of items vary within profiles (domain), five do not (background);
    a third of the items is of the judge's own kind.
    """
    rng, n, noise = np.random.default_rng(seed), design.n, design.noise
    quality = rng.normal(3, 0.7, (n, 1))
    truth = quality + rng.normal(0, 0.7, (n, 3))
    length, group, own = rng.normal(0, 1, n), rng.integers(0, 5, n), rng.random(n) < 1 / 3
    background = rng.permutation(int(design.profile.max()) + 1)[design.profile] % 5
    people = [_scored(truth + rng.normal(0, PERSON_NOISE, (n, 3)) + design.error(rng, 3)) for _ in range(PEOPLE)]
    # both versions of the judge see the same in an item, each with some noise of its own
    view = truth + noise * rng.normal(0, 0.53, (n, 3)) + design.error(rng, 3)
    previous = _scored(view[:, 0] + noise * rng.normal(0, 0.28, n))
    shift = bias.leniency + bias.length * length + bias.subgroup * (group == 0) + bias.self_preference * own
    shift += bias.background * (background == 0)
    view = _haloed(view, bias.halo)
    view = 3 + (view - 3) * (1 - bias.compression) + shift[:, None]
    judge = _scored(view + rng.normal(0, np.hypot(noise * 0.28, bias.regress), (n, 3)))
    afresh = rng.random(n) < max(bias.noise, CLEAN_NOISE)
    other = partial(_another, rng, truth[:, 0])
    again = np.where(afresh, other(), judge[:, 0])
    calls = Calls(
        again=lambda: np.where(rng.random(n) < max(bias.noise, CLEAN_NOISE), other(), judge[:, 0]),
        afresh=other,
        wanted=np.full(n, CATEGORIES[1]),
    )
    return ScoreColumns(
        people=np.stack(people, axis=1),
        judge=judge,
        repeated=np.column_stack([judge[:, 0], again]),
        previous=previous,
        length=length,
        own=own.astype(float),
        groups={
            "domain": tuple("abcde"[k] for k in group),
            "background": tuple("abcde"[k] for k in background),
        },
        design=SamplingDesign(design.clusters),
        altered=copies(rng, calls, bias.weak, clusters=design.clusters),
    )


def _another(rng: np.random.Generator, truth: FloatArray) -> FloatArray:
    """Scores as another rater would give them."""
    return _scored(truth + rng.normal(0, 0.9, len(truth)))


def _haloed(view: FloatArray, halo: float) -> FloatArray:
    """Every criterion drawn to the mean over criteria, stretched so that its spread stays."""
    if not halo:
        return view
    drawn = (1 - halo) * view + halo * view.mean(axis=1, keepdims=True)
    stretched: FloatArray = 3 + (drawn - 3) * view.std(axis=0) / drawn.std(axis=0)
    return stretched


def _scored(view: FloatArray) -> FloatArray:
    scores: FloatArray = np.clip(np.round(view), *CATEGORIES)
    return scores


STATED = {
    "position": Planted(position=0.2),
    "length": Planted(length=0.5),
    "self_preference": Planted(self_preference=0.4),
    "leniency": Planted(leniency=0.3),
    "central_tendency": Planted(compression=0.3),
    "subgroups:domain": Planted(subgroup=0.8),
    "subgroups:background": Planted(background=0.8),
    "halo": Planted(halo=0.5),
    "repeats": Planted(noise=0.4),
    "drift": Planted(regress=0.9),
    "injection:note": Planted(obeys=0.25),
    "length:padding": Planted(padded=0.25),
    "invariance:names": Planted(names=0.6),
}
"""The sizes at which each probe has to find its bias in at least 9 of 10 judges with 300 items."""

ON_COPIES = ("injection:note", "length:padding", "invariance:names")
ON_PAIRS = ("position", "length", "self_preference", *ON_COPIES)
ON_SCORES = (
    "leniency",
    "central_tendency",
    "length",
    "self_preference",
    "subgroups:domain",
    "subgroups:background",
    "halo",
    "repeats",
    "drift",
    *ON_COPIES,
)

SCORED = {
    "length": Planted(length=0.25),
    "self_preference": Planted(self_preference=0.6),
    "invariance:names": Planted(names=0.3),
}
"""The same for the probes that exist for pairs and for scores, in points of a scale of 1 to 5."""


def find_planted(name: str, *, paired: bool) -> Planted:
    """The bias that the probe of this name has to find."""
    return replace(SCORED[name] if not paired and name in SCORED else STATED[name])
