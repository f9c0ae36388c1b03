"""How many labels, over which groups, and which items."""

import numpy as np
import pytest

from judging.stats.labelling_plan import allocation, draw_systematic, inclusion, intraclass_correlation, labels_needed
from judging.stats.prediction_powered import LabelledSample, ppi_mean


def columns(n, labelled, noise, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, n)
    judge = truth + rng.normal(0, noise, n)
    return np.where(np.arange(n) < labelled, truth, np.nan), judge


@pytest.mark.parametrize("noise", [0.3, 1.0, 5.0])
def test_the_number_that_is_said_gives_the_width_that_was_asked_for(noise):
    human, judge = columns(20_000, 3000, noise)
    needed = labels_needed(human, judge, width=0.04)
    again, judge = columns(20_000, int(needed.with_judge), noise, seed=1)
    found = ppi_mean(LabelledSample.from_columns(again, judge)).ppi
    assert found.high - found.low == pytest.approx(0.04, rel=0.08)
    assert needed.with_judge <= needed.without_judge * 1.01


def test_without_the_judge_it_is_the_textbook():
    """n = (1.96 s / half-width)²; s = 1, half-width 0.1: 384.1, so 385."""
    human = np.tile([1.0, -1.0], 500) * np.sqrt(999 / 1000)
    assert labels_needed(human, np.zeros(1000), width=0.2).without_judge == 385


def test_a_width_that_all_items_cannot_give_is_not_promised():
    human, judge = columns(500, 100, 1.0)
    assert np.isnan(labels_needed(human, judge, width=0.01).with_judge)


def clustered(n, labelled, per=40, seed=0):
    """Labels and scores that share an effect of their cluster; labels at random."""
    rng = np.random.default_rng(seed)
    unit = np.arange(n) // per
    truth = rng.normal(0, 0.5, n // per)[unit] + rng.normal(0, 1, n)
    judge = truth + rng.normal(0, 0.4, n // per)[unit] + rng.normal(0, 1, n)
    human = np.full(n, np.nan)
    known = rng.permutation(n)[:labelled]
    human[known] = truth[known]
    return human, judge, [str(one) for one in unit]


def test_clusters_need_more_and_the_number_gives_the_width():
    human, judge, names = clustered(12_000, 2000)
    needed = labels_needed(human, judge, width=0.16, clusters=names)
    assert needed.with_judge > 1.3 * labels_needed(human, judge, width=0.16).with_judge
    assert needed.design_effect == pytest.approx(1 + 0.2 * (2000 / 300 - 1), rel=0.35)
    again, judge, names = clustered(12_000, int(needed.with_judge), seed=1)
    found = ppi_mean(LabelledSample.from_columns(again, judge, clusters=names)).ppi
    assert found.high - found.low == pytest.approx(0.16, rel=0.12)
    assert "design effect" in needed.dependence


def test_more_labels_in_the_same_clusters_do_not_go_below_what_clusters_vary():
    human, judge, names = clustered(2000, 400, per=100)
    needed = labels_needed(human, judge, width=0.1, clusters=names)
    assert np.isnan(needed.with_judge)
    assert np.isnan(needed.without_judge)


def test_of_few_clusters_it_is_unknown_and_said():
    human, judge, names = clustered(280, 200, per=40)
    needed = labels_needed(human, judge, width=1, clusters=names)
    assert np.isnan(needed.design_effect)
    assert "taken as independent" in needed.dependence
    assert labels_needed(human, judge, width=1).dependence == ""


def test_intraclass_correlation_by_hand():
    # clusters (1, 3), (5, 7), (9, 11): between 2 * 32 / 2 = 32, within 6 / 3 = 2; (32 - 2) / (32 + 2)
    values, unit = np.array([1.0, 3, 5, 7, 9, 11]), np.repeat(np.arange(3), 2)
    assert intraclass_correlation(values, unit) == pytest.approx(30 / 34)
    assert intraclass_correlation(np.ones(6), unit) == 0
    assert intraclass_correlation(np.tile([1.0, 3], 3), unit) == 0


def test_few_or_equal_labels_make_no_plan():
    human, judge = columns(100, 5, 1.0)
    assert "a plan needs 10" in labels_needed(human, judge, width=1).reason
    assert "the same" in labels_needed(np.ones(50), judge[:50], width=1).reason
    with pytest.raises(ValueError, match="above 0"):
        labels_needed(human, judge, width=0)


def test_neyman_gives_more_to_the_larger_and_to_the_more_doubtful_group():
    """Sizes 100 and 200 unlabelled, spreads 2 and 1: shares equal. With spreads 1 and 1: one to two."""
    strata = ["a"] * 110 + ["b"] * 210
    error = np.concatenate([np.tile([2.0, -2.0], 55), np.tile([1.0, -1.0], 105)])
    judge = np.zeros(320)
    human = np.where(np.arange(320) % 110 < 10, error, np.nan)
    human[210:] = np.nan
    human[110:120] = error[110:120]
    found = allocation(human, judge, strata, 60)
    assert found == {"a": 30, "b": 30}
    even = np.where(np.isnan(human), np.nan, np.sign(human))
    assert allocation(even, judge, strata, 60) == {"a": 20, "b": 40}


def test_what_a_group_cannot_take_goes_to_the_others():
    human = np.array([1.0, np.nan] + [0.5] * 3 + [np.nan] * 20)
    strata = ["a"] * 2 + ["b"] * 23
    assert allocation(human, np.zeros(25), strata, 12) == {"a": 1, "b": 11}
    assert sum(allocation(human, np.zeros(25), strata, 500).values()) == 21


def test_probabilities_add_up_grow_with_doubt_and_never_vanish():
    rng = np.random.default_rng(0)
    doubt, eligible = rng.random(200), np.arange(200) < 150
    found = inclusion(doubt, eligible, 40)
    assert found.sum() == pytest.approx(40)
    assert (found[~eligible] == 0).all()
    assert found[eligible].min() >= 0.5 * 40 / 150 - 1e-12
    order = np.argsort(doubt[eligible])
    assert (np.diff(found[eligible][order]) >= -1e-12).all()
    assert inclusion(np.full(200, np.nan), eligible, 40)[eligible] == pytest.approx(40 / 150)
    assert inclusion(doubt, eligible, 1000)[eligible] == pytest.approx(1)


def test_the_draw_takes_as_many_and_each_as_often_as_it_should():
    probabilities = inclusion(np.linspace(0, 1, 50), np.ones(50, dtype=bool), 10)
    draws = np.array([draw_systematic(probabilities, seed=seed) for seed in range(4000)])
    assert set(draws.sum(axis=1)) == {10}
    assert np.abs(draws.mean(axis=0) - probabilities).max() < 0.04
    assert draw_systematic(np.zeros(5), seed=0).sum() == 0
