import time
from itertools import product

import numpy as np
import pytest
from scipy.stats import wilcoxon

from judging.stats.signed_rank import compute_signed_rank_p


def test_by_hand():
    # -2, -1, 3 have ranks 2 1 3: the positive ranks sum to 3; sums of 0 1 2 3 (twice) are 5 of 8 signs
    assert compute_signed_rank_p(np.array([-2.0, -1.0, 3.0])) == 5 / 8


def test_as_scipy_without_ties():
    d = np.random.default_rng(0).normal(-0.3, 1, 25)
    assert compute_signed_rank_p(d) == pytest.approx(wilcoxon(d, alternative="less", method="exact").pvalue)


def test_tied_ranks_by_trying_all_signs():
    d = np.array([-1.15, -1.15, 0.85, -0.15, -0.15, -0.15, 0.85, -1.15])
    size = np.abs(d)
    ranks = np.array([(size < x).sum() + ((size == x).sum() + 1) / 2 for x in size])
    sums = [ranks[np.array(signs)].sum() for signs in product([False, True], repeat=len(d))]
    expected = np.mean([total <= ranks[d > 0].sum() for total in sums])
    assert compute_signed_rank_p(d) == pytest.approx(expected)


def test_zeros_are_dropped():
    assert compute_signed_rank_p(np.array([0.0, -1.0, 0.0, -2.0])) == 0.25
    assert compute_signed_rank_p(np.zeros(5)) == 1


def test_it_is_fast_where_ranks_are_tied():
    d = np.repeat([-0.15, 0.85, -1.15], [6, 3, 3])
    start = time.process_time()
    for _ in range(100):
        compute_signed_rank_p(d)
    assert time.process_time() - start < 1
