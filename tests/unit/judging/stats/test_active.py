"""The mean of all items from labels that were asked for where the judge was in doubt."""

from dataclasses import replace

import numpy as np
import pytest

from judging.stats.active import ScoredSample, active_mean
from judging.stats.labelling_plan import draw_systematic, inclusion


def population(n=60, before=12):
    """Items that the judge doubts are those it gets wrong, always too low."""
    rng = np.random.default_rng(4)
    truth = rng.uniform(1, 4, n)
    doubt = rng.uniform(0, 1, n)
    judge = truth - 1.5 * doubt + rng.normal(0, 0.1, n)
    known = np.zeros(n, dtype=bool)
    known[:before] = True
    return truth, judge, doubt, known


def draw(truth, judge, doubt, known, more, seed, *, labelled=1.0):
    probability = inclusion(doubt, ~known, more)
    taken = draw_systematic(probability, seed=seed)
    done = taken.copy()
    if labelled < 1:
        rng = np.random.default_rng([seed, 1])
        done &= rng.random(len(truth)) < labelled
    return ScoredSample(
        human=np.where(known | done, truth, np.nan),
        judge=judge,
        probability=np.where(known, np.nan, probability),
        taken=taken,
        weights=np.ones(len(truth)),
    )


@pytest.mark.long
@pytest.mark.parametrize("labelled", [1.0, 0.7])
def test_whatever_is_drawn_the_mean_is_that_of_all_items(labelled):
    one = population()
    truth, _, _, known = one
    found = [active_mean(draw(*one, 20, seed, labelled=labelled)) for seed in range(1500)]
    for name in ("human_only", "corrected"):
        values = np.array([getattr(result, name).value for result in found])
        error = values.std() / np.sqrt(len(values))
        # the ratio estimator is unbiased up to 1 / n; that is less than a tenth of the spread of one estimate
        assert abs(values.mean() - truth.mean()) < 4 * error + 0.1 * values.std(), name
    # taken as if drawn evenly, the same labels are wrong: what the judge doubts is what it gets wrong
    naive = []
    for seed in range(1500):
        data = draw(*one, 20, seed, labelled=labelled)
        naive.append(truth[known].sum() + (~known).sum() * np.nanmean((data.human - data.judge)[~known]))
        naive[-1] = (naive[-1] + data.judge[~known].sum()) / len(truth)
    assert abs(np.mean(naive) - truth.mean()) > 0.05


@pytest.mark.long
def test_the_intervals_hold_the_truth_of_the_population():
    held = 0
    for seed in range(300):
        rng = np.random.default_rng([9, seed])
        n = 200
        truth, doubt = rng.normal(2.5, 0.8, n), rng.uniform(0, 1, n)
        judge = truth - doubt + rng.normal(0, 0.2, n)
        found = active_mean(draw(truth, judge, doubt, np.arange(n) < 30, 60, seed)).corrected
        held += found.low <= 2.5 <= found.high
    assert 270 <= held <= 296  # 95 % of 300 is 285, with a standard deviation of 3.8


def test_by_hand():
    # one old label (3), three items that could be drawn, two taken with probabilities .5 and 1; the judge not used
    data = ScoredSample(
        human=np.array([3.0, 1.0, 2.0, np.nan]),
        judge=np.array([1.0, 1.0, 1.0, 1.0]),
        probability=np.array([np.nan, 0.5, 1.0, 0.5]),
        taken=np.array([False, True, True, False]),
        weights=np.ones(4),
    )
    # the drawn ones stand for (1 / .5) and (1 / 1): (2 * 1 + 1 * 2) / 3 = 4/3 for three items; (3 + 3 * 4/3) / 4
    found = active_mean(data, weight=0.0)
    assert found.corrected.value == pytest.approx((3 + 3 * 4 / 3) / 4)
    assert found.human_only.value == found.corrected.value
    # with lambda 1 and a judge that says 1 everywhere nothing changes
    assert active_mean(data, weight=1.0).corrected.value == pytest.approx(found.corrected.value)
    assert (found.n_before, found.n_drawn, found.n_labelled) == (1, 2, 2)


def test_a_judge_that_is_right_makes_the_interval_narrow():
    truth, _, doubt, known = population(200, 20)
    found = active_mean(draw(truth, truth.copy(), doubt, known, 40, 1))
    assert found.weight == pytest.approx(1.0, abs=0.05)
    assert found.corrected.value == pytest.approx(truth.mean(), abs=0.02)
    assert found.corrected.high - found.corrected.low < found.human_only.high - found.human_only.low


