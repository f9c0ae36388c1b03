import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from annotation.stats.simulated import Profiles
from judging.stats.alt_test import alt_test
from tests.unit.annotation.stats.data import from_codes
from tests.unit.judging.stats.test_agreement import gpt_35, pandalm


class TestPandaLM:
    # reference.json: the authors' implementation on PandaLM, epsilon .15, garbage replies as ties
    def test_gpt_35_loses_to_every_annotator(self):
        found = alt_test(pandalm(), gpt_35(garbage=0), epsilon=0.15)
        assert found.winning_rate == 0
        assert found.passes is False
        assert found.advantage.value == pytest.approx(0.755422088755422, abs=1e-12)
        assert found.advantage.low < 0.7554 < found.advantage.high

    def test_unscored_replies_are_missing(self):
        found = alt_test(pandalm(), gpt_35(garbage=-1))
        assert [one.n for one in found.per_annotator] == [974] * 3
        assert found.advantage.value > 0.7554

    def test_each_p_value_is_that_of_the_t_test(self):
        people, judge = pandalm(), gpt_35(garbage=0)
        others = people.codes[:, 1:]
        by_judge = (others == judge[:, None]).mean(axis=1)
        by_first = (others == people.codes[:, :1]).mean(axis=1)
        d = (by_first >= by_judge).astype(float) - (by_judge >= by_first)
        expected = stats.ttest_1samp(d, 0.15, alternative="less").pvalue
        assert alt_test(people, judge).per_annotator[0].p_value == pytest.approx(expected)


def test_pandalm_7b():
    from tests.unit.annotation.stats.data import load

    judge = [record["pandalm_result"] for record in load("pandalm/pandalm-7b-testset-v1.json")]
    found = alt_test(pandalm(), judge)
    assert found.winning_rate == 0
    assert found.advantage.value == pytest.approx(0.7147147147147148, abs=1e-12)


class TestByHand:
    # people: 0 0 1 | 0 1 1 | 1 1 1 | 0 0 0, judge 0 1 0 0. Leave out r3 (1 1 1 0): the others say 00 01 11 00.
    #   S of r3: 0 .5 1 1;  S of the judge: 1 .5 0 1  ->  judge wins on items 1 2 4, r3 on 2 3 4
    people = from_codes([[0, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 0]], q=2)
    found = alt_test(people, [0, 1, 0, 0])

    def test_advantages(self):
        third = self.found.per_annotator[2]
        assert third.rho_judge.value == 3 / 4
        assert third.rho_annotator.value == 3 / 4
        assert third.test == "t"

    def test_document(self):
        document = self.found.to_json()
        assert set(document) >= {"epsilon", "winning_rate", "advantage_probability", "passes", "per_annotator"}
        assert set(document["per_annotator"][0]) >= {"annotator", "rho_judge", "rho_annotator", "p_value", "rejected"}

    def test_an_ordinal_scale_is_scored_by_distance(self):
        # others say 4 4; the annotator 1, the judge 3: by matches a draw, by distance the judge is closer
        people = from_codes([[3, 3, 0]] * 3, q=4, level="ordinal")
        third = alt_test(people, [2, 2, 2]).per_annotator[2]
        assert (third.rho_judge.value, third.rho_annotator.value) == (1, 0)


