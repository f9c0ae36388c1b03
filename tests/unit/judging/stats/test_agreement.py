import json
from typing import get_args

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from judging.stats.agreement import JudgeAgreement, judge_agreement
from judging.stats.figures import ALL
from judging.stats.result_types import JudgeFigure
from tests.unit.annotation.stats.data import from_codes, load

FIGURES = [name for name in get_args(JudgeFigure) if name in JudgeAgreement.__dataclass_fields__]
"""The single figures of a judge; the others are of marked spans."""


def pandalm():
    records = load("pandalm/testset-v1.json")
    return from_codes([[record[f"annotator{j}"] for j in (1, 2, 3)] for record in records], q=3)


def gpt_35(garbage):
    codes = {"Tie": 0, "1": 1, "2": 2, "garbage": garbage}
    return np.array([codes[record["gpt_result"]] for record in load("pandalm/gpt-3.5-turbo-testset-v1.json")])


def kappas(found):
    return [pair.cohen_kappa.value for pair in found.per_annotator]


class TestPandaLM:
    # arXiv 2306.05087 and its data; kappas by scikit-learn, accuracy .7107 as published
    def test_gpt_35_as_published_counts_garbage_as_ties(self):
        found = judge_agreement(pandalm(), gpt_35(garbage=0), judge_name="gpt-3.5-turbo", bootstrap=200)
        assert kappas(found) == pytest.approx([0.4788924601, 0.4789093625, 0.4881123181], abs=1e-9)
        assert found.mean_cohen_kappa.value == pytest.approx(np.mean([0.4788924601, 0.4789093625, 0.4881123181]))
        assert found.accuracy.value == pytest.approx(0.7107107107, abs=1e-9)
        assert found.majority_cohen_kappa.value == pytest.approx(0.4957840983, abs=1e-9)
        assert np.array(found.confusion.counts).T.tolist() == [[18, 42, 45], [19, 332, 71], [26, 86, 360]]
        # scikit-learn, macro averages against the majority; every category is said and true
        assert found.macro_precision.value == pytest.approx(0.5879186457, abs=1e-9)
        assert found.macro_recall.value == pytest.approx(0.5736234312, abs=1e-9)
        assert found.macro_f1.value == pytest.approx(0.5755379508, abs=1e-9)
        assert found.unscored == 0

    def test_gpt_35_with_garbage_unscored(self):
        people, judge = pandalm(), gpt_35(garbage=-1)
        found = judge_agreement(people, judge, judge_name="gpt-3.5-turbo", bootstrap=200)
        scored = judge >= 0
        expected = [cohen_kappa_score(judge[scored], people.codes[scored, j]) for j in range(3)]
        assert kappas(found) == pytest.approx(expected, abs=1e-9)
        assert (found.scored, found.unscored, found.not_judged) == (974, 25, 0)
        assert sum(found.confusion.unscored) == 25
        assert sum(map(sum, found.confusion.counts)) == 974

    def test_pandalm_7b(self):
        judge = [record["pandalm_result"] for record in load("pandalm/pandalm-7b-testset-v1.json")]
        found = judge_agreement(pandalm(), judge, judge_name="pandalm-7b", bootstrap=200)
        assert kappas(found) == pytest.approx([0.4190926722, 0.4118896900, 0.4411634080], abs=1e-9)
        assert found.accuracy.value == pytest.approx(0.6676676677, abs=1e-9)
        assert found.majority_cohen_kappa.value == pytest.approx(0.4353549248, abs=1e-9)
        assert found.macro_f1.value == pytest.approx(0.5743051849, abs=1e-9)

    def test_the_judge_falls_short_of_the_human_ceiling(self):
        found = judge_agreement(pandalm(), gpt_35(garbage=0), judge_name="gpt-3.5-turbo", bootstrap=200)
        # mean of .8520, .8789, .8617
        assert found.human_ceiling.value == pytest.approx(0.8642093146, abs=1e-9)
        gap = found.human_ceiling.value - found.mean_cohen_kappa.value
        assert found.below_ceiling.value == pytest.approx(gap)
        assert found.below_ceiling.low > 0.3


