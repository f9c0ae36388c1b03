"""Items that were drawn with unequal probability: every probe is that of the items they stand for."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from judging.stats.asymptotic import correct_skewness, undo_skewness
from judging.stats.audits.altered import AlteredReplies, probe_alteration
from judging.stats.audits.battery import probe_nominal, probe_pairs, probe_scores
from judging.stats.audits.central_tendency import central_tendency
from judging.stats.audits.columns import PairColumns, ScoreColumns
from judging.stats.audits.contradiction import contradiction
from judging.stats.audits.design import SamplingDesign
from judging.stats.audits.drift import drift
from judging.stats.audits.halo import halo
from judging.stats.audits.injection import injection
from judging.stats.audits.invariance import invariance
from judging.stats.audits.length import length
from judging.stats.audits.position import position_both_orders, position_one_order
from judging.stats.audits.probe import mean_probe
from judging.stats.audits.repeats import repeats
from judging.stats.audits.scale import leniency
from judging.stats.audits.self_preference import self_preference_pairs, self_preference_scores
from judging.stats.audits.subgroups import subgroups

N = 120


def data(seed=5):
    """Columns of 120 items in 24 clusters, each of which stands for one to four items."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(3, 1, N)
    people = np.rint(truth[:, None] + rng.normal(0, 0.7, (N, 3)))
    judge = np.rint(truth + 0.3 + rng.normal(0, 0.7, N))
    yes = (rng.random((6, N)) < 0.5).astype(float)
    return {
        "people": people,
        "people2": np.stack([people, np.rint(people + rng.normal(0, 0.7, people.shape))], axis=2),
        "person": people[:, 0],
        "judge": judge,
        "judge2": np.column_stack([judge, np.rint(judge + rng.normal(0, 0.5, N))]),
        "other": np.rint(truth + rng.normal(0, 0.9, N)),
        "again": np.where(rng.random(N) < 0.8, judge, judge + 1),
        "x": rng.normal(0, 0.4, N),
        "own": rng.random(N) < 0.4,
        "side": rng.choice([-1.0, 0.0, 1.0], N),
        "yes": yes[0],
        "no": yes[1],
        "rare": (rng.random(N) < 0.2).astype(float),
        "high": np.full(N, 5.0),
        "half": np.array(["a", "b"])[rng.integers(0, 2, N)],
        "whole": np.repeat(["a", "b"], N // 2),
        "cluster": np.repeat([f"p{k}" for k in range(24)], 5),
        "weight": rng.integers(1, 5, N),
    }


PROBES = {
    "leniency": lambda c, d: leniency(c["judge"], c["person"], design=d),
    "central tendency": lambda c, d: central_tendency(c["judge"], c["people"], design=d),
    "length": lambda c, d: length(c["judge"], c["person"], c["x"], design=d),
    "length of pairs": lambda c, d: length(c["yes"], c["no"], c["x"], paired=True, design=d),
    "own kind": lambda c, d: self_preference_scores(c["judge"], c["person"], c["own"], design=d),
    "own kind of pairs": lambda c, d: self_preference_pairs(c["yes"], c["no"], c["side"], design=d),
    "position": lambda c, d: position_both_orders(c["yes"], c["no"], design=d),
    "position in one order": lambda c, d: position_one_order(c["yes"], c["no"], design=d),
    "halo": lambda c, d: halo(c["judge2"], c["people2"], design=d),
    "drift": lambda c, d: drift(c["other"], c["judge"], c["people"], nominal=False, design=d),
    "drift of codes": lambda c, d: drift(c["yes"], c["no"], c["rare"], design=d),
    "repeats": lambda c, d: repeats(np.column_stack([c["judge"], c["again"]]), design=d),
    "groups within clusters": lambda c, d: subgroups(c["judge"] - c["person"], c["half"].tolist(), design=d),
    "groups of clusters": lambda c, d: subgroups(c["judge"] - c["person"], c["whole"].tolist(), design=d),
}
TESTED_EXACTLY = {
    "contradiction": lambda c, d: contradiction(c["rare"], design=d),
    "injection": lambda c, d: injection(c["judge"], c["other"], c["again"], c["high"], design=d),
    "invariance": lambda c, d: invariance(c["judge"], c["other"], c["again"], design=d),
}


def both(make):
    """The probe of items with weights, and of as many copies of each in the same cluster."""
    columns = data()
    weights = columns["weight"]
    copies = {name: column.repeat(weights, axis=0) for name, column in columns.items()}
    weighted = make(columns, SamplingDesign(columns["cluster"].tolist(), weights / weights.sum()))
    return weighted, make(copies, SamplingDesign(copies["cluster"].tolist()))


@pytest.mark.parametrize("name", [*PROBES, *TESTED_EXACTLY])
def test_an_item_of_weight_k_counts_as_k_items(name):
    weighted, copied = both((PROBES | TESTED_EXACTLY)[name])
    one, other = weighted.effect, copied.effect
    assert one.value == pytest.approx(other.value)
    assert {key: figure.value for key, figure in weighted.details.items()} == pytest.approx(
        {key: figure.value for key, figure in copied.details.items()}
    )


@pytest.mark.parametrize("name", PROBES)
def test_its_interval_and_its_p_value_are_those_of_k_items_of_one_cluster(name):
    weighted, copied = both(PROBES[name])
    one, other = weighted.effect, copied.effect
    assert (one.low, one.high) == pytest.approx((other.low, other.high))
    assert weighted.p_value == pytest.approx(copied.p_value)
    assert weighted.minimum_detectable == pytest.approx(copied.minimum_detectable)


def strata(rng, n=80):
    """Half of the items were drawn from a tenth of the material, where the judge is kinder by one; elsewhere by none
    or, so that it is fair on the whole, harsher by a ninth."""
    rare = np.arange(n) < n // 2
    return rare, np.where(rare, 0.1, 0.9) / (n / 2), rng.normal(0, 0.7, n)


def test_a_judge_that_is_fair_on_the_whole_is_not_accused_for_the_items_that_were_drawn_more_often():
    rng = np.random.default_rng(3)
    accused = {"weighted": 0, "unweighted": 0}
    for _ in range(300):
        rare, weights, noise = strata(rng)
        errors = noise + np.where(rare, 1.0, -1 / 9)
        accused["weighted"] += leniency(errors, np.zeros(80), design=SamplingDesign(weights=weights)).p_value <= 0.05
        accused["unweighted"] += leniency(errors, np.zeros(80)).p_value <= 0.05
    assert accused["weighted"] < 300 * 0.09  # 5 % give .05 + 3 * .0126
    assert accused["unweighted"] > 250


@pytest.mark.long
def test_weighted_intervals_hold_the_figure_of_the_material():
    rng = np.random.default_rng(4)
    held = []
    for _ in range(300):
        rare, weights, noise = strata(rng)
        design = SamplingDesign(weights=weights)
        differs = rng.random(80) < np.where(rare, 0.8, 0.2)  # .26 of the material
        told = repeats(np.column_stack([np.zeros(80), differs]), design=design)
        found = leniency(noise + rare, np.zeros(80), design=design)  # .1 of the material
        share = contradiction((rng.random(80) < np.where(rare, 0.5, 0.1)).astype(float), design=design)  # .14
        truths = [(told.effect, 0.26), (told.details["unanimous"], 0.74), (found.effect, 0.1), (share.effect, 0.14)]
        held.append([one.low <= truth <= one.high for one, truth in truths])
    assert (np.mean(held, axis=0) >= 0.91).all()


def test_explanations_that_contradict_in_the_items_drawn_more_often_are_no_bias_of_the_whole():
    rng = np.random.default_rng(6)
    accused = {"weighted": 0, "unweighted": 0}
    for _ in range(200):
        rare, weights, _ = strata(rng, 200)
        flags = (rng.random(200) < np.where(rare, 0.15, 0.005)).astype(float)  # .0195 of the material
        accused["weighted"] += contradiction(flags, design=SamplingDesign(weights=weights)).p_value <= 0.05
        accused["unweighted"] += contradiction(flags).p_value <= 0.05
    assert accused["weighted"] < 200 * 0.1
    assert accused["unweighted"] > 150


def test_without_a_design_the_exact_tests_stay():
    columns = data()
    assert PROBES["position"](columns, SamplingDesign()).test == "exact sign test"
    assert PROBES["position"](columns, SamplingDesign(weights=columns["weight"] * 1.0)).test == "t-test"


@pytest.mark.long
def test_every_probe_of_a_judge_is_weighted():
    """A probe that forgets the design says the same with other weights."""
    c, rng = data(), np.random.default_rng(8)
    design = SamplingDesign(c["cluster"].tolist(), rng.permuted(np.linspace(0.2, 5, N)))
    replies = (c["judge"], c["other"], c["again"])
    copies = (AlteredReplies("invariance:x", *replies, None, n_items=N, design=design),
              AlteredReplies("injection:x", *replies, c["high"], n_items=N, design=design))  # fmt: skip
    scores = ScoreColumns(
        c["people2"], c["judge2"], np.column_stack([c["judge"], c["again"]]), c["other"], c["x"], c["own"] * 1.0,
        {"half": tuple(c["half"])}, design, contradicts=c["rare"], altered=copies,
    )  # fmt: skip
    codes = [c[name].astype(np.int64) for name in ("yes", "no")]
    pairs = PairColumns(
        np.column_stack([c["no"], c["rare"]]), c["yes"], c["no"], c["x"], c["side"], design,
        judge_codes=codes[0], people_codes=np.column_stack([codes[1], c["rare"].astype(np.int64)]),
        previous_codes=codes[1], repeated=np.column_stack([c["yes"], c["rare"]]), groups={"half": tuple(c["half"])},
        contradicts=c["rare"], altered=copies,
    )  # fmt: skip
    for make, columns in ((probe_scores, scores), (probe_pairs, pairs), (probe_nominal, pairs)):
        plain = replace(
            columns, design=SamplingDesign(), altered=tuple(replace(one, design=SamplingDesign()) for one in copies)
        )
        for weighted, other in zip(make(columns), make(plain), strict=True):
            assert weighted.name == other.name
            assert weighted.effect.defined
            assert other.effect.defined
            assert weighted.effect.value != pytest.approx(other.effect.value, rel=1e-6), weighted.name


def test_shares_of_altered_copies_have_an_interval_only_where_its_items_are_alike():
    c = data()
    columns = AlteredReplies("invariance:x", c["judge"], c["other"], c["again"], None, left_out=12, n_items=N + 12)
    assert np.isfinite(probe_alteration(columns).details["nothing_to_alter"].low)
    found = probe_alteration(replace(columns, design=SamplingDesign(weights=c["weight"] * 1.0)))
    assert np.isnan(found.details["nothing_to_alter"].low)
    assert "weights" in found.details["nothing_to_alter"].reason


def test_equal_weights_are_the_paired_t_test():
    c = data()
    found = leniency(c["judge"], c["person"], design=SamplingDesign(weights=np.full(N, 0.25)))
    theirs = stats.ttest_rel(c["judge"], c["person"])
    assert found.p_value == pytest.approx(theirs.pvalue, rel=0.05)  # effective degrees of freedom
    assert found.effect.value == pytest.approx(np.mean(c["judge"] - c["person"]))


@pytest.mark.long
@pytest.mark.parametrize("sizes", [[15] * 8, [15] * 12])
def test_a_judge_whose_errors_by_profile_are_skewed_is_seldom_called_biased(sizes):
    """Exponential errors by profile with mean 0, 600 judges: 10 and 8 % without the correction of skewness."""
    rng, profile = np.random.default_rng(3), np.repeat(np.arange(len(sizes)), sizes)
    design, alarms = SamplingDesign(clusters=[str(one) for one in profile]), 0
    for _ in range(600):
        errors = (rng.exponential(size=len(sizes)) - 1)[profile] + rng.normal(size=len(profile))
        found = mean_probe("", errors, unit="", design=design)
        alarms += found.p_value < 0.05
        assert (found.p_value < 0.05) == (not found.effect.low <= 0 <= found.effect.high)
    assert alarms <= 0.072 * 600


def test_the_correction_of_skewness_is_halls_cubic_and_can_be_undone():
    """Hall (1992), equation for T1: t + a / 3 t^2 + a^2 / 27 t^3 + a / 6, a the skewness over the root of n."""
    a = 0.6
    for t in (-2.5, 0.0, 1.7):
        found = correct_skewness(t, a / 6)
        assert found == pytest.approx(t + a / 3 * t**2 + a**2 / 27 * t**3 + a / 6)
        assert undo_skewness(found, a / 6) == pytest.approx(t)
    assert correct_skewness(1.5, 0.0) == undo_skewness(1.5, 0.0) == 1.5
