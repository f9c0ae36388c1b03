import json
from dataclasses import replace

import numpy as np
import pytest

from judging.stats.cascade import Stage, cascade, find_deciding_stage
from judging.stats.selective import compute_least_units, select


def stages(rng, n, *, good=(0.75, 0.95)):
    """Two synthetic judges whose confidence is the chance that they agree; the dear one is surer."""
    hard = rng.random(n)
    made = []
    for name, top in zip(("cheap", "dear"), good, strict=True):
        p = np.clip(1 - hard * (1.6 - top) + rng.normal(0, 0.05, n), 0.05, 1)
        made.append(Stage(name, p, (rng.random(n) < p).astype(float), cost=0.01 if name == "cheap" else 0.1))
    return made


def seen(judges, labelled):
    """The judges where people's labels are known for some of the items only."""
    return [replace(one, agreement=np.where(labelled, one.agreement, np.nan)) for one in judges]


@pytest.fixture
def rng():
    return np.random.default_rng(4)


def test_one_stage_is_selective_judging(rng):
    only = stages(rng, 400)[:1]
    labelled = np.arange(400) < 300
    only = seen(only, labelled)
    found = cascade(only, target=0.7)
    alone = select(only[0].confidence, only[0].agreement, target=0.7)
    assert alone.guaranteed
    assert found.stages[0].selection.threshold == alone.threshold
    assert found.stages[0].delta == 0.05
    assert found.coverage.value == alone.coverage.value
    assert found.cost == 0.01


def test_every_item_goes_one_way(rng):
    found = cascade(seen(stages(rng, 600), np.arange(600) < 400), target=0.7)
    cheap, dear = found.stages
    assert cheap.delta == 0.025
    assert dear.delta == 0.0125
    parts = np.column_stack([cheap.kept, dear.kept, found.to_people])
    assert (parts.sum(axis=1) == 1).all()
    assert not (cheap.set_aside & dear.reached).any()
    assert (cheap.set_aside & found.to_people).sum() == cheap.set_aside.sum()
    assert found.human_share.value == pytest.approx(1 - found.coverage.value)
    assert found.cost == pytest.approx(0.01 + dear.reached.mean() * 0.1)


def test_by_hand():
    # the cheap judge is right on its surest 60 and wrong on the next 60; the dear one is right on all of them
    n = 200
    sure = np.r_[np.full(60, 0.9), np.full(60, 0.8), np.full(80, 0.5)]
    cheap = Stage("cheap", sure, (np.arange(n) < 60) * 1.0, cost=1.0)
    dear = Stage("dear", np.ones(n), np.ones(n), cost=5.0)
    assert compute_least_units(0.9, 0.025, 2) <= 80
    found = cascade([cheap, dear], target=0.9)
    first, second = found.stages
    # thresholds that keep fewer than 69 items are passed over, so .8 is tried first, fails, and nothing is kept
    assert not first.selection.guaranteed
    assert second.reached.all()
    assert second.kept.all()
    assert found.agreement.value == 1
    assert found.cost == 6


def test_what_a_failed_test_has_looked_at_goes_to_people():
    n = 300
    sure = np.r_[np.full(120, 0.9), np.full(60, 0.8), np.full(120, 0.5)]
    cheap = Stage("cheap", sure, (np.arange(n) < 120) * 1.0, cost=1.0)
    dear = Stage("dear", np.ones(n), np.ones(n), cost=5.0)
    found = cascade([cheap, dear], target=0.9)
    first, second = found.stages
    assert (int(first.kept.sum()), int(first.set_aside.sum()), int(second.kept.sum())) == (120, 60, 120)
    assert int(found.to_people.sum()) == 60
    assert found.cost == pytest.approx(1 + 5 * 120 / 300)


def test_nobody_is_sure_of_anything(rng):
    nothing = Stage("none", np.full(100, np.nan), np.zeros(100))
    found = cascade([nothing, nothing])
    assert not found.guaranteed
    assert found.to_people.all()
    assert found.agreement.reason == "no verdict is kept on an item with a label"
    assert found.cost_reason == "what a judgment of none costs is not known"
    json.dumps(found.to_json(), allow_nan=False)


def test_no_labels_at_all(rng):
    found = cascade(seen(stages(rng, 50), np.zeros(50, dtype=bool)))
    assert found.to_people.all()
    assert "the target needs at least" in found.stages[0].selection.reason


def test_columns_of_different_length(rng):
    with pytest.raises(ValueError, match="column entry for every item"):
        cascade([*stages(rng, 50), *stages(rng, 40)])
    with pytest.raises(ValueError, match="a cascade needs a judge"):
        cascade([])


def test_the_promise_is_kept(rng):
    # the full measurement is scripts/bench_cascade.py
    broken = 0
    for _ in range(60):
        judges, rest = stages(rng, 4300), np.arange(4300) >= 300
        found = cascade(seen(judges, ~rest), target=0.85, delta=0.1)
        kept = [stage.kept & rest for stage in found.stages]
        right = sum(float(judge.agreement[mine].sum()) for mine, judge in zip(kept, judges, strict=True))
        n = sum(int(mine.sum()) for mine in kept)
        broken += n > 0 and right / n < 0.85
    assert broken <= 12


def test_limits_chosen_before_keep_the_same_items(rng):
    both = stages(rng, 3000, good=(0.6, 1.4))
    found = cascade(seen(both, np.arange(3000) < 2000), target=0.8)
    limits = [(one.selection.threshold, one.looked_from) for one in found.stages]
    place = find_deciding_stage([one.confidence for one in both], limits)
    for stage, one in enumerate(found.stages):
        assert (place == stage).sum() > 0
        np.testing.assert_array_equal(place == stage, one.kept)
    np.testing.assert_array_equal(place < 0, found.to_people)


def test_a_stage_without_limits_keeps_nothing():
    sure = np.array([0.9, 0.5, np.nan])
    assert find_deciding_stage([sure, sure], [(np.nan, np.nan), (0.8, 0.4)]).tolist() == [1, -1, -1]
    assert find_deciding_stage([sure, sure], [(0.8, 0.4), (0.3, 0.3)]).tolist() == [0, -1, -1], (
        "0.5 was looked at before"
    )