def test_without_labels_there_is_no_figure_and_it_says_so():
    truth, judge, doubt, known = population()
    data = draw(truth, judge, doubt, known, 20, 0, labelled=0.0)
    found = active_mean(data)
    assert np.isnan(found.corrected.value)
    assert "0 of the drawn items have a label" in found.corrected.reason
    assert found.to_json()["corrected"]["lambda"] is None
    assert found.judge_only.value == pytest.approx(judge.mean())


def ends(figure):
    return [figure.value, figure.low, figure.high]


def repeated(data, times):
    """The same with every item so many times, each of which stands in the cluster of the first."""
    names = [str(k) for k in np.repeat(np.arange(len(data.human)), times)]
    columns = ("human", "judge", "probability", "taken", "weights")
    return ScoredSample(**{name: np.repeat(getattr(data, name), times) for name in columns}, clusters=names)


def test_copies_of_an_item_add_nothing():
    data = draw(*population(), 20, 3)
    single, copies = active_mean(data), active_mean(repeated(data, 5))
    for name in ("human_only", "judge_only", "corrected"):
        assert ends(getattr(copies, name)) == pytest.approx(ends(getattr(single, name))), name
    assert copies.weight == pytest.approx(single.weight)


@pytest.mark.long
def test_intervals_of_clustered_items_hold_the_mean():
    held = np.zeros(2)
    for seed in range(120):
        rng = np.random.default_rng([2, seed])
        of = np.repeat(np.arange(16), 12)
        n = len(of)
        truth = 2.5 + rng.normal(0, 0.8, 16)[of] + rng.normal(0, 0.4, n)
        doubt = rng.uniform(0, 1, n)
        judge = truth - doubt + rng.normal(0, 0.5, 16)[of]
        data = draw(truth, judge, doubt, np.arange(n) % 12 < 2, 48, seed)
        for k, clusters in enumerate(([str(one) for one in of], None)):
            found = active_mean(replace(data, clusters=clusters)).corrected
            held[k] += found.low <= 2.5 <= found.high
    assert held[0] >= 107  # 95 % of 120 is 114, with a standard deviation of 2.4
    assert held[1] < 90  # as if items were independent


def test_labels_of_few_clusters_allow_no_interval():
    data = draw(*population(), 20, 3)
    used = np.flatnonzero(~np.isnan(data.human))
    names = [f"alone {k}" for k in range(60)]
    for place, row in enumerate(used):
        names[row] = f"labelled {place % 7}"
    found = active_mean(replace(data, clusters=names))
    assert found.corrected.reason == found.human_only.reason
    assert found.corrected.reason == "not enough evidence: 7 clusters; at least 8 are needed"
    assert found.judge_only.low < found.judge_only.value


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_lambda_is_tuned_again_without_each_item(seed):
    """As if the mean were computed anew without each item; with lambda held the error is 4 to 8 % smaller."""
    rng, n = np.random.default_rng(seed), 60
    truth = rng.normal(size=n)
    judge, weights = 0.7 * truth + rng.normal(0, 0.7, n), np.exp(rng.normal(size=n))
    probability = 0.3 + 0.4 * rng.random(n)
    taken = rng.random(n) < probability
    columns = (np.where(taken, truth, np.nan), judge, probability, taken, weights)
    without = [
        active_mean(ScoredSample(*(np.delete(column, item) for column in columns))).corrected.value for item in range(n)
    ]
    error = np.sqrt((n - 1) * np.var(without))
    found = active_mean(ScoredSample(*columns))
    held = active_mean(ScoredSample(*columns), weight=found.weight)
    assert held.corrected.value == found.corrected.value
    assert abs(found.corrected.se - error) < abs(held.corrected.se - error)
    assert found.corrected.se == pytest.approx(error, rel=0.05)


@pytest.mark.filterwarnings("error")
def test_labels_of_one_cluster_have_a_mean_without_an_interval_or_a_warning():
    truth, judge = np.arange(10.0), np.arange(10.0) / 2
    columns = (truth, judge, np.full(10, 0.5), np.ones(10, dtype=bool), np.ones(10))
    found = active_mean(ScoredSample(*columns, clusters=["one"] * 10))
    assert found.human_only.value == 4.5
    assert found.weight == 0
    assert np.isnan(found.corrected.low)
