"""Groups of items (assistants, conditions, domains) by their mean: as people, as the judge, as both together see it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotation.stats.estimate import Estimate
from annotation.stats.table import FloatArray
from judging.stats.asymptotic import figure, quantile
from judging.stats.prediction_powered import Corrected, Labelled, ppi_mean

BOARDS = ("people", "judge", "corrected")
DRAWS = 4000
NO_SPREAD = "a standing has no interval, so that ranks have none"


@dataclass(frozen=True)
class Place:
    """One group on one board: its mean, and its rank (1 is best) with an interval."""

    group: str
    mean: Estimate
    rank: Estimate

    def as_json(self) -> dict[str, Any]:
        """As JSON types."""
        return {"group": self.group, "mean": self.mean.as_json(), "rank": self.rank.as_json()}


def corrected_by(
    human: FloatArray,
    judge: FloatArray,
    groups: Sequence[str],
    *,
    weights: FloatArray | None = None,
    clusters: Sequence[str] | None = None,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> dict[str, Corrected]:
    """`ppi_mean` within each group, by the groups' names; human and judge (n,) are NaN where missing.

    Of a group whose every item has a label the corrected mean is that of the labels.
    """
    names = np.asarray(groups, dtype=object)
    owners = None if clusters is None else np.asarray(clusters, dtype=object)
    found = {}
    for name in sorted(set(groups)):
        mask = names == name
        data = Labelled.of(
            human[mask],
            judge[mask],
            weights=None if weights is None else weights[mask],
            clusters=None if owners is None else tuple(owners[mask]),
        )
        one = ppi_mean(data, confidence=confidence, bounds=bounds)
        complete = data.n > 1 and not data.n_unlabelled
        found[name] = replace(one, ppi=one.human_only, weight=0.0, effective_n=data.n, saved=0.0) if complete else one
    return found


def boards(found: Mapping[str, Corrected], *, draws: int = DRAWS, seed: int = 0) -> dict[str, list[Place]]:
    """The groups in order of their means on each board, the best first; a group without a mean is not on a board.

    Ranks are redrawn: each mean from a normal distribution with its own standard error, as if groups were independent.
    What they share (a profile in two groups) makes the real uncertainty of ranks smaller.
    """
    columns = {
        "people": {name: one.human_only for name, one in found.items()},
        "judge": {name: one.judge_only for name, one in found.items()},
        "corrected": {name: one.ppi for name, one in found.items()},
    }
    return {name: _board(column, draws, seed) for name, column in columns.items()}


def _board(column: Mapping[str, Estimate], draws: int, seed: int) -> list[Place]:
    known = {name: mean for name, mean in column.items() if mean.defined}
    if not known:
        return []
    values = np.array([mean.value for mean in known.values()])
    errors = np.array([_standard_error(mean) for mean in known.values()])
    drawn = np.random.default_rng(seed).normal(values, np.nan_to_num(errors), (draws, len(values)))
    ranks = _ranks(values[None, :])[0]
    spread = np.quantile(_ranks(drawn), [0.025, 0.975], axis=0)
    unknown = bool(np.isnan(errors).any())
    places = [
        Place(name, mean, _rank(float(ranks[k]), spread[:, k], mean, seed, without=unknown))
        for k, (name, mean) in enumerate(known.items())
    ]
    return sorted(places, key=lambda place: (place.rank.value, place.group))


def _ranks(values: FloatArray) -> FloatArray:
    """(b, k) 1 plus the number of groups that are better."""
    ranks: FloatArray = 1.0 + (values[:, None, :] > values[:, :, None] + 1e-12).sum(axis=2)
    return ranks


def _rank(value: float, ends: FloatArray, mean: Estimate, seed: int, *, without: bool) -> Estimate:
    interval = (np.nan, np.nan) if without else (float(ends[0]), float(ends[1]))
    reason = NO_SPREAD if without else None
    return figure(value, interval, n_items=mean.n_items, confidence=0.95, method="redrawn", reason=reason, seed=seed)


def _standard_error(mean: Estimate) -> float:
    """From the interval; the longer side, since the other may be cut at the end of the scale."""
    if np.isnan(mean.low):
        return float("nan")
    return max(mean.high - mean.value, mean.value - mean.low) / quantile(mean.confidence)
