"""From what was said to the columns of each analysis."""

import numpy as np
import pytest

from annotation.stats.table import RatingTable
from judging.stats.assessment_data import AssessmentData, family, mark_own_family
from judging.stats.observed import ItemColumns, JudgeVerdicts, People


def material(n, *, inclusion=None, clusters=None, assistants="", opponents=""):
    return ItemColumns(
        names=tuple(str(k) for k in range(1, n + 1)),
        inclusion=np.ones(n) if inclusion is None else np.array(inclusion, dtype=float),
        clusters=tuple(clusters or (str(k) for k in range(n))),
        length=np.zeros(n),
        assistants=(assistants,) * n,
        opponents=(opponents,) * n,
    )


def people(codes, categories=("1", "2", "3", "4"), level="ordinal", gold=None):
    codes = np.array(codes)
    names = tuple(str(k) for k in range(1, len(codes) + 1))
    raters = tuple(f"r{k}" for k in range(codes.shape[1]))
    table = RatingTable(codes, categories, level, names, raters)
    nothing = np.full(len(codes), -1)
    return People(table, nothing if gold is None else np.array(gold), np.zeros(len(codes), dtype=np.int64))


def said(codes):
    codes = np.array(codes)
    nothing = np.full(len(codes), np.nan)
    return JudgeVerdicts(
        codes != -2, np.where(codes == -2, -1, codes), nothing, nothing, "", codes, codes, codes[:, None]
    )


def test_scores_are_averaged_and_an_adjudicated_score_stands_for_all():
    found = people([[0, 1], [3, -1], [-1, -1], [0, 3]], gold=[-1, -1, -1, 1])
    np.testing.assert_allclose(found.mean, [1.5, 4, np.nan, 2])
    assert found.without_label.tolist() == [False] * 4


def test_categories_are_counted_and_a_tie_is_a_divided_label():
    found = people([[0, 0], [0, 1], [-1, -1]], ("no", "yes"), "nominal")
    np.testing.assert_array_equal(found.label_shares, [[1, 0], [0.5, 0.5], [np.nan, np.nan]])
    np.testing.assert_array_equal(found.compute_expected(np.array([0.0, 1.0])), [0, 0.5, np.nan])
    assert found.consensus.tolist() == [0, -1, -1]
    assert found.with_label.tolist() == [True, True, False]


def test_tiers_are_those_of_the_tiers_page():
    from annotation.stats.tiers import tiers

    codes = np.random.default_rng(0).integers(-1, 4, (60, 5))
    found = people(codes)
    assert found.tiers == tuple(item.tier or "" for item in tiers(found.table, draws=0).items)


def test_columns_leave_out_what_was_not_asked_and_weigh_by_the_draw():
    whole = AssessmentData(
        material(4, inclusion=[1, 1, 0.5, 0.5], clusters=["a", "a", "b", "c"]),
        people([[0, 1], [3, 3], [-1, -1], [2, 2]]),
        said([0, -2, 3, -1]),
    )
    columns = whole.columns()
    assert columns.human == (1.5, None, 3.0)
    assert columns.judge == (1.0, 4.0, None)
    assert columns.weights.tolist() == [1, 2, 2]
    assert columns.clusters == ("a", "b", "c")


@pytest.mark.parametrize(
    ("name", "kind"),
    [("meta-llama/Llama-3-8B", "llama"), ("llama-7b", "llama"), ("gpt-3.5-turbo", "gpt"), ("", ""), ("7b", "")],
)
def test_what_a_model_is_a_kind_of(name, kind):
    assert family(name) == kind


def test_the_judges_own_kind():
    pairs = material(2, assistants="gpt-4", opponents="llama-7b")
    assert mark_own_family("gpt-3.5-turbo", pairs).tolist() == [1, 1]
    assert mark_own_family("openai/llama", pairs).tolist() == [-1, -1]
    assert mark_own_family("claude", pairs) is None
    assert mark_own_family("", pairs) is None
