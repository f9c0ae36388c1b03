"""Rankings: probabilities by enumeration, derivatives, Davidson's model of two responses, and the truth."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import scipy

from annotation.stats.difficulty.items import difficulty
from annotation.stats.difficulty.latent import NoConvergenceError, Ratings, Tables, fit, item_log_likelihood
from annotation.stats.difficulty.preferences import Preferences
from annotation.stats.difficulty.ranked import RankingModel
from annotation.stats.kemeny import kemeny_distances
from annotation.stats.rankings import parse_ranking, spell_ranking
from annotation.stats.table import MISSING, RatingTable
from tests.support import drawing
from tests.unit.annotation.stats.test_rankings import weak_orders


def free_of(model, rng):
    return rng.normal(0, 0.5, sum(model.sizes))


def drawn(n, r, names, rng):
    texts, truth = drawing.rankings(n, r, names, rng)
    return RatingTable.from_wide(texts, level="ranking"), truth


@pytest.mark.long
def test_drawn_rankings_are_the_models():
    """Shares of 20,000 drawn rankings beside their probabilities, and how often two differ on a pair."""
    rng = np.random.default_rng(4)
    model = RankingModel.from_categories(1, weak_orders("ABC"))
    model = replace(model, rankings=tuple(one for one in model.rankings if max(map(len, one)) < 3), most_tied=2)
    strengths = np.array([0.8, 0.0, -0.5])
    texts = [drawing._ranking(strengths, -1.0, "ABC", rng) for _ in range(20_000)]
    at = drawing._AtStrengths(1, model.rankings, 3, 2, n_nodes=1, known=strengths[:, None])
    p = at.tables(np.array([-1.0, 0, 0, 0])).p[0, :, 0]
    shares = np.array([texts.count(spell_ranking(one)) for one in model.rankings]) / len(texts)
    assert np.abs(shares - p).max() < 4 * np.sqrt(0.25 / len(texts))
    apart = kemeny_distances(texts[:2000])
    alike = 1 - apart[np.triu_indices(2000, 1)].mean() / 3
    truth = drawing._disagreement(strengths[None], np.ones(1), -1.0)[0]
    assert 1 - alike == pytest.approx(truth, abs=0.01)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_all_rankings_together_are_certain(n):
    model = RankingModel.from_categories(3, weak_orders("ABCD"[:n]))
    found = model.tables(free_of(model, np.random.default_rng(n))).p
    assert found.sum(axis=1) == pytest.approx(np.ones((3, model.n_nodes)))


def test_extreme_people_have_chances_too():
    model = RankingModel.from_categories(9, weak_orders("ABC"))
    p = model.tables(np.full(sum(model.sizes), 10.0)).p
    assert p.sum(axis=1) == pytest.approx(np.ones((9, model.n_nodes)), abs=1e-6)


def test_without_ties_it_is_plackett_and_luces_model():
    model = RankingModel.from_categories(1, ["B>C>A", "A>B>C"])
    free = free_of(model, np.random.default_rng(0))
    a, b, c = np.exp(model.strengths(free))
    assert model.tables(free).p[0, 0] == pytest.approx(b / (a + b + c) * c / (a + c))


def test_chances_of_pairs_are_those_of_all_rankings():
    """By adding up the rankings that order a pair so."""
    texts = weak_orders("ABCD")
    model, share = RankingModel.from_categories(2, texts), np.array([0.3, 0.7])
    free = free_of(model, np.random.default_rng(1))
    p = np.einsum("j,jqm->qm", share, model.tables(free).p)
    found = model.pair_answers(free, share)
    for which, (a, b) in enumerate(itertools.combinations("ABCD", 2)):
        order = np.array([_order(parse_ranking(text), a, b) for text in texts])
        for answer in range(3):
            assert found[answer, which] == pytest.approx(p[order == answer].sum(axis=0))


def _order(ranking, a, b):
    first, second = (next(k for k, group in enumerate(ranking) if name in group) for name in (a, b))
    return 0 if first < second else 1 if first == second else 2


@pytest.mark.parametrize("names", ["AB", "ABC", "ABCD"])
def test_derivatives(names):
    rng = np.random.default_rng(7)
    table, _ = drawn(40, 3, names, rng)
    model = RankingModel.from_categories(3, table.categories)
    ratings, free = Ratings(table.codes, np.ones(40), table.n_categories), free_of(model, rng)

    def value(at):
        return item_log_likelihood(model, ratings, at).sum() + model.penalty(at)[0]

    tables: Tables = model.tables(free)
    joint = ratings.log_joint(tables)
    posterior = scipy.special.softmax(joint, axis=1)
    expected = (ratings.answers.T @ posterior).reshape(tables.p.shape)
    found = model.gradient(free, tables, expected, posterior.sum(axis=0)) + model.penalty(free)[1]
    assert found == pytest.approx(scipy.optimize.approx_fprime(free, value, 1e-6), rel=1e-3, abs=1e-3)


def test_two_responses_are_a_pair_with_ties():
    """The same likelihood as `Preferences`, whose strength is the difference of the two."""
    rng = np.random.default_rng(3)
    table, _ = drawn(150, 3, "AB", rng)
    order = [table.categories.index(text) for text in ("A>B", "A=B", "B>A")]
    codes = np.argsort(order)[table.codes]
    ours = fit(
        replace(RankingModel.from_categories(3, table.categories), with_priors=False, n_nodes=1024),
        Ratings(table.codes, np.ones(150), 3),
    )
    pair = Preferences(np.arange(3), np.zeros(3, dtype=np.int64), np.zeros((3, 0)), 3, with_priors=False)
    oracle = fit(pair, Ratings(codes, np.ones(150), 3))
    assert ours.log_likelihood == pytest.approx(oracle.log_likelihood, abs=0.05)
    assert ours.free[0] == pytest.approx(oracle.free[0], abs=0.02)
    assert ours.free[-1] + np.log(2) / 2 == pytest.approx(oracle.free[-1], abs=0.02)


@pytest.fixture(scope="module")
def many():
    table, truth = drawn(200, 9, "ABC", np.random.default_rng(5))
    return difficulty(table), truth


class TestItems:
    def test_nine_people_tell_which_items_are_difficult(self, many):
        found, truth = many
        assert found.method == "Plackett-Luce"
        assert scipy.stats.spearmanr(found.value, truth).statistic > 0.65
        assert abs(found.value.mean() - truth.mean()) < 0.02

    def test_intervals_hold_the_truth(self, many):
        found, truth = many
        assert 0.9 <= ((found.low <= truth) & (truth <= found.high)).mean() <= 0.99

    def test_stated_tiers_happen(self, many):
        """As often as they are stated, over all items, within three standard errors."""
        found, truth = many
        cuts = 1 - np.array(found.cuts)
        place = (truth[:, None] < cuts).sum(axis=1)
        for tier in range(4):
            stated = found.tiers[:, tier]
            error = 3 * np.sqrt((stated * (1 - stated)).sum())
            assert abs((place == tier).sum() - stated.sum()) <= error + 1e-9

    def test_a_careless_person_is_less_consistent(self):
        texts, _ = drawing.rankings(150, 4, "ABC", np.random.default_rng(10))
        rng = np.random.default_rng(11)
        careless = [[*row[:3], ">".join(rng.permutation(list("ABC")))] for row in texts]
        found = difficulty(RatingTable.from_wide(careless, level="ranking")).people
        assert found[3].consistency.high < min(one.consistency.low for one in found[:3])
        assert found[0].severity.reason == "people have no severity on a preference"

    def test_one_that_all_rank_alike_is_easier_than_one_they_do_not(self):
        table, _ = drawn(60, 3, "ABC", np.random.default_rng(6))
        rows = [[str(table.categories[code]) for code in row] for row in table.codes]
        both = [["A>B>C"] * 3, ["A>B>C", "C>B>A", "B>A>C"], *rows]
        found = difficulty(RatingTable.from_wide(both, level="ranking"))
        assert found.value[0] < found.value[1]
        assert found.tiers[0, 0] < found.tiers[1, 0]


class TestBadInput:
    def test_one_rater(self):
        with pytest.raises(NoConvergenceError, match="every item has one rating"):
            difficulty(RatingTable.from_wide([["A>B"], ["B>A"]], level="ranking"))

    def test_few_items_and_one_ranking(self):
        with pytest.raises(NoConvergenceError, match="needs 20"):
            difficulty(RatingTable.from_wide([["A>B", "B>A"]] * 5, level="ranking"))
        with pytest.raises(NoConvergenceError, match="every answer is the same"):
            difficulty(RatingTable.from_wide([["A>B", "A>B"]] * 30, level="ranking"))

    def test_more_responses_than_the_model_takes(self):
        rows = [["A>B>C>D>E>F>G", "G>A>B>C>D>E>F"]] * 30
        with pytest.raises(NoConvergenceError, match="7 responses; the model of rankings takes 6"):
            difficulty(RatingTable.from_wide(rows, level="ranking"))

    def test_missing_rankings_and_people_who_share_no_item(self):
        table, _ = drawn(80, 4, "ABC", np.random.default_rng(8))
        codes = table.codes.copy()
        codes[:40, 2:], codes[40:, :2] = MISSING, MISSING
        found = difficulty(replace(table, codes=codes))
        assert found.component.tolist() == [0] * 40 + [1] * 40
        assert found.fitted.all()
