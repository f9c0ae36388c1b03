"""Draws are multinomial: right sums, means, variances and covariances. Limits at five standard errors."""

import os
import subprocess
import sys

import numpy as np
import pytest

from annotation.stats import drawing
from annotation.stats.distinct import distinct_items
from annotation.stats.drawing import Urn, poisson_table
from tests.support.paths import ROOT

from .data import from_codes


def drawn(copies, stratum=None, *, n_replicates=20_000, seed=0):
    copies = np.asarray(copies)
    stratum = np.zeros(len(copies), dtype=int) if stratum is None else np.asarray(stratum)
    return np.concatenate(list(Urn(copies, stratum).blocks(n_replicates, seed))).astype(float)


class TestUrn:
    @pytest.mark.parametrize(
        "copies",
        [
            [1] * 10,  # too few for a Poisson start
            [1] * 120,
            [1] * 60 + [2] * 20 + [3] * 10 + [40] * 2,  # tabled and untabled numbers of copies
        ],
    )
    def test_moments_are_those_of_the_multinomial(self, copies):
        copies = np.array(copies)
        n, b = copies.sum(), 20_000
        times = drawn(copies, n_replicates=b)
        assert (times.sum(axis=1) == n).all()
        assert (times == times.round()).all()
        expected = np.diag(copies) - np.outer(copies, copies) / n
        variance = np.diag(expected)
        assert (np.abs(times.mean(axis=0) - copies) < 5 * np.sqrt(variance / b)).all()
        # the variance of a product of two centred counts is at most about 3 times that of normal ones
        found = (times - copies).T @ (times - copies) / b
        assert (np.abs(found - expected) < 5 * np.sqrt(3 * np.outer(variance, variance) / b)).all()

    def test_counts_of_one_unit_are_binomial(self):
        times = drawn([1] * 150, n_replicates=20_000)
        # P(0 draws) = (1 - 1/150)^150 over 3,000,000 nearly independent counts
        assert (times == 0).mean() == pytest.approx((1 - 1 / 150) ** 150, abs=0.002)
        assert (times == 3).mean() == pytest.approx(
            150 * 149 * 148 / 6 * (1 / 150) ** 3 * (149 / 150) ** 147, abs=0.002
        )

    def test_strata_keep_their_sizes(self):
        times = drawn([1, 2, 3, 4], [0, 1, 0, 1], n_replicates=500)
        assert (times[:, [0, 2]].sum(axis=1) == 4).all()
        assert (times[:, [1, 3]].sum(axis=1) == 6).all()

    def test_a_start_that_draws_too_many_is_drawn_anew(self, monkeypatch):
        # with a Poisson mean above one draw per unit the start overshoots nearly always
        monkeypatch.setattr(Urn, "_mean", 1.3)
        times = drawn([1] * 120, n_replicates=2000)
        assert (times.sum(axis=1) == 120).all()
        assert times.mean(axis=0) == pytest.approx(np.ones(120), abs=0.15)

    def test_threads_draw_what_one_alone_would(self, monkeypatch):
        copies = [1] * 150 + [2] * 20 + [50] * 3
        alone = drawn(copies, n_replicates=900)
        monkeypatch.setattr(drawing, "WORTH_A_THREAD", 0)
        monkeypatch.setattr(drawing, "THREADS", 3)
        np.testing.assert_array_equal(drawn(copies, n_replicates=900), alone)

    def test_seeds_differ_and_repeat(self):
        assert (drawn([1] * 200, n_replicates=5) == drawn([1] * 200, n_replicates=5)).all()
        assert (drawn([1] * 200, n_replicates=5) != drawn([1] * 200, n_replicates=5, seed=1)).any()


def test_poisson_table_has_the_mean_and_the_zeros_of_its_law():
    table = poisson_table(2.5)
    assert len(table) == 2**16
    assert table.mean() == pytest.approx(2.5, abs=1e-3)
    assert (table == 0).mean() == pytest.approx(np.exp(-2.5), abs=2**-16)


class TestDistinctItems:
    codes = np.array([[0, 1], [1, 1], [0, 1], [-1, 1], [0, 1]])

    def test_rows_that_are_alike_become_one(self):
        found = distinct_items(from_codes(self.codes, q=2))
        rows = {tuple(row): n for row, n in zip(found.table.codes.tolist(), found.copies.tolist(), strict=True)}
        assert rows == {(0, 1): 3, (1, 1): 1, (-1, 1): 1}

    def test_strata_and_weights_tell_items_apart(self):
        strata, weights = ("a", "a", "b", "b", "a"), [1.0, 1.0, 1.0, 1.0, 2.0]
        assert len(distinct_items(from_codes(self.codes, q=2, strata=strata)).copies) == 4
        found = distinct_items(from_codes(self.codes, q=2, strata=strata, weights=weights))
        assert found.copies.tolist() == [1, 1, 1, 1, 1]

    def test_clusters_are_left_as_they_are(self):
        table = from_codes(self.codes, q=2, clusters=tuple("xxyyz"))
        assert distinct_items(table).table is table

    def test_more_raters_than_a_key_holds(self):
        codes = np.random.default_rng(0).integers(-1, 5, (40, 60))
        found = distinct_items(from_codes(np.vstack([codes, codes[:7]]), q=5))
        assert len(found.copies) == 40
        assert found.copies.sum() == 47

    def test_an_empty_table(self):
        assert distinct_items(from_codes(np.empty((0, 2), dtype=int), q=2)).copies.tolist() == []


@pytest.mark.long
def test_results_are_the_same_in_every_process():
    program = (
        "import json, numpy as np\n"
        "from annotation.stats.agreement import agreement\n"
        "from annotation.stats.table import RatingTable\n"
        "codes = np.random.default_rng(4).integers(0, 4, (300, 3))\n"
        "table = RatingTable(codes, (0, 1, 2, 3), 'ordinal', tuple(map(str, range(300))), ('a', 'b', 'c'))\n"
        "found = agreement(table, bootstrap=300, seed=9).coefficients\n"
        "print(json.dumps([[e.value, e.low, e.high] for e in found.values()]))\n"
    )
    outputs = []
    for threads in ("1", "2"):
        environment = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        )
        outputs.append(np.array(eval(done.stdout, {"NaN": np.nan})))
    np.testing.assert_allclose(outputs[0], outputs[1], atol=1e-12, equal_nan=True)
