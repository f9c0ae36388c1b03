"""Each type of answer stands in every table that has a line for it. What is missing is named with its table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import get_args

import pytest
from django.core.exceptions import ValidationError

from annotation.stats.by_level import explain_missing
from annotation.stats.table import Level
from annotation.studies import rubric_forms
from annotation.studies.models.studies import Criterion
from annotation.studies.parsing.answers import PARSERS
from annotation.studies.parsing.criterion_specs import ANSWER_TYPES, NAMES_OF_TYPES
from annotation.workbench.controls import BUILDERS
from annotation.workbench.views.review import OTHERS
from judging.judges.answer_parsing import TO_GIVEN
from judging.judges.prompts.answers import WORDS_AND_SCHEMAS
from tests.support import typed
from tests.support.paths import ROOT

TYPES = set(ANSWER_TYPES)
OPEN = TYPES - {"choice"}
ADJUDICATED = {name for name in OPEN if explain_missing("adjudication", ANSWER_TYPES[name].levels[0]) is None}


def list_stems(folder: str) -> list[str]:
    return [path.stem for path in (ROOT / folder).iterdir()]


def list_script_types() -> list[str]:
    script = (ROOT / "annotation/static/annotation/answers.js").read_text()
    found = re.search(r"const TYPES = {(.*)};", script)
    assert found
    return [one.partition(":")[0].strip() for one in found[1].split(",")]


def list_documented_types() -> list[str]:
    rows = re.findall(r"^\| `(\w+)`", (ROOT / "docs/rubrics.md").read_text(), re.MULTILINE)
    return [NAMES_OF_TYPES[name][0] for name in rows if name in NAMES_OF_TYPES]


TABLES: dict[str, tuple[set[str], Iterable[str]]] = {
    "annotation.studies.models.studies.Criterion.Type": (TYPES, Criterion.Type.values),
    "annotation.studies.parsing.answers.PARSERS": (TYPES, PARSERS),
    "annotation.studies.rubric_forms.TYPES": (TYPES, [NAMES_OF_TYPES[name][0] for name in rubric_forms.TYPES]),
    "annotation.workbench.controls.BUILDERS": (OPEN, BUILDERS),
    "annotation.workbench.views.review.OTHERS": (ADJUDICATED, OTHERS),
    "TYPES of annotation/static/annotation/answers.js": (OPEN, list_script_types()),
    "templates/components/answers": (TYPES, list_stems("templates/components/answers")),
    "judging.judges.answer_parsing.TO_GIVEN": (OPEN, TO_GIVEN),
    "judging.judges.prompts.answers.WORDS_AND_SCHEMAS": (OPEN, WORDS_AND_SCHEMAS),
    "judging/judges/prompts/texts/answers": (OPEN, list_stems("judging/judges/prompts/texts/answers")),
    "the table in docs/rubrics.md": (TYPES, list_documented_types()),
    "tests.support.typed.LEVELS": (TYPES, typed.LEVELS),
    "tests.support.typed.DECIDED": (ADJUDICATED, typed.DECIDED),
}


@pytest.mark.parametrize("table", TABLES)
def test_every_type_stands_in(table: str) -> None:
    types, there = TABLES[table]
    assert types - set(there) == set(), f"these types of answer are missing in {table}"


def test_no_type_is_stored_that_no_rubric_may_have() -> None:
    assert set(Criterion.Type.values) == TYPES
    assert set(Criterion.Level.values) == set(get_args(Level))


@pytest.mark.django_db
@pytest.mark.any_database
@pytest.mark.parametrize("name", ANSWER_TYPES)
def test_the_database_takes_the_levels_of_a_rubric(name: str) -> None:
    def is_taken(level: str) -> bool:
        try:
            Criterion(type=name, level=level).validate_constraints()
        except ValidationError:
            return False
        return True

    taken = {level for level in Criterion.Level.values if is_taken(level)}
    assert taken == set(ANSWER_TYPES[name].levels), "criterion_level_fits_its_type and ANSWER_TYPES say the same"
