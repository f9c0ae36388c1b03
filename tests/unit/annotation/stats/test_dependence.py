"""Clusters with gaps, strata that can be kept, weights that lie far apart; one headline coefficient per level."""

import numpy as np
import pytest

from annotation.stats import headline
from annotation.stats.agreement import agreement
from annotation.stats.dependence import (
    Design,
    can_keep_strata,
    design_warnings,
    drop_useless,
    fill_gaps,
    find_bad_weight,
    plural,
)
from annotation.stats.table import RatingTable
from judging.stats.agreement import judge_agreement


def test_an_item_without_a_cluster_stands_alone():
    assert fill_gaps(["a", "", "a", None], ["1", "2", "3", "4"]) == (("a", "item 2", "a", "item 4"), 2)


@pytest.mark.parametrize(
    ("name", "many"),
    [("profile or question", "profiles or questions"), ("batch", "batches"), ("query", "queries"), ("day", "days"),
     ("series", "series"), ("assistant_model", "assistant models"), ("", "items")],
)  # fmt: skip
def test_groupings_are_named_in_the_plural(name, many):
    assert plural(name, 2) == many


@pytest.mark.parametrize(
    ("weights", "place"), [([1, 0, 2], 1), ([1, -1], 1), ([np.nan], 0), ([np.inf], 0), ([1, 2], None)]
)
def test_the_first_weight_that_is_none_is_found(weights, place):
    assert find_bad_weight(np.array(weights, dtype=float)) == place


def test_weights_far_apart_are_warned_of():
    assert [one.code for one in design_warnings(Design(), np.array([1.0, 2e6]))] == ["extreme_weights"]
    assert design_warnings(Design(), np.array([1.0, 1e5])) == []


def test_strata_are_kept_where_each_has_ten_units_and_none_lies_in_two():
    units = [str(k) for k in range(20)]
    halves = ["a"] * 10 + ["b"] * 10
    assert can_keep_strata(halves, units)
    assert not can_keep_strata(halves, ["same", *units[1:10], "same", *units[11:]])
    assert not can_keep_strata(["a"] * 11 + ["b"] * 9, units)
    assert not can_keep_strata(["a"] * 20, units)


def test_what_changes_nothing_is_dropped():
    table = RatingTable.from_wide([["1", "1"], ["2", "1"]], clusters=("a", "b"), weights=np.array([2.0, 2.0]))
    bare = drop_useless(table)
    assert bare.clusters is None
    assert bare.weights is None


@pytest.mark.parametrize(
    ("level", "q", "kappa"),
    [("nominal", 3, "cohen_kappa"), ("ordinal", 2, "cohen_kappa"), ("ordinal", 4, "weighted_cohen_kappa")]
    + [(level, 5, "weighted_cohen_kappa") for level in ("interval", "ratio")],
)
def test_one_coefficient_per_level(level, q, kappa):
    assert headline.choose_headline(level, q).kappa == kappa


@pytest.mark.parametrize("clustered", [False, True])
def test_people_and_the_human_ceiling_are_one_figure_with_one_interval(clustered):
    rng = np.random.default_rng(5)
    codes = np.clip(rng.integers(0, 4, 90)[:, None] + rng.integers(-1, 2, (90, 3)), 0, 3)
    clusters = tuple(str(k // 6) for k in range(90)) if clustered else None
    names = tuple(map(str, range(90)))
    table = RatingTable(codes, ("1", "2", "3", "4"), "ordinal", names, ("a", "b", "c"), clusters=clusters)
    people = agreement(table).coefficients["mean_pairwise_weighted_cohen_kappa"]
    ceiling = judge_agreement(table, rng.integers(0, 4, 90), judge_name="gpt").human_ceiling_weighted
    assert (ceiling.value, ceiling.low, ceiling.high) == pytest.approx((people.value, people.low, people.high))
