"""Bias apart from noise: severity, compression, length and own kind by the fitted model, or counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from judging.stats.audits import scale
from judging.stats.audits.columns import PairColumns, ScoreColumns
from judging.stats.audits.design import SamplingDesign
from judging.stats.audits.scale import probe_preference, probe_scale
from judging.stats.audits.subgroups import subgroups
from judging.stats.audits.trait_fit import NoConvergenceError


def columns(rng, n=300, *, noise=0.6, shift=0.0, edges=(1.5, 2.5, 3.5, 4.5), severities=(0, 0, 0), trait=None, **more):
    truth = rng.normal(3, 1, n) if trait is None else trait
    people = np.digitize(truth[:, None] + rng.normal(0, 0.6, (n, len(severities))) + np.array(severities), edges)
    judge = np.digitize(truth + rng.normal(0, noise, n) + shift, edges)
    return ScoreColumns(people=1.0 + people[:, :, None], judge=1.0 + judge[:, None], **more)


def probes(scores: ScoreColumns) -> dict:
    return {probe.name: probe for probe in probe_scale(scores)[0]}


@pytest.mark.long
def test_a_shift_is_given_in_points_and_the_noise_beside_it():
    found = probes(columns(np.random.default_rng(1), 2000, shift=0.3, noise=0.3))
    leniency, compression = found["leniency"], found["central_tendency"]
    assert leniency.effect.low < 0.3 < leniency.effect.high
    assert compression.effect.low < 1 < compression.effect.high
    noise = compression.details["noise"]
    assert noise.low < 0.5 < noise.high
    assert leniency.test.startswith("latent-trait model, t with")


@pytest.mark.long
def test_noise_on_a_scale_of_two_is_no_leniency():
    """Yes is rare: a noisy judge says it more often than people, by chance and not by leniency."""
    scores = columns(np.random.default_rng(2), 3000, noise=1.8, edges=(4.0,))
    judge, people = scores.judge[:, 0], scores.people[:, :, 0]
    assert judge.mean() - people.mean() > 0.08
    found = probes(scores)
    assert found["leniency"].p_value > 0.05
    assert found["leniency"].details["noise"].value == pytest.approx(3, rel=0.25)
    assert "two categories" in found["central_tendency"].effect.reason


def test_people_are_a_sample_of_raters():
    """Where people differ in severity, their mean is no sharper than three of them make it."""
    harsh = probes(columns(np.random.default_rng(3), severities=(-0.5, 0.0, 0.5), shift=0.2))["leniency"]
    alike = probes(columns(np.random.default_rng(3), shift=0.2))["leniency"]
    assert harsh.effect.high - harsh.effect.low > 2 * (alike.effect.high - alike.effect.low)
    assert harsh.p_value > 0.1 > alike.p_value


def test_groups_that_differ_in_quality_are_no_bias_of_a_noisy_judge():
    rng = np.random.default_rng(4)
    good = np.arange(600) % 2
    scores = columns(rng, 600, noise=1.2, trait=rng.normal(2.6, 0.8, 600) + 0.8 * good)
    _, differences = probe_scale(scores)
    found = subgroups(differences, [f"g{k}" for k in good])
    assert found.p_value > 0.05
    biased = replace(scores, judge=np.clip(scores.judge + (rng.random(600) < 0.5)[:, None] * good[:, None], 1, 5))
    found = subgroups(probe_scale(biased)[1], [f"g{k}" for k in good])
    assert found.p_value < 1e-4
    assert abs(found.effect.value) == pytest.approx(0.5, abs=0.2)


def test_length_that_people_like_too_is_no_bias():
    rng = np.random.default_rng(5)
    length = rng.normal(0, 1, 600)
    scores = columns(rng, 600, noise=1.2, trait=3 + 0.8 * rng.normal(0, 1, 600) + 0.6 * length, length=length)
    assert probes(scores)["length"].p_value > 0.05


def test_a_noisy_judge_of_pairs_does_not_prefer_the_other_kind():
    """Its own kind is much better: by shares a noisy judge gives it less than people do."""
    rng = np.random.default_rng(6)
    own = rng.choice([-1.0, 1.0], 800)
    difference = rng.normal(0, 1, 800) + 1.2 * own
    people = (difference[:, None] + rng.normal(0, 1, (800, 3)) > 0).astype(float)
    judge = (difference + rng.normal(0, 3, 800) > 0).astype(float)
    pairs = PairColumns(people=people, judge_ab=judge, judge_ba=np.full(800, np.nan), own=own)
    (found,) = [probe for probe in probe_preference(pairs) if probe.name == "self_preference"]
    assert found.p_value > 0.05
    counted = ((judge - people.mean(axis=1)) * own).mean()
    assert counted < -0.1


def test_position_from_one_order():
    rng = np.random.default_rng(7)
    first = rng.integers(0, 2, 600).astype(float)
    difference = rng.normal(0, 1, 600)
    people = (difference[:, None] + rng.normal(0, 1, (600, 3)) > 0).astype(float)
    judge = np.where(rng.random(600) < 0.3, first, difference + rng.normal(0, 1, 600) > 0).astype(float)
    pairs = PairColumns(people=people, judge_ab=judge, judge_ba=np.full(600, np.nan), shown_first=first)
    found = probe_preference(pairs)[0]
    assert found.name == "position"
    assert found.effect.value == pytest.approx(0.3, abs=0.12)
    assert found.p_value < 1e-3


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"people": lambda s: s.people[:, :1]}, "every item has one person's label"),
        ({"people": lambda s: np.where(np.arange(300)[:, None, None] < 20, s.people, np.nan)}, "20 items with"),
        ({"design": lambda s: SamplingDesign(("one",) * 300)}, "all items lie in one cluster"),
        ({"design": lambda s: SamplingDesign(tuple("abc") * 100)}, "all items lie in 3 clusters; the probe needs"),
    ],
)
def test_what_cannot_be_told_is_not_made(change, reason):
    scores = columns(np.random.default_rng(8))
    found = probes(replace(scores, **{name: make(scores) for name, make in change.items()}))
    for probe in found.values():
        assert reason in probe.effect.reason
        assert np.isnan(probe.p_value)


@pytest.mark.parametrize("kind", ["disagree", "constant", "agree"])
def test_where_the_model_does_not_converge_the_counted_figure_stands_and_says_so(kind):
    scores = columns(np.random.default_rng(9))
    if kind == "disagree":  # every item is tied
        scores = replace(scores, people=np.tile([[1.0], [3.0]], (300, 1, 1)))
    elif kind == "constant":
        scores = replace(scores, judge=np.full((300, 1), 4.0))
    else:
        scores = replace(scores, people=np.full((300, 3, 1), 2.0))
    found = probes(scores)["leniency"]
    assert "counted: " in found.test
    assert found.effect.value == pytest.approx(scores.judge.mean() - scores.people.mean())


def test_a_fit_that_fails_is_never_silent(monkeypatch):
    def fails(_asked):
        raise NoConvergenceError("the likelihood did not settle in 60 steps")

    monkeypatch.setattr(scale, "fit_judge", fails)
    scores = columns(np.random.default_rng(10))
    made, differences = probe_scale(scores)
    assert all(probe.test.endswith("counted: the likelihood did not settle in 60 steps") for probe in made)
    np.testing.assert_allclose(differences, scores.judge[:, 0] - scores.people[:, :, 0].mean(axis=1))


def test_the_order_of_people_changes_nothing():
    scores = columns(np.random.default_rng(11), severities=(0.1, 0.0, -0.1))
    turned = replace(scores, people=scores.people[:, ::-1])
    for one, other in zip(probe_scale(scores)[0], probe_scale(turned)[0], strict=True):
        assert one.p_value == pytest.approx(other.p_value, rel=1e-3)
