"""Shapes of the JSON documents that results of these statistics become; at run time each is a dict."""

from typing import TypedDict

from annotation.stats.result_types import EstimateDocument


class DiversityFigures(TypedDict):
    """How varied words are."""

    dist_1: EstimateDocument
    dist_2: EstimateDocument
    ent_4: EstimateDocument


class DiversityDocument(DiversityFigures):
    """The same of utterances together, and how many utterances and words they are."""

    n_utterances: int
    n_tokens: int


class SideDiversityDocument(TypedDict):
    """Utterances of one side or both: together, as means over dialogues, and against each other."""

    dialogues: int
    pooled: DiversityDocument
    by_dialogue: dict[str, EstimateDocument]
    self_bleu: EstimateDocument


class EvennessDocument(TypedDict):
    """How evenly the values of a preference are spread; `n` counts values, each as often as a profile names it."""

    n: int
    profiles: int
    n_possible: int | None
    n_occurring: int
    unlisted: list[str]
    occurring: EstimateDocument
    possible: EstimateDocument
    counts: dict[str, int]
