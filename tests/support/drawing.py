"""Ratings drawn from the models, with the distribution they were drawn from: for benches, demonstrations and tests."""

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import scipy

from annotation.stats.difficulty.categories import Categories
from annotation.stats.difficulty.graded import GradedResponseModel
from annotation.stats.difficulty.ranked import RankingModel, pairwise_agreement
from annotation.stats.rankings import BETTER, TIED
from annotation.stats.table import FloatArray, IntArray


def draw_graded_model(
    n_people: int, n_categories: int, rng: np.random.Generator, noise: float = 0.5
) -> tuple[GradedResponseModel, FloatArray]:
    """A model of people who differ in severity (sd .4) and consistency (sd .3 of its logarithm), and its parameters.

    ``noise`` is w, by how much items differ in noise; with two categories they do not.
    """
    model = GradedResponseModel(n_people, n_categories, own_noise=n_categories > 2)
    severity, consistency = rng.normal(0, 0.4, n_people), rng.normal(0, 0.3, n_people)
    cuts = [-1.2, *np.log(np.full(n_categories - 2, 2.4 / max(n_categories - 2, 1)))]
    people = [(severity - severity.mean())[:-1], [np.log(2.5)], (consistency - consistency.mean())[:-1]]
    return model, np.concatenate([cuts, *people, [np.log(noise)] * model.own_noise])


def categories(n_people: int, n_categories: int, rng: np.random.Generator) -> tuple[Categories, FloatArray]:
    """A model of people of unequal skill (logit 1, sd .5) on unordered categories, and its parameters."""
    model = Categories(n_people, n_categories)
    shares = rng.normal(0, 0.2, 2 * n_categories - 2)
    return model, np.concatenate([shares, rng.normal(1, 0.5, n_people), [np.log(1.5)]])


def preferences(
    order: IntArray, n_categories: int, rng: np.random.Generator, spread: float = 1.5
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Preferences on pairs seen in this ``order`` (n, r): codes, what fresh people say (n, q), strengths (n,).

    People differ in consistency (sd .3 of its logarithm) and lean to what they see first by .5 on average, sd .5.
    """
    n, r = order.shape
    lean, steep = rng.normal(0.5, 0.5, r), np.exp(rng.normal(0, 0.3, r))
    strength = rng.normal(0, spread, size=(n,))
    scores = np.linspace(0.5, -0.5, n_categories)

    def said(shown: IntArray) -> FloatArray:
        at = steep * strength[:, None] + lean * shown
        return np.asarray(scipy.special.softmax(at[..., None] * scores, axis=2))

    codes = (rng.random((n, r, 1)) > np.cumsum(said(order), axis=2)).sum(axis=2).clip(0, n_categories - 1)
    first = np.ones_like(order)
    return codes.astype(np.int64), (said(first) + said(-first)).mean(axis=1) / 2, strength


def rankings(
    n: int, n_people: int, names: str, rng: np.random.Generator, *, spread: float = 1.5, ties: float = -1.0
) -> tuple[list[list[str]], FloatArray]:
    """Rankings (n, r) of responses called by these letters, drawn stage by stage, and the true difficulties (n,).

    People differ in consistency (sd .3 of its logarithm); up to two responses are tied, with ``ties`` in place of d_2.
    """
    strengths, steep = rng.normal(0, spread, (n, len(names))), rng.normal(0, 0.3, n_people)
    steep = np.exp(steep - steep.mean())
    texts = [[_ranking(c * of_item, ties, names, rng) for c in steep] for of_item in strengths]
    return texts, _disagreement(strengths, steep, ties)


def _ranking(strength: FloatArray, ties: float, names: str, rng: np.random.Generator) -> str:
    left, groups = list(range(len(names))), []
    while left:
        sets = [*((k,) for k in left), *combinations(left, 2)]
        log = np.array([strength[list(one)].mean() + ties * (len(one) - 1) for one in sets])
        best = sets[rng.choice(len(sets), p=scipy.special.softmax(log))]
        groups.append(TIED.join(names[k] for k in best))
        left = [k for k in left if k not in best]
    return BETTER.join(groups)


@dataclass(frozen=True, eq=False)
class _AtStrengths(RankingModel):
    """The model with the items' own strengths (N, n) in place of nodes."""

    known: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    def strengths(self, free: FloatArray) -> FloatArray:
        return self.known


def _disagreement(strengths: FloatArray, steep: FloatArray, ties: float) -> FloatArray:
    """(n,) chance that two of the people disagree on a pair of responses, a tie counting half."""
    (n, n_responses), r = strengths.shape, len(steep)
    model = _AtStrengths(r, (), n_responses, 2, n_nodes=n, known=strengths.T)
    free = np.concatenate([[ties], np.log(steep)[:-1], np.zeros(n_responses)])
    return 1 - pairwise_agreement(model.pair_answers(free, np.full(r, 1 / r)))


def draw(
    model: GradedResponseModel | Categories, free: FloatArray, n: int, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """Codes (n, r) of n new items, and each person's distribution of answers to each (n, r, q)."""
    p = _graded(model, free, n, rng) if isinstance(model, GradedResponseModel) else _categories(model, free, n, rng)
    said = (rng.random((*p.shape[:2], 1)) > np.cumsum(p, axis=2)).sum(axis=2).clip(0, model.n_categories - 1)
    return said.astype(np.int64), p


def _graded(model: GradedResponseModel, free: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    noise = np.exp(free[-1]) * rng.normal(size=n) if model.own_noise else np.zeros(n)
    steep = model.slopes(free) * np.exp(-noise)[:, None]
    moved = model.thresholds(free) - rng.normal(size=n)[:, None, None] + model.severities(free)[None, :, None]
    below = scipy.special.expit(steep[..., None] * moved)
    return np.diff(below, axis=2, prepend=0.0, append=1.0)


def _categories(model: Categories, free: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    q = model.n_categories
    true, guessed = (scipy.special.softmax(np.r_[0.0, part]) for part in np.split(free[: 2 * q - 2], 2))
    knows = scipy.special.expit(model.skills(free) + np.exp(free[-1]) * rng.normal(size=n)[:, None])
    p: FloatArray = (1 - knows)[..., None] * guessed
    p[np.arange(n), :, rng.choice(q, n, p=true)] += knows
    return p
