"""Several judges on one study: each against the one that agrees most with people, on the items that both scored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from annotation.services.agreement import RESAMPLES
from annotation.stats.dependence import drop_useless
from judging.services.trust.trusting import Trusted
from judging.stats.differences import JudgeDifference, compare_judges

FIGURES = ("mean_cohen_kappa", "mean_weighted_cohen_kappa", "percent_agreement")


def differences(judges: Sequence[Trusted], *, bootstrap: int = RESAMPLES, seed: int = 0) -> list[dict[str, Any]]:
    """Per criterion the judge with the highest kappa, and how far every other lies below it, paired."""
    keys = dict.fromkeys(key for judge in judges for key in judge.evidence.evidence)
    found = [_of_criterion(key, judges, bootstrap, seed) for key in keys]
    return [one for one in found if one["rows"]]


def _of_criterion(key: str, judges: Sequence[Trusted], bootstrap: int, seed: int) -> dict[str, Any]:
    there = [judge for judge in judges if key in judge.evidence.evidence]
    name = next(criterion.name for criterion in there[0].evidence.criteria if criterion.key == key)
    best = max(there, key=lambda judge: _kappa(judge, key))
    figure = FIGURES[1] if not best.evidence.evidence[key].people.counted else FIGURES[0]
    rows = [_row(best, other, key, figure, bootstrap, seed) for other in there if other is not best]
    return {"criterion": key, "name": name, "best": str(best.judge), "figure": figure, "rows": rows}


def _kappa(judge: Trusted, key: str) -> float:
    value = next(one.kappa["value"] for one in judge.verdicts if one.key == key)
    return -np.inf if value is None else float(value)


def _row(best: Trusted, other: Trusted, key: str, figure: str, bootstrap: int, seed: int) -> dict[str, Any]:
    people = best.evidence.evidence[key].table
    rated = people.ratings_per_item > 0
    table = drop_useless(people.subset_items(rated))
    codes = {str(one.judge): one.evidence.evidence[key].said.codes[rated] for one in (best, other)}
    (found,) = compare_judges(table, codes, bootstrap=bootstrap, seed=seed)
    return _as_row(found, figure, str(other.judge))


def _as_row(found: JudgeDifference, figure: str, judge: str) -> dict[str, Any]:
    return {"judge": judge, "n_items": found.n_items, **found.figures[figure].as_json()}
