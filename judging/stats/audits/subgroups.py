"""Is the judge's error the same in every group of items (domain, tier, assistant, demographics)?"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy

from annotation.stats.estimate import Estimate
from annotation.stats.table import FloatArray, IntArray
from judging.stats.asymptotic import figure
from judging.stats.audits.probe import LEAST, Probe, detectable, not_made

UNIT = "judge minus person in the group that stands out most, less the same elsewhere"
PERMUTATIONS = 1999
FEW_VALUES = 60


def subgroups(
    judge: npt.ArrayLike,
    person: npt.ArrayLike,
    groups: Sequence[str],
    *,
    name: str = "subgroups",
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> Probe:
    """The largest standardised departure of a group's bias from the rest, by a permutation test.

    Parameters
    ----------
    judge, person
        (n,) scores or preferences; NaN where missing.
    groups
        (n,) group of each item; groups of fewer than 10 items are left out.
    name
        Of the probe, for example ``"subgroups:domain"``.
    permutations, seed
        Number of random reassignments of items to groups, and their seed. Exact for any shape of the differences.

    Returns
    -------
    Probe
        The interval of the effect and those in ``details`` (judge minus person by group) hold for all groups together
        (Bonferroni).
    """
    d = np.asarray(judge, dtype=float) - np.asarray(person, dtype=float)
    labels = np.asarray(groups, dtype=object).astype(str)
    names, place, counts = np.unique(labels[~np.isnan(d)], return_inverse=True, return_counts=True)
    large = counts >= LEAST
    if large.sum() < 2:
        return not_made(name, UNIT, f"fewer than two groups of {LEAST} items or more", int(counts.sum()))
    used = large[place]
    kept, group = d[~np.isnan(d)][used], (np.cumsum(large) - 1)[place[used]]
    if np.ptp(kept) < 1e-12:
        return not_made(name, UNIT, "judge minus person is the same on every item", len(kept))
    members = np.eye(int(large.sum()))[group]
    size, deviation = members.sum(axis=0), kept - kept.mean()
    scale = np.sqrt((deviation**2).mean() * (1 / size - 1 / len(kept))) * size
    observed = np.abs(deviation @ members) / scale
    shuffled = _shuffled_sums(deviation, size.astype(np.int64), permutations, np.random.default_rng(seed))
    extreme = (np.abs(shuffled) / scale).max(axis=1)
    p = (1 + (extreme >= observed.max() - 1e-9).sum()) / (permutations + 1)
    worst = int(observed.argmax())
    effect, se = _against_rest(kept, group == worst)
    z = float(scipy.stats.norm.ppf(1 - 0.05 / (2 * large.sum())))
    return Probe(
        name,
        figure(effect, (effect - z * se, effect + z * se), n_items=len(kept), confidence=0.95, method="Bonferroni"),
        f"{UNIT} (group {names[large][worst]})",
        f"permutation test, {permutations} draws",
        float(p),
        detectable(se, level=0.05 / int(large.sum())),
        {str(label): _bias(kept[group == k], z) for k, label in enumerate(names[large])},
    )


def _shuffled_sums(d: FloatArray, size: IntArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """(draws, k) sums of ``d`` (n,) over groups of the given sizes when items are dealt to them at random.

    Ratings differ by few distinct amounts: then it is enough to draw how many items of each amount a group gets, a
    table with both margins fixed.
    """
    values, counts = np.unique(d.round(9), return_counts=True)
    if len(values) <= FEW_VALUES:
        tables = scipy.stats.random_table(size, counts).rvs(size=draws, random_state=rng)
        sums: FloatArray = tables @ values
        return sums
    ends = np.cumsum(size)
    return np.array([np.add.reduceat(rng.permutation(d), ends - size) for _ in range(draws)])


def _against_rest(d: FloatArray, inside: npt.NDArray[np.bool_]) -> tuple[float, float]:
    a, b = d[inside], d[~inside]
    return float(a.mean() - b.mean()), float(np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)))


def _bias(d: FloatArray, z: float) -> Estimate:
    se = float(d.std(ddof=1) / np.sqrt(len(d)))
    mean = float(d.mean())
    return figure(mean, (mean - z * se, mean + z * se), n_items=len(d), confidence=0.95, method="Bonferroni")
