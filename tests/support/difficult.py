"""Studies whose labels are drawn from the difficulty model, so that it can be fitted to them."""

from __future__ import annotations

import numpy as np

from annotation.studies.models.studies import Criterion
from tests.support import simulated_difficulty as simulated
from tests.support.factories import CriterionFactory
from tests.support.labelled import people_say, with_items


def drawn(n: int = 40, *, seed: int = 0, slug: str = "suits", people: str = "abc", **criterion) -> Criterion:
    """A criterion of a new study that simulated annotators have rated on n items, by its scale of four steps."""
    made = CriterionFactory(study=with_items(n, slug=slug, name=slug.title()), **{"key": "depth", **criterion})
    say(made, n, seed, people)
    return made


def say(criterion: Criterion, n: int, seed: int, people: str = "abc") -> None:
    """Let simulated annotators rate the criterion's items."""
    rng, values = np.random.default_rng(seed), criterion.values
    model, free = simulated.graded(n, len(people), len(values), rng)
    codes, _ = simulated.draw(model, free, n, rng)
    answers = {f"sim-{who}": [values[code] for code in codes[:, j]] for j, who in enumerate(people)}
    people_say(criterion, answers, kind="simulated")
