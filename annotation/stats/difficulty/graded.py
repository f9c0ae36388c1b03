"""Graded answers: items on a trait, people who differ in severity and consistency, items that differ in noise.

Person j says category k or less of item i with probability expit(h_ij (c_k - t_i + s_j)), h_ij = exp(l + a_j - w u_i):
the many-facet graded response model (Samejima 1969, Psychometrika Monograph 17; Linacre 1989, Many-Facet Rasch
Measurement), with noise of the item's own. t and u are standard normal. With two categories, one consistency and no
noise of the item's own it is Rasch's model.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from annotation.stats.difficulty.latent import COARSE, FINE, FLOOR, Tables, blocks, normal_nodes
from annotation.stats.table import FloatArray

REACH, APART = 5.0, 0.2
TRAIT: FloatArray = np.arange(-REACH, REACH + APART / 2, APART)
ENDLESS = 40.0
"""Logits are kept within this."""

SEVERITY_SD, CONSISTENCY_SD = 1.0, 0.5
"""Priors of people: severities in standard deviations of the trait, consistencies as logarithms."""
NOISE_AT, NOISE_SD = np.log(0.4), 0.75
"""Prior of the logarithm of w."""
SLOPE_AT, SLOPE_SD = np.log(2.0), 1.0
"""Prior of l."""


@dataclass(frozen=True)
class GradedResponseModel:
    """The model of r people and q ordered categories.

    Attributes
    ----------
    own_consistency
        Whether people differ in consistency.
    own_noise
        Whether items differ in noise: not to be told from the trait where there are two categories.
    with_priors
        Whether people and noise have priors; without them the fit is plain marginal maximum likelihood.
    n_ease
        Nodes of the noise.
    """

    n_people: int
    n_categories: int
    own_consistency: bool = True
    own_noise: bool = True
    with_priors: bool = True
    n_ease: int = COARSE

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of thresholds, severities, slope, consistencies, noise: of people all but the last, as they add up to 0."""
        others = self.n_people - 1
        return (self.n_categories - 1, others, 1, others * self.own_consistency, int(self.own_noise))

    @property
    def trait(self) -> FloatArray:
        """(N,) of the nodes."""
        return np.repeat(TRAIT, len(self._ease))

    @cached_property
    def _noise_nodes(self) -> tuple[FloatArray, FloatArray]:
        return normal_nodes(self.n_ease) if self.own_noise else (np.zeros(1), np.zeros(1))

    @property
    def _ease(self) -> FloatArray:
        return self._noise_nodes[0]

    def finer(self) -> "GradedResponseModel":
        return replace(self, n_ease=FINE)

    def start(self, counts: FloatArray) -> FloatArray:
        shares = np.cumsum(counts.sum(axis=0) + 0.5)
        cuts = scipy.special.ndtri(shares[:-1] / shares[-1]) * 1.3
        steps = np.log(np.maximum(np.diff(cuts), 0.05))
        _, others, _, consistencies, noise = self.sizes
        people = np.zeros(others + consistencies)
        return np.concatenate([cuts[:1], steps, people[:others], [SLOPE_AT], people[others:], np.full(noise, NOISE_AT)])

    def thresholds(self, free: FloatArray) -> FloatArray:
        """(q - 1,) where one category ends, in standard deviations of the trait."""
        steps = blocks(free, self.sizes)[0]
        ends: FloatArray = np.cumsum(np.r_[steps[:1], np.exp(steps[1:])])
        return ends

    def severities(self, free: FloatArray) -> FloatArray:
        """(r,) in standard deviations of the trait; above 0 a person gives lower categories than others."""
        return _with_last(blocks(free, self.sizes)[1])

    def slopes(self, free: FloatArray) -> FloatArray:
        """(r,) consistencies: how steeply a person's answers follow the trait."""
        _, _, slope, own, _ = blocks(free, self.sizes)
        people = _with_last(own) if self.own_consistency else np.zeros(self.n_people)
        steep: FloatArray = np.exp(slope[0] + people)
        return steep

    def contrast(self, part: int) -> FloatArray:
        """(r, f) that takes the parameters to the severities (1) or to the logarithms of the slopes (3)."""
        sizes = self.sizes
        found = np.zeros((self.n_people, sum(sizes)))
        start = sum(sizes[:part])
        if sizes[part]:
            found[:, start : start + sizes[part]] = np.vstack([np.eye(sizes[part]), -np.ones(sizes[part])])
        if part == 3:
            found[:, sum(sizes[:2])] = 1.0
        return found

    def tables(self, free: FloatArray) -> Tables:
        inner, steep = self._inner(free)
        below, above = scipy.special.expit(inner), scipy.special.expit(-inner)
        nobody = np.zeros((self.n_people, 1, inner.shape[2]))
        upto = np.concatenate([nobody, below, nobody + 1], axis=1)
        beyond = np.concatenate([nobody + 1, above, nobody], axis=1)
        high = (
            np.concatenate([nobody, inner], axis=1) > 0
        )  # there the difference of two numbers near 1 loses its digits
        p = np.where(high, beyond[:, :-1] - beyond[:, 1:], upto[:, 1:] - upto[:, :-1])
        prior = np.log(np.exp(-0.5 * TRAIT**2) / np.exp(-0.5 * TRAIT**2).sum())
        log_prior = (prior[:, None] + self._noise_nodes[1]).ravel()
        density = np.where(np.abs(inner) < ENDLESS, below * above, 0.0)
        return Tables(log_prior, np.maximum(p, FLOOR), (inner, steep, density))

    def gradient(self, free: FloatArray, tables: Tables, expected: FloatArray, totals: FloatArray) -> FloatArray:  # noqa: ARG002
        inner, steep, density = tables.parts
        per = expected / tables.p
        of_inner = density * (per[:, :-1] - per[:, 1:])
        of_end = steep * of_inner
        cuts, people = np.einsum("jkn->k", of_end), np.einsum("jkn->j", of_end)
        of_slope = np.einsum("jkn,jkn->jn", of_inner, inner)
        consistency = of_slope.sum(axis=1)
        steps = blocks(free, self.sizes)[0]
        in_cuts = np.r_[cuts.sum(), np.exp(steps[1:]) * np.cumsum(cuts[::-1])[::-1][1:]]
        found = [in_cuts, people[:-1] - people[-1], [consistency.sum()]]
        if self.own_consistency:
            found.append(consistency[:-1] - consistency[-1])
        if self.own_noise:
            ease = np.tile(self._ease, len(TRAIT))
            found.append([-np.exp(free[-1]) * float(of_slope.sum(axis=0) @ ease)])
        return np.concatenate(found)

    def penalty(self, free: FloatArray) -> tuple[float, FloatArray]:
        slope = np.zeros(len(free))
        if not self.with_priors:
            return 0.0, slope
        value = 0.0
        ends = np.cumsum([0, *self.sizes])
        for part, sd in ((1, SEVERITY_SD), (3, CONSISTENCY_SD)):
            own = free[ends[part] : ends[part + 1]]
            all_of_them = _with_last(own) if len(own) else own
            value -= 0.5 * float(all_of_them @ all_of_them) / sd**2
            slope[ends[part] : ends[part + 1]] = -(own + own.sum()) / sd**2
        for at, centre, sd in ((ends[2], SLOPE_AT, SLOPE_SD), (len(free) - 1, NOISE_AT, NOISE_SD)):
            if at == ends[2] or self.own_noise:
                value -= 0.5 * float((free[at] - centre) / sd) ** 2
                slope[at] -= (free[at] - centre) / sd**2
        return value, slope

    def _inner(self, free: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(r, q - 1, N) where one category ends on the logit scale, and (r, 1, N) steepness."""
        noise = np.exp(free[-1]) * self._ease if self.own_noise else np.zeros(1)
        steep = self.slopes(free)[:, None] * np.exp(-np.tile(np.clip(noise, -ENDLESS, ENDLESS), len(TRAIT)))
        moved = self.thresholds(free)[None, :, None] - self.trait + self.severities(free)[:, None, None]
        return np.clip(steep[:, None, :] * moved, -ENDLESS, ENDLESS), steep[:, None, :]


def _with_last(others: FloatArray) -> FloatArray:
    """All of them, from all but the last: they add up to 0."""
    return np.append(others, -others.sum())
