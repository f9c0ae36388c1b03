import numpy as np
import pytest

from judging.stats.rogan_gladen import corrected_rate, rogan_gladen
from tests.annotation.stats.data import load


class TestLee2025:
    # values of the authors' code, commit 082884d, stored in rogan_gladen_lee2025.json
    @pytest.mark.parametrize("k", range(3))
    def test_estimate_and_interval(self, k):
        case = load("classic/rogan_gladen_lee2025.json")["cases"][k]
        rates = {"q0": case["specificity_q0"], "q1": case["sensitivity_q1"]}
        found = corrected_rate(p=case["p"], n=case["n"], m0=case["m0"], m1=case["m1"], **rates)
        assert found.value == pytest.approx(case["theta"], abs=1e-12)
        assert [found.low, found.high] == pytest.approx(case["ci95"], abs=1e-12)


def constructed():
    """judge_corrected_rate.json: 60 yes and 40 no by people, the judge right on 54 and 34; 350 of 500 yes elsewhere."""
    human = [1] * 60 + [0] * 40 + [np.nan] * 500
    judge = [1] * 54 + [0] * 6 + [0] * 34 + [1] * 6 + [1] * 350 + [0] * 150
    return human, judge


class TestFromColumns:
    def test_the_constructed_example(self):
        # (.7 + .85 - 1) / (.85 + .90 - 1) = .55 / .75
        found = rogan_gladen(*constructed())
        assert found.rate.value == pytest.approx(0.55 / 0.75)
        assert (found.sensitivity.value, found.specificity.value) == (0.9, 0.85)
        assert (found.sensitivity.n_items, found.specificity.n_items, found.rate.n_items) == (60, 40, 600)

    def test_a_rate_below_the_false_positives_is_cut_at_zero(self):
        found = corrected_rate(p=0.09, n=200, q0=0.9, m0=100, q1=0.9, m1=100)
        assert (found.value, found.low) == (0, 0)
        assert found.high > 0

    def test_a_rate_that_nothing_explains_has_no_interval(self):
        found = corrected_rate(p=0.01, n=500, q0=0.9, m0=100, q1=0.9, m1=100)
        assert np.isnan(found.high)
        assert "errs otherwise" in found.reason

    def test_a_judge_no_better_than_chance_is_refused(self):
        human = [1, 0] * 50 + [np.nan] * 100
        judge = [1, 1, 0, 0] * 25 + [1, 0] * 50
        found = rogan_gladen(human, judge)
        assert not found.rate.defined
        assert "cannot be told from chance" in found.rate.reason
        assert found.sensitivity.value == 0.5

    def test_without_a_yes_among_the_labels(self):
        found = rogan_gladen([0, 0, np.nan], [0, 1, 1])
        assert found.rate.reason == "no labelled item is a yes"

    def test_without_unlabelled_items(self):
        assert rogan_gladen([1, 0], [1, 0]).rate.reason == "no unlabelled item that the judge scored"

    def test_scores_are_refused(self):
        with pytest.raises(ValueError, match="0 and 1"):
            rogan_gladen([1, 2], [1, 0])