class TestWinning:
    def test_a_judge_that_says_what_people_say_replaces_any_of_them(self):
        codes = np.random.default_rng(1).integers(0, 3, size=(60, 1)).repeat(3, axis=1)
        found = alt_test(from_codes(codes, q=3), codes[:, 0], epsilon=0.1)
        assert found.winning_rate == 1
        assert found.passes is True
        assert {one.test for one in found.per_annotator} == {"betting"}

    @pytest.mark.parametrize("clusters", [None, tuple("abcdefgh" * 10)], ids=["10 items", "8 clusters of 10"])
    def test_never_a_difference_on_few_is_little_evidence(self, clusters):
        # a judge that loses one comparison in five, epsilon .2, shows no difference on ten items in .8^10 = 11 %
        codes = np.random.default_rng(1).integers(0, 3, size=(len(clusters or range(10)), 1)).repeat(3, axis=1)
        found = alt_test(from_codes(codes, q=3, clusters=clusters), codes[:, 0], epsilon=0.2)
        assert found.passes is False
        assert all(one.p_value > 0.8 ** len(set(clusters or range(10))) for one in found.per_annotator)

    def test_never_a_difference_in_seven_clusters_is_no_test(self):
        codes = np.random.default_rng(1).integers(0, 3, size=(70, 1)).repeat(3, axis=1)
        found = alt_test(from_codes(codes, q=3, clusters=tuple("abcdefg" * 10)), codes[:, 0], epsilon=0.2)
        assert found.passes is None
        assert {one.test for one in found.per_annotator} == {"none"}

    @pytest.mark.long
    @pytest.mark.parametrize("n", [10, 20, 29])
    def test_a_judge_worse_by_epsilon_wins_as_rarely_as_is_said(self, n):
        # d is 1 in .25, -1 in .05: mean .2. All tables of counts with their multinomial probability
        wins = 0.0
        for worse, better in np.ndindex(n + 1, n + 1):
            chance = stats.multinomial.pmf([worse, better, n - worse - better], n, [0.25, 0.05, 0.7])
            if worse + better <= n and chance > 1e-6:
                # r1 is closer to r2 where d is 1, the judge where it is -1; elsewhere both say the same
                people = [[0, 0]] * worse + [[1, 0]] * better + [[0, 0]] * (n - worse - better)
                judge = [1] * worse + [0] * (n - worse)
                first = alt_test(from_codes(people, q=2), judge, epsilon=0.2, sweep=()).per_annotator[0]
                wins += chance * (first.p_value <= 0.05)
        assert wins < 0.06

    @pytest.mark.parametrize(("n", "epsilon"), [(30, 0.2), (50, 0.1), (100, 0.1)])
    def test_a_judge_that_alone_errs_wins_as_rarely_as_is_said(self, n, epsilon):
        # people are never apart, the judge errs in a share of epsilon: by t alone it wins in 11 to 12 %
        wins = 0.0
        for worse in range(n + 1):
            judge = [1] * worse + [0] * (n - worse)
            first = alt_test(from_codes([[0, 0]] * n, q=2), judge, epsilon=epsilon, sweep=()).per_annotator[0]
            wins += stats.binom.pmf(worse, n, epsilon) * (first.p_value <= 0.05)
        assert wins < 0.06

    def test_a_judge_that_errs_once_is_still_surely_better_than_it_had_to_be(self):
        found = alt_test(from_codes([[0, 0, 0]] * 30, q=2), [1] + [0] * 29, epsilon=0.2).per_annotator[0]
        assert stats.binom.cdf(1, 30, 0.2) < found.p_value < 0.05

    def test_a_larger_discount_never_lowers_the_winning_rate(self):
        rng = np.random.default_rng(2)
        truth = rng.integers(0, 3, size=(200, 1))
        codes = np.where(rng.random((200, 4)) < 0.8, truth, rng.integers(0, 3, size=(200, 4)))
        found = alt_test(from_codes(codes[:, :3], q=3), codes[:, 3])
        rates = [at.winning_rate for at in found.sweep]
        assert rates == sorted(rates)
        assert rates[-1] == 1


