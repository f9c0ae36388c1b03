"""Two judges, right and wrong on the same items."""

import numpy as np
import pytest
from scipy.stats import binomtest

from judging.stats.mcnemar import mcnemar


def columns(both, gained, lost, neither):
    old = [True] * both + [False] * gained + [True] * lost + [False] * neither
    new = [True] * both + [True] * gained + [False] * lost + [False] * neither
    return np.array(old), np.array(new)


def test_by_hand():
    # 9 items newly correct, 1 no longer: 2 * (C(10,0) + C(10,1)) / 2^10 = 22 / 1024
    found = mcnemar(*columns(20, 9, 1, 5))
    assert (found.n, found.gained, found.lost, found.reason) == (35, 9, 1, None)
    assert found.p_value == pytest.approx(22 / 1024, abs=1e-12)


def test_in_clusters_by_hand():
    # changes of +2, +1 and -1 in three clusters: of 8 ways to sign 2, 1 and 1 six have a sum of 2 or more
    found = mcnemar(*columns(4, 3, 1, 0), clusters=[*"aabb", *"aab", "c"])
    assert (found.gained, found.lost) == (3, 1)
    assert found.p_value == pytest.approx(6 / 8)


def test_each_item_a_cluster_is_no_cluster():
    old, new = columns(20, 9, 3, 5)
    names = [str(place) for place in range(len(old))]
    assert mcnemar(old, new, names).p_value == pytest.approx(mcnemar(old, new).p_value, abs=1e-12)
    assert mcnemar(old, new).p_value == pytest.approx(binomtest(9, 12).pvalue, abs=1e-12)


def test_equally_good_judges_differ_as_rarely_as_is_said():
    # the two are right by profile: without clusters 48 % of such pairs have p < .05
    rng = np.random.default_rng(4)
    clusters = [str(place // 15) for place in range(300)]
    held = []
    for _ in range(200):
        old, new = (rng.random(300) < np.repeat(rng.beta(0.7, 0.3, 20), 15) for _ in range(2))
        held.append(mcnemar(old, new, clusters).p_value <= 0.05)
    assert np.mean(held) < 0.08


def test_as_much_gained_as_lost_says_nothing():
    assert mcnemar(*columns(3, 4, 4, 3)).p_value == 1.0


@pytest.mark.parametrize(("both", "reason"), [(5, "right on the same items"), (0, "no item with a label")])
def test_where_nothing_changes_there_is_no_test(both, reason):
    found = mcnemar(*columns(both, 0, 0, 0))
    assert np.isnan(found.p_value)
    assert reason in found.reason
    assert found.to_json()["p_value"] is None


def test_columns_have_to_fit():
    with pytest.raises(ValueError, match="the new one"):
        mcnemar(np.array([True]), np.array([True, False]))
