import numpy as np
import pytest
import scipy

from annotation.stats.agreement import agreement
from annotation.stats.simulated import simulate_ratings, uneven_accuracies

from .data import from_codes, value


def simulate(truth, **options):
    rng = np.random.default_rng(8)
    return simulate_ratings(np.asarray(truth), **{"n_categories": 4, "level": "nominal", "rng": rng} | options)


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_accuracy_is_the_probability_of_the_truth(level):
    truth = np.tile(np.arange(4), 5000)
    said = simulate(truth, level=level, accuracy=0.8)
    assert (said == truth).mean() == pytest.approx(0.8, abs=5 * 0.003)


@pytest.mark.parametrize(("accuracy", "same"), [(1, True), (0, False)])
@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_certain_truth_and_certain_error(level, accuracy, same):
    truth = np.tile(np.arange(4), 100)
    assert ((simulate(truth, level=level, accuracy=accuracy) == truth) == same).all()


def test_nominal_errors_are_any_other_category():
    said = simulate(np.zeros(30_000, dtype=int), accuracy=0)
    np.testing.assert_allclose(np.bincount(said, minlength=4) / 30_000, [0, 1 / 3, 1 / 3, 1 / 3], atol=0.015)


def test_ordinal_errors_are_near_the_more_so_the_more_accurate():
    truth = np.repeat(np.arange(4), 10_000)
    said = simulate(truth, level="ordinal", accuracy=0.7)
    wrong = said != truth
    assert (np.abs(said - truth)[wrong & (truth == 0)] == 1).mean() == pytest.approx(0.7, abs=0.03)
    assert (said[wrong & (truth == 1)] == 0).mean() == pytest.approx(0.5, abs=0.03)
    assert set(simulate(np.zeros(50, dtype=int), level="ordinal", accuracy=0)) == {3}


def test_uneven_items_keep_the_mean_accuracy():
    ease = np.random.default_rng(1).normal(size=400)
    found = uneven_accuracies(ease, 0.8, 2.0)
    assert found.mean() == pytest.approx(0.8)
    assert (np.argsort(found) == np.argsort(ease)).all()
    assert np.ptp(scipy.special.logit(found)) == pytest.approx(2 * np.ptp(ease))
    truth = np.tile(np.arange(4), 100)
    said = [simulate(truth, level="ordinal", accuracy=found, rng=np.random.default_rng(k)) for k in range(40)]
    assert np.mean(said == truth) == pytest.approx(0.8, abs=0.01)
    with pytest.raises(ValueError, match="between 0 and 1"):
        uneven_accuracies(ease, 1.0, 2.0)


def test_the_scale_of_two_has_one_error():
    assert simulate([0, 1], n_categories=2, accuracy=0).tolist() == [1, 0]


def test_missing_stays_missing():
    assert simulate([-1, -1], accuracy=0, level="ordinal").tolist() == [-1, -1]


def test_same_generator_same_ratings():
    truth = np.tile(np.arange(4), 10)
    np.testing.assert_array_equal(simulate(truth, accuracy=0.5), simulate(truth, accuracy=0.5))


def test_two_simulated_annotators_agree_as_far_as_their_noise_lets_them():
    # uniform truth, two options, accuracy .9 each: they agree with probability .82, kappa (.82 - .5) / .5
    rng = np.random.default_rng(3)
    truth = np.tile([0, 1], 10_000)
    said = [simulate_ratings(truth, n_categories=2, level="nominal", accuracy=0.9, rng=rng) for _ in range(2)]
    kappa = value(agreement(from_codes(np.column_stack(said), q=2), bootstrap=0), "fleiss_kappa")
    assert kappa == pytest.approx(0.64, abs=0.03)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_categories": 1}, "two or more"),
        ({"accuracy": 1.1}, "accuracy"),
        ({"n_categories": 3}, "off the scale"),
    ],
)
def test_what_cannot_be_simulated(options, message):
    with pytest.raises(ValueError, match=message):
        simulate([3], **{"accuracy": 0.5} | options)
