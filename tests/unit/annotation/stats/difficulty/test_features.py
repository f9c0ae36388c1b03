"""Features of items: by hand, and where something is not known."""

import numpy as np
import pytest

from annotation.stats.difficulty.features import (
    ANSWERS_PROMPT,
    RESPONSES_ALIKE,
    FeatureTable,
    ItemFacts,
    Opinions,
    build_features,
    compute_differing_pairs,
    judge_columns,
    vector_columns,
)
from annotation.stats.table import MISSING


def column(table, name):
    return table.values[:, table.names.index(name)]


def test_texts_as_numbers():
    found = build_features(
        [
            ItemFacts("a", ("abcd", "abcd"), "why", preferences=2),
            ItemFacts("b", ("abcd", "wxyz"), "", preferences=None),
            ItemFacts("c", ("a", "bcdefgh"), "why not", preferences=1),
        ]
    )
    assert found.items == ("a", "b", "c")
    assert column(found, "similarity of the responses").tolist() == [1.0, 0.0, 0.0]
    assert column(found, "length of the prompt") == pytest.approx(np.log([4, 1, 8]))
    # log of 1 + 7 less log of 1 + 1
    assert column(found, "longest response beside the shortest") == pytest.approx([0, 0, np.log(4)])
    assert column(found, "preferences involved")[[0, 2]].tolist() == [2, 1]
    assert np.isnan(column(found, "preferences involved")[1])
    assert "number of turns" not in found.names  # two everywhere: nothing to tell apart
    assert "length of the responses" not in found.names  # eight everywhere


def test_similarity_by_vectors_is_the_cosine_of_neighbours_and_of_the_prompt_with_each():
    known = {"north": (1.0, 0.0), "east": (0.0, 2.0), "both": (3.0, 3.0), "": (0.0, 0.0)}
    seen = []

    def embed(texts):
        seen.extend(texts)
        return np.array([known[text] for text in texts])

    facts = [
        ItemFacts("a", ("north", "east"), "north"),
        ItemFacts("b", ("north", "both", "both"), "east"),
        ItemFacts("c", ("north", ""), ""),
        ItemFacts("d", ("north",), "north"),
    ]
    found = vector_columns(facts, embed)
    root = np.sqrt(0.5)
    alike, to_prompt = (found[name] for name in (RESPONSES_ALIKE, ANSWERS_PROMPT))
    assert alike == pytest.approx([0, (root + 1) / 2, np.nan, np.nan], nan_ok=True)
    assert to_prompt == pytest.approx([0.5, (0 + root + root) / 3, np.nan, 1], nan_ok=True)
    assert sorted(seen) == ["", "both", "east", "north"]  # each text once


def test_small_groups_have_no_column():
    facts = [ItemFacts(str(k), (), "x" * k, {"domain": "Hotels" if k < 12 else f"rare {k}"}) for k in range(20)]
    found = build_features(facts)
    assert [name for name in found.names if name.startswith("domain")] == ["domain Hotels"]
    assert column(found, "domain Hotels").sum() == 12


def test_what_judges_say():
    one = Opinions(
        np.array([0, 1, MISSING]), np.array([True, True, True]), np.array([[0, 0], [1, 0], [MISSING, 1]]),
        np.array([0.9, 0.5, np.nan]),
    )  # fmt: skip
    two = Opinions(
        np.array([1, 1, MISSING]), np.array([True, True, False]), np.full((3, 1), MISSING), np.full(3, np.nan)
    )
    found = judge_columns([one, two], ("no", "yes"))
    assert found["judges disagree"][:2].tolist() == [1, 0]
    assert found["calls disagree"][:2].tolist() == [0, 1]
    assert found["judges' confidence"][:2].tolist() == [0.9, 0.5]
    assert found["replies without a verdict"].tolist() == [0, 0, 1]
    assert found["verdict yes"][:2].tolist() == [0.5, 1]
    assert all(np.isnan(found[name][2]) for name in ("judges disagree", "calls disagree", "verdict yes"))
    assert judge_columns([], ("no", "yes")) == {}


def test_pairs_that_differ():
    # of four codes 0, 0, 1, 2 five of six pairs differ
    assert compute_differing_pairs(np.array([[0, 0, 1, 2], [1, MISSING, 1, MISSING]])) == pytest.approx([5 / 6, 0])


def test_no_items():
    assert build_features([]).values.shape == (0, 0)
    assert FeatureTable.from_columns(("a",), {"x": np.array([np.nan])}).names == ()
