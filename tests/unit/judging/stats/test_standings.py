"""Groups by their means, with ranks that know how uncertain the means are."""

import numpy as np
import pytest
from scipy import stats

from judging.stats.prediction_powered import LabelledSample, ppi_mean
from judging.stats.standings import _deviations, _differences, boards, correct_by_group


def columns(means, *, n=200, labelled=60, seed=1):
    rng = np.random.default_rng(seed)
    groups = np.repeat(list(means), n)
    truth = np.concatenate([rng.normal(mean, 1, n) for mean in means.values()])
    judge = truth + rng.normal(0.5, 0.3, len(truth))
    human = np.where(np.tile(np.arange(n), len(means)) < labelled, truth, np.nan)
    return human, judge, groups.tolist()


def test_each_group_is_corrected_by_itself():
    human, judge, groups = columns({"a": 0.0, "b": 1.0})
    found = correct_by_group(human, judge, groups)
    mask = np.array(groups) == "b"
    assert found["b"].ppi == ppi_mean(LabelledSample.from_columns(human[mask], judge[mask])).ppi
    assert list(found) == ["a", "b"]


def test_clear_differences_leave_no_doubt_of_ranks_and_none_leaves_all():
    clear = boards(correct_by_group(*columns({"a": 0.0, "b": 3.0, "c": 6.0})))["corrected"]
    assert [(place.group, place.rank.value, place.rank.low, place.rank.high) for place in clear] == [
        ("c", 1, 1, 1),
        ("b", 2, 2, 2),
        ("a", 3, 3, 3),
    ]
    same = np.tile(np.random.default_rng(0).normal(0, 1, 50), 3)
    alike = boards(correct_by_group(same, same, ["a"] * 50 + ["b"] * 50 + ["c"] * 50))["people"]
    assert {(place.rank.low, place.rank.high) for place in alike} == {(1.0, 3.0)}


def test_all_ranks_of_a_board_are_right_at_once():
    """Five groups with close means: the rank sets of all hold in at least 95 % (they err on the wide side)."""
    means = {"a": 0.0, "b": 0.1, "c": 0.2, "d": 0.3, "e": 0.4}
    right = 0
    for seed in range(60):
        human, _, groups = columns(means, n=30, labelled=30, seed=seed)
        places = {place.group: place.rank for place in boards(correct_by_group(human, human, groups))["people"]}
        right += all(places[g].low <= rank <= places[g].high for g, rank in zip("edcba", range(1, 6), strict=True))
    assert right >= 56


def test_the_difference_of_two_means_is_that_of_welch():
    human, _, groups = columns({"a": 0.0, "b": 0.5}, n=40, labelled=40)
    found = correct_by_group(human, human, groups)
    low, high = _differences([found["a"].human_only, found["b"].human_only], np.zeros((0, 2)))
    theirs = stats.ttest_ind(human[:40], human[40:], equal_var=False).confidence_interval()
    assert (low[0], high[0]) == pytest.approx((theirs.low, theirs.high), abs=0.005)  # effective degrees of freedom


def of_profiles(taste, rng):
    """Two groups in the same profiles, ten items of each: (g, 2) ``taste`` and noise."""
    g = len(taste)
    profiles, groups = np.repeat(np.tile(np.arange(g), 2), 10), np.repeat([0, 1], 10 * g)
    human = taste[profiles, groups] + rng.normal(size=20 * g)
    names = {"groups": [f"g{k}" for k in groups], "clusters": [str(k) for k in profiles]}
    return human, names


def test_groups_in_the_same_profiles_are_compared_within_them():
    rng = np.random.default_rng(2)
    human, names = of_profiles(rng.normal(0, 2, 15)[:, None] + [0.0, 0.7], rng)
    found = correct_by_group(human, human, **names)
    means = [found[name].human_only for name in ("g0", "g1")]
    low, high = _differences(means, _deviations(means, [found[name].influences for name in ("g0", "g1")], 0))
    first, second = human.reshape(2, 15, 10).mean(axis=2)
    theirs = stats.ttest_rel(first, second).confidence_interval()
    assert (low[0], high[0]) == pytest.approx((theirs.low, theirs.high), abs=0.02)  # effective degrees of freedom
    assert [place.rank.high for place in boards(found)["people"]] == [1, 2]


@pytest.mark.long
def test_profiles_that_like_one_group_for_what_the_other_lacks_leave_equal_groups_in_doubt():
    """Ranks of two equal groups were certain in 11 to 15 % where groups were taken as independent."""
    rng, certain = np.random.default_rng(4), 0
    for _ in range(100):
        human, names = of_profiles(rng.normal(0, 0.7, 20)[:, None] * [1, -1], rng)
        places = boards(correct_by_group(human, human, **names))["people"]
        certain += places[0].rank.high == 1
    assert certain <= 7


def test_a_biased_judge_puts_the_groups_in_another_order_than_the_corrected_board():
    human, judge, groups = columns({"a": 0.0, "b": 0.6}, n=600, labelled=300)
    judge = judge + np.where(np.array(groups) == "a", 2.0, 0.0)
    found = boards(correct_by_group(human, judge, groups))
    assert [place.group for place in found["judge"]] == ["a", "b"]
    assert [place.group for place in found["corrected"]] == ["b", "a"]


def test_without_an_interval_there_is_no_rank_interval():
    found = boards(correct_by_group(np.ones(20), np.ones(20), ["a"] * 10 + ["b"] * 10))["people"]
    assert {place.rank.reason for place in found} == {"the mean has no interval, so that its rank has none"}


def test_a_group_with_all_labels_stands_beside_the_others_by_them():
    human, judge, groups = columns({"a": 0.0, "b": 1.0})
    complete = np.where(np.array(groups) == "b", np.nan_to_num(human, nan=1.0), human)
    found = correct_by_group(complete, judge, groups)
    assert found["b"].ppi == found["b"].human_only
    assert (found["b"].weight, found["b"].saved) == (0, 0)
    assert {place.group for place in boards(found)["corrected"]} == {"a", "b"}
    nobody = correct_by_group(np.full(20, np.nan), np.ones(20), ["a"] * 20)
    assert boards(nobody)["corrected"] == []


@pytest.mark.long
def test_the_worth_by_correlation_is_the_limit_of_ppi():
    """Effective n over n tends to 1 / (1 - r^2) as the unlabelled items grow; here they are 500 times the labelled."""
    rng = np.random.default_rng(1)
    truth = rng.normal(0, 1, 1_000_000)
    judge = truth + rng.normal(0, 1, len(truth))
    human = np.where(np.arange(len(truth)) < 2000, truth, np.nan)
    found = ppi_mean(LabelledSample.from_columns(human, judge))
    assert found.correlation == pytest.approx(np.sqrt(0.5), abs=0.03)
    assert found.effective_n / 2000 == pytest.approx(1 / (1 - found.correlation**2), rel=0.03)
