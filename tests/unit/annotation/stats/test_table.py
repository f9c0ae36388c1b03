import math

import numpy as np
import pytest

from annotation.stats.table import RatingTable
from annotation.stats.warnings import table_warnings

from .data import from_codes


class TestFromLong:
    def test_places_ratings_by_first_appearance(self):
        table = RatingTable.from_long(["x", "x", "y"], ["bob", "amy", "amy"], ["b", "a", "b"])
        assert table.items == ("x", "y")
        assert table.raters == ("bob", "amy")
        assert table.categories == ("a", "b")
        assert table.codes.tolist() == [[1, 0], [-1, 1]]

    def test_missing_ratings_keep_their_item(self):
        table = RatingTable.from_long([1, 2, 3, 4], ["r"] * 4, [5, None, "", math.nan])
        assert table.items == ("1", "2", "3", "4")
        assert table.n_ratings == 1

    def test_spellings_of_one_number_are_one_category(self):
        table = RatingTable.from_long([1, 2, 3], ["r"] * 3, ["1", 1.0, np.int64(1)], categories=[1, 2])
        assert table.codes.tolist() == [[0], [0], [0]]

    def test_numbers_in_text_are_ordered_as_numbers(self):
        table = RatingTable.from_long([1, 2, 3], ["r"] * 3, ["10", "9", "2.5"], level="interval")
        assert table.categories == (2.5, 9, 10)

    def test_unused_categories_stay_on_the_scale(self):
        table = RatingTable.from_long([1], ["r"], [3], categories=[1, 2, 3, 4, 5], level="ordinal")
        assert table.n_categories == 5
        assert table.n_used == 1

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            (["yes", "perhaps"], r"item 'b', rater 'r': 'perhaps' is not on the scale \(yes, no\)"),
            (["yes", math.inf], "item 'b', rater 'r': infinite value"),
            (["yes", "9" * 400], "item 'b', rater 'r': infinite value '9{59}$"),
            (["yes", ["no"]], "must be a number or a text"),
        ],
    )
    def test_bad_values_name_item_and_rater(self, values, message):
        with pytest.raises(ValueError, match=message):
            RatingTable.from_long(["a", "b"], ["r", "r"], values, categories=["yes", "no"])

    def test_a_second_rating_of_one_item_by_one_rater_is_an_error(self):
        with pytest.raises(ValueError, match="item 'a' is rated twice by rater 'r'"):
            RatingTable.from_long(["a", "a"], ["r", "r"], [1, 2])

    def test_no_rows_is_an_error(self):
        with pytest.raises(ValueError, match="empty"):
            RatingTable.from_long([], [], [])

    def test_columns_must_be_equally_long(self):
        with pytest.raises(ValueError, match="shorter"):
            RatingTable.from_long(["a", "b"], ["r"], [1, 2])


class TestFromWide:
    def test_default_names(self):
        table = RatingTable.from_wide([[1, 2], [2, None]])
        assert table.items == ("1", "2")
        assert table.raters == ("r1", "r2")
        assert table.codes.tolist() == [[0, 1], [1, -1]]

    def test_ragged_rows_are_an_error(self):
        with pytest.raises(ValueError, match="unequal length"):
            RatingTable.from_wide([[1, 2], [2]])

    @pytest.mark.parametrize("matrix", [[], [[]]])
    def test_empty_is_an_error(self, matrix):
        with pytest.raises(ValueError, match="empty"):
            RatingTable.from_wide(matrix)

    def test_labels_with_underscores_are_no_numbers(self):
        assert RatingTable.from_wide([["1_0", "2_0"]]).categories == ("1_0", "2_0")

    def test_labels_mixed_with_numbers_are_no_ordered_scale(self):
        with pytest.raises(ValueError, match="'n/a' beside 1 has no place"):
            RatingTable.from_wide([["1", "2"], ["n/a", "2"]], level="ordinal")
        given = RatingTable.from_wide([["1", "n/a"]], categories=["n/a", "1"], level="ordinal")
        assert given.codes.tolist() == [[1, 0]]

    def test_on_a_nominal_scale_they_are_categories_with_a_warning(self):
        table = RatingTable.from_wide([["1", "2"], ["n/a", "2"]])
        assert table.categories == ("1", "2", "n/a")
        assert "mixed_labels" in {warning.code for warning in table_warnings(table)}
        assert "mixed_labels" not in {warning.code for warning in table_warnings(RatingTable.from_wide([["1", "2"]]))}

    def test_a_tie_beside_the_numbers_of_responses_is_no_stray_label(self):
        table = RatingTable.from_wide([["1", "2"], ["tie", "1"]], categories=["1", "2", "tie"])
        assert "mixed_labels" not in {warning.code for warning in table_warnings(table)}

    def test_labels_have_no_order_of_their_own(self):
        with pytest.raises(ValueError, match="categories in order"):
            RatingTable.from_wide([["low", "high"]], level="ordinal")
        assert RatingTable.from_wide([["low", "high"]]).categories == ("high", "low")


