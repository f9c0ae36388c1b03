"""Does the judge err otherwise against one kind of people than against another?

What is compared is people, not ratings: one harsh person gives many low ratings, and says nothing of others of the
same age. So the unit of every test and interval here is the annotator.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy

from annotation.stats.estimate import Estimate
from annotation.stats.shares import count_df
from annotation.stats.table import MISSING, BoolArray, FloatArray, IntArray
from judging.stats.asymptotic import figure
from judging.stats.audits.probe import LEAST, POWER, TINY, Probe, not_made
from judging.stats.audits.unit_groups import compare_groups, difference, mean_and_error

LEAST_PEOPLE = 3
"""Annotators below which a group is not shown: what is said of one or two people can be told of them."""

SCORED = "judge − person, over annotators of the group that stands out most, less the others"
AGREEING = (
    "agreement with a person, judge − other people, over annotators of the group that stands out most, less the others"
)


def compute_differences(judge: FloatArray, people: FloatArray) -> FloatArray:
    """(n, r) judge (n,) minus each person (n, r); NaN where either is missing."""
    return np.asarray(judge[:, None] - people, dtype=float)


def agreement_differences(judge: IntArray, people: IntArray) -> FloatArray:
    """(n, r) whether the judge says what a person says, less the share of the other people who do.

    For scales without an order. ``judge`` (n,) and ``people`` (n, r) are codes, -1 where missing; NaN where the judge,
    the person, or everybody else said nothing.
    """
    known = people != MISSING
    others = known.sum(axis=1, keepdims=True) - 1
    agreeing = np.full(people.shape, -1.0)  # a person agrees with themselves
    for column in range(people.shape[1]):
        agreeing += known & (people == people[:, [column]])
    there = known & (others > 0) & (judge[:, None] != MISSING)
    share = np.divide(agreeing, others, out=np.zeros(people.shape), where=there)
    return np.where(there, (people == judge[:, None]) - share, np.nan)


def annotator_subgroups(
    differences: npt.ArrayLike,
    groups: Sequence[str | None],
    *,
    name: str = "subgroups:annotator",
    unit: str = SCORED,
    least_people: int = LEAST_PEOPLE,
) -> Probe:
    """The largest departure of a group of annotators from the others, by permuting annotators among groups.

    Parameters
    ----------
    differences
        (n, r) the judge beside each person on each item; NaN where there is nothing to compare.
    groups
        (r,) group of each annotator; None where they gave none. Groups of fewer than ``least_people`` annotators with
        a difference are left out.
    name, unit
        As in `Probe`.

    Returns
    -------
    Probe
        The effect weighs ratings equally; its interval and those in ``details`` are t intervals over annotators
        (between two groups with Welch's degrees of freedom), for all groups together (Bonferroni).
    """
    d = np.asarray(differences, dtype=float)
    known = ~np.isnan(d)
    n_items = int(known.any(axis=1).sum())
    labels, members, kept = _members(groups, known, least_people)
    if len(labels) < 2:
        return not_made(name, unit, f"fewer than two answers that {least_people} annotators or more gave", n_items)
    if n_items < LEAST:
        return not_made(name, unit, f"{n_items} items; the probe needs at least {LEAST}", n_items)
    sums, counts = np.where(known, d, 0.0).sum(axis=0)[kept], known.sum(axis=0)[kept].astype(float)
    excess = sums - counts * (sums.sum() / counts.sum())
    if np.abs(excess).max() < TINY:
        return not_made(name, unit, "judge − person is the same for every annotator", n_items)
    observed, p, test = compare_groups(sums, counts, members)
    worst, tests = int(observed.argmax()), len(labels)
    inside = members[:, worst]
    counted = (n_items, int(kept.sum()), int(counts.sum()))
    value, se, df = difference(sums, counts, inside)
    effect = _figure(value, se, df, tests, counted)
    quantiles = scipy.special.stdtrit(df, 1 - 0.05 / (2 * tests)) + scipy.special.stdtrit(df, POWER)
    return Probe(
        name,
        effect,
        f"{unit} (group {labels[worst]})",
        test.replace("units", "annotators"),
        p,
        float(quantiles * se) if se > TINY else np.nan,
        {label: _of_group(sums, counts, members[:, k], tests, known[:, kept]) for k, label in enumerate(labels)},
    )


def _members(
    groups: Sequence[str | None], known: BoolArray, least_people: int
) -> tuple[list[str], BoolArray, BoolArray]:
    """Names of the groups that are large enough, (k, g) who of the k annotators kept is in which, (r,) who is kept."""
    there = [bool(known[:, column].any()) for column in range(known.shape[1])]
    named = np.array([group if here else None for group, here in zip(groups, there, strict=True)], dtype=np.object_)
    sizes = {str(label): int((named == label).sum()) for label in set(named) - {None}}
    labels = sorted(label for label, size in sizes.items() if size >= least_people)
    member = np.array([named == label for label in labels], dtype=bool).T.reshape(len(named), len(labels))
    kept: BoolArray = np.asarray(member.any(axis=1))
    return labels, member[kept], kept


def _of_group(sums: FloatArray, counts: FloatArray, inside: BoolArray, tests: int, known: BoolArray) -> Estimate:
    mean, variance = mean_and_error(sums, counts, inside)
    counted = (int(known[:, inside].any(axis=1).sum()), int(inside.sum()), int(counts[inside].sum()))
    return _figure(mean, float(np.sqrt(variance)), count_df(counts[inside]), tests, counted)


def _figure(value: float, se: float, df: float, tests: int, counted: tuple[int, int, int]) -> Estimate:
    half = float(scipy.special.stdtrit(df, 1 - 0.05 / (2 * tests))) * se
    flat = se < TINY
    return figure(
        value,
        (np.nan, np.nan) if flat else (value - half, value + half),
        n_items=counted[0],
        n_raters=counted[1] + 1,  # and the judge
        n_ratings=counted[2],
        confidence=0.95,
        method="t over annotators, Bonferroni",
        reason="no interval: the annotators do not differ" if flat else None,
    )
