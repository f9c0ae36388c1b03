"""A judge and its human ceiling in each part of the items: per tier, per domain, per kind of person.

Parts that are chosen by agreement, such as tiers, have a ceiling that follows from the choice: people agree on
easy items because that is what makes them easy. What the judge does there is news, the ceiling is not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.stats.table import RatingTable
from judging.stats.agreement import JudgeAgreement, judge_agreement
from judging.stats.result_types import JudgeGroupDocument


@dataclass(frozen=True)
class JudgeGroup:
    """A judge held to people on the items of one group."""

    group: str
    agreement: JudgeAgreement

    def to_json(self) -> JudgeGroupDocument:
        """The group as JSON types."""
        return {"group": self.group, **self.agreement.to_json()}


def compute_agreement_by(
    people: RatingTable,
    judge_codes: npt.ArrayLike,
    groups: Sequence[str | None],
    *,
    judge_name: str,
    unscored: npt.ArrayLike | None = None,
    scores: npt.ArrayLike | None = None,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> list[JudgeGroup]:
    """`judge_agreement` of each group of items, in the order of the groups' names.

    ``groups`` names the group of each item, None for an item that belongs to none. Raises ``ValueError``
    where there is not one per item, and as `judge_agreement` does.
    """
    if len(groups) != people.n_items:
        raise ValueError(f"{len(groups)} groups for {people.n_items} items")
    codes = np.asarray(judge_codes, dtype=np.int64)
    if codes.shape != (people.n_items,):
        raise ValueError(f"judge {judge_name!r} has codes of shape {codes.shape} for {people.n_items} items")
    unread = None if unscored is None else np.asarray(unscored, dtype=bool)
    numbers = None if scores is None else np.asarray(scores, dtype=float)
    labels = np.array([None if group is None else str(group) for group in groups], dtype=object)
    found = []
    for group in sorted({label for label in labels if label is not None}):
        members = labels == group
        part = judge_agreement(
            people.subset_items(members),
            codes[members],
            judge_name=judge_name,
            unscored=None if unread is None else unread[members],
            scores=None if numbers is None else numbers[members],
            bootstrap=bootstrap,
            confidence=confidence,
            seed=seed,
        )
        found.append(JudgeGroup(group, part))
    return found
