"""Concord's figures beside those of krippendorff and scikit-learn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from annotation.stats.table import RatingTable
from judging.stats.agreement import judge_agreement
from judging.stats.calibration import Isotonic
from judging.stats.reliability import reliability
from judging.stats.second_opinion import recompute


def rated(level: str, *, q: int = 4, n: int = 60, raters: int = 3, seed: int = 0, weights: bool = False):
    """People's ratings with gaps, and a judge's codes with gaps."""
    rng = np.random.default_rng(seed)
    trait = rng.integers(0, q, n)
    codes = np.clip(trait[:, None] + rng.integers(-1, 2, (n, raters)), 0, q - 1)
    codes = np.where(rng.random((n, raters)) < 0.2, -1, codes)
    judge = np.where(rng.random(n) < 0.1, -1, np.clip(trait + rng.integers(-1, 2, n), 0, q - 1))
    table = RatingTable(
        codes,
        tuple(float(x) for x in range(1, q + 1)),
        level,
        tuple(f"i{i}" for i in range(n)),
        tuple(f"r{i}" for i in range(raters)),
        weights=rng.uniform(1, 5, n) if weights else None,
    )
    return table, judge


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_libraries_say_the_same(level, weights, seed):
    table, judge = rated(level, seed=seed, weights=weights)
    found = judge_agreement(table, judge, judge_name="j", bootstrap=0)
    opinion = recompute(table, judge, found)
    assert opinion.agrees, opinion.as_json()["different"]
    names = {one.figure for one in opinion.figures}
    assert {"accuracy", "macro_precision", "macro_recall", "cohen_kappa with r0"} <= names
    assert ("krippendorff_alpha" in names) is not weights
    assert ("weighted_cohen_kappa with r1" in names) is (level != "nominal")


def test_a_slip_is_told_with_its_figure():
    table, judge = rated("ordinal")
    found = judge_agreement(table, judge, judge_name="j", bootstrap=0)
    wrong = replace(found, accuracy=replace(found.accuracy, value=found.accuracy.value + 0.001))
    document = recompute(table, judge, wrong).as_json()
    assert document["agrees"] is False
    assert [one["figure"] for one in document["different"]] == ["accuracy"]
    assert document["largest_difference"] == pytest.approx(0.001)


def test_calibration_is_recomputed():
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 11, 80) / 10
    labels = (rng.random(80) < scores).astype(float)
    table, judge = rated("nominal", q=2)
    found = judge_agreement(table, judge, judge_name="j", bootstrap=0)
    opinion = recompute(
        table,
        judge,
        found,
        scores=scores,
        labels=labels,
        reliability=reliability(scores, labels, bootstrap=0),
        isotonic=Isotonic.fit(scores, labels),
    )
    assert opinion.agrees, opinion.as_json()["different"]
    names = [one.figure for one in opinion.figures]
    assert "brier" in names
    assert sum(name.startswith("isotonic map") for name in names) == len(np.unique(scores))


def test_one_category_and_nobody_are_no_difference():
    table, judge = rated("nominal", q=2)
    same = replace(table, codes=np.zeros_like(table.codes))
    found = judge_agreement(same, np.zeros_like(judge), judge_name="j", bootstrap=0)
    assert recompute(same, np.zeros_like(judge), found).agrees
    nobody = np.full_like(judge, -1)
    empty = judge_agreement(table, nobody, judge_name="j", bootstrap=0)
    assert recompute(table, nobody, empty).agrees
