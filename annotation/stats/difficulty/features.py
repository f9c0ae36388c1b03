"""What is known of an item before anybody rates it, as columns of numbers: its texts, its setting, judges' verdicts."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from rapidfuzz.fuzz import ratio

from annotation.stats.labels import Label
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray

LONGEST = 4000
"""Characters of a response that are compared: the time of a comparison grows with the square of the length."""

LEAST_IN_GROUP = 10
"""Items below which a group, such as a domain, has no column of its own."""


@dataclass(frozen=True)
class ItemFacts:
    """What is known of one item.

    Attributes
    ----------
    name
        Its name, unique.
    responses
        What is judged: the two responses of a pair, or the assistant's turns.
    prompt
        What they answer: the question with its context, or the user's turns.
    groups
        By grouping (domain, condition, assistant, …) the group of the item; empty where it has none.
    preferences
        How many of the user's preferences it involves; None where that is not known.
    """

    name: str
    responses: tuple[str, ...]
    prompt: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)
    preferences: int | None = None


@dataclass(frozen=True, eq=False)
class Opinions:
    """What one judge said of the n items.

    Attributes
    ----------
    codes
        (n,) its verdicts as places on the scale; -1 without one.
    asked
        (n,) whether it was asked.
    calls
        (n, c) verdicts of its independent calls and orders; -1 where missing.
    confidence
        (n,) how sure it is, 0 to 1; NaN where that is not known.
    """

    codes: IntArray
    asked: BoolArray
    calls: IntArray
    confidence: FloatArray


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """k features of n items, named; NaN where an item's is not known.

    Attributes
    ----------
    items, names
        Names of the rows and of the columns.
    values
        (n, k).
    """

    items: tuple[str, ...]
    names: tuple[str, ...]
    values: FloatArray

    @classmethod
    def from_columns(cls, items: Sequence[str], columns: Mapping[str, FloatArray]) -> "FeatureTable":
        """The columns (n,) side by side, without those that hold a single value."""
        kept = {name: column for name, column in columns.items() if np.unique(column[~np.isnan(column)]).size > 1}
        values = np.column_stack(list(kept.values())) if kept else np.empty((len(items), 0))
        return cls(tuple(items), tuple(kept), values.astype(float))

    def subset(self, mask: BoolArray) -> "FeatureTable":
        """The items where the mask (n,) is true."""
        items = tuple(name for name, kept in zip(self.items, mask.tolist(), strict=True) if kept)
        return FeatureTable(items, self.names, self.values[mask])


def build_features(facts: Sequence[ItemFacts], columns: Mapping[str, FloatArray] | None = None) -> FeatureTable:
    """Features of the texts and settings of items, and further columns (n,) beside them."""
    return FeatureTable.from_columns(
        [one.name for one in facts], {**_of_texts(facts), **_of_groups(facts), **(columns or {})}
    )


RESPONSES_ALIKE = "similarity of the responses by word vectors"
ANSWERS_PROMPT = "similarity of prompt and responses by word vectors"


def vector_columns(facts: Sequence[ItemFacts], embed: Callable[[Sequence[str]], FloatArray]) -> dict[str, FloatArray]:
    """Mean cosine of each response with the next, and of the prompt with each, -1 to 1; NaN where a text is empty.

    ``embed`` takes texts to their vectors (n, d), zeros for a text of which nothing is known.
    """
    texts = [[text[:LONGEST] for text in (one.prompt, *one.responses)] for one in facts]
    place = {text: row for row, text in enumerate(dict.fromkeys(text for each in texts for text in each))}
    vectors = embed(list(place)) if place else np.zeros((0, 1))
    found = [vectors[[place[text] for text in each]] for each in texts]
    return {
        RESPONSES_ALIKE: np.array([_mean_cosine(each[1:-1], each[2:]) for each in found]),
        ANSWERS_PROMPT: np.array([_mean_cosine(each[:1], each[1:]) for each in found]),
    }


def _mean_cosine(one: FloatArray, two: FloatArray) -> float:
    """Over the rows of the two that have a direction."""
    length = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
    there = length > 0
    return float(((one * two).sum(axis=1)[there] / length[there]).mean()) if there.any() else math.nan


def judge_columns(opinions: Sequence[Opinions], categories: Sequence[Label]) -> dict[str, FloatArray]:
    """What judges say of the n items: their verdicts, how sure they are, and how far they and their calls disagree.

    Shares are over the judges that were asked; NaN where no judge was.
    """
    if not opinions:
        return {}
    codes = np.column_stack([one.codes for one in opinions])
    asked = np.column_stack([one.asked for one in opinions])
    found = {
        "judges' confidence": _mean(np.column_stack([one.confidence for one in opinions])),
        "judges disagree": compute_differing_pairs(codes),
        "calls disagree": _mean(np.column_stack([compute_differing_pairs(one.calls) for one in opinions])),
        "replies without a verdict": _mean(np.where(asked, codes == MISSING, np.nan)),
    }
    given = np.where(codes == MISSING, np.nan, codes)
    for place, category in enumerate(categories):
        found[f"verdict {category}"] = _mean(np.where(np.isnan(given), np.nan, given == place))
    return found


def compute_differing_pairs(codes: IntArray) -> FloatArray:
    """(n,) share of pairs of the codes (n, c) of an item that differ, 0 to 1; NaN below two codes."""
    there = codes != MISSING
    size = there.sum(axis=1)
    pairs = size * (size - 1)
    counts = [((codes == value) & there).sum(axis=1) for value in np.unique(codes[there])]
    same = sum((n * (n - 1) for n in counts), np.zeros(len(codes)))
    return np.where(pairs > 0, 1 - same / np.maximum(pairs, 1), np.nan)


def _of_texts(facts: Sequence[ItemFacts]) -> dict[str, FloatArray]:
    lengths = [[len(text) for text in one.responses] for one in facts]
    return {
        "length of the responses": np.array([_log(sum(each)) for each in lengths]),
        "length of the prompt": np.array([_log(len(one.prompt)) for one in facts]),
        "number of turns": np.array([_log(len(each)) for each in lengths]),
        "longest response beside the shortest": np.array([_range(each) for each in lengths]),
        "similarity of the responses": np.array([_similarity(one.responses) for one in facts]),
        "preferences involved": np.array([math.nan if one.preferences is None else one.preferences for one in facts]),
    }  # fmt: skip


def _of_groups(facts: Sequence[ItemFacts]) -> dict[str, FloatArray]:
    """1 for the items of each group with enough of them, 0 elsewhere."""
    sizes = Counter(group for one in facts for group in one.groups.items() if group[1])
    named = [group for group, n in sorted(sizes.items()) if n >= LEAST_IN_GROUP]
    return {f"{by} {name}": np.array([float(one.groups.get(by) == name) for one in facts]) for by, name in named}


def _similarity(responses: Sequence[str]) -> float:
    """Mean normalised indel similarity of each response with the next, 0 to 1; NaN below two."""
    pairs = [(one[:LONGEST], two[:LONGEST]) for one, two in pairwise(responses)]
    return float(np.mean([ratio(one, two) / 100 for one, two in pairs])) if pairs else math.nan


def _range(lengths: Sequence[int]) -> float:
    return _log(max(lengths, default=0)) - _log(min(lengths, default=0))


def _log(n: int) -> float:
    return math.log1p(n)


def _mean(values: FloatArray) -> FloatArray:
    """(n,) mean of the numbers of each row of (n, m); NaN without one."""
    there = ~np.isnan(values)
    return np.where(
        there.any(axis=1), np.where(there, values, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1), np.nan
    )
