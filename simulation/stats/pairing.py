"""Pairs of candidate responses by level: matched where asked, near-duplicates removed, sides by lot. Pure functions."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from rapidfuzz.fuzz import ratio

from annotation.stats.benchmarks.repeats import NEAR
from annotation.stats.benchmarks.shortcuts import structure

REASONS = ("same texts", "nearly the same", "unlike in length", "unlike in form", "pair is there already")


@dataclass(frozen=True, slots=True)
class Response:
    """A candidate: whose question it answers, at which level."""

    id: str
    asked: tuple[str, str]
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class PairRule:
    """How pairs are made.

    Attributes
    ----------
    against
        Which level against which, such as (("full", "none"), ("full", "over")).
    length
        The shorter response has at least this share of the characters of the longer one; 0 for any length.
    same_form
        Both responses have marks of layout (lists, headings, bold), or neither has.
    near
        Two responses, or two pairs of a question, at least this similar in percent are one too many.
    each
        How many pairs of two levels a question has at most; 0 for as many as there are.
    seed
        Of the order in which candidates are taken, and of the sides.
    """

    against: tuple[tuple[str, str], ...]
    length: float = 0.0
    same_form: bool = False
    near: float = NEAR
    each: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.against or any(a == b for a, b in self.against):
            raise ValueError("name two different levels that stand against each other")
        if not 0 <= self.length <= 1 or not 0 < self.near <= 100 or self.each < 0:
            raise ValueError("length is from 0 to 1, near from 0 to 100, and each is not negative")


@dataclass(frozen=True, slots=True)
class CandidatePair:
    """Two candidates, the first one as response 1."""

    first: Response
    second: Response


@dataclass(frozen=True)
class PairingResult:
    """The pairs, and how many more there could have been, by what was wrong with them."""

    pairs: tuple[CandidatePair, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)


def pairs(responses: Sequence[Response], rule: PairRule) -> PairingResult:
    """Pairs within each persona's question, in the order of the questions."""
    by_question: dict[tuple[str, str], list[Response]] = defaultdict(list)
    for one in responses:
        by_question[one.asked].append(one)
    rng = np.random.default_rng(rule.seed)
    left_out: Counter[str] = Counter()
    made = [pair for found in by_question.values() for pair in _of_question(found, rule, rng, left_out)]
    return PairingResult(tuple(made), {reason: left_out[reason] for reason in REASONS})


def _of_question(
    found: Sequence[Response], rule: PairRule, rng: np.random.Generator, left_out: Counter[str]
) -> Iterator[CandidatePair]:
    there: list[CandidatePair] = []
    for a, b in rule.against:
        taken = 0
        sides = [[one for one in found if one.level == level] for level in (a, b)]
        options = list(product(*sides))
        for k in rng.permutation(len(options)).tolist():
            if rule.each and taken >= rule.each:
                break
            a_one, b_one = options[k]
            wrong = _wrong(a_one, b_one, rule, there)
            if wrong:
                left_out[wrong] += 1
                continue
            one, two = options[k] if rng.integers(2) else options[k][::-1]
            there.append(CandidatePair(one, two))
            taken += 1
    yield from there


def _wrong(a: Response, b: Response, rule: PairRule, there: Sequence[CandidatePair]) -> str:
    """Why the two do not make a pair; empty where they do."""
    if a.text == b.text:
        return "same texts"
    if ratio(a.text, b.text, score_cutoff=rule.near):
        return "nearly the same"
    shorter, longer = sorted((len(a.text), len(b.text)))
    if shorter < rule.length * longer:
        return "unlike in length"
    if rule.same_form and (structure(a.text) > 0) != (structure(b.text) > 0):
        return "unlike in form"
    if any(_alike(a, b, pair, rule.near) for pair in there):
        return "pair is there already"
    return ""


def _alike(a: Response, b: Response, pair: CandidatePair, near: float) -> bool:
    def both(one: Response, other: Response) -> bool:
        return bool(ratio(a.text, one.text, score_cutoff=near) and ratio(b.text, other.text, score_cutoff=near))

    return both(pair.first, pair.second) or both(pair.second, pair.first)
