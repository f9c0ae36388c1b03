"""docs/methods.md says what the code does: its generated tables are current, and it explains every warning."""

import importlib.util
import re
from typing import get_args

import pytest

from tests.support.paths import ROOT

METHODS = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
METHODS_OF_JUDGES = (ROOT / "docs" / "methods-judge.md").read_text(encoding="utf-8")


def load_tables():
    spec = importlib.util.spec_from_file_location("methods_tables", ROOT / "scripts" / "methods_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLES = load_tables()


def test_the_generated_tables_are_current():
    assert TABLES.filled(METHODS) == METHODS, "run: python scripts/methods_tables.py"


def test_a_table_without_a_place_is_an_error():
    with pytest.raises(ValueError, match="no place for the table 'reference'"):
        TABLES.filled("nothing here")


@pytest.mark.parametrize("entry", TABLES.reference(), ids=lambda entry: entry["name"])
def test_printed_values_are_computed_to_the_printed_digits(entry):
    values = TABLES.computed(entry)
    for quantity, printed in entry["printed"].items():
        half = 0.5 * 10.0 ** -TABLES.digits(printed)
        assert values[quantity] == pytest.approx(float(printed), abs=half * 1.01), quantity


def warning_codes():
    """Every code that a `StatWarning` of the statistics is made with."""
    found = set()
    for package in ("annotation", "judging"):
        for path in (ROOT / package / "stats").rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            found |= set(re.findall(r'StatWarning\(\s*"([a-z_]+)"', text))
            found |= set(re.findall(r'^    "([a-z_]+)": "(?:\{\}|Identical)', text, re.MULTILINE))
    return found


def test_every_warning_is_explained():
    tables = [text.split("## Warnings")[1].split("\n## ")[0] for text in (METHODS, METHODS_OF_JUDGES)]
    explained = set(re.findall(r"^\| `([a-z_]+)` \| ", "\n".join(tables), re.MULTILINE))
    assert warning_codes() <= explained
    assert {"kappa_paradox", "inverted_scale", "unreachable_tiers", "straight_lining"} <= warning_codes()


def test_every_coefficient_is_explained():
    from annotation.stats.agreement import COEFFICIENTS
    from judging.stats.agreement import JudgeAgreement
    from judging.stats.result_types import JudgeFigure

    of_judges = [name for name in get_args(JudgeFigure) if name in JudgeAgreement.__dataclass_fields__]
    for name in (*COEFFICIENTS, *of_judges):
        stem = re.sub(r"^(mean_pairwise_|mean_)(weighted|linear)_", r"\1", name)
        assert f"`{stem}`" in METHODS or name.startswith("icc_") or f"`{name}`" in METHODS, name