class TestChecks:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"codes": np.array([[0, 2]])}, "off the scale of 2 categories"),
            ({"codes": np.array([[0], [1]])}, "shape"),
            ({"level": "cardinal"}, "level is 'cardinal'"),
            ({"categories": ("a", "a")}, "stands twice"),
            ({"level": "interval", "categories": ("a", "b")}, "needs numbers"),
            ({"level": "ratio", "categories": (-1, 1)}, "not negative"),
            ({"values": [1.0]}, "one number per category"),
            ({"values": [1.0, math.inf]}, "finite"),
            ({"weights": [0.0]}, "positive"),
            ({"weights": [1.0, 1.0]}, "weights have 2 entries for 1 items"),
            ({"clusters": ("a", "b")}, "clusters have 2 entries"),
            ({"raters": ("r", "r")}, "rater names are not unique"),
        ],
    )
    def test_inconsistent_tables_are_refused(self, change, message):
        whole = {
            "codes": np.array([[0, 1]]),
            "categories": (0, 1),
            "level": "nominal",
            "items": ("i",),
            "raters": ("r", "s"),
        }
        with pytest.raises(ValueError, match=message):
            RatingTable(**whole | change)

    def test_arrays_cannot_be_changed(self):
        table = from_codes([[0, 1]], q=2)
        with pytest.raises(ValueError, match="read-only"):
            table.codes[0, 0] = 1

    def test_the_callers_array_stays_its_own(self):
        codes = np.array([[0, 1]])
        table = from_codes(codes, q=2)
        codes[0, 0] = 1  # still the caller's to write
        assert table.codes.tolist() == [[0, 1]]


class TestScores:
    def test_given_values_come_first(self):
        assert from_codes([[0]], q=2, values=[0.5, 2.0]).scores.tolist() == [0.5, 2.0]

    def test_numeric_labels_are_scores(self):
        assert from_codes([[0]], q=3).scores.tolist() == [0, 1, 2]

    def test_labels_stand_at_their_positions(self):
        assert RatingTable.from_wide([["low", "high"]], categories=["low", "high"]).scores.tolist() == [1, 2]

    def test_missing_ratings_have_no_score(self):
        scores = from_codes([[1, -1]], q=2, values=[10, 20]).rated_scores
        np.testing.assert_array_equal(scores, [[20, np.nan]])


class TestParts:
    table = from_codes(
        [[0, 1], [1, -1], [-1, -1]],
        q=2,
        weights=[1.0, 2, 3],
        strata=("a", "b", "b"),
        clusters=("x", "x", "y"),
    )

    def test_counts(self):
        assert self.table.counts.tolist() == [[1, 1], [0, 1], [0, 0]]
        assert self.table.ratings_per_item.tolist() == [2, 1, 0]
        assert self.table.pairable.tolist() == [True, False, False]
        assert (self.table.n_items, self.table.n_raters, self.table.n_ratings) == (3, 2, 3)

    def test_subset_takes_everything_along(self):
        part = self.table.subset_items([False, True, True])
        assert part.items == ("1", "2")
        assert part.strata == ("b", "b")
        assert part.clusters == ("x", "y")
        assert part.weights.tolist() == [2, 3]

    def test_subset_needs_one_mark_per_item(self):
        with pytest.raises(ValueError, match="mask"):
            self.table.subset_items([True])

    def test_raters_come_in_the_order_asked_for(self):
        part = self.table.select_raters(["r2", "r1"])
        assert part.raters == ("r2", "r1")
        assert part.codes[0].tolist() == [1, 0]

    def test_an_unknown_rater_is_named(self):
        with pytest.raises(ValueError, match="no rater named 'zoe'"):
            self.table.select_raters(["zoe"])

    def test_a_rater_without_ratings_is_not_counted(self):
        assert from_codes([[0, -1], [1, -1]], q=2).n_raters == 1