class TestByHand:
    # people (0 … 2):     mean   majority   judge
    #   a: 0 0            0      0          0
    #   b: 1 2            1.5    tie        1
    #   c: 2 2            2      2          0
    #   d: 1 -            1      1          unscored
    #   e: 2 1            1.5    tie        never asked
    people = from_codes([[0, 0], [1, 2], [2, 2], [1, -1], [2, 1]], q=3, level="ordinal")
    found = judge_agreement(
        people,
        [0, 1, 0, -1, -1],
        judge_name="judge",
        unscored=[False, False, False, True, False],
        bootstrap=50,
    )

    def test_counts(self):
        found = self.found
        assert (found.n_items, found.scored, found.unscored, found.not_judged) == (5, 3, 1, 1)

    def test_confusion(self):
        assert self.found.confusion.counts == ((1, 0, 1), (0, 0, 0), (0, 0, 0))
        assert self.found.confusion.unscored == (0, 1, 0)
        assert self.found.confusion.tied == (0, 1, 0)

    def test_accuracy_leaves_out_ties_and_unscored(self):
        assert self.found.accuracy.value == 1 / 2
        assert self.found.accuracy.n_items == 2

    def test_percent_agreement_is_the_mean_over_annotators(self):
        # with r1 on a, b, c: 2/3; with r2: 1/3
        assert self.found.percent_agreement.value == pytest.approx(1 / 2)
        assert [pair.percent_agreement.value for pair in self.found.per_annotator] == pytest.approx([2 / 3, 1 / 3])
        assert [pair.n for pair in self.found.per_annotator] == [3, 3]

    def test_errors_against_the_mean(self):
        # |0 - 0|, |1 - 1.5|, |0 - 2|
        assert self.found.mae.value == pytest.approx(2.5 / 3)
        assert self.found.within_one.value == pytest.approx(2 / 3)

    def test_rank_correlation_with_the_mean(self):
        # judge 0 1 0 has ranks 1.5 3 1.5; means 0 1.5 2 have 1 2 3: centred products cancel
        assert self.found.spearman.value == pytest.approx(0, abs=1e-12)

    def test_ceiling_is_taken_on_the_judged_items(self):
        # people on a, b, c: 0-0, 1-2, 2-2: p_o 2/3, p_e (1/3)(1/3) + 0 + (1/3)(2/3) = 1/3
        assert self.found.human_ceiling.value == pytest.approx(1 / 2)
        assert self.found.human_ceiling.n_items == 3


class TestDegenerate:
    def test_a_judge_without_verdicts(self):
        people = from_codes([[0, 0], [1, 1]], q=2, level="ordinal")
        found = judge_agreement(people, [-1, -1], judge_name="mute", bootstrap=20)
        assert found.unscored == 2
        assert {getattr(found, name).reason for name in FIGURES} >= {"the judge scored no item"}
        assert not any(getattr(found, name).defined for name in FIGURES)

    def test_no_annotator_on_the_judged_items(self):
        found = judge_agreement(from_codes([[0, 0], [-1, -1]], q=2), [-1, 1], judge_name="j", bootstrap=20)
        assert found.mean_cohen_kappa.reason == "no annotator rated an item that the judge scored"

    def test_one_annotator_has_no_ceiling(self):
        found = judge_agreement(from_codes([[0], [1], [1]], q=2), [0, 1, 0], judge_name="j", bootstrap=20)
        assert found.mean_cohen_kappa.defined
        assert found.human_ceiling.reason == "no item that the judge scored has two annotators"
        assert not found.below_ceiling.defined

    def test_a_constant_judge_has_kappa_zero_and_no_rank_correlation(self):
        people = from_codes([[0, 0], [1, 1], [1, 0]], q=2, level="ordinal")
        found = judge_agreement(people, [1, 1, 1], judge_name="yes", bootstrap=20)
        assert found.mean_cohen_kappa.value == 0
        assert found.spearman.reason == "the judge's scores or the people's means do not vary"

    def test_everyone_says_the_same(self):
        found = judge_agreement(from_codes([[1, 1]] * 3, q=2), [1, 1, 1], judge_name="j", bootstrap=20)
        assert found.mean_cohen_kappa.reason == "one category used"
        assert found.accuracy.value == 1

    def test_only_ties(self):
        found = judge_agreement(from_codes([[0, 1], [1, 0]], q=2), [0, 1], judge_name="j", bootstrap=20)
        assert found.accuracy.reason == "people are tied on every item that the judge scored"
        assert found.confusion.tied == (1, 1)

    def test_a_judge_named_like_an_annotator(self):
        found = judge_agreement(from_codes([[0], [1]], q=2), [0, 1], judge_name="r1", bootstrap=0)
        assert found.name == "r1"
        assert found.per_annotator[0].b == "r1"

    @pytest.mark.parametrize(
        ("codes", "unscored", "message"),
        [
            ([0], None, "shape"),
            ([0, 2], None, "off the scale"),
            ([0, -1], [True, False], "although the judge has a category"),
            ([0, -1], [True], "shape"),
        ],
    )
    def test_bad_input(self, codes, unscored, message):
        with pytest.raises(ValueError, match=message):
            judge_agreement(from_codes([[0], [1]], q=2), codes, judge_name="j", unscored=unscored)


