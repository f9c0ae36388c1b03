"""The power table: that the simulated population is what it says, and what the verdict says of it."""

from dataclasses import replace

import numpy as np
import pytest

from annotation.stats.table import RatingTable
from judging.stats.agreement import judge_agreement
from judging.stats.power import PowerDesign, _agreement_weights, power_of_replace, replaces, simulate
from judging.stats.verdict import Rules
from scripts.bench_verdict import decide
from tests.unit.annotation.stats.data import cohen_kappa

STUDIES = 8

CLUSTERED = PowerDesign(n_items=20_000, n_clusters=4000, n_raters=2, n_categories=3, cluster_effect=1.0)


@pytest.mark.parametrize("design", [CLUSTERED, replace(CLUSTERED, level="ordinal", shares=(0.6, 0.3, 0.1))])
def test_the_population_has_the_kappas_that_are_asked_for(design):
    people, judge = simulate(design, 0.485, np.random.default_rng(1), 1)
    weights = _agreement_weights(design)
    assert cohen_kappa(people[0, :, 0], people[0, :, 1], weights) == pytest.approx(0.6, abs=0.02)
    assert cohen_kappa(people[0, :, 0], judge[0], weights) == pytest.approx(0.485, abs=0.02)


@pytest.mark.parametrize(
    "design",
    [
        PowerDesign(50, 10, n_categories=5, level="ordinal"),
        PowerDesign(100, 20, kappa=0.8),
        PowerDesign(120, 12, n_categories=3, n_raters=4),
        PowerDesign(60, 60, kappa=0.8),
        PowerDesign(100, 100, shares=(0.2, 0.8), kappa=0.8),
        PowerDesign(150, 150, n_categories=5, level="ordinal"),
    ],
    ids=str,
)
def test_the_planner_says_what_the_verdict_says_of_the_same_study(design):
    people, judge = simulate(design, design.kappa, np.random.default_rng(3), STUDIES)
    planned = replaces(people, judge, design, Rules(), 0.15, 0.95)
    said = [decide(design, people[one], judge[one], bootstrap=1) == "replace" for one in range(STUDIES)]
    assert planned.tolist() == said
    assert 0 < sum(said) < STUDIES


@pytest.mark.parametrize("design", [PowerDesign(500, 500), PowerDesign(300, 30)], ids=str)
def test_the_planner_tests_the_upper_end_that_pages_show(design):
    """Of the ceiling minus the judge's kappa: of 500 items too, where other figures have a bootstrap interval."""
    people, judge = simulate(design, design.kappa, np.random.default_rng(4), 1)
    clusters = None if design.n_items == design.n_clusters else tuple(map(str, design.unit))
    names = tuple(map(str, range(design.n_items)))
    table = RatingTable(people[0], (1, 2), "nominal", names, ("r1", "r2", "r3"), clusters=clusters)
    shown = judge_agreement(table, judge[0], judge_name="judge", bootstrap=200)
    assert shown.below_ceiling.method == "jackknife t"
    high = shown.below_ceiling.high

    def replaced(most):
        rules = Rules(below_ceiling=most, must_pass_alt_test=False)
        said = decide(design, people[0], judge[0], bootstrap=200, rules=rules) == "replace"
        assert bool(replaces(people, judge, design, rules, 0.15, 0.95)[0]) is said
        return said

    assert replaced(high + 1e-9)
    assert not replaced(high - 1e-9)


@pytest.mark.long
def test_a_good_judge_needs_items_and_a_worse_one_is_rarely_taken():
    small, large = (power_of_replace(PowerDesign(n, n), studies=200) for n in (50, 500))
    assert large[0].replace > 0.8 > 0.5 > small[0].replace
    assert max(small[1].replace, large[1].replace) <= 0.08
    assert large[1].kappa == pytest.approx(0.6 - 0.115)
    assert large[0].low < large[0].replace < large[0].high


def test_clusters_cost_power():
    alone, clustered = (power_of_replace(PowerDesign(300, g), below=(0.0,), studies=200)[0] for g in (300, 20))
    assert clustered.replace < alone.replace - 0.1


def test_the_rules_decide():
    assert power_of_replace(PowerDesign(40, 40), studies=10)[0].replace == 0
    assert power_of_replace(PowerDesign(100, 5), studies=10)[0].replace == 0
    lax = power_of_replace(
        PowerDesign(100, 100), rules=Rules(below_ceiling=0.5, must_pass_alt_test=False), below=(0.115,), studies=50
    )
    assert lax[0].replace > 0.9


def test_the_seed_decides():
    first, again, other = (power_of_replace(PowerDesign(100, 100), studies=50, seed=seed) for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_clusters": 101}, "cannot lie in 101 clusters"),
        ({"n_clusters": 0}, "cannot lie in 0 clusters"),
        ({"n_raters": 1}, "two raters"),
        ({"kappa": 1.0}, "between 0 and 1"),
        ({"cluster_effect": -1.0}, "at least 0"),
        ({"shares": (0.5, 0.6)}, "sum to 1"),
        ({"shares": (1.0,)}, "sum to 1"),
    ],
)
def test_impossible_designs(change, message):
    with pytest.raises(ValueError, match=message):
        power_of_replace(replace(PowerDesign(100, 100), **change))
