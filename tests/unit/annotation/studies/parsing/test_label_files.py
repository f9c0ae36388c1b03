import numpy as np
import pytest

from annotation.studies.parsing.label_files import read
from core.errors import InputError


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "labels.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def refused(path, columns=("gold", "gpt")):
    with pytest.raises(InputError) as caught:
        read(path, columns).numbers("gpt")
    return caught.value


def test_an_empty_cell_is_no_label(file):
    found = read(file("item,gold,gpt,note\na,1,1,x\nb,,0,\n"), ["gold", "gpt"])
    assert found.texts("gold") == ("1", None)
    assert np.isnan(found.numbers("gold")).tolist() == [False, True]


@pytest.mark.parametrize("text", ["gold;gpt\n1;2\n", "gold\tgpt\n1\t2\n", "\ufeffgold,gpt\n1,2\n"])
def test_items_need_no_name_and_other_delimiters_are_understood(file, text):
    assert read(file(text), ["gold", "gpt"]).numbers("gpt").tolist() == [2]


@pytest.mark.parametrize(
    ("text", "line", "field", "said"),
    [
        ("gold,gtp\n1,1\n", 1, None, "there is no column 'gpt'; there are gold, gtp"),
        ("gold,gpt\n1,1\n1,good\n", 3, "gpt", "'good' is not a number"),
        ("gold,gpt\n1,inf\n", 2, "gpt", "infinite"),
        ("gold,gpt\n1\n", 2, None, "1 cells where the first line names 2 columns"),
        ("item,gold,gpt\na,1,1\nb,1,1\na,1,1\n", 4, "item", "'a' stands in line 2 already"),
        ("gold,gold,gpt\n1,1,1\n", 1, "gold", "stands twice"),
        ("gold,gpt\n", 2, None, "there are no rows"),
        ("", 1, None, "there are none"),
        ('gold,gpt\n"1,1\n', None, None, "unexpected end of data"),
    ],
)
def test_what_is_wrong_is_named(file, text, line, field, said):
    error = refused(file(text))
    assert said in error.message
    assert error.file.endswith("labels.csv")
    assert error.field == field
    assert line is None or error.line == line


def test_a_file_that_is_not_there(tmp_path):
    assert "cannot be read" in refused(tmp_path / "none.csv").message


def test_a_file_that_is_no_text(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_bytes(b"gold,gpt\n\xff\xfe,1\n")
    assert "UTF-8" in refused(path).message
