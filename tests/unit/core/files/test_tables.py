"""Files of rows in every form, read row by row with what was found of their layout."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.errors import InputError
from core.files.input_files import InputFile, Problems
from core.files.long_files import SeenIds
from core.files.tables import reading
from core.files.tables.layout import ENCODINGS, Layout, complete_layout, detect_encoding
from core.files.tables.reading import open_table
from core.files.tables.rows import TableRow, find_value, list_paths
from core.files.writing import load_arrow
from tests.support import messy_files
from tests.support.paths import ROOT


def write(folder: Path, content: bytes, name: str = "file.csv") -> InputFile:
    path = folder / name
    path.write_bytes(content)
    return InputFile(path, name)


def read(file: InputFile, on_error: str = "stop", **layout: str) -> tuple[list[TableRow], list[str], Layout]:
    with open_table(file, Layout(**layout), Problems(on_error)) as table:
        return list(table.rows), list(table.notes.to_sentences()), table.layout


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("ä".encode(), "utf-8"),
        (b"\xef\xbb\xbfa", "utf-8"),
        ("aä".encode("utf-16"), "utf-16"),
        ("id,a\n1,ä".encode("utf-16-le"), "utf-16-le"),
        ("id,a\n1,ä".encode("utf-16-be"), "utf-16-be"),
        ("ä €".encode("cp1252"), "cp1252"),
        (b"a" * 70_000 + "ä".encode(), "utf-8"),
        (b"a" * (2**20 - 1) + "ä".encode(), "utf-8"),
    ],
)
def test_encodings(tmp_path, content, encoding):
    assert detect_encoding(write(tmp_path, content)) == encoding
    assert encoding in ENCODINGS


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a,b\n1,2\n", ","),
        ('a;b\n"1,5";"2,5"\n', ";"),
        ("a\tb\n1,1\t2\n", "\t"),
        ("a|b|c\n1|2|3\n", "|"),
        ("sep=;\na;b,c\n1;2\n", ";"),
        ("only\n1\n", ","),
        ('text,n\n"one; two; three",1\n"four; five; six",2\n', ","),
    ],
)
def test_separators(tmp_path, text, separator):
    rows, _, layout = read(write(tmp_path, text.encode()))
    assert layout.separator == separator
    assert len(rows) == text.count("\n") - (2 if text.startswith("sep") else 1)


def test_cells_over_several_lines_and_longer_than_pythons_limit(tmp_path):
    long = "x" * 200_000
    rows, _, _ = read(write(tmp_path, f'id,text\n1,"two\nlines"\n2,{long}\n'.encode()))
    assert [(row.line, row.values["text"]) for row in rows] == [(2, "two\nlines"), (4, long)]


def test_a_quotation_mark_that_is_not_closed_does_not_swallow_the_file(tmp_path):
    body = b'id,text\n1,"open\n' + b"2,more and more text\n" * 1_000_000
    with pytest.raises(InputError, match="is a quotation mark not closed"):
        read(write(tmp_path, body))


@pytest.mark.parametrize(
    ("content", "name", "form"),
    [
        (b"a,b\n", "f.csv", "csv"),
        (b'{"a": 1}\n{"a": 2}\n', "f.json", "jsonl"),
        (b'{"a": 1}\n', "f.jsonl", "jsonl"),
        (b'{"a": 1}', "f.json", "json"),
        (b'{\n"a": 1}', "f.txt", "json"),
        (b"[1]", "f.jsonl2", "json"),
        (b"PAR1....", "f", "parquet"),
        (b'{"a": "' + b"x" * 70_000 + b'"}\n', "f.data", "jsonl"),
        (b'{"a": "' + b"x" * 70_000 + b'"}', "f.json", "json"),
        ('[{"a": "ä"}]'.encode("utf-16"), "f.json", "json"),
    ],
)
def test_forms(tmp_path, content, name, form):
    assert complete_layout(write(tmp_path, content, name)).form == form


def test_lists_inside_documents(tmp_path):
    rows = [{"a": 1}, {"a": 2}]
    for document, at in (
        (rows, ""),
        ({"data": rows}, ""),
        ({"x": {"items": rows}, "y": [{"b": 1}]}, "x.items"),
    ):
        found, _, _ = read(write(tmp_path, json.dumps(document).encode(), "f.json"), at=at)
        assert [row.values for row in found] == rows
    with pytest.raises(InputError, match=r"has no list at x\.y"):
        read(write(tmp_path, b'{"x": 1}', "f.json"), at="x.y")


def test_a_workbook_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    name, content = messy_files.excel_dates()
    monkeypatch.setattr(reading, "UNPACKED_LIMIT", 1000)
    with pytest.raises(InputError, match="save the sheet as CSV"):
        read(write(tmp_path, content, name))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\n", "is a PDF, and no table"),
        (b"\xd0\xcf\x11\xe0", "is an Excel file of before 2007"),
    ],
)
def test_what_is_no_table_is_called_what_it_is(tmp_path, content, said):
    with pytest.raises(InputError, match=said):
        read(write(tmp_path, content, "table.csv"))


def test_a_sheet_by_name(tmp_path):
    name, content = messy_files.excel_dates()
    rows, notes, _ = read(write(tmp_path, content, name), sheet="Notes")
    assert (rows, notes) == ([], [])
    with pytest.raises(InputError, match="has no sheet 'Other'; it has Data, Notes"):
        read(write(tmp_path, content, name), sheet="Other")


def test_parquet_and_saved_datasets(tmp_path):
    """Folders as `Dataset.save_to_disk`, `DatasetDict.save_to_disk` and the hub lay them out.

    https://huggingface.co/docs/datasets/package_reference/main_classes#datasets.Dataset.save_to_disk
    """
    arrow = load_arrow()
    table = arrow.table({"id": ["1", "2"], "messages": [[{"role": "user", "content": "Hi"}], []]})
    rows = table.to_pylist()
    arrow.parquet.write_table(table, tmp_path / "one.parquet")
    assert [row.values for row in read(InputFile.from_path(tmp_path / "one.parquet"))[0]] == rows

    saved = tmp_path / "saved"
    write_saved(arrow, saved, table)
    assert [row.values for row in read(InputFile.from_path(saved))[0]] == rows
    assert [row.line for row in read(InputFile.from_path(saved))[0]] == [1, 2]

    splits = tmp_path / "splits"
    for split in ("train", "test"):
        write_saved(arrow, splits / split, table)
    (splits / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert [row.values["split"] for row in read(InputFile.from_path(splits))[0]] == ["train", "train", "test", "test"]

    hub = tmp_path / "hub" / "data"
    hub.mkdir(parents=True)
    arrow.parquet.write_table(table, hub / "train-00000-of-00001.parquet")
    assert [row.values["split"] for row in read(InputFile.from_path(hub.parent))[0]] == ["train", "train"]
    (saved / "data-00000-of-00001.arrow").unlink()
    with pytest.raises(InputError, match="which is not there"):
        read(InputFile.from_path(saved))
    with pytest.raises(InputError, match=r"holds neither Arrow nor Parquet files.*imported as a known format"):
        read(InputFile.from_path((tmp_path / "none").mkdir() or tmp_path / "none"))


def write_saved(arrow, folder: Path, table) -> None:
    folder.mkdir(parents=True)
    path = str(folder / "data-00000-of-00001.arrow")
    with arrow.OSFile(path, "wb") as file, arrow.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    (folder / "state.json").write_text('{"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}')
    (folder / "dataset_info.json").write_text("{}")


@pytest.mark.parametrize(
    ("value", "path", "found"),
    [
        ({"a": {"b": 1}}, "a.b", 1),
        ({"a.b": 1, "a": {"b": 2}}, "a.b", 1),
        ({"a.b": {"c.d": [3]}}, "a.b.c.d.0", 3),
        ({"a": [{"b": 1}]}, "a.1.b", None),
        ({"a": "text"}, "a.b", None),
        ({}, "a", None),
    ],
)
def test_paths(value, path, found):
    assert find_value(value, path) == found


def test_every_listed_path_leads_to_its_value():
    row = {"a": {"b": [{"c": 1}, {"c": 2}, {"c": 3}], "d.e": {"f": None}}, "g": []}
    for path, value in list_paths(row):
        assert find_value(row, path) == value


def test_ids_of_a_reading_that_was_given_up_are_forgotten_by_any_thread():
    """The garbage collector closes such a reading, in whichever thread it runs."""

    def read():
        with SeenIds() as seen:
            yield seen.find_or_add("a", 1)

    reading = read()
    next(reading)
    with ThreadPoolExecutor() as pool:
        pool.submit(reading.close).result()


def test_ids_are_seen_once():
    with SeenIds() as seen:
        assert seen.find_or_add("a", 1, "x") is None
        assert seen.find_or_add("b", 2, "y") is None
        assert seen.find_or_add("a", 3, "z") == (1, "x")


LIMITED = """
import resource, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import django
from django.conf import settings
settings.configure()
from core.files.input_files import InputFile
from core.files.input_files import Problems
from core.files.long_files import SeenIds
from core.files.tables.layout import Layout
from core.files.tables.reading import open_table
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
n = 0
with open_table(InputFile.from_path(sys.argv[1]), Layout(), Problems()) as table, SeenIds() as seen:
    for line, values in table.rows:
        seen.find_or_add(values["id"], line)
        n += 1
print(n, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.long
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_large_file_is_read_in_little_memory(tmp_path, encoding):
    """60 MB of JSON Lines take less than 40 MB of memory, in either encoding."""
    path, text = tmp_path / "large.jsonl", "x" * 1000
    with path.open("w", encoding=encoding) as file:
        for number in range(60_000):
            file.write(f'{{"id": "d{number}", "text": "{text}"}}\n')
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], cwd=ROOT, capture_output=True, text=True, check=True, timeout=200
    )
    n, megabytes = map(int, done.stdout.split())
    assert n == 60_000
    assert megabytes < 40
