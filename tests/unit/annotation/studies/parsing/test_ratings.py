"""Labels in a long table."""

from __future__ import annotations

import pytest

from annotation.studies.parsing.ratings import read_ratings
from core.errors import InputError
from core.files.input_files import InputFile, Problems


def read(tmp_path, text: str | bytes, *, of_judge=False, on_error="stop"):
    path = tmp_path / "r.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_ratings(InputFile.from_path(path, "r.csv"), Problems(on_error), of_judge=of_judge)


def test_a_row_is_a_label_with_its_line(tmp_path):
    table = read(tmp_path, "\ufeffItem,Rater,criterion,value,note\n甲,ann,c, 3 ,x\n\n乙,bea,c,,\n")
    assert [(r.line, r.item, r.rater, r.criterion, r.value) for r in table.ratings] == [
        (2, "甲", "ann", "c", "3"),
        (4, "乙", "bea", "c", ""),
    ]
    assert table.unused == ["note"]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_spreadsheets_may_separate_otherwise(tmp_path, separator):
    table = read(tmp_path, f"item{separator}rater{separator}value\na{separator}ann{separator}1")
    assert (table.ratings[0].item, table.ratings[0].value) == ("a", "1")


def test_a_judge_needs_no_rater_and_may_repeat(tmp_path):
    text = 'item,value,order,repeat,reason,explanation\na,1,ab,1,,"two\nlines"\na,,BA,1,refusal,\na,2,AB,2,,\n'
    rows = read(tmp_path, text, of_judge=True).ratings
    assert [(r.line, r.value, r.order, r.repeat, r.reason) for r in rows] == [
        (2, "1", "AB", 1, ""),
        (4, "", "BA", 1, "refusal"),
        (5, "2", "AB", 2, ""),
    ]
    assert rows[0].explanation == "two\nlines"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "r.csv: is empty"),
        ("item,rater,value\n", "r.csv: holds no ratings"),
        ("item,value\na,1", "r.csv, line 1, field rater: has no column 'rater'; it has item, value."),
        (
            "id,annotator,value\na,1,2",
            "r.csv, line 1, field item: has no column 'item'; it has id, annotator, value. If",
        ),
        (
            "item,ann,ben\na,1,2",
            "r.csv, line 1, field rater: has no column 'rater'; it has item, ann, ben. If each",
        ),
        ("item,rater,value\na,ann,1,2", "r.csv, line 2: has 4 cells where the header has 3"),
        ("item,rater,value\n,ann,1", "r.csv, line 2, field item: is empty"),
        ("item,rater,value\na,,1", "r.csv, line 2, field rater: is empty"),
        ("item,rater,value\na,ann,1\na,ann,2", "r.csv, line 3, field item: repeats line 2"),
        (
            "item,rater,value,order\na,ann,1,CD",
            "r.csv, line 2, field order: is AB, BA, an order such as CAB, or empty",
        ),
        ("item,rater,value,repeat\na,ann,1," + "9" * 5000, "r.csv, line 2, field repeat: is a number from 1 to 1000"),
        ("item,rater,value,repeat\na,ann,1,\u00b2", "r.csv, line 2, field repeat: is a number from 1 to 1000"),
        ("item,rater,value,turn\na,ann,1," + "9" * 5000, "r.csv, line 2, field turn: is the number of a turn"),
        ("item,rater,value,repeat\na,ann,1,x", "r.csv, line 2, field repeat: is a number from 1 to 1000, not 'x'"),
        (f"item,rater,value\na,ann,{'x' * 401}", "r.csv, line 2, field value: is longer than 400 characters"),
        ('item,rater,value\na,ann,1\n"b,ann,1\n', "r.csv, line 3: not CSV: unexpected end of data"),
        ("item,rater,value\na,ann,1\nb,é,1".encode("latin-1"), "r.csv, line 3: is not UTF-8 (byte 0xe9)"),
    ],
)
def test_what_is_wrong_names_line_and_field(tmp_path, text, message):
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(message)


def test_a_table_of_two_gigabytes_is_refused_without_being_read(tmp_path):
    path = tmp_path / "large.csv"
    with path.open("wb") as stream:
        stream.truncate(2 * 1024**3)
    with pytest.raises(InputError, match=r"large.csv: is 2048 MB, and a table may have 256 MB"):
        read_ratings(InputFile.from_path(path, "large.csv"), Problems(), of_judge=False)


def test_skip_keeps_the_good_rows(tmp_path):
    table = read(tmp_path, "item,rater,value\na,ann,1,9\nb,ann,1\n", on_error="skip")
    assert [rating.item for rating in table.ratings] == ["b"]
