"""Preferences: against a log-linear model, by symmetry, and against the truth."""

from dataclasses import replace

import numpy as np
import pytest
import scipy
from statsmodels.discrete.conditional_models import ConditionalLogit

from annotation.stats.difficulty.items import difficulty
from annotation.stats.difficulty.latent import Ratings, fit
from annotation.stats.difficulty.preferences import Shown, expand_columns, preference_order
from annotation.stats.table import MISSING, RatingTable
from tests.support import drawing, simulated_difficulty as simulated
from tests.unit.annotation.stats.data import load

SYSTEMS = ("a", "b", "c", "d")


def compared(rng, n=300, r=3, q=3):
    """Pairs of four systems, each seen by three people in random order."""
    order = rng.choice([-1, 1], (n, r))
    codes = rng.integers(0, q, (n, r))
    return codes, Shown(order, [tuple(rng.choice(SYSTEMS, 2, replace=False)) for _ in range(n)])


def preferred(codes, categories=("1", "tie", "2"), level="nominal"):
    names = tuple(map(str, range(len(codes)))), tuple(f"r{j}" for j in range(codes.shape[1]))
    return RatingTable(codes, categories, level, *names)


@pytest.mark.long
def test_without_items_of_their_own_it_is_davidsons_model():
    """As a conditional logit of the category said, of three, by statsmodels."""
    rng = np.random.default_rng(0)
    codes, shown = compared(rng, 80)
    codes = np.where(rng.random(codes.shape) < 0.2, MISSING, codes)
    model, spread = expand_columns(codes, shown, 3)
    found = fit(replace(model, own_strength=False, with_priors=False), Ratings(spread, np.ones(len(spread)), 3))
    rows, people = np.nonzero(codes != MISSING)
    apart = np.array([[(a == s) - (b == s) for s in SYSTEMS] for a, b in shown.systems], dtype=float)[rows]
    order = np.eye(3)[people] * shown.order[rows, people][:, None]
    score, tie = np.array([0.5, 0.0, -0.5]), np.array([0.0, 1.0, 0.0])
    strengths = apart[:, :-1] - apart[:, -1:]
    columns = [
        np.outer(np.ones(len(rows)), tie)[..., None],
        *(x[:, None, :] * score[:, None] for x in (order, strengths)),
    ]
    seen = np.equal.outer(codes[rows, people], np.arange(3)).astype(float)
    oracle = ConditionalLogit(
        seen.ravel(), np.concatenate(columns, axis=2).reshape(-1, 7), groups=np.repeat(np.arange(len(rows)), 3)
    )
    assert found.free == pytest.approx(oracle.fit(disp=0).params, abs=1e-3)


@pytest.mark.parametrize("q", [2, 3, 4, 5])
def test_derivatives(q):
    rng = np.random.default_rng(q)
    codes, shown = compared(rng, 50, 3, q)
    model, spread = expand_columns(codes, shown, q)
    ratings = Ratings(spread, rng.uniform(0.5, 2, 50), q)

    def value(free):
        each = scipy.special.logsumexp(ratings.log_joint(model.tables(free)), axis=1)
        return float(ratings.weights @ each) + model.penalty(free)[0]

    free = model.start(ratings.counts) + rng.normal(0, 0.3, sum(model.sizes))
    tables = model.tables(free)
    posterior = scipy.special.softmax(ratings.log_joint(tables), axis=1) * ratings.weights[:, None]
    expected = (ratings.answers.T @ posterior).reshape(tables.p.shape)
    slope = model.gradient(free, tables, expected, posterior.sum(axis=0)) + model.penalty(free)[1]
    assert slope == pytest.approx(scipy.optimize.approx_fprime(free, value, 1e-6), abs=1e-3)


def test_the_marginal_likelihood_is_the_integral():
    codes, shown = compared(np.random.default_rng(3), 8)
    model, spread = expand_columns(codes, Shown(shown.order), 3)
    free = np.random.default_rng(4).normal(0, 0.4, sum(model.sizes))
    each = scipy.special.logsumexp(Ratings(spread, np.ones(8), 3).log_joint(model.tables(free)), axis=1)
    tie, lean, steep = free[0], model.orders(free), model.consistencies(free)
    mean, sd = free[-2], np.exp(free[-1])

    def joint(z, row):
        at = steep * (mean + sd * z) + lean * shown.order[row]
        logits = np.array([[0.5 * x, tie, -0.5 * x] for x in at])
        return np.exp(scipy.special.log_softmax(logits, axis=1)[np.arange(3), codes[row]].sum() - z * z / 2)

    exact = [np.log(scipy.integrate.quad(joint, -9, 9, args=(row,))[0] / np.sqrt(2 * np.pi)) for row in range(8)]
    assert each == pytest.approx(exact, abs=5e-3)


