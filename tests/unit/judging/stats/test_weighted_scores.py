"""Scores as means over the scale."""

import numpy as np
import pytest

from annotation.stats.table import RatingTable
from judging.stats.agreement import judge_agreement
from judging.stats.weighted_scores import BOTH, PROBABILITIES, REPEATS, VERDICT, Opinion, compute_weighted_score

SCALE = {"1": 1.0, "2": 2.0, "3": 3.0, "4": 4.0}


def test_from_the_model_s_probabilities():
    found = compute_weighted_score([Opinion("4", {"3": 0.25, "4": 0.75})], SCALE)

    assert (found.score, found.source, found.n) == (3.75, PROBABILITIES, 1)


def test_from_the_shares_of_repeats():
    # 3 * 2/4 + 4 * 2/4; the reply without a verdict has no share
    found = compute_weighted_score([Opinion("3"), Opinion("4"), Opinion(""), Opinion("3"), Opinion("4")], SCALE)

    assert (found.score, found.source, found.n) == (3.5, REPEATS, 4)
    assert found.distribution == {"3": 0.5, "4": 0.5}


def test_repeats_with_probabilities_are_averaged():
    # (3.75 + 2) / 2
    found = compute_weighted_score([Opinion("4", {"3": 0.25, "4": 0.75}), Opinion("2", {"2": 1.0})], SCALE)

    assert (found.score, found.source) == (2.875, PROBABILITIES)
    assert sum(found.distribution.values()) == 1


def test_what_it_rests_on_is_said():
    assert compute_weighted_score([Opinion("4", {"4": 1.0}), Opinion("2")], SCALE).source == BOTH
    assert compute_weighted_score([Opinion("4")], SCALE).source == VERDICT
    assert compute_weighted_score([Opinion("4")], SCALE).score == 4


def test_probability_off_the_scale_is_left_out_and_the_rest_sums_to_1():
    assert compute_weighted_score([Opinion("4", {"3": 0.2, "4": 0.2, "cannot say": 0.6})], SCALE).score == 3.5


@pytest.mark.parametrize("opinions", [[], [Opinion("")], [Opinion("yes")]])
def test_without_a_verdict_on_the_scale_there_is_no_score(opinions):
    assert compute_weighted_score(opinions, SCALE) is None


class TestAgainstPeople:
    """The mean of two people is 1, 2.5 and 4; the judge's verdicts are 1, 2 and 4."""

    people = RatingTable(np.array([[0, 0], [1, 2], [3, 3]]), ("1", "2", "3", "4"), "ordinal", tuple("abc"), ("x", "y"))

    def held(self, scores=None):
        return judge_agreement(self.people, [0, 1, 3], judge_name="j", scores=scores, bootstrap=20)

    def test_errors_read_the_score_and_kappas_the_verdict(self):
        # |1.5 - 1|, |2.5 - 2.5|, |3.5 - 4|: mean 1/3, bias 0; of the verdicts 0, 1/2, 0: mean 1/6, bias -1/6
        by_verdict, by_score = self.held(), self.held([1.5, 2.5, 3.5])

        assert (by_verdict.mae.value, by_verdict.bias.value) == pytest.approx((1 / 6, -1 / 6))
        assert (by_score.mae.value, by_score.bias.value) == pytest.approx((1 / 3, 0))
        assert by_score.pearson.value == pytest.approx(1)
        for name in ("mean_cohen_kappa", "mean_weighted_cohen_kappa", "accuracy", "within_one"):
            assert getattr(by_score, name).value == pytest.approx(getattr(by_verdict, name).value, nan_ok=True)
        assert by_score.ceiling["mae"].value == by_verdict.ceiling["mae"].value

    def test_scores_equal_to_the_verdicts_change_nothing(self):
        by_verdict, by_score = self.held(), self.held([1, 2, 4])

        for name in ("spearman", "kendall_tau_b", "pearson", "mae", "bias"):
            assert getattr(by_score, name).value == pytest.approx(getattr(by_verdict, name).value)

    @pytest.mark.parametrize(("scores", "message"), [([1, 2], "shape"), ([1, np.nan, 2], "no score")])
    def test_scores_that_do_not_fit_are_refused(self, scores, message):
        with pytest.raises(ValueError, match=message):
            self.held(scores)
