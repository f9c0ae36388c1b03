"""Which items of a study to label next for a corrected mean of a given width."""

from __future__ import annotations

from typing import Any

import numpy as np

from annotation.errors import InputError
from annotation.stats.estimate import number_or_none
from judging.queries.evidence import JudgeEvidence
from judging.stats.evidence import Evidence, scored
from judging.stats.labelling_plan import allocation, drawn, inclusion, labels_needed

NO_MEAN = "a scale without an order has no mean to be planned for"


def plan(
    evidence: JudgeEvidence, key: str, *, width: float, by: str = "", confidence: float = 0.95, seed: int = 0
) -> dict[str, Any]:
    """Labels needed with and without the judge, over strata where asked, and the items to label next.

    Every item comes with the probability that it had of being chosen, so that its label can be weighted.

    Raises
    ------
    InputError
        Where there is no such criterion or grouping, or the width is not positive.
    """
    one = _evidence(evidence, key)
    if not width > 0:
        raise InputError("must be above 0", field="width")
    if by and by not in one.material.groups:
        known = ", ".join(one.material.groups) or "none"
        raise InputError(f"items are not grouped by {by!r}; there are {known}", field="by")
    head = {"criterion": key, "judge": str(evidence.judge), "confidence": confidence, "seed": seed}
    if one.people.counted and one.table.n_categories > 2:
        return {**head, "needed": None, "reason": NO_MEAN, "allocation": {}, "items": []}
    human, judge = one.scores()[0], np.where(one.usable, scored(one.said.codes, one.numbers), np.nan)
    needed = labels_needed(human, judge, width=width, confidence=confidence)
    more = 0 if np.isnan(needed.with_judge) else int(needed.more)
    return {
        **head,
        "needed": needed.as_json(),
        "reason": needed.reason,
        "allocation": allocation(human, judge, one.material.groups[by], more) if by and more else {},
        "items": _items(one, human, judge, more, seed),
    }


def _evidence(evidence: JudgeEvidence, key: str) -> Evidence:
    if key not in evidence.evidence:
        known = ", ".join(evidence.evidence)
        raise InputError(f"no criterion is called {key!r}; there are {known}", field="criterion")
    return evidence.evidence[key]


def _items(one: Evidence, human: Any, judge: Any, more: int, seed: int) -> list[dict[str, Any]]:
    """The items that a draw takes, with their probabilities; doubt is one minus the judge's confidence."""
    eligible = np.isnan(human) & ~np.isnan(judge)
    doubt = 1 - one.said.confidence if one.said.confidence_from else np.full(one.material.n, np.nan)
    probabilities = inclusion(np.clip(doubt, 0.0, 1.0), eligible, more)
    taken = drawn(probabilities, seed=seed)
    return [
        {
            "position": int(one.material.names[row]),
            "probability": float(probabilities[row]),
            "confidence": number_or_none(float(one.said.confidence[row])),
        }
        for row in np.flatnonzero(taken).tolist()
    ]
