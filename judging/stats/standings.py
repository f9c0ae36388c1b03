"""Groups of items (assistants, conditions, domains) by their mean: as people, as the judge, as both together see it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotation.stats.arrays import ratio
from annotation.stats.estimate import Estimate
from annotation.stats.jackknife import effective_df, t_ends
from annotation.stats.simultaneous import compute_differences, level_of_each, list_pairs, rank_sets
from annotation.stats.table import FloatArray
from judging.stats.asymptotic import figure
from judging.stats.calibration_types import GroupRankDocument
from judging.stats.prediction_powered import CorrectedMean, LabelledSample, compute_influences, ppi_mean

BOARDS = ("people", "judge", "corrected")
NO_SPREAD = "the mean has no interval, so that its rank has none"
TINY = 1e-9
"""A difference whose error is this small beside that of the means never varies, and tells nothing of how it might."""


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
        if complete:
            one = replace(one, ppi=one.human_only, weight=0.0, effective_n=data.n, saved=0.0)
        found[name] = replace(one, influences=compute_influences(data))
    return found


def boards(found: Mapping[str, CorrectedMean]) -> dict[str, list[Place]]:
    """The groups in order of their means on each board, the best first; a group without a mean is not on a board.

    Ranks are those that the differences of means leave possible, whose intervals hold together: with the confidence
    of the means all ranks of a board are right at once. Groups with items of the same cluster (profile) are compared
    within it; others are independent.
    """
    columns = {
        "people": {name: one.human_only for name, one in found.items()},
        "judge": {name: one.judge_only for name, one in found.items()},
        "corrected": {name: one.ppi for name, one in found.items()},
    }
    return {board: _board(columns[board], found, place) for place, board in enumerate(BOARDS)}


def _board(column: Mapping[str, Estimate], found: Mapping[str, CorrectedMean], place: int) -> list[Place]:
    known = {name: mean for name, mean in column.items() if mean.defined}
    if not known:
        return []
    means = list(known.values())
    ranks = _ranks(np.array([mean.value for mean in means]))
    deviations = _deviations(means, [found[name].influences for name in known], place)
    sets = rank_sets(*_differences(means, deviations), len(means))
    places = [
        Place(name, mean, _rank(rank, ends, mean))
        for (name, mean), rank, ends in zip(known.items(), ranks.tolist(), sets, strict=True)
    ]
    return sorted(places, key=lambda place: (place.rank.value, place.group))


def _ranks(values: FloatArray) -> FloatArray:
    """(k,) 1 plus the number of groups that are better."""
    ranks: FloatArray = 1.0 + (values[None, :] > values[:, None] + 1e-12).sum(axis=1)
    return ranks


def _deviations(means: Sequence[Estimate], influences: Sequence[Mapping[str, FloatArray]], place: int) -> FloatArray:
    """(g, k) what each of g clusters adds to the deviation of k means, its squares adding up to the squared error."""
    names = sorted(set().union(*influences))
    rows = [[one[name][place] if name in one else 0.0 for one in influences] for name in names]
    h = np.array(rows).reshape(len(names), len(means))
    scaled: FloatArray = h * ratio(np.array([mean.se for mean in means]), np.sqrt((h**2).sum(axis=0)))
    return scaled


def _differences(means: Sequence[Estimate], deviations: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Ends of the simultaneous intervals of every mean minus every later one; NaN where either has no error.

    Two means that share clusters have the error of the difference of their ``deviations`` (g, k), and at most the
    degrees of freedom of either. Those of others are after Welch (1947), Biometrika 34:28-35.
    """
    value, variance = np.array([mean.value for mean in means]), np.array([mean.se**2 for mean in means])
    df = np.array([mean.df for mean in means])
    weigh = np.abs(compute_differences(np.eye(len(means)).T))  # (k, pairs) 1 where a mean takes part
    spread, part = np.sqrt(variance @ weigh), variance**2 / df
    welch = ratio(spread**4, part @ weigh, tiny=0.0)
    pairs = np.array(list_pairs(len(means)), dtype=np.int64).reshape(-1, 2)
    shared = (deviations[:, pairs] != 0).all(axis=2).any(axis=0)
    between = compute_differences(deviations)
    within = np.sqrt((between**2).sum(axis=0))
    spread = np.where(shared, np.where(within > TINY * spread, within, np.nan), spread)
    joint = effective_df(between, np.ones(len(between)), df[pairs].min(axis=1))
    level = level_of_each(means[0].confidence, len(spread))
    return t_ends(compute_differences(value), spread, np.where(shared, joint, welch), level)


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
