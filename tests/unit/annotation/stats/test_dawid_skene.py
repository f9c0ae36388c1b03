"""EM against the paper's own example, against a plain-loop EM, and on simulated raters of known errors."""

import json

import numpy as np
import pytest
from hypothesis import given, settings

from annotation.stats.dawid_skene import dawid_skene
from annotation.stats.majority import majority
from annotation.stats.table import RatingTable

from .data import from_codes
from .strategies import code_tables

# Dawid and Skene (1979), table 1: 45 patients; observer 1 three times, observers 2 to 5 once each.
ANAESTHETISTS = (
    "1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343 1111111 "
    "2223212 1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 "
    "2322222 1111111 1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432 "
    "1111111 1111111 1212111 2322222 1211111 2222222"
)
OBSERVERS = ["1", "1", "1", "2", "3", "4", "5"]


class TestAnaesthetists:
    table = RatingTable.from_wide([list(row) for row in ANAESTHETISTS.split()], categories=[1, 2, 3, 4])
    found = dawid_skene(table, same_rater=OBSERVERS)

    def test_prevalence(self):
        # the paper's estimates: .40 .42 .11 .07
        assert self.found.prevalence.round(2).tolist() == [0.40, 0.42, 0.11, 0.07]

    def test_errors_of_observer_1(self):
        # the maximum of the likelihood that the paper's EM climbs to, two digits
        expected = [[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0], [0, 0, 0.56, 0.44]]
        assert self.found.confusion[0].round(2).tolist() == expected

    def test_who_rated_how_often(self):
        assert self.found.raters == ("1", "2", "3", "4", "5")
        assert self.found.n_ratings.tolist() == [135, 45, 45, 45, 45]

    def test_the_likelihood_never_falls(self):
        assert (np.diff(self.found.log_likelihood) > -1e-9).all()
        assert self.found.converged

    def test_patient_3_is_a_2_although_1_is_said_as_often(self):
        # 1 1 2 by observer 1, then 2 1 2 2: the posterior is beyond doubt
        assert self.found.codes[2] == 1
        assert self.found.posterior[2, 1] > 0.99

    def test_is_json(self):
        document = json.loads(json.dumps(self.found.to_json(), allow_nan=False))
        assert document["raters"][0]["n_ratings"] == 135
        assert document["converged"] is True


def plain_em(codes, q, iterations):
    """The formulas of the paper, item by item, rater by rater."""
    n, r = codes.shape
    posterior = np.zeros((n, q))
    for i in range(n):
        said = codes[i][codes[i] >= 0]
        for k in said:
            posterior[i, k] += 1 / len(said)
    for _ in range(iterations):
        rated = [i for i in range(n) if (codes[i] >= 0).any()]
        prevalence = posterior[rated].mean(axis=0)
        confusion = np.zeros((r, q, q))
        for j in range(r):
            for i in rated:
                if codes[i, j] >= 0:
                    confusion[j, :, codes[i, j]] += posterior[i]
            for k in range(q):
                total = confusion[j, k].sum()
                confusion[j, k] = confusion[j, k] / total if total > 1e-12 else 0
        for i in rated:
            joint = prevalence.copy()
            for j in range(r):
                if codes[i, j] >= 0:
                    joint *= confusion[j, :, codes[i, j]]
            posterior[i] = joint / joint.sum()
    return prevalence, posterior


@pytest.mark.long
@given(code_tables(most_items=10, most_raters=4, most_categories=3))
@settings(max_examples=60)
def test_is_the_plain_algorithm(table):
    codes, q = table
    found = dawid_skene(from_codes(codes, q=q), iterations=5, tolerance=0)
    if not (codes >= 0).any():
        assert np.isnan(found.posterior).all()
        return
    steps = len(found.log_likelihood)
    _, posterior = plain_em(codes, q, steps + 1)
    rated = (codes >= 0).any(axis=1)
    np.testing.assert_allclose(found.posterior[rated], posterior[rated], atol=1e-6)
    assert np.isnan(found.posterior[~rated]).all()


def simulated_raters(truth, accuracies, rng):
    n = len(truth)
    said = [np.where(rng.random(n) < a, truth, (truth + rng.integers(1, 3, n)) % 3) for a in accuracies]
    codes = np.column_stack(said)
    return np.where(rng.random(codes.shape) < 0.2, -1, codes)


class TestSimulatedRaters:
    rng = np.random.default_rng(7)
    truth = rng.choice(3, size=2000, p=[0.5, 0.3, 0.2])
    accuracies = (0.9, 0.85, 0.8, 0.5, 0.4)
    codes = simulated_raters(truth, accuracies, rng)
    table = from_codes(codes, q=3)
    found = dawid_skene(table)

    def test_accuracies_are_recovered(self):
        # a share of about 1,600 ratings has a standard error of about .012
        assert self.found.accuracy == pytest.approx(self.accuracies, abs=0.06)

    def test_does_better_than_the_majority(self):
        rated = self.found.rated
        by_em = (self.found.codes == self.truth)[rated].mean()
        by_majority = (majority(self.table).codes == self.truth)[rated].mean()
        assert by_em > by_majority + 0.02

    def test_clusters_play_no_part(self):
        """Found: a table with clusters took a step over every item, not over every way to rate one."""
        clusters = tuple(f"p{i // 20}" for i in range(len(self.codes)))
        found = dawid_skene(from_codes(self.codes, q=3, clusters=clusters))
        assert found.log_likelihood == self.found.log_likelihood

    def test_rows_that_are_alike_have_one_posterior(self):
        first = (self.codes == self.codes[0]).all(axis=1)
        assert np.ptp(self.found.posterior[first], axis=0) == pytest.approx(np.zeros(3))


class TestDegenerate:
    def test_an_item_without_ratings_has_no_posterior(self):
        found = dawid_skene(from_codes([[0, 0], [-1, -1], [1, 1]], q=2))
        assert np.isnan(found.posterior[1]).all()
        assert found.codes.tolist() == [0, -1, 1]

    def test_an_even_split_is_a_tie_and_not_a_guess(self):
        found = dawid_skene(from_codes([[0, 1], [1, 0], [0, 1], [1, 0]], q=2))
        assert found.tied.all()
        assert found.codes.tolist() == [-1] * 4

    def test_no_ratings_at_all(self):
        found = dawid_skene(from_codes([[-1, -1]], q=2))
        assert np.isnan(found.prevalence).all()
        assert found.log_likelihood == ()
        assert found.to_json()["prevalence"] == [None, None]

    def test_one_category(self):
        found = dawid_skene(from_codes([[1, 1]] * 5, q=3))
        assert found.prevalence.tolist() == [0, 1, 0]
        assert found.codes.tolist() == [1] * 5
        assert np.isnan(found.confusion[0, 0]).all()

    def test_smoothing_keeps_matrices_from_certainty(self):
        table = from_codes([[0, 0, 1], [1, 1, 1], [0, 0, 0]], q=2)
        assert dawid_skene(table, smoothing=1.0).confusion.min() > 0.1

    @pytest.mark.parametrize(
        ("options", "message"),
        [({"same_rater": ["a"]}, "1 names"), ({"iterations": 0}, "iterations"), ({"smoothing": -1}, "smoothing")],
    )
    def test_bad_options(self, options, message):
        with pytest.raises(ValueError, match=message):
            dawid_skene(from_codes([[0, 1]], q=2), **options)
