"""Groups of items (assistants, conditions, domains) by their mean: as people, as the judge, as both together see it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.stats.arrays import ratio
from annotation.stats.estimate import Estimate
from annotation.stats.jackknife import t_ends
from annotation.stats.simultaneous import compute_differences, level_of_each, rank_sets
from annotation.stats.table import FloatArray
from judging.stats.asymptotic import figure
from judging.stats.calibration_types import GroupRankDocument
from judging.stats.prediction_powered import CorrectedMean, LabelledSample, ppi_mean

BOARDS = ("people", "judge", "corrected")
NO_SPREAD = "the mean has no interval, so that its rank has none"


@dataclass(frozen=True)
class Place:
    """One group on one board: its mean, and its rank (1 is best) with the ranks that are possible."""

    group: str
    mean: Estimate
    rank: Estimate

    def to_json(self) -> GroupRankDocument:
        """As JSON types."""
        return {"group": self.group, "mean": self.mean.to_json(), "rank": self.rank.to_json()}


def correct_by_group(
    human: FloatArray,
    judge: FloatArray,
    groups: Sequence[str],
    *,
    weights: FloatArray | None = None,
    clusters: Sequence[str] | None = None,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> dict[str, CorrectedMean]:
    """`ppi_mean` within each group, by the groups' names; human and judge (n,) are NaN where missing.

    Of a group whose every item has a label the corrected mean is that of the labels.
    """
    names = np.asarray(groups, dtype=object)
    owners = None if clusters is None else np.asarray(clusters, dtype=object)
    found = {}
    for name in sorted(set(groups)):
        mask = names == name
        data = LabelledSample.from_columns(
            human[mask],
            judge[mask],
            weights=None if weights is None else weights[mask],
            clusters=None if owners is None else tuple(owners[mask]),
        )
        one = ppi_mean(data, confidence=confidence, bounds=bounds)
        complete = data.n > 1 and not data.n_unlabelled
        found[name] = replace(one, ppi=one.human_only, weight=0.0, effective_n=data.n, saved=0.0) if complete else one
    return found


def boards(found: Mapping[str, CorrectedMean]) -> dict[str, list[Place]]:
    """The groups in order of their means on each board, the best first; a group without a mean is not on a board.

    Ranks are those that the differences of means leave possible, whose intervals hold together: with the confidence
    of the means all ranks of a board are right at once. Groups are taken as independent; what they share (a profile in
    two groups) makes the real uncertainty smaller.
    """
    columns = {
        "people": {name: one.human_only for name, one in found.items()},
        "judge": {name: one.judge_only for name, one in found.items()},
        "corrected": {name: one.ppi for name, one in found.items()},
    }
    return {name: _board(column) for name, column in columns.items()}


def _board(column: Mapping[str, Estimate]) -> list[Place]:
    known = {name: mean for name, mean in column.items() if mean.defined}
    if not known:
        return []
    means = list(known.values())
    ranks = _ranks(np.array([mean.value for mean in means]))
    sets = rank_sets(*_differences(means), len(means))
    places = [
        Place(name, mean, _rank(rank, ends, mean))
        for (name, mean), rank, ends in zip(known.items(), ranks.tolist(), sets, strict=True)
    ]
    return sorted(places, key=lambda place: (place.rank.value, place.group))


def _ranks(values: FloatArray) -> FloatArray:
    """(k,) 1 plus the number of groups that are better."""
    ranks: FloatArray = 1.0 + (values[None, :] > values[:, None] + 1e-12).sum(axis=1)
    return ranks


def _differences(means: Sequence[Estimate]) -> tuple[FloatArray, FloatArray]:
    """Ends of the simultaneous intervals of every mean minus every later one; NaN where either has no error.

    Degrees of freedom of a difference after Welch (1947), Biometrika 34:28-35.
    """
    value, variance = np.array([mean.value for mean in means]), np.array([mean.se**2 for mean in means])
    df = np.array([mean.df for mean in means])
    weigh = np.abs(compute_differences(np.eye(len(means)).T))  # (k, pairs) 1 where a mean takes part
    spread, part = np.sqrt(variance @ weigh), variance**2 / df
    level = level_of_each(means[0].confidence, len(spread))
    return t_ends(compute_differences(value), spread, ratio(spread**4, part @ weigh, tiny=0.0), level)


def _rank(value: float, ends: tuple[int, int], mean: Estimate) -> Estimate:
    without = bool(np.isnan(mean.se))
    return figure(
        value,
        (np.nan, np.nan) if without else (float(ends[0]), float(ends[1])),
        n_items=mean.n_items,
        confidence=mean.confidence,
        method="simultaneous t",
        reason=NO_SPREAD if without else None,
    )
