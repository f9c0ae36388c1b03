"""How far a judge marks the same as people do, beside how far people do among themselves on the same items.

F1 of the judge with each annotator, averaged, against F1 of every two annotators, averaged, from the same resamples.
"""

import numpy as np

from annotation.stats import cohen
from annotation.stats.against_group import minus
from annotation.stats.intervals import Basis, estimates
from annotation.stats.jackknife import Scale, find_scales
from annotation.stats.pairs import count_basis
from annotation.stats.resampling import Replicates, Resampling
from annotation.stats.result_types import EstimateDocument
from annotation.stats.span_agreement import KINDS, NOTHING, SpanPairs
from annotation.stats.table import MISSING, BoolArray, IntArray, RatingTable
from judging.stats.result_types import JudgeAgreementDocument


def judge_span_agreement(
    people: RatingTable,
    judge: IntArray,
    unscored: BoolArray,
    *,
    judge_name: str,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> JudgeAgreementDocument:
    """The document of a judge whose answers are the categories ``judge`` (n_items,) of the people's table.

    -1 where it has none; ``unscored`` (n_items,) tells where it replied nevertheless.
    """
    scored = judge != MISSING
    kept = people.subset_items(scored)
    together = _with_judge(kept, judge[scored], judge_name)
    resampling = Resampling.from_table(together, bootstrap=bootstrap, confidence=confidence, seed=seed)
    rated = (np.flatnonzero((kept.codes != MISSING).any(axis=0)) + 1).tolist()
    with_judge = [(0, column) for column in rated]
    among = [(a + 1, b + 1) for a, b in cohen.rater_pairs(kept)]
    compared = SpanPairs.compare(together, [*with_judge, *among], resampling)
    joint = cohen.joint_counts(together.codes)
    mine, theirs = (_members(compared, pairs, joint) for pairs in (with_judge, among))
    judged, of_people = compared.mean(mine), compared.mean(theirs)
    reason = "the judge scored no item" if not scored.any() else NOTHING
    overlap, paired = count_basis(kept, kept.ratings_per_item > 0), count_basis(kept, kept.pairable)
    pairs = compared.list_pairs(mine | theirs)[: len(with_judge)]
    no_pair = reason if paired.n_items else NO_PAIR
    overlaps, labelled, exact = _estimate(judged, resampling, overlap, reason)
    ceiling, ceiling_labelled, ceiling_exact = _estimate(of_people, resampling, paired, no_pair)
    below, below_labelled, below_exact = _estimate(
        minus(of_people, judged), resampling, paired, no_pair, "plain", student=True
    )  # as the difference of kappas
    return {
        "mean_overlap_f1": overlaps,
        "mean_labelled_overlap_f1": labelled,
        "mean_exact_f1": exact,
        "human_ceiling_overlap": ceiling,
        "human_ceiling_labelled_overlap": ceiling_labelled,
        "human_ceiling_exact": ceiling_exact,
        "below_ceiling_overlap": below,
        "below_ceiling_labelled_overlap": below_labelled,
        "below_ceiling_exact": below_exact,
        "per_annotator": {pair["b"]: pair["overlap_f1"] for pair in pairs},
        "left_out": [pair["b"] for pair in pairs if not pair["in_mean"]],
        "n_items": people.n_items,
        "scored": int(scored.sum()),
        "unscored": int(unscored.sum()),
        "not_judged": int((~scored & ~unscored).sum()),
    }


NO_PAIR = "no item that the judge scored has two annotators"


def _with_judge(people: RatingTable, judge: IntArray, name: str) -> RatingTable:
    label = name if name not in people.raters else f"{name} (judge)"
    return RatingTable(
        np.hstack([judge[:, None], people.codes]),
        people.categories,
        people.level,
        people.items,
        (label, *people.raters),
        clusters=people.clusters,
        strata=people.strata,
        weights=people.weights,
        texts=people.texts,
    )


def _members(compared: SpanPairs, pairs: list[cohen.Pair], joint: IntArray) -> BoolArray:
    """(P,) which of all pairs are of these and have enough items beside the best covered of these."""
    mine = np.array([pair in set(pairs) for pair in compared.pairs], dtype=bool)
    n = np.array([joint[pair] for pair in compared.pairs], dtype=np.int64)
    return np.asarray(mine & cohen.enough(np.where(mine, n, 0)))


def _estimate(
    mean: Replicates,
    resampling: Resampling,
    basis: Basis,
    reason: str,
    scale: Scale | None = None,
    *,
    student: bool = False,
) -> list[EstimateDocument]:
    """In the order of `KINDS`."""
    k = len(KINDS)
    scales = scale or find_scales(KINDS)
    found = estimates(mean, resampling, [basis] * k, [reason] * k, scale=scales, student=student)
    return [one.to_json() for one in found]
