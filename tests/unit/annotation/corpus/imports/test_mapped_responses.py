"""Tables of several responses through a mapping: as columns of their own, and as a list in one column."""

from __future__ import annotations

import json

import pytest

from annotation.corpus.parsing.guessing import find_columns, guess_mapping
from annotation.corpus.parsing.mapped_rows import build_record
from annotation.corpus.parsing.mappings import parse_mapping
from annotation.corpus.parsing.records import PairRecord
from core.errors import InputError
from core.files.tables.rows import TableRow

COLUMNS = {"prompt": "q", "Response A": "a", "Response B": "b", "Response C": "c", "model_c": "m3", "winner": "C"}


def build(columns: dict[str, str], values: dict[str, object]) -> PairRecord:
    mapping = parse_mapping({"kind": "pairs", "columns": columns, "keeps_others": False})
    return PairRecord.model_validate(build_record(mapping, [TableRow(1, values)]))


def test_columns_of_three_responses_are_guessed_and_read() -> None:
    mapping = guess_mapping(find_columns([TableRow(1, COLUMNS)]))
    assert mapping.kind == "pairs"
    wanted = {"response_1": "Response A", "response_2": "Response B", "response_3": "Response C", "model_3": "model_c"}
    assert wanted.items() <= mapping.columns.items()
    found = build(dict(mapping.columns), COLUMNS)
    assert (found.n_responses, found.label) == (3, "3")
    assert found.fields()["further"] == [{"text": "c", "model": "m3"}]


@pytest.mark.parametrize(
    "spelt", [["a", "b", {"text": "c", "model": "m3"}], '["a", "b", {"text": "c", "model": "m3"}]']
)
def test_a_column_that_holds_a_list_is_all_responses(spelt: object) -> None:
    values = {"prompt": "q", "completions": spelt}
    mapping = guess_mapping(find_columns([TableRow(1, values)]))
    assert mapping.columns["responses"] == "completions"
    found = build({"question": "prompt", "responses": "completions"}, values)
    assert [found.response_1, found.response_2, found.further[0].text] == ["a", "b", "c"]


def test_a_column_that_holds_no_list_is_refused() -> None:
    with pytest.raises(InputError, match="a list of responses is expected"):
        build({"question": "prompt", "responses": "all"}, {"prompt": "q", "all": json.dumps({"a": "b"})})
