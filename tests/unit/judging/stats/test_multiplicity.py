import numpy as np
import pytest
from scipy.stats import false_discovery_control

from judging.stats.multiplicity import adjust_p_values


def test_holm_by_hand():
    # sorted .01 .03 .04 times 3 2 1 -> .03 .06 .04, never falling -> .03 .06 .06
    assert adjust_p_values([0.01, 0.04, 0.03], "holm") == pytest.approx([0.03, 0.06, 0.06])


@pytest.mark.parametrize(("method", "theirs"), [("benjamini-hochberg", "bh"), ("benjamini-yekutieli", "by")])
def test_false_discovery_rate_as_in_scipy(method, theirs):
    p = np.random.default_rng(3).random(12) ** 2
    assert adjust_p_values(p, method) == pytest.approx(false_discovery_control(p, method=theirs))


def test_a_test_that_was_not_made_does_not_count():
    assert adjust_p_values([0.02, np.nan, 0.5], "holm")[0] == pytest.approx(0.04)
    assert np.isnan(adjust_p_values([0.02, np.nan, 0.5], "holm")[1])
    assert adjust_p_values([], "holm").size == 0


def test_an_unknown_method():
    with pytest.raises(ValueError, match="method"):
        adjust_p_values([0.1], "bonferroni")
