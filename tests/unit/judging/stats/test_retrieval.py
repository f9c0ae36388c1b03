from __future__ import annotations

import math

import numpy as np
import pytest

from judging.stats.retrieval import bm25, nearest, passages, retrieve

TEXTS = ["the cat sat", "the dog sat down", "a bird"]


def test_by_hand():
    # N = 3, "cat" in one text: idf = log(1 + 2.5 / 1.5); mean length 3, length 3, so that the weight is 1 / (1 + 1.2)
    assert bm25("cat", TEXTS).tolist() == pytest.approx([math.log(1 + 2.5 / 1.5) / 2.2, 0, 0])
    # "sat" in two: idf = log(1 + 1.5 / 2.5); the second text has 4 words: k1 (0.25 + 0.75 * 4 / 3) = 1.5
    idf = math.log(1 + 1.5 / 2.5)
    assert bm25("sat", TEXTS).tolist() == pytest.approx([idf / 2.2, idf / 2.5, 0])


def test_the_best_come_first_and_strangers_not_at_all():
    found = retrieve("Where has the cat sat?", TEXTS, 5)

    assert [one.place for one in found] == [0, 1]
    assert found[0].passage == "the cat sat"


def test_of_equals_the_earlier_one():
    assert [one.place for one in retrieve("x", ["x", "x", "x"], 2)] == [0, 1]


def test_nothing_to_find():
    assert retrieve("", TEXTS, 3) == []
    assert retrieve("cat", [], 3) == []
    assert retrieve("cat", ["", "…"], 3) == []


def test_passages_are_some_sentences_of_a_paragraph():
    assert passages("One. Two! Three?\n\nFour.") == ["One. Two!", "Three?", "Four."]


def test_the_nearest_by_the_cosine():
    vectors = np.array([[0.0, 2.0], [3.0, 3.0], [0.0, 0.0], [5.0, 0.0]])
    found = nearest(np.array([1.0, 0.0]), vectors, ["up", "between", "nowhere", "along"], 3)

    assert [one.passage for one in found] == ["along", "between", "up"]
    assert [one.score for one in found] == pytest.approx([1, math.sqrt(0.5), 0])
    assert nearest(np.array([1.0]), np.empty((0, 1)), [], 3) == []
