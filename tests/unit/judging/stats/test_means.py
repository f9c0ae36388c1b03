"""Means by column with clustered intervals."""

import math

import numpy as np
import pytest

from judging.stats.means import NO_VERDICT, compute_means

NAN = math.nan


def test_the_mean_of_each_column_over_the_judgments_that_belong_to_it():
    # all: (1 + 3 + 4) / 3; the first group: (1 + 3) / 2
    values = np.array([[1, 1], [3, 3], [4, NAN], [NAN, NAN]])

    all_, first = compute_means(values.T, items=list("aabc"), clusters=list("aabc"), bootstrap=200)

    assert all_.value == pytest.approx(8 / 3)
    assert (all_.n_items, all_.n_ratings) == (2, 3)
    assert first.value == 2
    assert (first.n_items, first.n_ratings) == (1, 2)


def test_an_empty_column_is_undefined_with_a_reason():
    (found,) = compute_means([np.array([NAN, NAN])], items=["1", "2"], clusters=["1", "2"], bootstrap=10)

    assert math.isnan(found.value)
    assert found.reason == NO_VERDICT
    assert (found.n_items, found.n_raters, found.n_ratings) == (0, 0, 0)


def test_judgments_of_one_cluster_are_drawn_together():
    """Each value four times over says no more than once, so the interval stays as wide as that of the clusters alone;
    taken as independent it would be half as wide: sd / sqrt(4 n)."""
    once = np.random.default_rng(0).random((20, 1))
    ones = [str(n) for n in range(20)]
    fourfold, of_four = np.repeat(once, 4, axis=0), list(np.repeat(ones, 4))

    (alone,) = compute_means(once.T, items=ones, clusters=ones)
    (clustered,) = compute_means(fourfold.T, items=of_four, clusters=of_four)
    (independent,) = compute_means(fourfold.T, items=of_four, clusters=[str(n) for n in range(80)])

    assert clustered.high - clustered.low == pytest.approx(alone.high - alone.low, rel=1e-9)
    assert independent.se == pytest.approx(clustered.se / 2, rel=0.05)


def test_the_same_seed_gives_the_same_interval():
    values, names = np.random.default_rng(1).random((300, 1)), [str(n) for n in range(300)]

    first, again, other = (
        compute_means(values.T, items=names, clusters=names, seed=seed, bootstrap=100)[0] for seed in (1, 1, 2)
    )

    assert (first.low, first.high) == (again.low, again.high)
    assert (first.low, first.high) != (other.low, other.high)


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="2 rows of values, 1 items and 2 clusters"):
        compute_means([np.zeros(2)], items=["1"], clusters=["1", "2"])


@pytest.mark.parametrize("sizes", [[10] * 12, [60, 30, 15, *[5] * 9]])
def test_intervals_hold_the_mean_also_of_unequal_clusters(sizes):
    """Means of columns drawn anew: 400 at once, each of 0 with effects of the clusters and of the judgments."""
    rng, cluster = np.random.default_rng(1), np.repeat(np.arange(len(sizes)), sizes)
    values = rng.normal(size=(len(sizes), 400))[cluster] + rng.normal(size=(len(cluster), 400))
    found = compute_means(values.T, items=np.arange(len(cluster)), clusters=cluster, bootstrap=1)
    assert np.mean([one.low <= 0 <= one.high for one in found]) >= 0.93


def test_a_column_of_which_one_cluster_holds_most_has_no_interval():
    values = np.random.default_rng(0).random((145, 2))
    values[45:140, 1] = NAN
    clusters = np.repeat(np.arange(10), [100, *[5] * 9])
    most, equal = compute_means(values.T, items=np.arange(145), clusters=clusters, bootstrap=1)
    assert most.reason == "not enough evidence: one of the clusters holds 69 % of the weight of all"
    assert math.isnan(most.low)
    assert equal.reason == "not enough evidence: 2 clusters; at least 8 are needed"  # the others hold nothing of it


def test_a_column_counts_its_own_clusters_also_where_there_are_too_few_of_all():
    """The defect: beside a mean of three clusters stood that there are seven."""
    values = np.array([[1.0, 0.5, 1.0] + [np.nan] * 4, [1.0, 0.5, 1.0, 0.0, 0.5, 0.0, 1.0]])
    few, every = compute_means(values, items=np.arange(7), clusters=[str(k) for k in range(7)], bootstrap=9)
    assert few.reason == "not enough evidence: 3 clusters; at least 8 are needed"
    assert every.reason == "not enough evidence: 7 clusters; at least 8 are needed"
