"""Labels as they are compared, and the open scales of criteria that are no choice."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.studies.models.studies import Criterion
from annotation.studies.queries import ratings
from annotation.studies.queries.scales import describe_answer, load_scales, name_label, to_label
from tests.support import typed
from tests.support.factories import CriterionFactory
from tests.support.labelled import people_say, with_items

pytestmark = pytest.mark.django_db

SPANS = [{"part": "response-1", "start": 0, "end": 5, "category": "style", "text": "First"}]


def made(kind: str, **limits: Any) -> Criterion:
    categories = typed.categories_of(kind)
    return Criterion(type=kind, level=typed.LEVELS[kind], categories=categories, limits=limits)


class TestLabels:
    @pytest.mark.parametrize(
        ("value", "limits", "label"),
        [
            ("12.5", {"least": 0, "most": 100}, "12.5"),
            ("12.345", {"least": 0, "most": 100}, "12.3"),
            ("0.12345", {"least": 0, "most": 1}, "0.123"),
            ("12.345", {"least": 0, "most": 100, "step": 0.005}, "12.345"),
            ("2024.25", {}, "2024.25"),
            ("-3", {"least": -5, "most": 5}, "-3"),
        ],
    )
    def test_a_number_is_compared_to_a_thousandth_of_its_range(
        self, value: str, limits: dict[str, Any], label: str
    ) -> None:
        assert to_label(made("number", **limits), value, None) == label

    def test_spans_are_told_apart_by_place_and_category_not_by_number(self) -> None:
        criterion = made("spans")
        other = [{**SPANS[0], "category": "tone"}]
        assert to_label(criterion, "1", SPANS) != to_label(criterion, "1", other)
        assert name_label(criterion, to_label(criterion, "1", SPANS)) == "style (response 1, 0–5)"
        assert name_label(criterion, to_label(criterion, "0", [])) == "nothing marked"

    def test_answers_are_read_with_their_words(self) -> None:
        assert describe_answer(made("spans"), "1", SPANS) == "style: “First”"
        assert describe_answer(made("spans"), "0", []) == "nothing marked"
        assert describe_answer(made("text"), "2", {"text": "Too short."}) == "Too short."
        assert describe_answer(made("several"), "style|tone", None) == "Style, Tone"


class TestScales:
    def test_are_what_was_said_in_order(self) -> None:
        study = with_items(3)
        number = CriterionFactory(study=study, key="number", type="number", level="interval", categories=[])
        people_say(number, {"ada": ["10", "9.5", ""], "bo": ["9.5", "-1", "10"]})
        assert load_scales([number]) == {number.pk: ("-1", "9.5", "10")}
        table = ratings.load_criterion(number).table
        assert table.scores.tolist() == [-1, 9.5, 10]
        assert table.is_open
        assert not table.has_scale

    def test_nobody_who_could_judge_leaves_an_empty_one(self) -> None:
        study = with_items(2)
        several = CriterionFactory(study=study, type="several", level="set", categories=typed.OPTIONS)
        people_say(several, {"ada": ["", ""]})
        found = ratings.load_criterion(several)
        assert found.table.categories == ()
        assert found.unscored == {"ada": 2}

    def test_a_choice_has_its_own_whatever_was_said(self, django_assert_num_queries: Any) -> None:
        choice = CriterionFactory(study=with_items(1))
        with django_assert_num_queries(0):
            assert load_scales([choice]) == {choice.pk: tuple(choice.values)}
