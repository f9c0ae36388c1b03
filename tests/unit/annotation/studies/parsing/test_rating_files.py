"""Reading ratings from CSV."""

import pytest

from annotation.studies.parsing import rating_files
from core.errors import InputError


@pytest.fixture
def csv(tmp_path):
    def write(text, encoding="utf-8"):
        path = tmp_path / "ratings.csv"
        path.write_bytes(text.encode(encoding))
        return path

    return write


def test_a_long_file_with_a_column_that_describes_items(csv):
    text = "item,rater,value,domain\na,bob,yes,Hotels\na,dana,no,Hotels\nb,bob,yes,Music\nb,dana,,Music\n"
    found = rating_files.read(csv(text))
    assert (found.table.items, found.table.raters) == (("a", "b"), ("bob", "dana"))
    assert found.table.categories == ("no", "yes")
    assert found.table.codes.tolist() == [[1, 0], [1, -1]]
    assert found.empty == {("b", "dana")}
    assert found.column("domain") == ("Hotels", "Music")


def test_a_wide_file_in_which_one_column_is_no_rater(csv):
    found = rating_files.read(csv("item;domain;bob;dana\na;Hotels;1;2\n\nb;Music;3;\n"), describing=["domain"])
    assert found.table.raters == ("bob", "dana")
    assert found.table.codes.tolist() == [[0, 1], [2, -1]]
    assert found.column("domain") == ("Hotels", "Music")


def test_a_scale_that_is_given_counts_also_where_it_is_not_used(csv):
    found = rating_files.read(csv("item,rater,value\na,bob,2\n"), level="ordinal", categories=["1", "2", "3"])
    assert found.table.categories == ("1", "2", "3")


def test_a_spreadsheets_byte_order_mark_is_not_part_of_the_first_name(csv):
    assert rating_files.read(csv("item,bob\na,1\n", encoding="utf-8-sig")).table.raters == ("bob",)


@pytest.mark.parametrize(
    ("text", "line", "field", "message"),
    [
        ("", 1, None, "must name the columns"),
        ("id,rater,value\na,b,1\n", 1, None, "one of them 'item'"),
        ("item,bob,bob\na,1,1\n", 1, "bob", "stands twice"),
        ("item\na\n", 1, None, "no column of ratings"),
        ("item,rater,value\n", 2, None, "no ratings"),
        ("item,rater,value\na,bob,1\na,bob\n", 3, None, "2 cells"),
        ("item,rater,value\na,bob,1\n,bob,1\n", 3, "item", "is empty"),
        ("item,rater,value\na,,1\n", 2, "rater", "is empty"),
        ("item,rater,value\na,bob,1\nb,bob,1\na,bob,2\n", 4, None, "before, in line 2"),
        ("item,bob\na,1\na,1\n", 3, None, "before, in line 2"),
        ("item,rater,value\na,bob,1e999\n", 2, "value", "infinite"),
        ("item,rater,value,domain\na,bob,1,Hotels\na,dana,1,Music\n", 3, "domain", "differs from 'Hotels'"),
        ('item,rater,value\na,bob,"1\n', 2, None, "unexpected end"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(csv, text, line, field, message):
    path = csv(text)
    with pytest.raises(InputError, match=message) as caught:
        rating_files.read(path)
    assert (caught.value.file, caught.value.line, caught.value.field) == (str(path), line, field)


def test_a_value_off_the_given_scale_is_refused_with_its_line(csv):
    with pytest.raises(InputError, match="not on the scale") as caught:
        rating_files.read(csv("item,rater,value\na,bob,1\nb,bob,9\n"), categories=["1", "2"])
    assert caught.value.line == 3


def test_an_interval_scale_needs_numbers(csv):
    with pytest.raises(InputError, match="is not a number") as caught:
        rating_files.read(csv("item,rater,value\na,bob,good\n"), level="interval")
    assert (caught.value.line, caught.value.field) == (2, "value")


def test_a_file_that_is_not_there_and_one_that_is_not_text(tmp_path, csv):
    with pytest.raises(InputError, match="cannot be read"):
        rating_files.read(tmp_path / "nothing.csv")
    with pytest.raises(InputError, match="not text in UTF-8"):
        rating_files.read(csv("item,bob\nä,1\n", encoding="latin-1"))


def test_a_column_that_the_file_does_not_have(csv):
    found = rating_files.read(csv("item,rater,value,domain\na,bob,1,Hotels\n"))
    with pytest.raises(InputError, match="no column 'task'") as caught:
        found.column("task")
    assert "domain" in str(caught.value)


def test_labels_are_no_ordered_scale_without_their_order(csv):
    file = csv("item,rater,value\na,bob,3\nb,bob,n/a\n")
    with pytest.raises(InputError, match="'n/a' beside 3 has no place among them"):
        rating_files.read(file, level="ordinal")
    assert rating_files.read(file, level="ordinal", categories=["n/a", "3"]).table.n_categories == 2
