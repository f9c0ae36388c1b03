"""Do people prefer a place on the page? Which place each of them chose, and what all of them together.

Orders are drawn for each person by themselves (`annotation.stats.queueing.draw_order`). Whoever attends to the
responses therefore chooses each of n places in one n-th of the items, whichever responses are better, and the number of
times is binomial. The draws are balanced in short blocks, by which it varies a little less than that: the probability
given here is no smaller than the true one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from annotation.stats.clustered import estimate_clustered_means
from annotation.stats.estimate import Estimate, number_or_none
from annotation.stats.orders import LETTERS
from annotation.stats.result_types import SideBiasDocument
from annotation.stats.table import FloatArray, IntArray

UNIT = "share of pairs, from -1 (always B) to 1 (always A)"
UNIT_OF_MANY = "mean place, from -1 (always the last) to 1 (always A); 0 where places do not matter"
UNLIKELY = 0.001
"""A split of places that is less probable than this is no accident."""

NEARLY_ALL = 0.9
"""From this share of the items on, one place is as good as always chosen."""

NO_CHOICE = "no item of known order was decided"


@dataclass(frozen=True)
class SideUse:
    """One annotator: how often the response at each place was chosen, A first; ties are left out.

    `fewest` is how many places an item had at least. `probability` is that of one place being chosen so often by
    somebody who attends to the responses: of two places exact and two-sided, of more an upper bound.
    """

    annotator: str
    counts: tuple[int, ...]
    fewest: int = 2

    @property
    def n(self) -> int:
        return sum(self.counts)

    @property
    def side(self) -> str:
        """The place chosen most often; empty where there is no single one."""
        most = [place for place, n in zip(LETTERS, self.counts, strict=False) if n == self.n_most]
        return most[0] if len(most) == 1 else ""

    @property
    def n_most(self) -> int:
        return max(self.counts)

    @property
    def probability(self) -> float:
        if not self.n:
            return float("nan")
        tail = scipy.special.bdtrc(self.n_most - 1, self.n, 1 / self.fewest)
        return min(1.0, float(len(self.counts) * tail))

    @property
    def is_always_one(self) -> bool:
        """Whether nearly all choices are of one place, and this is no accident."""
        return self.n > 0 and self.n_most >= NEARLY_ALL * self.n and self.probability < UNLIKELY

    def to_json(self) -> dict[str, str | int | float | None]:
        """As JSON types."""
        return {
            "annotator": self.annotator,
            **{place.lower(): n for place, n in zip(LETTERS, self.counts, strict=False)},
            "probability": number_or_none(self.probability),
            "always_one_side": self.is_always_one,
        }


@dataclass(frozen=True)
class SideBias:
    """All annotators on one criterion.

    Attributes
    ----------
    effect
        Of two places the share of A among the choices minus that of B. Of more the mean of the places chosen, which
        stand at equal distances from 1 (the first) to -1 (the last). Intervals resample what is independent.
    excess
        By place, the share of the choices that fell on it minus the share that chance gives it.
    annotators
        Those who decided any item, in the order of the table.
    """

    effect: Estimate
    excess: dict[str, Estimate]
    annotators: tuple[SideUse, ...]

    @property
    def unit(self) -> str:
        return UNIT if len(self.excess) < 3 else UNIT_OF_MANY

    def to_json(self) -> SideBiasDocument:
        """As JSON types."""
        return {
            "effect": self.effect.to_json(),
            "unit": self.unit,
            "excess": {place: one.to_json() for place, one in self.excess.items()},
            "annotators": [one.to_json() for one in self.annotators],
        }


def side_bias(
    chosen: IntArray,
    n_places: IntArray,
    raters: Sequence[str],
    clusters: Sequence[str],
    *,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> SideBias:
    """Which places annotators choose.

    Parameters
    ----------
    chosen
        (n_items, r) the place that the annotator chose, from 1; 0 for a tie.
    n_places
        (n_items, r) how many places there were; 0 where there is no answer or nobody knows the order.
    raters
        (r,) their names.
    clusters
        (n_items,) what is independent of each other.
    bootstrap, confidence, seed
        As in `annotation.stats.agreement.agreement`.
    """
    there = n_places > 1
    most = max(2, int(n_places.max(initial=0)))
    together = np.repeat(np.asarray(clusters, dtype=object), there.sum(axis=1)).tolist()
    values = np.column_stack([score_places(chosen[there], n_places[there]), count_excess(chosen, n_places, most)])
    found = estimate_clustered_means(
        values, together, bootstrap=bootstrap, confidence=confidence, seed=seed, reason=NO_CHOICE
    )
    uses = [count_uses(*one, most) for one in zip(raters, chosen.T, n_places.T, strict=True)]
    return SideBias(found[0], dict(zip(LETTERS, found[1:], strict=False)), tuple(use for use in uses if use.n))


def score_places(chosen: IntArray, n_places: IntArray) -> FloatArray:
    """(m,) 1 for the first place, -1 for the last, the others at equal distances between; 0 for a tie."""
    scores: FloatArray = 1 - 2 * (chosen - 1) / (n_places - 1)
    return np.where(chosen > 0, scores, 0.0)


def count_excess(chosen: IntArray, n_places: IntArray, most: int) -> FloatArray:
    """(m, places) 1 where the place was chosen, minus its share by chance; 0 for a tie, and where there is no such
    place."""
    there = n_places > 1
    places = np.arange(1, most + 1)
    picked, sizes = chosen[there][:, None], n_places[there][:, None]
    has_place = (picked > 0) & (places <= sizes)
    return np.where(has_place, (picked == places) - 1 / np.maximum(sizes, 1), 0.0)


def count_uses(annotator: str, chosen: IntArray, n_places: IntArray, most: int) -> SideUse:
    """How often one annotator chose each place."""
    decided = (n_places > 1) & (chosen > 0)
    counts = tuple(int((chosen[decided] == place).sum()) for place in range(1, most + 1))
    return SideUse(annotator, counts, int(n_places[decided].min(initial=most)))
