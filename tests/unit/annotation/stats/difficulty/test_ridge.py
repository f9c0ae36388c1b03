"""Ridge regression: against scikit-learn, with gaps, and its folds."""

from collections import Counter

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from annotation.stats.difficulty.ridge import deal_folds, fit_ridge


@pytest.mark.parametrize("seed", range(3))
def test_at_the_chosen_penalty_it_is_that_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    x, weights = rng.normal(size=(60, 4)), rng.uniform(0.5, 2, 60)
    y = x @ [1.0, 0, -0.5, 0] + rng.normal(size=60)
    found = fit_ridge(x, y, weights, deal_folds([str(k) for k in range(60)], 5, seed))
    z = (x - found.ridge.centre) / found.ridge.scale
    same = Ridge(alpha=found.ridge.penalty * weights.sum()).fit(z, y, sample_weight=weights)
    assert found.ridge.slopes == pytest.approx(same.coef_)
    assert found.ridge.predict(x) == pytest.approx(same.predict(z))


def test_an_item_out_of_fold_is_not_seen():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    fold = np.arange(50) % 5
    moved = np.where(fold == 0, y + 100, y)
    one, two = (fit_ridge(x[fold != 0], each[fold != 0], np.ones(40), fold[fold != 0]) for each in (y, moved))
    assert one.out_of_fold.tolist() == two.out_of_fold.tolist()


def test_noise_gets_the_largest_penalty_and_a_gap_the_mean():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(80, 10)), rng.normal(size=80)
    found = fit_ridge(x, y, np.ones(80), np.arange(80) % 5)
    assert found.ridge.penalty >= 1
    assert found.ridge.predict(np.full((1, 10), np.nan)) == pytest.approx([y.mean()])


def test_without_columns_it_is_the_mean():
    y = np.arange(20.0)
    found = fit_ridge(np.empty((20, 0)), y, np.ones(20), np.arange(20) % 5)
    assert found.ridge.predict(np.empty((2, 0))).tolist() == pytest.approx([9.5, 9.5])


def test_clusters_lie_in_one_fold_and_folds_are_alike():
    clusters = [f"c{k % 17}" for k in range(200)]
    fold = deal_folds(clusters, 5, seed=3)
    assert len({(name, k) for name, k in zip(clusters, fold.tolist(), strict=True)}) == 17
    assert max(Counter(fold.tolist()).values()) - min(Counter(fold.tolist()).values()) <= 13
    assert fold.tolist() == deal_folds(clusters, 5, seed=3).tolist()
