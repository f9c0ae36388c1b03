"""No cell is a formula, and what Concord wrote into a CSV file it reads again."""

from __future__ import annotations

import pytest
from hypothesis import example, given, strategies as st

from core.csv_files import drop_formula, restore_formula


@pytest.mark.parametrize("text", ["=1+1", "+a", "-a", "@sum(A1)", "\tx", "--"])
def test_what_a_spreadsheet_would_run_is_text(text: str) -> None:
    assert drop_formula(text) == f"'{text}"


@pytest.mark.parametrize("text", ["+", "-", "=", "@", "-12", "+0.5", "1e-3", "a=b", "", "'tis"])
def test_numbers_single_characters_and_words_stay_as_they_are(text: str) -> None:
    assert drop_formula(text) == restore_formula(text) == text


@given(st.text().filter(lambda text: not text.startswith("'")))
@example("=1+1")
def test_what_was_written_is_read_again(text: str) -> None:
    assert restore_formula(drop_formula(text)) == text
