"""The verdicts of a simulated judge: drawn from stated levels with stated noise. Never to be taken for a model's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from annotation.stats.simulated import simulate_ratings
from annotation.stats.table import Level
from annotation.studies.models.studies import Study
from annotation.workbench.services.simulated_annotators import Truth, compute_accuracies, to_stated_codes

UNEVENNESS = 6.0
"""As of simulated annotators: the judge knows better than they do which items it gets right."""


def draw_chances(
    *, study: Study, truth: Truth, accuracy: Mapping[str, float], seed: int
) -> dict[str, dict[str, dict[str, float]]]:
    """Draw a verdict on every item of a study: by criterion and external id, how probable each value is said to be.

    Criteria are of whole items. InputError where no level is stated.

    On the criterion of key k the stated level is given with probability `accuracy[k]`, mean over items, and more often
    on items that the simulated annotators of the same seed find easy. The judge is as sure as it is often right.
    """
    items = sorted(item.external_id for item in study.items.select_related("dialogue", "pair"))
    drawn = {}
    whole = [(item, 0) for item in items]
    for criterion in study.asked:
        sure = compute_accuracies(whole, criterion, accuracy[criterion.key], seed, UNEVENNESS)
        codes = to_stated_codes(whole, criterion, truth)
        rng = np.random.default_rng([seed, criterion.position, len(items)])
        level = cast(Level, criterion.level)  # the database allows only these four
        said = simulate_ratings(codes, n_categories=len(criterion.values), level=level, accuracy=sure, rng=rng)
        drawn[criterion.key] = {
            item: share_chances(criterion.values, int(code), float(chance))
            for item, code, chance in zip(items, said, sure, strict=True)
        }
    return drawn


def share_chances(values: Sequence[str], code: int, sure: float) -> dict[str, float]:
    """The probability of each value: `sure` for the chosen one, more than for any other; the rest in equal parts."""
    least = 1.1 / len(values)
    chosen = round(min(max(sure, least), 0.999), 4)
    rest = (1 - chosen) / (len(values) - 1)
    return {value: chosen if place == code else rest for place, value in enumerate(values)}
