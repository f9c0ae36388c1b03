"""The criteria that come with Concord."""

from __future__ import annotations

import pytest

from annotation.studies.criteria import FOLDER, RUBRICS, TEMPLATES, default_keys
from annotation.studies.parsing.rubric_files import FORMATS, read_text, write_rubric

SCALES = {
    "task_completion": ("nominal", ["yes", "no"]),
    "personalization": ("ordinal", ["1", "2", "3", "4"]),
    "naturalness_user": ("ordinal", ["1", "2", "3", "4", "5"]),
    "naturalness_assistant": ("ordinal", ["1", "2", "3", "4", "5"]),
    "coherence_user": ("ordinal", ["1", "2", "3", "4", "5"]),
    "coherence_assistant": ("ordinal", ["1", "2", "3", "4", "5"]),
    "preference": ("nominal", ["1", "2"]),
    "first_turn_preference": ("nominal", ["yes", "no"]),
    "persona_drift": ("nominal", ["yes", "no"]),
    "goal_leakage": ("nominal", ["yes", "no"]),
}


PUBLISHED = [key for key in SCALES if key.startswith(("task_", "personalization", "naturalness_", "coherence_"))]


@pytest.mark.parametrize("key", SCALES)
def test_scales_are_those_of_the_published_rubrics(key: str) -> None:
    found = TEMPLATES[key]
    assert (found.level, [c.value for c in found.categories]) == SCALES[key]


def test_every_template_is_listed_and_complete() -> None:
    assert list(TEMPLATES) == list(SCALES)
    for key, found in TEMPLATES.items():
        assert found.key == key
        assert found.question.endswith("?")
        assert "\n" not in found.guideline
        assert all(c.label and c.guideline.endswith(".") for c in found.categories)


def test_every_file_is_listed() -> None:

    assert {path.stem for path in FOLDER.glob("*.toml")} == set(TEMPLATES)


def test_only_the_preference_knows_a_tie() -> None:
    assert [c.value for c in TEMPLATES["preference"].allow_tie().categories] == ["1", "2", "tie"]
    assert TEMPLATES["personalization"].allow_tie() == TEMPLATES["personalization"]


def test_the_criteria_of_the_published_rubrics_are_asked_by_default() -> None:
    assert default_keys("dialogue") == [key for key in SCALES if key in PUBLISHED]
    assert default_keys("pair") == ["preference"]


def test_each_rubric_says_what_it_follows_and_is_written_and_read_as_itself():
    assert {path.stem for path in (FOLDER / "rubrics").iterdir()} == set(RUBRICS)
    for name, rubric in RUBRICS.items():
        assert rubric.name, name
        assert rubric.kind in ("dialogue", "pair"), name
        assert "arXiv" in rubric.citation or "TACL" in rubric.citation, name
        for fmt in FORMATS:
            assert read_text(write_rubric(rubric, fmt), fmt) == rubric, (name, fmt)
