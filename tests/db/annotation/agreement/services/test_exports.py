"""Rows as files."""

import csv
import io
import json

import pytest

from annotation.agreement.services import exports
from annotation.studies.queries import labels
from core.csv_files import drop_formula
from core.errors import InputError
from tests.support.factories import CriterionFactory
from tests.support.labelled import people_say, with_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    study = with_items(2, kind="pair", name="Suits")
    criterion = CriterionFactory(study=study, preference=True, key="preference")
    people_say(criterion, {"bob": ["1", ""], "dana": ["2", "tie"]})
    return study


def test_a_row_says_what_was_said_and_in_which_order_it_was_shown(study, django_assert_num_queries):
    with django_assert_num_queries(2):
        first, second, third, fourth = labels.load_people(study)
    assert (first.study, first.criterion, first.rater, first.rater_kind) == ("Suits", "preference", "bob", "person")
    assert (first.item_id, first.item_source, first.position) == (f"{study.slug}-p1", "test", 1)
    assert (first.value, first.order, first.slot, first.repeat, first.judge_run) == ("1", "AB", 1, None, None)
    assert (second.value, second.order, second.slot) == ("2", "BA", 2)
    assert (third.value, third.unscored_reason) == ("", "cannot judge")
    assert fourth.submitted_at is not None


@pytest.mark.parametrize("items", [1, 2, 3])
def test_items_are_read_some_at_a_time_and_the_rows_are_the_same(study, monkeypatch, items):
    whole = list(labels.load_people(study))
    monkeypatch.setattr(labels, "ITEMS", items)
    assert list(labels.load_people(study)) == whole
    assert len(whole) == 4


def test_csv_has_a_header_and_a_line_per_label(study):
    rows = list(csv.DictReader(io.StringIO("".join(exports.csv_lines(labels.load_people(study))))))
    assert len(rows) == 4
    assert rows[0]["order"] == "AB"
    assert rows[0]["repeat"] == ""
    assert rows[0]["submitted_at"].endswith("+00:00")


def test_csv_of_no_labels_is_the_header():
    assert "".join(exports.csv_lines([])).strip() == ",".join(labels.LabelRow._fields)


def test_jsonl_keeps_types(study):
    first, *_ = map(json.loads, "".join(exports.jsonl_lines(labels.load_people(study))).splitlines())
    assert (first["position"], first["inclusion_probability"], first["repeat"]) == (1, 1.0, None)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+SUM(A1)", "'+SUM(A1)"),
        ("-not this", "'-not this"),
        ("@cmd", "'@cmd"),
        ("\t=1", "'\t=1"),
        ("-12", "-12"),
        ("+1.5", "+1.5"),
        ("a = b", "a = b"),
        ("", ""),
    ],
)
def test_what_a_spreadsheet_would_run_is_defused_and_numbers_stay(text, written):
    assert drop_formula(text) == written


def test_notes_are_defused_in_csv_and_left_alone_in_jsonl(study):
    row = next(iter(labels.load_people(study)))._replace(note="=HYPERLINK(1)", value="-1")
    (line,) = list(csv.DictReader(io.StringIO("".join(exports.csv_lines([row])))))
    assert (line["note"], line["value"]) == ("'=HYPERLINK(1)", "-1")
    assert json.loads(next(exports.jsonl_lines([row])))["note"] == "=HYPERLINK(1)"


@pytest.mark.parametrize(
    ("value", "written"),
    [("=1+1", "'=1+1"), ("@you", "'@you"), ("-", "-"), ("-1.5", "-1.5"), ("2>1", "2>1"), ("", ""), ("+", "+")],
)
def test_a_category_is_defused_in_csv_too(study, value, written):
    row = next(iter(labels.load_people(study)))._replace(value=value)
    (line,) = csv.DictReader(io.StringIO("".join(exports.csv_lines([row]))))
    assert line["value"] == written
    assert json.loads(next(exports.jsonl_lines([row])))["value"] == value


def test_an_unknown_format_names_the_known_ones():
    with pytest.raises(InputError, match="csv or jsonl"):
        exports.format_named("xlsx")


def test_a_file_is_written_as_a_whole_or_not_at_all(study, tmp_path):
    target = tmp_path / "labels.csv"
    target.write_text("what was there before")

    def rows():
        yield next(iter(labels.load_people(study)))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        exports.write(rows(), exports.FORMATS["csv"], target)
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]
    assert target.read_text() == "what was there before"


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        exports.write([], exports.FORMATS["csv"], tmp_path / "nowhere" / "labels.csv")
