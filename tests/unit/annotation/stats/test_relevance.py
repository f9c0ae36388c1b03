"""Facts by their relevance to a question, beside the library that ranks passages elsewhere."""

from __future__ import annotations

import pytest

from annotation.stats.relevance import bm25, rank
from judging.stats import retrieval

FACTS = ["Favourite cuisine: Thai curry", "Allergy: peanuts", "Lives in: Utrecht", "Budget: low, cooks curry at home"]


@pytest.mark.parametrize("question", ["Which curry suits peanuts?", "Utrecht", "curry curry", "nothing shared", ""])
def test_the_scores_are_those_of_the_library(question: str) -> None:
    assert bm25(question, FACTS) == pytest.approx(retrieval.bm25(question, FACTS).tolist(), abs=1e-6)


def test_the_most_relevant_comes_first_and_strangers_not_at_all() -> None:
    assert rank("A curry without peanuts in Utrecht?", FACTS) == [1, 2, 0, 3]
    assert rank("What is it?", FACTS) == []
    assert rank("curry", []) == []


def test_common_words_of_a_question_do_not_count() -> None:
    assert rank("What would you cook for me at the weekend?", ["for me", "at the sea", "weekend trips"]) == [2]
