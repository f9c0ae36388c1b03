import json

import numpy as np
import pytest

from judging.stats.agreement import judge_agreement
from judging.stats.differences import compare_judges
from tests.annotation.stats.data import from_codes, load

from .test_agreement import gpt_35, pandalm


class TestPandaLM:
    def found(self):
        judges = {
            "gpt-3.5-turbo": gpt_35(garbage=-1),
            "pandalm-7b": [record["pandalm_result"] for record in load("pandalm/pandalm-7b-testset-v1.json")],
        }
        return compare_judges(pandalm(), judges, bootstrap=500)[0]

    def test_both_are_held_to_the_items_that_both_scored(self):
        found = self.found()
        assert (found.a, found.b, found.n_items) == ("gpt-3.5-turbo", "pandalm-7b", 974)
        assert found.figures["accuracy"].a.n_items == 974
        accuracy = found.figures["accuracy"]
        assert accuracy.difference.value == pytest.approx(accuracy.a.value - accuracy.b.value)
        assert accuracy.difference.low > 0  # by 6 points, on 974 items

    def test_the_first_judges_own_figures_are_those_on_these_items(self):
        people, judge = pandalm(), gpt_35(garbage=-1)
        alone = judge_agreement(people, judge, judge_name="gpt-3.5-turbo", bootstrap=0)
        assert self.found().figures["mean_cohen_kappa"].a.value == pytest.approx(alone.mean_cohen_kappa.value)


def test_the_difference_of_twins_is_exactly_zero():
    rng = np.random.default_rng(0)
    people = from_codes(rng.integers(0, 3, (60, 2)), q=3, level="ordinal")
    said = rng.integers(0, 3, 60)
    figures = compare_judges(people, {"one": said, "two": said}, bootstrap=50)[0].figures
    for compared in figures.values():
        assert compared.difference.value == 0
        assert compared.difference.reason == "no interval: leaving out any of the items changes nothing"


def test_a_paired_interval_is_narrower_than_an_unpaired_one():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 400)
    people = from_codes(np.column_stack([truth, truth]), q=2)
    wrong = rng.random(400) < 0.25
    first = np.where(wrong, 1 - truth, truth)
    second = np.where(wrong & (rng.random(400) < 0.9), 1 - truth, truth)
    accuracy = compare_judges(people, {"a": first, "b": second}, bootstrap=1000)[0].figures["accuracy"]
    width = accuracy.difference.high - accuracy.difference.low
    unpaired = np.hypot(accuracy.a.se, accuracy.b.se) * 2 * 1.96
    assert width < unpaired / 2
    assert accuracy.difference.high < 0


def test_every_pair_of_three_judges():
    people = from_codes([[0, 0], [1, 1], [0, 1]], q=2)
    found = compare_judges(people, {"a": [0, 1, 0], "b": [0, 0, 0], "c": [1, 1, 1]}, bootstrap=0)
    assert [(one.a, one.b) for one in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert json.dumps([one.as_json() for one in found], allow_nan=True)


def test_no_common_items_is_a_reason():
    people = from_codes([[0, 0], [1, 1]], q=2)
    compared = compare_judges(people, {"a": [0, -1], "b": [-1, 1]}, bootstrap=20)[0].figures["accuracy"]
    assert compared.difference.reason == "no item that all of these judges scored"


def test_a_bad_judge_is_named():
    with pytest.raises(ValueError, match="judge 'b'"):
        compare_judges(from_codes([[0, 0]], q=2), {"a": [0], "b": [5]})
