"""Marked spans: F1 of characters and spans, alpha for unitizing, the majority of characters."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st

from annotation.stats.span_agreement import span_agreement
from annotation.stats.spans import (
    Span,
    Spans,
    compute_overlap,
    majority_of_characters,
    parse_spans,
    spell_spans,
)
from annotation.stats.table import RatingTable
from annotation.stats.unitizing import difference, unitizing_alpha
from judging.stats.span_agreement import judge_span_agreement

LENGTH = 40
SPAN = st.builds(
    lambda start, size, category: Span("t", start, min(start + size, LENGTH), category),
    st.integers(0, LENGTH - 1),
    st.integers(1, 12),
    st.sampled_from("ab"),
)
ANSWER = st.lists(SPAN, max_size=4).map(lambda spans: tuple(sorted(set(spans))))


def characters(spans: Spans, *, labelled: bool) -> set[object]:
    return {(s.part, n, s.category if labelled else "") for s in spans for n in range(s.start, s.end)}


def spell(*spans: tuple[int, int, str]) -> str:
    return json.dumps([["t", *one] for one in spans])


class TestOverlap:
    @given(ANSWER, ANSWER)
    def test_is_that_of_sets_of_characters(self, a: Spans, b: Spans) -> None:
        found = compute_overlap(a, b)
        for labelled, common, marked in ((False, *found[:2]), (True, *found[2:4])):
            first, second = characters(a, labelled=labelled), characters(b, labelled=labelled)
            assert (common, marked) == (len(first & second), len(first) + len(second))

    def test_whole_spans_have_to_be_the_same(self) -> None:
        a, b = parse_spans(spell((0, 5, "a"), (8, 9, "b"))), parse_spans(spell((0, 5, "a"), (8, 9, "a")))
        assert compute_overlap(a, b)[4:] == (1, 4)


class TestMajority:
    @given(st.lists(ANSWER, min_size=1, max_size=5))
    def test_is_what_more_than_half_mark(self, answers: list[Spans]) -> None:
        found = characters(majority_of_characters(answers), labelled=True)
        everywhere = {one for answer in answers for one in characters(answer, labelled=True)}
        votes = {one: sum(one in characters(answer, labelled=True) for answer in answers) for one in everywhere}
        assert found == {one for one, n in votes.items() if 2 * n > len(answers)}


class TestUnitizing:
    """Krippendorff (2004), Content Analysis, 2nd edition, pages 251-256: two observers on a continuum from 150 to 450.

    Printed: D_o 0.0144 of c and 0 of k, D_e 0.0532 and 0.0490, alpha .7286 of c, 1 of k, .8591 of both.
    """

    FIRST = ((225, 70, "c"), (370, 30, "c"), (180, 60, "k"), (300, 50, "k"))
    SECOND = ((220, 80, "c"), (355, 20, "c"), (400, 20, "c"), (180, 60, "k"), (300, 50, "k"))

    def answers(self) -> list[Spans]:
        both = (self.FIRST, self.SECOND)
        return [tuple(sorted(Span("t", b - 150, b - 150 + size, c) for b, size, c in one)) for one in both]

    def test_is_the_printed_alpha(self) -> None:
        statistic = unitizing_alpha([self.answers()], [{"t": 300}], ["c", "k"])
        both, c, k = statistic.evaluate(np.ones((1, 1)))[0].tolist()
        assert both == pytest.approx(0.8591, abs=0.0005)
        assert c == pytest.approx(0.7286, abs=0.0001)
        assert k == 1
        n, observed = statistic.contributions[0, :2]
        assert observed / n / 300 == pytest.approx(0.0144, abs=0.0001)

    @pytest.mark.parametrize("scale", [0.02, 1.0, 50.0])
    def test_the_scale_of_weights_decides_nothing(self, scale: float) -> None:
        one, other = self.answers()
        items, texts = [[one, other], [one, one], [one]], [{"t": 300}] * 3
        plain = unitizing_alpha(items, texts, ["c", "k"]).evaluate(np.ones((1, 3)))[0]
        weights = np.array([scale, scale, 1.0])  # the last item has one answer and says nothing
        weighted = unitizing_alpha(items, texts, ["c", "k"], weights).evaluate(weights[None])[0]
        assert weighted == pytest.approx(plain)

    def test_differences_are_the_printed_ones(self) -> None:
        assert difference((225, 70, True), (220, 80, True)) == 50
        assert difference((370, 30, True), (355, 20, True)) == 850
        assert difference((400, 50, False), (400, 20, True)) == 400
        assert difference((5, 6, True), (6, 4, True)) == 2

    def test_parts_one_behind_the_other_are_one_continuum(self) -> None:
        """A gap that ends with its part makes a difference only where a unit of the other would span it."""
        one, other = self.answers()
        shifted = tuple(span._replace(part="u") for span in one), tuple(span._replace(part="u") for span in other)
        twice = [(*one, *shifted[0]), (*other, *shifted[1])]
        in_parts = unitizing_alpha([twice], [{"t": 300, "u": 300}], ["c", "k"])
        in_items = unitizing_alpha([[one, other], [one, other]], [{"t": 300}] * 2, ["c", "k"])
        assert in_parts.evaluate(np.ones((1, 1)))[0] == pytest.approx(in_items.evaluate(np.ones((1, 2)))[0])

    @given(ANSWER)
    def test_equal_answers_agree(self, answer: Spans) -> None:
        categories = sorted({span.category for span in answer})
        statistic = unitizing_alpha([[answer, answer]], [{"t": LENGTH}], categories)
        found = float(statistic.evaluate(np.ones((1, 1)))[0, 0])
        assert found == 1 if answer and found == found else True

    def test_random_answers_do_not(self) -> None:
        rng = np.random.default_rng(0)

        def draw() -> Spans:
            start = int(rng.integers(0, 80))
            return (Span("t", start, start + int(rng.integers(5, 20)), "a"),)

        statistic = unitizing_alpha([[draw(), draw()] for _ in range(400)], [{"t": 100}] * 400, ["a"])
        assert abs(float(statistic.evaluate(np.ones((1, 400)))[0, 0])) < 0.15


class TestAgreement:
    @pytest.fixture
    def table(self) -> RatingTable:
        rows = [
            [spell((0, 10, "a")), spell((0, 10, "a")), spell((5, 15, "a"))],
            [spell(), spell(), spell((20, 25, "b"))],
            [spell((30, 35, "a")), spell((30, 35, "b")), None],
        ]
        return RatingTable.from_wide(rows, level="spans", texts=[{"t": LENGTH}] * 3, raters=["x", "y", "z"])

    def test_is_the_mean_over_pairs_of_people(self, table: RatingTable) -> None:
        found = span_agreement(table, bootstrap=0).to_json()
        of_pairs = {(one["a"], one["b"]): one["overlap_f1"]["value"] for one in found["pairs"]}
        assert of_pairs["x", "y"] == 1
        assert of_pairs["x", "z"] == pytest.approx(2 * 5 / (10 + 10 + 5))
        assert found["coefficients"]["overlap_f1"]["value"] == pytest.approx(np.mean([1, 0.4, 0.4]))
        assert found["coefficients"]["labelled_overlap_f1"]["value"] < found["coefficients"]["overlap_f1"]["value"]
        assert found["categories"] == ["a", "b"]

    def test_a_judge_stands_beside_people_on_the_items_that_it_scored(self, table: RatingTable) -> None:
        judge = np.array([table.codes[0, 0], -1, table.codes[2, 0]])
        found = judge_span_agreement(table, judge, np.array([False, True, False]), judge_name="j", bootstrap=0)
        assert (found["scored"], found["unscored"], found["not_judged"]) == (2, 1, 0)
        assert found["per_annotator"]["x"]["value"] == 1
        judged, ceiling = found["mean_overlap_f1"]["value"], found["human_ceiling_overlap"]["value"]
        assert found["below_ceiling_overlap"]["value"] == pytest.approx(ceiling - judged)
        assert judged == pytest.approx(np.mean([1, 1, 2 * 5 / 20]))

    def test_nothing_marked_and_nobody_there_have_reasons(self) -> None:
        nothing = RatingTable.from_wide([[spell(), spell()]] * 9, level="spans", texts=[{"t": 9}] * 9)
        found = span_agreement(nothing).to_json()["coefficients"]
        assert {one["reason"] for one in found.values()} == {"nobody marked anything"}
        nobody = RatingTable(np.empty((0, 0), dtype=int), (), "spans", (), ())
        assert span_agreement(nobody).to_json()["coefficients"]["overlap_f1"]["reason"] == "no ratings"

    def test_without_the_texts_there_is_no_alpha(self, table: RatingTable) -> None:
        bare = RatingTable(table.codes, table.categories, "spans", table.items, table.raters)
        found = span_agreement(bare, bootstrap=50).coefficients["unitizing_alpha"]
        assert not found.defined
        assert found.reason == "the lengths of the texts are not known"


@pytest.mark.parametrize("text", ["x", "{}", '[["t",1]]', '[["t",5,5,"a"]]', '[["t","1",2,"a"]]'])
def test_what_are_no_spans_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="span"):
        parse_spans(text)


@given(ANSWER)
def test_spans_come_back_as_they_were(answer: Spans) -> None:
    assert parse_spans(spell_spans(answer)) == answer
