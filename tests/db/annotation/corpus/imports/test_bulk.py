"""Rows written without model objects read like any others."""

from __future__ import annotations

import pytest

from annotation.corpus.imports import writing
from annotation.corpus.models import Scenario
from tests.support.factories import ProfileFactory, TaskFactory

pytestmark = pytest.mark.django_db


def test_more_rows_than_fit_one_statement():
    profile, task = ProfileFactory(), TaskFactory()
    rows = [(profile.pk, task.pk, f"v{number}", f'{{"城市": "{number} %s"}}') for number in range(500)]
    writing.insert(Scenario, ("profile", "task", "variant", "situation"), rows)
    assert Scenario.objects.count() == 500
    assert Scenario.objects.get(variant="v499").situation == {"城市": "499 %s"}


def test_no_rows_are_no_statement(django_assert_num_queries):
    with django_assert_num_queries(0):
        writing.insert(Scenario, ("profile", "task", "variant", "situation"), [])


def test_a_field_without_column_is_a_mistake():
    with pytest.raises(TypeError, match="has no column"):
        writing.insert(Scenario, ("dialogues",), [(1,)])