def test_json_is_the_entry_of_the_contract():
    people = from_codes([[0, 0], [1, 2], [2, 2], [1, 0]], q=3, level="ordinal")
    found = judge_agreement(people, [0, 1, 2, -1], judge_name="j", bootstrap=20)
    document = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert {"mean_cohen_kappa", "human_ceiling", "per_annotator", "spearman", "mae", "unscored"} <= set(document)
    assert set(document["per_annotator"]) == {"r1", "r2"}
    assert {"value", "low", "high", "reason"} <= set(document["per_annotator"]["r1"])
    assert "alt_test" not in document


def test_an_ordered_scale_has_weighted_kappas():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 5, (50, 2))
    judge = np.clip(codes[:, 0] + rng.integers(-1, 2, 50), 0, 4)
    found = judge_agreement(from_codes(codes, q=5, level="ordinal"), judge, judge_name="j", bootstrap=50)
    expected = [cohen_kappa_score(judge, codes[:, j], weights="quadratic", labels=range(5)) for j in range(2)]
    assert found.mean_weighted_cohen_kappa.value == pytest.approx(np.mean(expected))


RNG = np.random.default_rng(6)
TRUTH = RNG.integers(0, 5, 150)


def near_the_truth(most, n_raters):
    """Codes that miss the truth by at most so many steps."""
    return np.clip(TRUTH[:, None] + RNG.integers(-most, most + 1, (150, n_raters)), 0, 4)


class TestCeilingOfEveryFigure:
    people = from_codes(near_the_truth(1, 3), q=5, level="ordinal")
    judge = near_the_truth(2, 1)[:, 0]
    found = judge_agreement(people, judge, judge_name="j", bootstrap=100)

    def test_has_the_figures_of_the_judge(self):
        assert set(ALL) <= set(FIGURES)
        assert tuple(self.found.ceiling) == ALL
        assert self.found.human_ceiling == self.found.ceiling["mean_cohen_kappa"]

    def test_is_each_annotator_held_to_the_others_as_a_judge(self):
        others = [
            self.people.select_raters([r for r in self.people.raters if r != name]) for name in ("r1", "r2", "r3")
        ]
        alone = [
            judge_agreement(rest, self.people.codes[:, j], judge_name="x", bootstrap=0) for j, rest in enumerate(others)
        ]
        for name in ("spearman", "kendall_tau_b", "pearson", "mae", "within_one", "accuracy", "macro_f1", "bias"):
            mean = np.mean([getattr(one, name).value for one in alone])
            assert self.found.ceiling[name].value == pytest.approx(mean, abs=1e-12)

    def test_each_annotator_stands_beside_the_judge(self):
        document = self.found.to_json()
        assert set(document["per_annotator_ceiling"]) == {"r1", "r2", "r3"}
        kappas = [document["per_annotator_ceiling"][name]["value"] for name in ("r1", "r2", "r3")]
        assert np.mean(kappas) == pytest.approx(self.found.human_ceiling.value)

    def test_a_worse_judge_is_below_the_ceiling(self):
        assert self.found.below_ceiling.low > 0
        assert self.found.ceiling["mae"].value < self.found.mae.value

    def test_every_defined_figure_has_an_interval(self):
        # three people are as lenient as each other on average: that bias is 0 whoever the items are
        assert self.found.ceiling["bias"].reason == "no interval: leaving out any of the items changes nothing"
        of_people = [figure for name, figure in self.found.ceiling.items() if name != "bias"]
        for figure in (*(getattr(self.found, name) for name in FIGURES), *of_people):
            assert figure.low <= figure.value <= figure.high
            assert 0 < figure.n_items <= 150

    def test_the_people_are_tied_more_often_without_one_of_them(self):
        assert self.found.mae.n_items == 150
        assert self.found.ceiling["accuracy"].n_items <= self.found.ceiling["mae"].n_items == 150


class TestSomebodyWhoHasJustBegun:
    people = [[0, 0, -1], [1, 1, -1], [2, 1, -1], [0, 0, -1], [1, 1, -1], [2, 2, -1], [0, 1, -1], [1, 1, -1]] * 2
    judge = [0, 1, 2, 0, 1, 1, 0, 2] * 2

    def held(self, first_of_third: int):
        codes = [list(row) for row in self.people]
        codes[0][2] = first_of_third
        return judge_agreement(from_codes(codes, q=3), self.judge, judge_name="j", bootstrap=100)

    def test_does_not_change_the_means_or_the_ceiling(self):
        without, found = self.held(-1), self.held(2)
        assert [pair.in_mean for pair in found.per_annotator] == [True, True, False]
        assert found.left_out == ("r3",)
        assert without.left_out == ()
        for name in ("mean_cohen_kappa", "percent_agreement", "human_ceiling"):
            assert getattr(found, name).value == pytest.approx(getattr(without, name).value), name
        assert found.ceiling["mean_cohen_kappa"].value == pytest.approx(without.ceiling["mean_cohen_kappa"].value)
        assert found.to_json()["left_out"] == ["r3"]