def test_which_response_is_called_the_first_means_nothing():
    rng = np.random.default_rng(1)
    order = rng.choice([-1, 1], (200, 4))
    codes, _, _ = drawing.preferences(order, 3, rng)
    systems = [tuple(rng.choice(SYSTEMS, 2, replace=False)) for _ in range(200)]
    one = difficulty(preferred(codes), shown=Shown(order, systems))
    other = difficulty(preferred(2 - codes), shown=Shown(-order, [pair[::-1] for pair in systems]))
    assert other.value == pytest.approx(one.value, abs=1e-4)
    assert other.answers[:, ::-1] == pytest.approx(one.answers, abs=1e-4)
    assert [p.order.value for p in other.people] == pytest.approx([p.order.value for p in one.people], abs=1e-3)


def test_difficulty_follows_the_truth_and_orders_are_known():
    """People who lean to what they see first are found, and items near 0 are the hard ones."""
    rng = np.random.default_rng(5)
    order = rng.choice([-1, 1], (600, 5))
    codes, fresh, strength = drawing.preferences(order, 3, rng, spread=2.5)
    found = difficulty(preferred(codes), shown=Shown(order))
    credit = 1 - np.abs(np.subtract.outer(np.arange(3), np.arange(3))) / 2
    truth = 1 - np.einsum("nk,kl,nl->n", fresh, credit, fresh)
    assert scipy.stats.spearmanr(found.value, truth)[0] > 0.6
    assert found.value[np.abs(strength) < 0.5].mean() > found.value[np.abs(strength) > 3].mean() + 0.1
    assert found.method == "paired comparison"
    assert sum(one.order.low > 0 for one in found.people) >= 1
    assert all(0.8 < one.infit < 1.2 for one in found.people)


def test_systems_draw_their_pairs():
    """A pair of systems of known strengths is known better than from its own two ratings."""
    rng = np.random.default_rng(2)
    strengths = dict(zip(SYSTEMS, (3.0, 1.0, -1.0, -3.0), strict=True))
    systems = [tuple(rng.choice(SYSTEMS, 2, replace=False)) for _ in range(400)]
    apart = np.array([strengths[a] - strengths[b] for a, b in systems])
    p = scipy.special.softmax(np.column_stack([apart / 2, np.zeros(400), -apart / 2]), axis=1)
    codes = (rng.random((400, 2, 1)) > np.cumsum(p, axis=1)[:, None, :]).sum(axis=2)
    truth = 1 - (p**2).sum(axis=1)
    unknown = np.zeros((400, 2), dtype=np.int64)
    told = difficulty(preferred(codes), shown=Shown(unknown, systems)).value
    alone = difficulty(preferred(codes), shown=Shown(unknown)).value
    assert scipy.stats.spearmanr(told, truth)[0] > scipy.stats.spearmanr(alone, truth)[0] + 0.2


def test_a_scale_with_a_tie_is_a_preference():
    assert preference_order(preferred(np.zeros((1, 2), dtype=np.int64), ("1", "2", "tie"))) == (0, 2, 1)
    assert preference_order(preferred(np.zeros((1, 2), dtype=np.int64), ("a", "b", "c"))) is None
    assert preference_order(simulated.table_of(np.zeros((1, 2), dtype=np.int64), 3, "ordinal")) is None


def test_answers_keep_the_order_of_the_categories():
    rng = np.random.default_rng(8)
    codes, _, _ = drawing.preferences(np.ones((200, 3), dtype=np.int64), 3, rng)
    codes[:40] = 2
    swapped = np.array([0, 2, 1])[codes]  # the tie comes last on the usual scale
    usual = difficulty(preferred(swapped, ("1", "2", "tie")))
    assert usual.answers[:40].argmax(axis=1).tolist() == [1] * 40
    assert usual.people[0].order.reason
    assert usual.people[0].severity.reason


def pandalm():
    rows = load("pandalm/testset-v1.json")
    return np.array([[{1: 0, 0: 1, 2: 2}[row[f"annotator{k}"]] for k in (1, 2, 3)] for row in rows])


def test_ties_that_nobody_doubts_are_easy():
    """By strengths alone a tie is at best as likely as the tie of two equal responses: 85 of these would be hard."""
    codes = pandalm()
    found = difficulty(preferred(codes))
    alike = (codes == codes[:, :1]).all(axis=1)
    assert found.method == "graded response"
    assert found.value[alike & (codes[:, 0] == 1)].mean() < 0.1
    assert found.value[~alike].mean() > 0.3
    assert len(found.thresholds[0]) == 2
    elsewhere = np.array([0, 2, 1])[codes]  # the tie comes last on the usual scale: there no threshold lies between two
    assert difficulty(preferred(elsewhere, ("1", "2", "tie"))).thresholds == ((),)


@pytest.mark.long
def test_answers_that_were_held_out_of_pandalm_are_predicted_better_than_by_counting():
    """Half of one annotator's answers, each of the three in turn; votes have half an answer of each kind added."""
    codes = pandalm()
    model, votes = [], []
    for j in range(3):
        held = np.random.default_rng(j).random(len(codes)) < 0.5
        known = codes.copy()
        known[held, j] = MISSING
        said, table = codes[held, j], preferred(known)
        model += np.log2(difficulty(table).answers[held, said]).tolist()
        votes += np.log2((table.counts[held, said] + 0.5) / (table.counts[held].sum(axis=1) + 1.5)).tolist()
    assert np.mean(model) > np.mean(votes) + 0.15
