"""Concord's figures beside those of krippendorff and scikit-learn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from annotation.stats.table import RatingTable
from judging.stats.agreement import judge_agreement
from judging.stats.calibrate import Columns, calibrate
from judging.stats.second_opinion import SecondOpinion, agreement_figures, calibration_figures
from tests.support import drawing


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


def of_agreement(table, judge, found) -> SecondOpinion:
    return SecondOpinion(tuple(agreement_figures(table, judge, found)))


def of_scores(human, judge, scale=("0", "1")) -> SecondOpinion:
    """Of a calibration with its recalibration; yes and no by default."""
    found = calibrate(Columns(tuple(human), tuple(judge), scale, "interval"), bootstrap=0)
    return SecondOpinion(tuple(calibration_figures(found, found.scores)))


def test_rankings_are_recomputed_where_libraries_can():
    rng = np.random.default_rng(0)
    texts, _ = drawing.rankings(80, 4, "ABC", rng)
    table = RatingTable.from_wide(texts, level="ranking")
    people = table.select_raters(table.raters[:3])
    found = judge_agreement(people, table.codes[:, 3], judge_name="j", bootstrap=0)
    opinion = of_agreement(people, table.codes[:, 3], found)
    assert opinion.agrees, opinion.to_json()["different"]
    names = {one.figure for one in opinion.figures}
    assert {"krippendorff_alpha", "accuracy", "mean_cohen_kappa"} <= names
    assert not {"mae", "weighted_cohen_kappa with r1"} & names


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_libraries_say_the_same(level, weights, seed):
    table, judge = rated(level, seed=seed, weights=weights)
    found = judge_agreement(table, judge, judge_name="j", bootstrap=0)
    opinion = of_agreement(table, judge, found)
    assert opinion.agrees, opinion.to_json()["different"]
    names = {one.figure for one in opinion.figures}
    assert {"accuracy", "macro_precision", "macro_recall", "macro_f1", "majority_cohen_kappa"} <= names
    assert {"mean_cohen_kappa", "cohen_kappa with r0", "cohen_kappa of r2", "ceiling percent_agreement"} <= names
    assert ("krippendorff_alpha" in names) is not weights
    ordered = {
        "weighted_cohen_kappa with r1",
        "ceiling mean_linear_cohen_kappa",
        "majority_weighted_cohen_kappa",
        "mae",
    }
    assert (ordered & names) == (ordered if level != "nominal" else set())


@pytest.mark.parametrize("figure", ["accuracy", "mean_cohen_kappa", "macro_f1", "majority_weighted_cohen_kappa", "mae"])
def test_a_slip_is_told_with_its_figure(figure):
    table, judge = rated("ordinal")
    found = judge_agreement(table, judge, judge_name="j", bootstrap=0)
    right = getattr(found, figure)
    wrong = replace(found, **{figure: replace(right, value=right.value + 0.001)})
    document = of_agreement(table, judge, wrong).to_json()
    assert document["agrees"] is False
    assert [one["figure"] for one in document["different"]] == [figure]
    assert document["largest_difference"] == pytest.approx(0.001)
    assert f"({figure}): do not trust these figures" in document["message"]


def test_a_slip_in_the_ceiling_is_told():
    table, judge = rated("ordinal")
    found = judge_agreement(table, judge, judge_name="j", bootstrap=0)
    ceiling = {**found.ceiling, "mean_cohen_kappa": replace(found.ceiling["mean_cohen_kappa"], value=0.5)}
    opinion = of_agreement(table, judge, replace(found, ceiling=ceiling))
    assert [one["figure"] for one in opinion.to_json()["different"]] == ["ceiling mean_cohen_kappa"]


def test_annotators_with_few_common_items_and_idle_ones_are_left_out_alike():
    table, judge = rated("ordinal", raters=5)
    codes = table.codes.copy()
    codes[4:, 3], codes[:, 4] = -1, -1
    sparse = replace(table, codes=codes)
    found = judge_agreement(sparse, judge, judge_name="j", bootstrap=0)
    assert found.left_out == ("r3",)
    opinion = of_agreement(sparse, judge, found)
    assert opinion.agrees, opinion.to_json()["different"]
    assert {"mean_cohen_kappa", "ceiling mean_cohen_kappa"} <= {one.figure for one in opinion.figures}


def test_with_very_many_annotators_only_their_ceiling_is_left_out():
    table, judge = rated("nominal", q=2, n=30, raters=21)
    found = judge_agreement(table, judge, judge_name="j", bootstrap=0)
    names = [one.figure for one in of_agreement(table, judge, found).figures]
    assert "cohen_kappa with r20" in names
    assert not any(name.startswith("ceiling") for name in names)


def test_scores_are_recomputed_before_and_after_the_map():
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 10, 120) / 10 + 0.05
    opinion = of_scores((rng.random(120) < scores).astype(float), scores)
    assert opinion.agrees, opinion.to_json()["different"]
    names = [one.figure for one in opinion.figures]
    assert {"mae before", "mae after", "brier before", "brier after", "label in bin 0.9 before"} <= set(names)
    assert sum(name.startswith("isotonic map") for name in names) == len(np.unique(scores))
    assert sum(name.startswith("score in bin") and name.endswith("before") for name in names) == 10


def test_weights_enter_both_sides():
    rng = np.random.default_rng(0)
    yes = rng.random(90) < 0.5
    said = np.where(rng.random(90) < 0.8, yes, ~yes)
    human = tuple(None if i >= 70 else "yes" if one else "no" for i, one in enumerate(yes))
    judge = tuple("yes" if one else "no" for one in said)
    found = calibrate(Columns(human, judge, ("no", "yes"), "nominal", weights=rng.uniform(1, 5, 90)), bootstrap=0)
    opinion = SecondOpinion(tuple(calibration_figures(found, found.scores)))
    assert {"sensitivity", "specificity", "brier before", "mae after"} <= {one.figure for one in opinion.figures}
    assert opinion.agrees, opinion.describe()


def test_scores_on_borders_of_bins_have_no_second_diagram():
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 11, 120) / 10
    names = [one.figure for one in of_scores((rng.random(120) < scores).astype(float), scores).figures]
    assert "brier before" in names
    assert "label in bin 0.9 before" not in names


def test_scores_on_five_steps_have_errors_and_a_map():
    rng = np.random.default_rng(4)
    labels = rng.integers(1, 6, 90).astype(float)
    judge = np.clip(labels + rng.integers(-1, 2, 90), 1, 5)
    opinion = of_scores(labels, judge, scale=("1", "2", "3", "4", "5"))
    assert opinion.agrees, opinion.to_json()["different"]
    assert len(opinion.figures) == 4 + 5


def test_verdicts_of_yes_and_no_have_rates_too():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 80)
    judge = np.where(rng.random(80) < 0.8, truth, 1 - truth)
    words = np.array(["no", "yes"])
    human = (*words[truth[:60]].tolist(), *[None] * 20)
    found = calibrate(Columns(human, tuple(words[judge].tolist()), ("no", "yes"), "nominal"), bootstrap=0)
    opinion = SecondOpinion(tuple(calibration_figures(found, found.scores)))
    assert opinion.agrees, opinion.to_json()["different"]
    assert {"sensitivity", "specificity", "label in bin 0 before"} <= {one.figure for one in opinion.figures}


@pytest.mark.parametrize("part", ["brier", "mae", "bins"])
def test_a_slip_in_the_scores_is_told(part):
    rng = np.random.default_rng(3)
    judge = rng.random(80)
    human = (rng.random(80) < judge).astype(float)
    found = calibrate(Columns(tuple(human), tuple(judge), ("0", "1"), "interval"), bootstrap=0)
    before = found.scores.before
    right = before.bins[0].human if part == "bins" else getattr(before, part)
    slip = replace(right, value=right.value + 0.01)
    wrong = (replace(before.bins[0], human=slip), *before.bins[1:]) if part == "bins" else slip
    scores = replace(found.scores, before=replace(before, **{part: wrong}))
    opinion = SecondOpinion(tuple(calibration_figures(found, scores)))
    name = "label in bin 0 before" if part == "bins" else f"{part} before"
    assert [one["figure"] for one in opinion.to_json()["different"]] == [name]


def test_one_category_and_nobody_are_no_difference():
    table, judge = rated("nominal", q=2)
    same = replace(table, codes=np.zeros_like(table.codes))
    found = judge_agreement(same, np.zeros_like(judge), judge_name="j", bootstrap=0)
    assert of_agreement(same, np.zeros_like(judge), found).agrees
    nobody = np.full_like(judge, -1)
    empty = judge_agreement(table, nobody, judge_name="j", bootstrap=0)
    assert of_agreement(table, nobody, empty).agrees
    assert of_scores([1.0, 0.0, None], [0.5, None, 0.5]).agrees