class TestClusters:
    """Items of one profile are no independent evidence."""

    def design(self, n_profiles=20, per_profile=15, seed=0):
        profiles, codes = Profiles((0.5, 0.5), judges=(0.6,), leaning=0.0).draw(
            n_profiles, per_profile, np.random.default_rng(seed)
        )
        return tuple(map(str, profiles)), codes

    def test_the_p_value_is_that_of_cluster_robust_least_squares(self):
        clusters, codes = self.design()
        found = alt_test(from_codes(codes[:, :3], q=2, clusters=clusters), codes[:, 3], epsilon=0.1).per_annotator[0]
        others = codes[:, 1:3]
        by_judge, by_first = ((others == codes[:, [j]]).mean(axis=1) for j in (3, 0))
        d = (by_first >= by_judge).astype(float) - (by_judge >= by_first)
        fitted = sm.OLS(d - 0.1, np.ones(300)).fit(cov_type="cluster", cov_kwds={"groups": np.array(clusters, int)})
        t = fitted.params[0] / fitted.bse[0]
        assert found.test == "cluster t"
        assert stats.t.cdf(t, 19) == pytest.approx(found.p_value, abs=0.01)  # effective degrees may be below 19
        assert found.p_value >= stats.t.cdf(t, 19) - 1e-9

    def test_a_judge_that_never_loses_has_the_interval_of_as_many_clusters(self):
        # ten profiles of twelve items, on which everybody says the same: both are always at least as close
        codes = np.repeat(np.arange(120)[:, None] % 3, 4, axis=1)
        found = alt_test(from_codes(codes[:, :3], q=3, clusters=tuple(str(k // 12) for k in range(120))), codes[:, 3])
        ends = sm.stats.proportion_confint(10, 10, method="wilson")
        for one in (found.advantage, *(each.rho_judge for each in found.per_annotator)):
            assert (one.value, one.low, one.high) == pytest.approx((1, *ends))
            assert (one.method, one.reason) == ("Wilson, effective n", None)

    def test_one_item_a_cluster_is_as_without_clusters(self):
        _, codes = self.design()
        plain = alt_test(from_codes(codes[:, :3], q=2), codes[:, 3])
        single = alt_test(from_codes(codes[:, :3], q=2, clusters=tuple(map(str, range(300)))), codes[:, 3])
        assert plain == single

    def test_a_profile_copied_is_no_more_evidence(self):
        clusters, codes = self.design(per_profile=1)
        copied = from_codes(np.repeat(codes[:, :3], 30, axis=0), q=2, clusters=tuple(np.repeat(clusters, 30)))
        found = alt_test(copied, np.repeat(codes[:, 3], 30))
        once = [ours.n for ours in alt_test(from_codes(codes[:, :3], q=2), codes[:, 3]).per_annotator]
        assert [one.n for one in found.per_annotator] == [30 * n for n in once]
        blind = alt_test(from_codes(np.repeat(codes[:, :3], 30, axis=0), q=2), np.repeat(codes[:, 3], 30))
        for mindful, hasty in zip(found.per_annotator, blind.per_annotator, strict=True):
            assert mindful.rho_judge.high - mindful.rho_judge.low > 3 * (hasty.rho_judge.high - hasty.rho_judge.low)

    @pytest.mark.long
    def test_a_judge_that_alone_errs_in_some_profiles_wins_as_rarely_as_is_said(self):
        # mean error .1 = epsilon, very unequal between 20 profiles: by t alone it wins in 15 %
        rng, names, wins = np.random.default_rng(4), tuple(str(k // 10) for k in range(200)), 0
        people = from_codes(np.zeros((200, 2), int), q=2, clusters=names)
        for _ in range(100):
            judge = rng.random(200) < np.repeat(rng.beta(0.1, 0.9, 20), 10)
            wins += alt_test(people, judge.astype(int), epsilon=0.1, sweep=()).per_annotator[0].p_value <= 0.05
        assert wins <= 8

    def test_seven_clusters_allow_no_test(self):
        clusters, codes = self.design(n_profiles=7)
        found = alt_test(from_codes(codes[:, :3], q=2, clusters=clusters), codes[:, 3])
        assert found.passes is None
        assert {one.reason for one in found.per_annotator} == {"not enough evidence: 7 clusters; at least 8 are needed"}
        assert found.advantage.reason == "not enough evidence: 7 clusters; at least 8 are needed"


class TestWeights:
    """Items stand for as many as one over the probability with which they were drawn."""

    def test_an_item_of_weight_two_is_two_items_of_a_cluster(self):
        rng = np.random.default_rng(6)
        codes, clusters, twice = rng.integers(0, 2, (120, 4)), np.arange(120) % 12, 1 + np.arange(120) % 2
        weighted = from_codes(codes[:, :3], q=2, clusters=tuple(map(str, clusters)), weights=twice.astype(float))
        found = alt_test(weighted, codes[:, 3])
        long, names = np.repeat(codes, twice, axis=0), tuple(map(str, np.repeat(clusters, twice)))
        copied = alt_test(from_codes(long[:, :3], q=2, clusters=names), long[:, 3])
        assert found.advantage.value == pytest.approx(copied.advantage.value)
        assert (found.advantage.low, found.advantage.high) == pytest.approx(
            (copied.advantage.low, copied.advantage.high)
        )
        for one, same in zip(found.per_annotator, copied.per_annotator, strict=True):
            assert one.p_value == pytest.approx(same.p_value)
            assert one.rho_judge.value == pytest.approx(same.rho_judge.value)
            assert one.rho_judge.low == pytest.approx(same.rho_judge.low)

    def test_a_judge_that_is_good_on_rare_items_that_were_drawn_often_does_not_pass(self):
        # right on the 100 items that stand for one each, wrong on half of those that stand for nine
        judge, weights = np.array([0] * 100 + [0, 1] * 50), np.repeat([1.0, 9.0], 100)
        found = alt_test(from_codes(np.zeros((200, 3), int), q=2, weights=weights), judge, epsilon=0.3)
        assert found.passes is False
        assert found.advantage.value == pytest.approx(0.55)
        equal = alt_test(from_codes(np.zeros((200, 3), int), q=2, weights=np.full(200, 7.0)), judge)
        assert equal == alt_test(from_codes(np.zeros((200, 3), int), q=2), judge)


class TestDegenerate:
    def test_one_annotator_cannot_be_left_out(self):
        found = alt_test(from_codes([[0], [1]], q=2), [0, 1])
        assert np.isnan(found.winning_rate)
        assert found.passes is None
        assert found.reason == "no item that the judge scored was rated by two people"
        assert found.to_json()["winning_rate"] is None

    def test_a_judge_without_verdicts(self):
        found = alt_test(from_codes([[0, 0], [1, 1]], q=2), [-1, -1])
        assert found.passes is None
        assert found.reason

    def test_wrong_input(self):
        people = from_codes([[0, 0], [1, 1]], q=2)
        with pytest.raises(ValueError, match="epsilon"):
            alt_test(people, [0, 1], epsilon=2)
        with pytest.raises(ValueError, match="shape"):
            alt_test(people, [0])
