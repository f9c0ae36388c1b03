"""Rows that get the same values are written by one statement."""

from __future__ import annotations

import pytest

from annotation.studies.models.assignments import Assignment
from core import statements
from core.statements import update_alike

pytestmark = pytest.mark.django_db


def test_what_is_alike_is_written_together_and_all_else_stays(open_study, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(statements, "MOST", 2)
    slots = list(open_study([], items=6, overlap=1).assignments.order_by("pk"))
    for slot, order in zip(slots, ["AB", "BA", "AB", "BA", "AB"], strict=False):
        slot.order, slot.rank, slot.active_seconds = order, 99, 1.5
    with django_assert_num_queries(3):  # three of AB by two, two of BA by one
        update_alike(slots[:5], ["order", "active_seconds"])
    found = list(Assignment.objects.order_by("pk").values_list("order", "active_seconds"))
    assert found == [("AB", 1.5), ("BA", 1.5), ("AB", 1.5), ("BA", 1.5), ("AB", 1.5), ("", None)]
    assert not Assignment.objects.filter(rank=99).exists()


def test_nothing_is_no_statement(db, django_assert_num_queries):
    with django_assert_num_queries(0):
        update_alike([], ["order"])
