"""Unordered answers: an item has a true category, people know it with a skill of their own, on hard items less often.

Person j knows the category of item i with probability expit(a_j + w u_i) and then says it; who does not know guesses,
by shares g that all people have in common. u is standard normal: the item's ease (after GLAD: Whitehill, Ruvolo, Wu,
Bergsma and Movellan 2009, NeurIPS 22:2035-2043, with guessing that is not uniform).
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from annotation.stats.difficulty.latent import COARSE, FINE, FLOOR, Tables, blocks, normal_nodes
from annotation.stats.table import FloatArray

SKILL_AT, SKILL_SD = 1.0, 1.5
NOISE_AT, NOISE_SD = 0.0, 0.75
"""Priors of skills on the logit scale, and of the logarithm of w."""
GUESSES = 1.0
"""Imagined guesses in each category: keeps a category that nobody guesses at a share above 0."""


@dataclass(frozen=True)
class Categories:
    """The model of r people and q unordered categories."""

    n_people: int
    n_categories: int
    n_ease: int = COARSE

    def finer(self) -> "Categories":
        return replace(self, n_ease=FINE)

    @cached_property
    def _ease(self) -> tuple[FloatArray, FloatArray]:
        return normal_nodes(self.n_ease)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of the logits of true and of guessed categories, skills, the spread of ease."""
        others = self.n_categories - 1
        return (others, others, self.n_people, 1)

    @property
    def true_category(self) -> FloatArray:
        """(N,) of the nodes."""
        return np.repeat(np.arange(self.n_categories), self.n_ease)

    def start(self, counts: FloatArray) -> FloatArray:
        share = np.log(counts.sum(axis=0) + 1.0)
        logits = share[1:] - share[0]
        return np.concatenate([logits, 0.5 * logits, np.full(self.n_people, SKILL_AT), [NOISE_AT]])

    def skills(self, free: FloatArray) -> FloatArray:
        """(r,) logit of how often a person knows the category of an average item."""
        return blocks(free, self.sizes)[2]

    def tables(self, free: FloatArray) -> Tables:
        true, guessed, _, _ = blocks(free, self.sizes)
        knows, right = self._knows(free), self._right
        p = knows[:, None, :] * right + (1 - knows)[:, None, :] * _softmax(guessed)[:, None]
        prior = np.log(_softmax(true))[:, None] + self._ease[1]
        return Tables(prior.ravel(), np.maximum(p, FLOOR))

    def gradient(self, free: FloatArray, tables: Tables, expected: FloatArray, totals: FloatArray) -> FloatArray:
        true, guessed, _, spread = blocks(free, self.sizes)
        knows, shares = self._knows(free), _softmax(guessed)
        per_p = expected / tables.p
        of_knowing = (per_p * (self._right - shares[:, None])).sum(axis=1) * knows * (1 - knows)
        of_guess = (per_p * (1 - knows)[:, None, :]).sum(axis=(0, 2))
        by_category = totals.reshape(self.n_categories, -1).sum(axis=1)
        in_true = by_category - by_category.sum() * _softmax(true)
        in_guess = shares * (of_guess - float(shares @ of_guess))
        ease = np.tile(self._ease[0], self.n_categories)
        in_spread = np.exp(spread[0]) * float((of_knowing * ease).sum())
        return np.concatenate([in_true[1:], in_guess[1:], of_knowing.sum(axis=1), [in_spread]])

    def penalty(self, free: FloatArray) -> tuple[float, FloatArray]:
        _, guessed, skill, spread = blocks(free, self.sizes)
        shares, start = _softmax(guessed), self.n_categories - 1
        slope = np.zeros(len(free))
        slope[start : 2 * start] = GUESSES * (1 - self.n_categories * shares[1:])
        slope[2 * start : -1] = -(skill - SKILL_AT) / SKILL_SD**2
        slope[-1] = -(spread[0] - NOISE_AT) / NOISE_SD**2
        value = GUESSES * float(np.log(shares).sum()) - 0.5 * float((((skill - SKILL_AT) / SKILL_SD) ** 2).sum())
        return value - 0.5 * float(((spread[0] - NOISE_AT) / NOISE_SD) ** 2), slope

    def _knows(self, free: FloatArray) -> FloatArray:
        """(r, N) probability that a person knows the category."""
        ease = np.exp(free[-1]) * np.tile(self._ease[0], self.n_categories)
        knows: FloatArray = scipy.special.expit(self.skills(free)[:, None] + ease)
        return knows

    @property
    def _right(self) -> FloatArray:
        """(q, N) 1 where the category is the true one."""
        return np.equal(np.arange(self.n_categories)[:, None], self.true_category).astype(float)


def _softmax(logits: FloatArray) -> FloatArray:
    """(q,) shares from the logits of all but the first."""
    shares: FloatArray = scipy.special.softmax(np.r_[0.0, logits])
    return shares
