"""A study of pairs whose difficulty follows from their texts: people disagree where the two responses are alike."""

from __future__ import annotations

import numpy as np

from annotation.corpus.models import ResponsePair
from annotation.studies.models.studies import Criterion
from tests.support.factories import CriterionFactory
from tests.support.labelled import people_say, with_items

SIDES = [{"value": value, "label": f"Response {value}", "guideline": ""} for value in ("1", "2")]
WORDS = ("hotel", "garden", "train", "river", "supper", "window", "market", "island")


def study_of_pairs(n: int = 120, *, rated: int | None = None, slug: str = "alike", seed: int = 0) -> Criterion:
    """The criterion of a study of n pairs, the first of which three people rated; every second pair is alike."""
    rng = np.random.default_rng(seed)
    study = with_items(n, kind="pair", name=slug.title(), slug=slug)
    alike = rng.random(n) < 0.5
    for pair, same in zip(ResponsePair.objects.filter(source="test").order_by("pk"), alike.tolist(), strict=True):
        pair.response_1 = " ".join(rng.choice(WORDS, 12).tolist())
        pair.response_2 = pair.response_1[::-1] if not same else f"{pair.response_1}!"
        pair.save(update_fields=["response_1", "response_2"])
    criterion = CriterionFactory(study=study, level="nominal", key="preference", name="Preference", categories=SIDES)
    right, tied = rng.integers(1, 3, n), rng.random((3, n)) < np.where(alike, 0.5, 0.03)
    people_say(
        criterion,
        {
            name: [
                None if rated is not None and k >= rated else str(3 - right[k] if flips[k] else right[k])
                for k in range(n)
            ]
            for name, flips in zip(("bob", "carol", "dana"), tied, strict=True)
        },
    )
    return criterion
