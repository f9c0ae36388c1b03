import json
import math
from collections import Counter

import pytest
import scipy

from simulation.stats.evenness import NO_LIST, ONE_SIDED, evenness
from tests.unit.annotation.stats.data import shared


def singles(*values):
    return [[value] for value in values]


def test_by_hand():
    # shares 1/2, 1/4, 1/4: H = 1.5 log 2, over log 3 of those that occur and log 4 of those that are possible
    found = evenness(singles("tea", "tea", "milk", "water"), ["tea", "milk", "water", "wine"], bootstrap=0)
    assert found.occurring.value == pytest.approx(1.5 * math.log(2) / math.log(3))
    assert found.possible.value == pytest.approx(0.75)
    assert (found.n_possible, found.occurring.n_items, found.unlisted) == (4, 4, [])
    assert found.counts == {"tea": 2, "milk": 1, "water": 1}


def test_every_item_of_a_list_counts_also_one_that_stands_there_twice():
    found = evenness([["a", "b", "a"], ["a"], []], bootstrap=0)
    assert found.counts == {"a": 3, "b": 1}
    assert (found.occurring.n_items, found.occurring.n_ratings) == (2, 4)
    assert found.occurring.value == pytest.approx(scipy.stats.entropy([3, 1], base=2))


def test_a_value_that_is_not_on_the_list_counts_among_the_possible_ones():
    found = evenness(singles("a", "q"), ["a", "b", "c"], bootstrap=0)
    assert (found.unlisted, found.n_possible) == (["q"], 3)
    assert found.possible.value == pytest.approx(math.log(2) / math.log(4))


def test_has_an_interval_over_profiles():
    found = evenness(singles(*["a"] * 60, *["b"] * 25, *["c"] * 15), ["a", "b", "c", "d"], bootstrap=500)
    for figure in (found.occurring, found.possible):
        assert figure.low < figure.value < figure.high
        assert figure.n_items == 100
    assert found.possible.high < found.occurring.high


def test_profiles_are_resampled_whole():
    # the same 120 values: held three by three they are 40 profiles, and vary more
    alone = evenness(singles(*["a"] * 90, *["b"] * 30), bootstrap=200).occurring
    together = evenness([["a"] * 3] * 30 + [["b"] * 3] * 10, bootstrap=200).occurring
    assert alone.value == pytest.approx(together.value)
    assert together.high - together.low > 1.3 * (alone.high - alone.low)


def test_even_values_are_fully_even():
    assert evenness(singles(*["x", "y", "z"] * 20), bootstrap=0).occurring.value == pytest.approx(1)


@pytest.mark.parametrize(
    ("values", "possible", "reasons"),
    [
        ([], ["a", "b"], ("no values", "no values")),
        ([], None, ("no values", "no values")),
        (["a", "a"], ["a"], ("only one value occurs", "only one value is possible")),
        (["a", "a"], None, ("only one value occurs", NO_LIST)),
    ],
)
def test_undefined_has_a_reason(values, possible, reasons):
    found = evenness(singles(*values), possible, bootstrap=20)
    assert math.isnan(found.occurring.value)
    assert math.isnan(found.possible.value)
    assert (found.occurring.reason, found.possible.reason) == reasons


def test_one_of_several_possible_values_is_evenness_zero():
    assert evenness(singles(*["a"] * 5), ["a", "b"], bootstrap=20).possible.value == 0


def test_is_json():
    assert json.dumps(evenness(singles("a", "b"), bootstrap=20).to_json(), allow_nan=False)


def test_on_real_profiles():
    genders = [
        str(json.loads(file.read_text(encoding="utf-8"))["demographics"]["gender"])
        for file in sorted(shared("personalens/profile").glob("*/profile.json"))
    ]
    assert len(genders) == 24
    found = evenness(singles(*genders), bootstrap=100).occurring
    assert found.value == pytest.approx(scipy.stats.entropy(list(Counter(genders).values()), base=2))


@pytest.mark.parametrize("names", [range(8), [*range(300), *range(100), *range(50)]])
def test_an_interval_that_would_miss_its_value_is_not_given(names):
    # nearly every value once: a resample repeats some and drops others, so that hardly one is as even as the sample
    found = evenness(singles(*map(str, names)), list(map(str, range(300))), bootstrap=200).possible
    assert math.isnan(found.low)
    assert found.reason == ONE_SIDED


def test_an_interval_of_few_profiles_stays_between_0_and_1():
    for found in (
        evenness([["a", "b"]] * 8 + [["a"]] * 8 + [["c"]] * 2, ["a", "b", "c"], bootstrap=50),
        evenness(singles(*["a"] * 20, "b", "b"), bootstrap=50),
    ):
        assert 0 <= found.occurring.low < found.occurring.value < found.occurring.high <= 1


def test_an_interval_holds_its_value():
    some = evenness(singles(*["a"] * 30, *["b"] * 10)).occurring
    assert some.low <= some.value <= some.high
    assert some.reason is None
