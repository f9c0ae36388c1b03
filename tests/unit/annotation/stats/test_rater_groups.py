"""Agreement within groups of raters, by hand."""

from math import isnan

import pytest

from annotation.stats.rater_groups import LEAST_RATERS, agreement_within, group_raters
from annotation.stats.table import RatingTable

# Three young people of one mind; three old ones who split two to one on every item; one who is alone in their group.
ROWS = [
    ["1", "1", "1", "1", "1", "2", "1"],
    ["2", "2", "2", "2", "1", "2", "1"],
    ["1", "1", "1", "1", "2", "2", "2"],
    ["2", "2", "2", "1", "2", "1", "2"],
]
KINDS = ["young", "young", "young", "old", "old", "old", "older"]


def table(rows: list[list[str | None]] | None = None) -> RatingTable:
    return RatingTable.from_wide(rows or ROWS, categories=["1", "2"])


def of(rows: list[list[str | None]] | None = None, kinds: list[str | None] | None = None, bootstrap: int = 200):
    ratings = table(rows)
    return agreement_within(ratings, group_raters(ratings, kinds or KINDS), bootstrap=bootstrap)


def test_each_group_is_compared_within_itself() -> None:
    old, young = of()
    assert (young.group, young.n_raters, young.n_items, young.n_items_pairable, young.n_ratings) == (
        "young",
        3,
        4,
        4,
        12,
    )
    assert young.fleiss_kappa.value == young.percent_agreement.value == young.krippendorff_alpha.value == 1.0
    # old: each item has one agreeing pair of three, P = 1/3; shares 6/12 and 6/12, P_e = 1/2: (1/3 - 1/2) / (1/2)
    assert old.percent_agreement.value == pytest.approx(1 / 3)
    assert old.fleiss_kappa.value == pytest.approx(-1 / 3)
    # alpha = 1 - (n - 1) D_o / D_e of 12 ratings: coincidences off the diagonal 4 * (2 * 2 * 1) / 2 = 8 of 12;
    # 1 - 11 * 8 / (2 * 6 * 6)
    assert old.krippendorff_alpha.value == pytest.approx(1 - 11 * 8 / 72)
    assert (old.fleiss_kappa.n_items, old.fleiss_kappa.n_raters, old.fleiss_kappa.n_ratings) == (4, 3, 12)


def test_a_group_of_too_few_is_withheld_and_only_counted() -> None:
    assert LEAST_RATERS == 3
    found = group_raters(table(), KINDS)
    assert set(found.members) == {"young", "old"}
    assert (found.n_raters, found.n_grouped, found.withheld) == (7, 7, 1)
    assert "older" not in str(found)


def test_who_did_not_answer_and_who_did_not_rate_is_in_no_group() -> None:
    rows: list[list[str | None]] = [[*row[:2], None, *row[3:]] for row in ROWS]
    found = group_raters(table(rows), [*KINDS[:6], None])
    assert set(found.members) == {"old"}, "two young people with ratings are too few"
    assert (found.n_raters, found.n_grouped, found.withheld) == (6, 5, 1)


def test_people_who_rated_no_item_together_agree_undefinedly() -> None:
    rows: list[list[str | None]] = [["1", None, None], [None, "2", None], [None, None, "1"]]
    (found,) = of(rows, ["a", "a", "a"])
    assert (found.n_raters, found.n_items, found.n_items_pairable, found.n_ratings) == (3, 3, 0, 3)
    for one in (found.fleiss_kappa, found.percent_agreement, found.krippendorff_alpha):
        assert isnan(one.value)
        assert one.reason == "no item with two ratings"
        assert one.to_json()["value"] is None


def test_one_category_leaves_nothing_but_agreement() -> None:
    (found,) = of([["1", "1", "1"], ["1", "1", "1"]], ["a", "a", "a"])
    assert found.percent_agreement.value == 1.0
    assert isnan(found.fleiss_kappa.value)
    assert found.fleiss_kappa.reason == "one category used"


def test_items_of_others_alone_are_not_counted() -> None:
    rows: list[list[str | None]] = [*ROWS, [None, None, None, "1", "1", "1", "2"]]
    old, young = of(rows)
    assert (young.n_items, old.n_items) == (4, 5)


def test_the_interval_is_of_the_items() -> None:
    mixed = [*ROWS, *ROWS, ["1", "1", "1", "1", "1", "1", "1"], ["2", "2", "2", "2", "2", "2", "2"]]
    old = of([list(row) for row in mixed], bootstrap=500)[0]
    assert old.fleiss_kappa.low < old.fleiss_kappa.value < old.fleiss_kappa.high
    assert (old.fleiss_kappa.confidence, old.fleiss_kappa.n_items) == (0.95, 10)


def test_no_groups_and_wrong_groups() -> None:
    assert of(kinds=[None] * 7) == []
    with pytest.raises(ValueError, match="2 groups for 7 raters"):
        group_raters(table(), ["a", "b"])
