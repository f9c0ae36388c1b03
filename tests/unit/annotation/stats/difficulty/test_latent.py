"""The latent models: a printed fit, their derivatives, intervals of severities."""

import numpy as np
import pytest
import scipy

from annotation.stats.difficulty.categories import Categories
from annotation.stats.difficulty.graded import GradedResponseModel
from annotation.stats.difficulty.latent import NoConvergenceError, Ratings, fit
from annotation.stats.difficulty.people import compute_people
from tests.support import drawing

LSAT = [
    *(3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15),
    *(10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298),
]
"""How many of 1,000 persons gave each of the 32 patterns of answers to five questions, from 00000 to 11111.

Bock and Lieberman (1970), Psychometrika 35:179-197, section 6 of the Law School Admission Test.
"""


def test_rasch_on_the_law_school_admission_test():
    """Rizopoulos (2006), "ltm", Journal of Statistical Software 17(5), section 3.1: marginal maximum likelihood."""
    patterns = np.array([[int(digit) for digit in f"{k:05b}"] for k in range(32)])
    model = GradedResponseModel(5, 2, own_consistency=False, own_noise=False, with_priors=False)
    found = fit(model, Ratings(patterns, np.array(LSAT, dtype=float), 2))
    assert found.log_likelihood == pytest.approx(-2466.938, abs=1e-3)
    assert model.slopes(found.free) == pytest.approx(np.full(5, 0.7551), abs=1e-4)
    difficulties = model.thresholds(found.free) + model.severities(found.free)
    assert difficulties == pytest.approx([-3.6153, -1.3224, -0.3176, -1.7301, -2.7802], abs=1e-4)


@pytest.mark.parametrize(
    "model",
    [
        GradedResponseModel(4, 5),
        GradedResponseModel(3, 2, own_noise=False),
        GradedResponseModel(3, 4, own_consistency=False),
        Categories(4, 4),
    ],
    ids=["graded", "two-categories", "one-consistency", "unordered"],
)
def test_derivatives(model):
    rng = np.random.default_rng(1)
    codes = rng.integers(-1, model.n_categories, (50, model.n_people))
    ratings = Ratings(codes, rng.uniform(0.5, 2.0, 50), model.n_categories)

    def value(free):
        tables = model.tables(free)
        each = scipy.special.logsumexp(ratings.log_joint(tables), axis=1)
        return float(ratings.weights @ each) + model.penalty(free)[0]

    free = model.start(ratings.counts) + rng.normal(0, 0.3, sum(model.sizes))
    tables = model.tables(free)
    posterior = scipy.special.softmax(ratings.log_joint(tables), axis=1) * ratings.weights[:, None]
    expected = (ratings.answers.T @ posterior).reshape(tables.p.shape)
    slope = model.gradient(free, tables, expected, posterior.sum(axis=0)) + model.penalty(free)[1]
    assert slope == pytest.approx(scipy.optimize.approx_fprime(free, value, 1e-6), abs=1e-3)
    assert tables.p.sum(axis=1) == pytest.approx(np.ones_like(tables.p[:, 0]))
    assert np.exp(tables.log_prior).sum() == pytest.approx(1)


@pytest.mark.long
def test_the_interval_of_a_severity_holds_it():
    """Of 12 tables x 3 people: at least 31 of 36, 95 % less two standard errors; `bench_difficulty` has more."""
    held = 0
    for seed in range(12):
        rng = np.random.default_rng([7, seed])
        model, free = drawing.draw_graded_model(3, 4, rng)
        codes, _ = drawing.draw(model, free, 200, rng)
        found = fit(model, Ratings(codes, np.ones(200), 4))
        contrast = model.contrast(1)
        se = np.sqrt(np.einsum("jf,fg,jg->j", contrast, found.covariance, contrast))
        held += int((np.abs(model.severities(found.free) - model.severities(free)) < 1.96 * se).sum())
    assert held >= 31


@pytest.mark.long
def test_copies_of_items_in_clusters_are_worth_one():
    rng = np.random.default_rng(3)
    model, free = drawing.draw_graded_model(3, 3, rng)
    codes, _ = drawing.draw(model, free, 150, rng)
    once = fit(model, Ratings(codes, np.ones(150), 3), scipy.sparse.eye_array(150, format="csr"))
    four = fit(model, Ratings(codes, np.full(150, 4.0), 3), 4 * scipy.sparse.eye_array(150, format="csr"))
    naive = fit(model, Ratings(codes, np.full(150, 4.0), 3))
    assert four.standard_errors[2:4] == pytest.approx(once.standard_errors[2:4], rel=0.15)
    assert (naive.standard_errors[2:4] < 0.65 * four.standard_errors[2:4]).all()


def test_few_clusters_of_unequal_size_have_students_intervals():
    rng = np.random.default_rng(4)
    model, free = drawing.draw_graded_model(3, 3, rng)
    codes, _ = drawing.draw(model, free, 150, rng)
    sizes = np.array([60, 30, 20, *[8] * 5])
    cluster = np.repeat(np.arange(8), sizes)
    clusters = scipy.sparse.csr_array((np.ones(150), (cluster, np.arange(150))))
    together, alone = (fit(model, Ratings(codes, np.ones(150), 3), given) for given in (clusters, None))
    assert together.df == pytest.approx(150**2 / (sizes**2).sum() - 1)
    for found, quantile in ((together, scipy.stats.t(together.df).ppf(0.975)), (alone, scipy.stats.norm.ppf(0.975))):
        for one in compute_people(found, codes, ["r1", "r2", "r3"]):
            assert one.severity.high - one.severity.value == pytest.approx(quantile * one.severity.se)
    assert [one.severity.method for one in compute_people(together, codes, ["r1", "r2", "r3"])] == ["t"] * 3


def test_a_flat_likelihood_is_told():
    """Without priors, people with one rating each cannot be told apart from the items."""
    codes = np.full((40, 2), -1)
    codes[:20, 0] = codes[20:, 1] = np.tile([0, 1], 10)
    model = GradedResponseModel(2, 2, own_consistency=False, own_noise=False, with_priors=False)
    with pytest.raises(NoConvergenceError):
        fit(model, Ratings(codes, np.ones(40), 2))
