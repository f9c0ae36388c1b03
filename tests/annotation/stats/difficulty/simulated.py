"""Ratings drawn from the models, with the difficulty that each item truly has."""

import numpy as np
import scipy

from annotation.stats.difficulty.categories import Categories
from annotation.stats.difficulty.graded import Graded
from annotation.stats.table import RatingTable


def graded(n, r, q, rng):
    """A model of unequal people and its parameters."""
    model = Graded(r, q, own_noise=q > 2)
    severity, consistency = rng.normal(0, 0.4, r), rng.normal(0, 0.3, r)
    cuts = [-1.2, *np.log(np.full(q - 2, 2.4 / max(q - 2, 1)))]
    free = [cuts, (severity - severity.mean())[:-1], [np.log(2.5)], (consistency - consistency.mean())[:-1]]
    return model, np.concatenate([*free, [np.log(0.5)] * model.own_noise])


def categories(n, r, q, rng):
    model = Categories(r, q)
    return model, np.concatenate([rng.normal(0, 0.2, 2 * q - 2), rng.normal(1, 0.5, r), [np.log(1.5)]])


def draw(model, free, n, rng):
    """Codes (n, r) and each person's distribution of answers (n, r, q)."""
    r, q = model.n_people, model.n_categories
    u = rng.normal(size=n)
    if isinstance(model, Graded):
        noise = np.exp(free[-1]) * u if model.own_noise else np.zeros(n)
        steep = model.slopes(free) * np.exp(-noise)[:, None]
        moved = model.thresholds(free) - rng.normal(size=n)[:, None, None] + model.severities(free)[None, :, None]
        below = scipy.special.expit(steep[..., None] * moved)
        ends = np.concatenate([np.zeros((n, r, 1)), below, np.ones((n, r, 1))], axis=2)
        p = np.diff(ends, axis=2)
    else:
        true, guessed = (scipy.special.softmax(np.r_[0, part]) for part in np.split(free[: 2 * q - 2], 2))
        knows = scipy.special.expit(model.skills(free) + np.exp(free[-1]) * u[:, None])
        p = (1 - knows)[..., None] * guessed
        p[np.arange(n), :, rng.choice(q, n, p=true)] += knows
    codes = (rng.random((n, r, 1)) > np.cumsum(p, axis=2)).sum(axis=2).clip(0, q - 1)
    return codes.astype(np.int64), p


def table_of(codes, q, level, **more):
    n, r = codes.shape
    items, people = tuple(f"i{i}" for i in range(n)), tuple(f"r{j}" for j in range(r))
    return RatingTable(codes, tuple(range(1, q + 1)), level, items, people, **more)
