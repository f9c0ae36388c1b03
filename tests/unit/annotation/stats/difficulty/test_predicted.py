"""Predicted difficulty: its error by hand, against the truth, and where nothing can be predicted."""

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy

from annotation.stats.difficulty.features import FeatureTable
from annotation.stats.difficulty.items import difficulty
from annotation.stats.difficulty.predicted import TooFewItemsError, predict_difficulty
from annotation.stats.difficulty.prediction_error import compute_disagreement, prediction_error
from annotation.stats.table import MISSING, RatingTable


def world(seed, strength, *, rated=300, n=500):
    """Three people on two categories; the first of three features moves difficulty."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    clear = strength * x[:, 0] + np.sqrt(1 - strength**2) * rng.normal(size=n)
    yes = scipy.special.expit(2.5 * rng.choice([-1, 1], n) * np.exp(0.7 * clear))
    codes = (rng.random((n, 3)) < yes[:, None]).astype(np.int64)[:rated]
    names = tuple(f"i{k}" for k in range(n))
    table = RatingTable(codes, (0, 1), "nominal", names[:rated], ("a", "b", "c"))
    return table, FeatureTable(names, ("clear", "noise", "noise too"), x), 2 * yes * (1 - yes)


def test_items_are_ranked_and_the_error_is_that_on_new_items():
    table, features, truth = world(1, 0.9)
    found = predict_difficulty(difficulty(table), table, features, bootstrap=300)
    new = truth[300:]
    assert found.reason is None
    assert scipy.stats.spearmanr(found.value, new)[0] > 0.7
    assert found.slopes["clear"] < -abs(found.slopes["noise"])
    off, off_mean = ((found.value - new) ** 2).mean(), ((new.mean() - new) ** 2).mean()
    assert off < 0.6 * off_mean
    assert ((found.low <= new) & (new <= found.high)).mean() > 0.8
    # squared errors beside seen disagreement hold its noise, their difference does not
    error = found.error
    gained = error.squared_error_of_mean.value - error.squared_error.value
    assert gained == pytest.approx(off_mean - off, abs=0.012)
    assert error.slope.low < 1 < error.slope.high
    json.dumps(found.to_json(), allow_nan=False)


def test_noise_predicts_nothing_and_everybody_gets_the_mean():
    table, features, _ = world(2, 0.0)
    found = predict_difficulty(difficulty(table), table, features, bootstrap=300)
    assert not found.error.predicts
    assert "does not lie above 0" in found.reason or "no interval" in found.reason
    assert np.ptp(found.value) == 0
    assert found.tiers[0] == pytest.approx(difficulty(table).tiers.mean(axis=0), abs=1e-3)
    assert found.value[0] == pytest.approx(difficulty(table).value.mean(), abs=0.01)
    assert found.low[0] < 0.05
    assert found.high[0] > 0.45


@pytest.mark.long
def test_predictions_do_not_look_at_the_items_own_cluster():
    """A feature that names the cluster, whose items are alike, tells nothing of another cluster."""
    rng = np.random.default_rng(3)
    cluster = np.repeat(np.arange(20), 10)
    yes = np.where(rng.random(20) < 0.5, 0.5, 0.98)[cluster]
    codes = (rng.random((200, 3)) < yes[:, None]).astype(np.int64)
    names = tuple(f"i{k}" for k in range(200))
    features = FeatureTable(names, tuple(f"c{k}" for k in range(20)), np.eye(20)[cluster])
    alone = RatingTable(codes, (0, 1), "nominal", names, ("a", "b", "c"))
    together = RatingTable(
        codes, (0, 1), "nominal", names, ("a", "b", "c"), clusters=tuple(f"c{k}" for k in cluster.tolist())
    )
    found = difficulty(alone)
    assert predict_difficulty(found, alone, features, bootstrap=100).error.predicts
    assert not predict_difficulty(found, together, features, bootstrap=100).error.predicts


def test_only_features_known_of_both_are_used():
    table, features, _ = world(4, 0.9)
    values = features.values.copy()
    values[300:, 0] = np.nan
    found = predict_difficulty(difficulty(table), table, FeatureTable(features.items, features.names, values))
    assert set(found.slopes) == {"noise", "noise too"}
    assert found.reason


def test_without_features_the_mean_is_what_there_is():
    table, features, _ = world(5, 0.9)
    found = predict_difficulty(difficulty(table), table, FeatureTable(features.items, (), np.empty((500, 0))))
    assert found.reason == "nothing is known of the items that differs between them"
    assert len(found.items) == 200


def test_too_few_items_or_clusters():
    table, features, _ = world(6, 0.9, rated=39)
    with pytest.raises(TooFewItemsError, match="39 rated items in 39 clusters have a fitted difficulty; 40 in 10"):
        predict_difficulty(difficulty(table), table, features)
    table, features, _ = world(6, 0.9, rated=90)
    nine = RatingTable(
        table.codes, table.categories, table.level, table.items, table.raters,
        clusters=tuple(f"c{k % 9}" for k in range(90)),
    )  # fmt: skip
    with pytest.raises(TooFewItemsError, match="90 rated items in 9 clusters"):
        predict_difficulty(difficulty(nine), nine, features)


def test_disagreement_that_was_seen():
    codes = np.array([[0, 0, 2], [1, MISSING, MISSING], [0, 1, MISSING]])
    ordinal = RatingTable(codes, (1, 2, 3), "ordinal", ("a", "b", "c"), ("x", "y", "z"))
    # a: of three pairs two are two of two steps apart; c: one of two steps
    assert compute_disagreement(ordinal)[[0, 2]] == pytest.approx([2 / 3, 0.5])
    assert np.isnan(compute_disagreement(ordinal)[1])
    assert compute_disagreement(replace(ordinal, level="nominal"))[[0, 2]] == pytest.approx([2 / 3, 1])


def test_errors_by_hand():
    codes = np.array([[0, 1]] * 10 + [[0, 0]] * 30)
    table = RatingTable(codes, (0, 1), "nominal", tuple(map(str, range(40))), ("x", "y"))
    predicted, mean = np.r_[np.full(10, 0.5), np.full(30, 0.1)], np.full(40, 0.25)
    hard = (np.r_[np.full(10, 0.9), np.full(30, 0.2)], np.r_[np.full(10, 0.8), np.full(15, 0.0), np.full(15, 0.2)])
    found = prediction_error(predicted, mean, predicted, table, hard=hard, bootstrap=200)
    # seen 1 and 0: (10 * .25 + 30 * .01) / 40 and (10 * .5625 + 30 * .0625) / 40
    assert found.squared_error.value == pytest.approx(0.07)
    assert found.squared_error_of_mean.value == pytest.approx(0.1875)
    assert found.gain.value == pytest.approx(1 - 0.07 / 0.1875)
    assert found.slope.value == pytest.approx(1 / 0.4)
    assert found.rank_correlation.value == pytest.approx(1)
    assert [(one["n_items"], one["observed"].value) for one in found.bins] == [(30, 0.0), (10, 1.0)]
    told = [(one["hard_predicted"], one["hard_fitted"].value) for one in found.bins]
    assert told == [pytest.approx((0.2, 0.1)), pytest.approx((0.9, 0.8))]
    assert found.predicts


def test_disagreement_of_preferences_and_numbers():
    tie = RatingTable(np.array([[0, 2], [0, 1], [1, 1]]), ("1", "2", "tie"), "nominal", ("a", "b", "c"), ("x", "y"))
    # the tie lies half way between the two responses
    assert compute_disagreement(tie).tolist() == [0.5, 1, 0]
    numbers = RatingTable(
        np.array([[0, 1, 3], [2, 2, MISSING]]), (0, 10, 50, 100), "interval", ("a", "b"), ("x", "y", "z")
    )
    # apart by 10, 100 and 90 of 100
    assert compute_disagreement(numbers) == pytest.approx([2 / 3, 0])
