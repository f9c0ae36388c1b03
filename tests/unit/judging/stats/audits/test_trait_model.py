"""The latent-trait model: its likelihood, its fit, and the errors of what it finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judging.stats.audits import trait_fit
from judging.stats.audits.trait_model import Ratings, evaluate


def ratings(people, judge, *, q: int, x=None, z=None) -> Ratings:
    people, n = np.asarray(people), len(judge)
    return Ratings(
        people=people,
        who=np.where(people < 0, 0, np.arange(people.shape[1])),
        n_people=people.shape[1],
        n_categories=q,
        judge=np.asarray(judge),
        n_judge=q,
        x=np.zeros((n, 0)) if x is None else np.asarray(x, dtype=float),
        z=np.zeros((n, 0)) if z is None else np.asarray(z, dtype=float),
        weights=np.ones(n),
    )


def drawn(rng, n, *, shift=0.0, relation=1.0, noise=0.5, effect=0.0, edges=(-1.2, -0.3, 0.5, 1.3)):
    """Three people and a judge on n items; the model's own assumptions hold."""
    x = rng.normal(0, 1, n)
    trait = rng.normal(0, 1, n) + 0.4 * x
    people = np.digitize(trait[:, None] + rng.normal(0, 0.6, (n, 3)), edges)
    judge = np.digitize(shift + relation * trait + effect * x + rng.normal(0, noise, n), edges)
    x = (x - x.mean())[:, None]
    return ratings(people, judge, q=len(edges) + 1, x=x, z=x)


def test_the_likelihood_is_that_of_a_multivariate_normal():
    """Without covariates the views of two people and a judge are normal: rectangles of scipy's distribution."""
    cuts, slope, severity = np.array([-0.8, 0.1, 1.1]), 1.3, np.array([0.3, -0.3])
    judge_cuts, judge_slope = np.array([-1.0, 0.4, 0.9]), -0.7
    people, judge = np.array([[0, 1], [3, 2], [2, 2], [1, 3]]), np.array([0, 3, 1, 2])
    parameters = np.r_[cuts, slope, severity, judge_cuts, judge_slope]
    found = evaluate(ratings(people, judge, q=4), parameters).log_likelihood
    loadings = np.array([slope, slope, judge_slope])
    covariance, mean = np.outer(loadings, loadings) + np.eye(3), np.r_[severity, 0]
    for row, said in enumerate(np.column_stack([people, judge])):
        thresholds = [np.r_[-40, each, 40] for each in (cuts, cuts, judge_cuts)]
        low, high = np.array([(each[k], each[k + 1]) for each, k in zip(thresholds, said, strict=True)]).T
        p = stats.multivariate_normal.cdf(high, mean, covariance, lower_limit=low, abseps=1e-7, releps=1e-7)
        assert found[row] == pytest.approx(np.log(p), abs=1e-4)


def test_a_missing_label_takes_no_part():
    whole = ratings([[0, -1, 2], [1, 1, -1]], [1, 2], q=3)
    parameters = np.r_[-0.5, 0.5, 1.2, 0.2, 5.0, -0.2, -0.4, 0.6, 1.1]
    alone = ratings([[0, 2, -1]], [1], q=3)
    moved = np.r_[-0.5, 0.5, 1.2, 0.2, -0.2, 5.0, -0.4, 0.6, 1.1]
    assert evaluate(whole, parameters).log_likelihood[0] == pytest.approx(evaluate(alone, moved).log_likelihood[0])


def test_the_scores_are_the_derivatives():
    rng = np.random.default_rng(4)
    data = drawn(rng, 12)
    parameters = np.r_[-1.5, -0.4, 0.6, 1.7, 1.4, 0.1, -0.2, 0.1, 0.3, -1.4, -0.3, 0.5, 1.4, 1.2, 0.2]
    found = evaluate(data, parameters)
    for k in range(len(parameters)):
        step = np.zeros(len(parameters))
        step[k] = 1e-5
        ends = [evaluate(data, parameters + sign * step).log_likelihood for sign in (1, -1)]
        np.testing.assert_allclose(found.scores[:, k], (ends[0] - ends[1]) / 2e-5, atol=1e-6)


@pytest.mark.long
def test_what_went_in_comes_out():
    data = drawn(np.random.default_rng(1), 4000, shift=0.3, relation=0.7, noise=0.3, effect=0.2)
    found = trait_fit.fit(data, np.arange(4000), shared=True)
    errors = np.sqrt(np.diag(found.covariance))
    wanted = {4: [0.3, np.log(1 / 0.3)], 5: [0.7], 3: [0.4], 1: [np.log(1 / 0.6)], 6: [0.2]}
    for part, values in wanted.items():
        place = found.scheme.place(part)
        assert np.all(np.abs(found.free[place] - values) < 3.5 * errors[place])
        assert np.all(errors[place] < 0.1)


@pytest.mark.long
def test_errors_are_those_of_the_information_where_the_model_holds():
    data = drawn(np.random.default_rng(2), 1500)
    found = trait_fit.fit(data, np.arange(1500), shared=True)
    step, scheme = 1e-4, found.scheme
    scores = [
        trait_fit._scored(scheme, found.free + sign * step * unit)[1].sum(axis=0)
        for unit in np.eye(len(found.free))
        for sign in (1, -1)
    ]
    hessian = (np.array(scores[::2]) - np.array(scores[1::2])) / (2 * step)
    np.testing.assert_allclose(np.diag(found.covariance), np.diag(np.linalg.inv(-hessian)), rtol=0.25)


def test_copies_of_items_in_one_cluster_are_worth_one():
    data = drawn(np.random.default_rng(3), 200)
    once = trait_fit.fit(data, np.arange(200), shared=True)
    three = [np.repeat(part, 3, axis=0) for part in (data.people, data.who, data.judge, data.x, data.z, data.weights)]
    copied = Ratings(three[0], three[1], 3, 5, three[2], 5, three[3], three[4], three[5])
    thrice = trait_fit.fit(copied, np.repeat(np.arange(200), 3), shared=True)
    np.testing.assert_allclose(np.diag(thrice.covariance), np.diag(once.covariance), rtol=0.1)


def test_people_who_do_not_agree_at_all_tell_nothing():
    rng = np.random.default_rng(5)
    with pytest.raises(trait_fit.NoConvergenceError):
        trait_fit.fit(ratings(rng.integers(0, 3, (60, 2)), np.arange(60) % 3, q=3), np.arange(60), shared=True)
