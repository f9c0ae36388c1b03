"""Numbers: against a linear mixed model of another library, by hand, and against the truth."""

import numpy as np
import pandas as pd
import pytest
import scipy
import statsmodels.formula.api as smf

from annotation.stats.difficulty.items import AGREEMENT_CUTS, difficulty
from annotation.stats.difficulty.latent import NoConvergenceError
from annotation.stats.difficulty.numbers import NumbersComponent, fit_mixed, prior_of_noise
from annotation.stats.table import MISSING, RatingTable


def drawn(n, r, rng, noise=0.6, spread=0.3):
    """Numbers from 0 to 100, each item's sd, people's means and sds."""
    own = np.exp(rng.normal(0, noise, n))
    means, sds = rng.normal(0, 5, r), np.exp(rng.normal(0, spread, r))
    y = 50 + rng.normal(0, 15, n)[:, None] + means + 6 * own[:, None] * sds * rng.normal(size=(n, r))
    return y, own, means, sds


def table_of(y, q=101, **more):
    codes = np.where(np.isnan(y), MISSING, np.clip(np.round(np.nan_to_num(y)), 0, q - 1)).astype(np.int64)
    names = tuple(map(str, range(len(y)))), tuple(f"r{j}" for j in range(y.shape[1]))
    return RatingTable(codes, tuple(range(q)), "interval", *names, **more)


def test_one_consistency_is_a_linear_mixed_model():
    rng = np.random.default_rng(0)
    y, *_ = drawn(60, 4, rng)
    y[rng.random(y.shape) < 0.2] = np.nan
    rows, people = np.nonzero(~np.isnan(y))
    frame = pd.DataFrame({"y": y[rows, people], "item": rows, "person": people})
    oracle = smf.mixedlm("y ~ C(person) - 1", frame, groups="item").fit(reml=True)
    found = fit_mixed(y, np.ones(60), own_spread=False)
    assert found.means == pytest.approx(oracle.fe_params.to_numpy(), rel=1e-4)
    assert found.variance == pytest.approx(oracle.scale, rel=1e-3)
    assert found.ratio * found.variance == pytest.approx(float(oracle.cov_re.iloc[0, 0]), rel=1e-3)
    assert found.covariance() == pytest.approx(oracle.cov_params().iloc[:4, :4].to_numpy(), rel=5e-3)
    blups = [oracle.random_effects[item].iloc[0] for item in sorted(oracle.random_effects)]
    assert found.items[0][np.unique(rows)] == pytest.approx(blups, abs=0.01)


def test_balanced_numbers_have_the_variances_of_the_analysis_of_variance():
    """Shrout and Fleiss (1979), table 2: six items, four judges. BMS 11.24, EMS 1.02 (table 3)."""
    y = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float)
    found = fit_mixed(y, np.ones(6), own_spread=False)
    assert found.variance == pytest.approx(1.02, abs=0.005)
    assert found.variance * (1 + 4 * found.ratio) == pytest.approx(11.24, abs=0.005)


def test_the_prior_of_noise_is_found_again():
    rng = np.random.default_rng(1)
    v = 6 * 1.5 / rng.chisquare(6, 20_000)
    squares = v * rng.chisquare(3, 20_000)
    d, scale = prior_of_noise(squares, np.full(20_000, 3.0), np.ones(20_000), 1e-9)
    assert d == pytest.approx(6, rel=0.1)
    assert scale == pytest.approx(1.5, rel=0.05)


def test_consistencies_and_severities_are_found_again():
    rng = np.random.default_rng(2)
    y, _, means, sds = drawn(600, 5, rng, noise=0.0, spread=0.5)
    people = difficulty(table_of(y)).people
    severities = -(means - means.mean()) / 15
    assert [one.severity.value for one in people] == pytest.approx(severities, abs=0.08)
    logs = -np.log(sds) + np.log(sds).mean()
    assert [np.log(one.consistency.value) for one in people] == pytest.approx(logs, abs=0.12)
    assert all(0.85 < one.infit < 1.15 for one in people)


@pytest.mark.parametrize(("r", "least"), [(3, 0.5), (9, 0.8)])
def test_difficulty_follows_the_truth(r, least):
    y, own, means, sds = drawn(500, r, np.random.default_rng(3))
    found = difficulty(table_of(y))
    sd = 6 * own[:, None, None] * np.hypot.outer(sds, sds)
    z = np.subtract.outer(means, means) / sd
    apart = (sd * (np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2) + z * (1 - 2 * scipy.special.ndtr(-z)))).mean(axis=(1, 2))
    truth = apart / 100
    assert found.method == "linear mixed model"
    assert scipy.stats.spearmanr(found.value, truth)[0] > least
    assert found.value.mean() == pytest.approx(truth.mean(), rel=0.1)
    assert ((found.low <= truth) & (truth <= found.high)).mean() > 0.9
    place = np.searchsorted(AGREEMENT_CUTS, 1 - truth)
    assert found.tiers[np.arange(500), place].mean() > 0.5
    assert found.answers.sum(axis=1) == pytest.approx(np.ones(500))
    assert np.median(np.abs(found.answers @ np.arange(101) - y.mean(axis=1))) < 2


def test_what_two_people_say_is_as_far_apart_as_told():
    """Folded normal distributions against draws."""
    rng = np.random.default_rng(4)
    part = NumbersComponent.from_table(table_of(drawn(100, 3, rng)[0]))
    who = rng.choice(3, (200_000, 2), p=part.share)
    said = part.fit.means[who] + np.sqrt(part.fit.variance * 1.7 * part.fit.spread[who]) * rng.normal(size=who.shape)
    assert part.agreement(1.7) == pytest.approx(1 - np.abs(np.diff(said, axis=1)).mean() / 100, abs=1e-3)


def test_clusters_weights_and_missing_ratings():
    rng = np.random.default_rng(5)
    y, *_ = drawn(40, 3, rng)
    y[rng.random(y.shape) < 0.2] = np.nan
    y[0] = np.nan
    four = np.repeat(y, 4, axis=0)
    clusters = tuple(str(k) for k in np.repeat(np.arange(40), 4))
    wide = difficulty(table_of(four, clusters=clusters, weights=np.full(160, 2.0))).people
    naive = difficulty(table_of(four)).people
    assert all(a.severity.se > 1.5 * b.severity.se for a, b in zip(wide, naive, strict=True))
    assert not difficulty(table_of(four)).fitted[:4].any()


class TestBadInput:
    def test_people_who_differ_by_constants(self):
        with pytest.raises(NoConvergenceError, match="constants alone"):
            difficulty(table_of(np.arange(30.0)[:, None] + [0, 5, 9]))

    def test_every_answer_equal(self):
        with pytest.raises(NoConvergenceError, match="every answer is the same"):
            difficulty(table_of(np.full((30, 3), 7.0)))

    def test_people_who_mostly_agree(self):
        y = np.repeat(np.arange(60.0)[:, None], 3, axis=1)
        y[::10, 0] += 20
        found = difficulty(table_of(y))
        assert found.fitted.all()
        assert found.value[::10].min() > np.delete(found.value, np.s_[::10]).max()

    def test_items_that_do_not_differ(self):
        y = np.random.default_rng(6).normal(50, 5, (60, 3))
        people = difficulty(table_of(y)).people
        assert all(one.severity.reason or np.isfinite(one.severity.value) for one in people)
        assert all(np.isfinite(one.consistency.value) for one in people)

    def test_more_values_than_answers_are_spelled_out_for(self):
        y, *_ = drawn(40, 3, np.random.default_rng(7))
        assert difficulty(table_of(y * 15, q=1501)).answers.shape == (40, 0)
