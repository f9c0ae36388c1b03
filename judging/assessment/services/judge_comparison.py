"""Several judges on one study: each beside the one that agrees most with people, on the items that both scored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotation.stats.dependence import drop_useless
from annotation.stats.headline import choose_headline
from annotation.stats.table import MISSING
from core.hashing import content_hash
from core.jobs.waiting import load_or_make
from judging.assessment.agreement_types import RankingDocument
from judging.assessment.queries.assessment_data import JudgeData
from judging.assessment.services import runs
from judging.stats.differences import rank_judges


def compare_judges(judges: Sequence[JudgeData]) -> list[RankingDocument]:
    """Per criterion the judge that agrees most with people, how far every other lies below it, and all ranks.

    The intervals of all differences hold together, so that the best of several equal judges is not taken for better;
    clusters of the study count as one. Judges without a verdict on a criterion are left out. What is computed is kept;
    there is nothing to compare of fewer than two.
    """
    if len(judges) < 2:
        return []
    keys = dict.fromkeys(key for judge in judges for key in judge.evidence)
    found = load_or_make(
        f"differences-{content_hash(runs.identify(judges))}",
        lambda: [one for key in keys if (one := _of_criterion(key, judges)) is not None],
    )
    return list(found)


def _of_criterion(key: str, judges: Sequence[JudgeData]) -> RankingDocument | None:
    there = [judge for judge in judges if key in judge.evidence]
    first = there[0].evidence[key]
    rated = first.table.ratings_per_item > 0
    codes = {str(one.judge): one.evidence[key].said.codes[rated] for one in there}
    said = {name: column for name, column in codes.items() if (column != MISSING).any()}
    if len(said) < 2:
        return None
    figure = choose_headline(first.table.level, first.table.n_categories).judge
    found = rank_judges(drop_useless(first.table.subset_items(rated)), said, figure=figure)
    name = next(criterion.name for criterion in there[0].criteria if criterion.key == key)
    scored_by_all = np.all([column != MISSING for column in said.values()], axis=0)
    best, *others = found.judges
    return {
        "criterion": key,
        "name": name,
        "n_items": int(scored_by_all.sum()),
        "best": best.name,
        "figure": found.figure,
        "rows": [
            {
                "judge": one.name,
                "n_items": pair.n_items,
                **pair.figures[found.figure].to_json(),
                "ranks": [one.best, one.worst],
            }
            for one in others
            for pair in [found.pairs[best.name, one.name]]
        ],
        "ranks": [one.to_json() for one in found.judges],
    }
