import json
import math

import pytest

from simulation.stats.evenness import ONE_SIDED, evenness
from tests.annotation.stats.data import shared


def test_by_hand():
    # shares 1/2, 1/4, 1/4 of four possible values: H = 1.5 log 2, log n = 2 log 2
    found = evenness(["tea", "tea", "milk", "water"], ["tea", "milk", "water", "wine"], bootstrap=0)
    assert found.evenness.value == pytest.approx(0.75)
    assert (found.n_possible, found.n_used, found.evenness.n_items) == (4, 3, 4)
    assert found.counts == {"tea": 2, "milk": 1, "water": 1, "wine": 0}


def test_without_a_list_of_possible_values_those_that_occur_are_taken():
    assert evenness(["a", "b"], bootstrap=0).evenness.value == pytest.approx(1)
    assert evenness(["a"] * 3 + ["b"], bootstrap=0).evenness.value == pytest.approx(
        -(0.75 * math.log(0.75) + 0.25 * math.log(0.25)) / math.log(2)
    )


def test_has_an_interval_over_profiles():
    figure = evenness(["a"] * 60 + ["b"] * 25 + ["c"] * 15, ["a", "b", "c", "d"], bootstrap=500).evenness
    assert figure.low < figure.value < figure.high
    assert figure.n_items == 100


def test_even_values_are_fully_even():
    assert evenness(["x", "y", "z"] * 20, bootstrap=0).evenness.value == pytest.approx(1)


@pytest.mark.parametrize(
    ("values", "possible", "reason"),
    [
        ([], ["a", "b"], "no values"),
        (["a", "a"], ["a"], "only one value is possible"),
        ([], [], "no values"),
    ],
)
def test_undefined_has_a_reason(values, possible, reason):
    figure = evenness(values, possible, bootstrap=20).evenness
    assert math.isnan(figure.value)
    assert figure.reason == reason


def test_one_of_several_possible_values_is_evenness_zero():
    assert evenness(["a"] * 5, ["a", "b"], bootstrap=20).evenness.value == 0


@pytest.mark.parametrize(
    ("values", "possible", "message"), [(["a", "q"], ["a", "b"], "'q' is not among"), (["a"], ["a", "a"], "twice")]
)
def test_bad_values_are_named(values, possible, message):
    with pytest.raises(ValueError, match=message):
        evenness(values, possible)


def test_is_json():
    assert json.dumps(evenness(["a", "b"], bootstrap=20).as_json(), allow_nan=False)


def test_on_real_profiles():
    genders = []
    for file in sorted(shared("personalens/profile").glob("*/profile.json")):
        demographics = json.loads(file.read_text(encoding="utf-8"))["demographics"]
        genders.append(str(demographics["gender"]))
    assert len(genders) == 24
    found = evenness(genders, bootstrap=100)
    assert 0 < found.evenness.value <= 1


def test_an_interval_that_would_miss_its_value_is_not_given():
    # every value once: a resample repeats some and drops others, so that none is as even as the sample
    found = evenness(["a", "b", "c", "d", "e", "f", "g", "h"]).evenness
    assert found.value == pytest.approx(1)
    assert math.isnan(found.low)
    assert found.reason == ONE_SIDED
    some = evenness(["a"] * 30 + ["b"] * 10).evenness
    assert some.low <= some.value <= some.high
    assert some.reason is None
