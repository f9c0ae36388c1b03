"""Audits of the data: copies, simple rules, noisy and reversed annotators."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from judging.stats import data_audits, observed
from judging.stats.assessment_data import AssessmentData
from tests.unit.judging.stats.test_assessment_data import material, people, said


def test_copies_and_those_with_other_labels():
    found = data_audits.duplicates(["x", "y", "x", "z", "y", "z"], list("abcdef"), np.array([0, 1, 0, 2, 2, -1]))
    assert found.groups == (("a", "c"), ("b", "e"), ("d", "f"))
    assert found.contradictory == (("b", "e"),)


def pairs(n=40):
    rng = np.random.default_rng(0)
    longer = rng.random(n) < 0.5
    label = np.where(longer, 0, 1)  # people take the longer response
    whole = replace(material(n, assistants="a", opponents="b"), length=np.where(longer, 0.3, -0.3))
    judge = np.where(np.arange(n) < 30, label, 1 - label)
    return AssessmentData(whole, people(np.column_stack([label, label]), ("1", "2"), "nominal"), said(judge))


def test_a_rule_as_good_as_the_judge_is_named():
    found = {one.name: one for one in data_audits.baselines(pairs())}
    assert found["the longer response"].accuracy.value == 1
    assert found["the longer response"].judge.value == pytest.approx(0.75)
    assert found["the longer response"].as_good is True
    assert found["the response listed first"].as_good is False


def test_rules_and_judge_have_the_intervals_of_clusters():
    alone, profiles = pairs(), tuple(str(k // 10) for k in range(40))  # the judge is right in three profiles of four
    clustered = replace(alone, material=replace(alone.material, clusters=profiles))
    first, second = ({one.name: one for one in data_audits.baselines(each)} for each in (alone, clustered))
    for name in ("the longer response", "the response listed first"):
        assert second[name].judge.value == first[name].judge.value
        assert second[name].judge.low < first[name].judge.low - 0.2


def test_few_labels_give_no_rule():
    assert data_audits.baselines(pairs(8)) == []


def test_a_scale_read_backwards():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 4, 80)
    table = people(np.column_stack([truth, truth, 3 - truth]))
    evidence = AssessmentData(material(80), table, said(3 - truth))
    found = data_audits.label_noise(evidence)
    assert found["backwards"] == ["r2"]
    assert [round(one["accuracy"], 2) for one in found["annotators"]][:2] == [1.0, 1.0]
    polarity = data_audits.polarity(evidence)
    assert polarity.value == -1
    assert np.isnan(polarity.high)
    assert polarity.reason == "no interval: leaving out any of the items changes nothing"


def test_annotators_are_modelled_once_for_all_judges(monkeypatch):
    """Found: hundreds of steps on thousands of items, again for every judge of the same people."""
    fitted, model = [], observed.dawid_skene
    monkeypatch.setattr(observed, "dawid_skene", lambda table: fitted.append(table) or model(table))
    first = pairs()
    second = replace(first, said=said(np.zeros(40, dtype=int)))
    assert data_audits.label_noise(first) == data_audits.label_noise(second)
    assert len(fitted) == 1


def test_polarity_says_why_it_is_unknown():
    constant = AssessmentData(material(20), people(np.ones((20, 2), dtype=int)), said(np.arange(20) % 4))
    assert "do not vary" in data_audits.polarity(constant).reason
    nominal = AssessmentData(material(2), people([[0], [1]], ("a", "b", "c"), "nominal"), said([0, 1]))
    assert data_audits.polarity(nominal).reason == "the scale has no order"


def test_polarity_has_fishers_interval():
    """r = 0.5, n = 28: arctanh 0.5493 -+ 1.96 / 5, that is 0.156 to 0.736 (Fisher 1921)."""
    x = np.array([1.0, -1.0] * 14)
    y = x * 0.5 + np.repeat([1.0, -1.0], 14) * np.sqrt(0.75)
    found = data_audits._correlation(x, y)
    assert found.value == pytest.approx(0.5)
    assert (found.low, found.high) == (pytest.approx(0.156, abs=1e-3), pytest.approx(0.736, abs=1e-3))


class TestPolarityOfClusters:
    """People and judge each see the items of a profile with an error of their own, and have nothing else in common."""

    def scores(self, rng, n_profiles, size):
        profile = np.repeat(np.arange(n_profiles), size)
        both = [rng.normal(0, 1, n_profiles)[profile] + rng.normal(0, 0.5, len(profile)) for _ in range(2)]
        return *both, tuple(str(k) for k in profile)

    def test_the_interval_covers_no_correlation(self):
        # by Fisher's z over 150 items 52 % of these intervals leave 0 out
        rng, held = np.random.default_rng(11), []
        for _ in range(200):
            found = data_audits._correlation(*self.scores(rng, 10, 15))
            held.append(found.low <= 0 <= found.high)
        assert np.mean(held) > 0.9

    def test_items_of_one_profile_each_twice_are_worth_one(self):
        x, y, _ = self.scores(np.random.default_rng(2), 40, 1)
        once = data_audits._correlation(x, y, [str(k) for k in range(40)])
        twice = data_audits._correlation(np.repeat(x, 2), np.repeat(y, 2), [str(k // 2) for k in range(80)])
        assert (twice.value, twice.low, twice.high) == pytest.approx((once.value, once.low, once.high))

    def test_the_error_is_that_of_scipys_bootstrap(self):
        x, y, names = self.scores(np.random.default_rng(3), 30, 10)
        found = data_audits._correlation(x, y, names)
        profiles = [np.flatnonzero(np.array(names) == str(k)) for k in range(30)]

        def correlate(drawn):
            rows = np.concatenate([profiles[int(k)] for k in drawn])
            return stats.pearsonr(x[rows], y[rows])[0]

        drawn = stats.bootstrap((np.arange(30),), correlate, n_resamples=400, vectorized=False, rng=4)
        assert found.value == pytest.approx(stats.pearsonr(x, y)[0])
        assert found.se == pytest.approx(drawn.standard_error, rel=0.2)

    def test_few_profiles_are_not_enough_and_profiles_of_one_item_are_items(self):
        x, y, names = self.scores(np.random.default_rng(5), 5, 20)
        assert data_audits._correlation(x, y, names).reason.startswith("not enough evidence: 5 clusters")
        rng = np.random.default_rng(6)
        codes = rng.integers(0, 4, 60)
        judged = said(np.where(rng.random(60) < 0.5, codes, rng.integers(0, 4, 60)))
        table = people(np.column_stack([codes, codes]))
        alone, shared = (
            data_audits.polarity(AssessmentData(material(60, clusters=clusters), table, judged))
            for clusters in (None, [str(k // 4) for k in range(60)])
        )
        assert (alone.method, shared.method) == ("Fisher z", "jackknife t")
        assert alone.value == pytest.approx(shared.value)


class TestWeights:
    """An item drawn with half the chance of the others counts as two."""

    def test_polarity_is_that_of_statsmodels(self):
        rng = np.random.default_rng(7)
        x = rng.normal(size=60)
        y, weights = x + rng.normal(size=60), rng.uniform(0.5, 2, 60)
        found = data_audits._correlation(x, y, None, weights)
        assert found.value == pytest.approx(DescrStatsW(np.column_stack([x, y]), weights).corrcoef[0, 1])
        assert found.low < found.value < found.high

    def test_rules_and_judge(self):
        alone = pairs()
        inclusion = np.where(np.arange(40) < 30, 1.0, 0.5)  # where the judge is wrong
        weighted = replace(alone, material=replace(alone.material, inclusion=inclusion))
        found = {one.name: one for one in data_audits.baselines(weighted)}["the longer response"]
        assert found.judge.value == pytest.approx(30 / 50)
        assert found.accuracy.value == 1


def test_one_annotator_has_no_noise_to_be_told():
    alone = AssessmentData(material(20), people(np.zeros((20, 1), dtype=int)), said(np.zeros(20, dtype=int)))
    assert data_audits.label_noise(alone)["reason"]
