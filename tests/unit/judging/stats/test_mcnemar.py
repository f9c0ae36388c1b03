"""Two judges, right and wrong on the same items."""

import numpy as np
import pytest

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
