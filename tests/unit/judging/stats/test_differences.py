import json

import numpy as np
import pytest
from scipy import stats

from annotation.stats.simulated import Profiles
from judging.stats.agreement import judge_agreement
from judging.stats.differences import compare_judges, rank_judges
from tests.unit.annotation.stats.data import from_codes, load

from .test_agreement import gpt_35, pandalm


class TestPandaLM:
    def found(self):
        judges = {
            "gpt-3.5-turbo": gpt_35(garbage=-1),
            "pandalm-7b": [record["pandalm_result"] for record in load("pandalm/pandalm-7b-testset-v1.json")],
        }
        return compare_judges(pandalm(), judges, bootstrap=500)[0]

    def test_both_are_held_to_the_items_that_both_scored(self):
        found = self.found()
        assert (found.a, found.b, found.n_items) == ("gpt-3.5-turbo", "pandalm-7b", 974)
        assert found.figures["accuracy"].a.n_items == 974
        accuracy = found.figures["accuracy"]
        assert accuracy.difference.value == pytest.approx(accuracy.a.value - accuracy.b.value)
        assert accuracy.difference.low > 0  # by 6 points, on 974 items

    def test_the_first_judges_own_figures_are_those_on_these_items(self):
        people, judge = pandalm(), gpt_35(garbage=-1)
        alone = judge_agreement(people, judge, judge_name="gpt-3.5-turbo", bootstrap=0)
        assert self.found().figures["mean_cohen_kappa"].a.value == pytest.approx(alone.mean_cohen_kappa.value)


def test_the_difference_of_twins_is_exactly_zero():
    rng = np.random.default_rng(0)
    people = from_codes(rng.integers(0, 3, (60, 2)), q=3, level="ordinal")
    said = rng.integers(0, 3, 60)
    figures = compare_judges(people, {"one": said, "two": said}, bootstrap=50)[0].figures
    for compared in figures.values():
        assert compared.difference.value == 0
        assert compared.difference.reason == "no interval: leaving out any of the items changes nothing"


def test_a_paired_interval_is_narrower_than_an_unpaired_one():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 400)
    people = from_codes(np.column_stack([truth, truth]), q=2)
    wrong = rng.random(400) < 0.25
    first = np.where(wrong, 1 - truth, truth)
    second = np.where(wrong & (rng.random(400) < 0.9), 1 - truth, truth)
    accuracy = compare_judges(people, {"a": first, "b": second}, bootstrap=1000)[0].figures["accuracy"]
    width = accuracy.difference.high - accuracy.difference.low
    unpaired = np.hypot(accuracy.a.se, accuracy.b.se) * 2 * 1.96
    assert width < unpaired / 2
    assert accuracy.difference.high < 0


def test_every_pair_of_three_judges():
    people = from_codes([[0, 0], [1, 1], [0, 1]], q=2)
    found = compare_judges(people, {"a": [0, 1, 0], "b": [0, 0, 0], "c": [1, 1, 1]}, bootstrap=0)
    assert [(one.a, one.b) for one in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert json.dumps([one.to_json() for one in found], allow_nan=True)


def test_no_common_items_is_a_reason():
    people = from_codes([[0, 0], [1, 1]], q=2)
    compared = compare_judges(people, {"a": [0, -1], "b": [-1, 1]}, bootstrap=20)[0].figures["accuracy"]
    assert compared.difference.reason == "no item that all of these judges scored"


def test_a_bad_judge_is_named():
    with pytest.raises(ValueError, match="judge 'b'"):
        compare_judges(from_codes([[0, 0]], q=2), {"a": [0], "b": [5]})


def draw_three_judges() -> tuple[object, dict[str, np.ndarray]]:
    """Two judges that scored all of 300 items, and one that scored 60 of them."""
    profiles, codes = Profiles((0.5, 0.5), judges=(0.6, 1.0, 0.8)).draw(60, 5, np.random.default_rng(8))
    people = from_codes(codes[:, :3], q=2, clusters=tuple(map(str, profiles)))
    said = {f"j{j}": codes[:, 3 + j].copy() for j in range(3)}
    said["j2"][60:] = -1
    return people, said


def test_a_third_judge_with_few_verdicts_takes_no_items_from_the_other_two():
    people, said = draw_three_judges()
    ranked, compared = rank_judges(people, said, bootstrap=50), compare_judges(people, said, bootstrap=50)
    assert {names: one.n_items for names, one in ranked.pairs.items() if "j2" not in names} == {("j0", "j1"): 300}
    for one in compared:
        names = (one.a, one.b) if (one.a, one.b) in ranked.pairs else (one.b, one.a)
        sign, mine = 1 if names == (one.a, one.b) else -1, one.figures["mean_cohen_kappa"].difference
        theirs = ranked.differences[names]
        assert sign * theirs.value == pytest.approx(mine.value)
        assert sorted((sign * theirs.low, sign * theirs.high)) == pytest.approx([mine.low, mine.high])
        assert ranked.pairs[names].n_items == one.n_items


def test_intervals_hold_together_with_those_of_judges_that_are_not_told_of():
    people, said = draw_three_judges()
    (told,), alone = compare_judges(people, said, most=2, bootstrap=50), {name: said[name] for name in ("j0", "j1")}
    (wide,) = compare_judges(people, {**alone, "silent": np.full(300, -1)}, most=2, bootstrap=50)
    one, two = (found.figures["mean_cohen_kappa"].difference for found in (told, wide))
    assert one.high - one.low > two.high - two.low  # three differences against one: a silent judge has none


def test_nobody_comes_first_by_having_scored_the_easy_items_alone():
    truth = np.arange(200) % 2
    hard = np.arange(200) >= 100
    people = from_codes(np.column_stack([truth, np.where(hard & (np.arange(200) % 3 == 0), 1 - truth, truth)]), q=2)
    better = np.where(hard & (np.arange(200) % 4 == 0), 1 - truth, truth)
    easy_alone = np.where(hard, -1, np.where(np.arange(200) % 20 == 0, 1 - truth, truth))
    found = rank_judges(people, {"easy alone": easy_alone, "better": better}, bootstrap=50)
    kappas = {one.name: one.figure.value for one in found.judges}
    assert kappas["easy alone"] > kappas["better"]  # each on the items that it scored
    assert [one.name for one in found.judges] == ["better", "easy alone"]
    assert found.pairs["better", "easy alone"].n_items == 100
    assert found.differences["better", "easy alone"].value > 0


class TestRanking:
    """The best of several judges is the best by chance as well."""

    people_and_judges = Profiles((0.5, 0.5), judges=(0.8,) * 6)

    def ranked(self, seed, population=people_and_judges, n_profiles=20, per_profile=15):
        profiles, codes = population.draw(n_profiles, per_profile, np.random.default_rng(seed))
        people = from_codes(codes[:, :3], q=2, clusters=tuple(map(str, profiles)))
        judges = {f"j{j}": codes[:, 3 + j] for j in range(len(population.judges))}
        return rank_judges(people, judges, bootstrap=50)

    @pytest.mark.long
    def test_of_equal_judges_hardly_ever_one_is_better(self):
        # of 100 repeats more than 10 have a probability of about .01 at a rate of 5 %; unadjusted intervals give 38
        wrong = 0
        for seed in range(100):
            found = self.ranked([17, seed])
            wrong += any(one.low > 0 or one.high < 0 for one in found.differences.values())
        assert wrong <= 10

    def test_two_judges_have_the_interval_of_one_difference(self):
        found = self.ranked(3, Profiles((0.5, 0.5), judges=(0.8, 0.8)))
        ((pair, difference),) = found.differences.items()
        profiles, codes = Profiles((0.5, 0.5), judges=(0.8, 0.8)).draw(20, 15, np.random.default_rng(3))
        people = from_codes(codes[:, :3], q=2, clusters=tuple(map(str, profiles)))
        named = {name: codes[:, 3 + int(name[1])] for name in pair}
        alone = compare_judges(people, named, bootstrap=50)[0].figures["mean_cohen_kappa"].difference
        assert (difference.value, difference.low, difference.high) == pytest.approx(
            (alone.value, alone.low, alone.high)
        )

    def test_clear_differences_leave_one_rank_each(self):
        found = self.ranked(0, Profiles((0.5, 0.5), judges=(0.2, 1.2, 4.0), leaning=0.0), n_profiles=40)
        assert [(one.name, one.best, one.worst) for one in found.judges] == [("j0", 1, 1), ("j1", 2, 2), ("j2", 3, 3)]

    def test_intervals_are_those_of_fifteen_differences(self):
        found = self.ranked(1)
        difference = found.differences[found.judges[0].name, found.judges[-1].name]
        half = stats.t.ppf(1 - 0.025 / 15, difference.df) * difference.se
        assert (difference.low, difference.high) == pytest.approx((difference.value - half, difference.value + half))

    def test_twins_share_every_rank_and_say_why(self):
        rng = np.random.default_rng(0)
        people = from_codes(rng.integers(0, 2, (60, 3)), q=2)
        said = rng.integers(0, 2, 60)
        found = rank_judges(people, {"one": said, "two": said})
        assert [(one.best, one.worst) for one in found.judges] == [(1, 2), (1, 2)]
        assert found.differences["one", "two"].reason == "no interval: leaving out any of the items changes nothing"

    def test_seven_clusters_leave_every_rank_possible(self):
        found = self.ranked(2, n_profiles=7)
        assert {(one.best, one.worst) for one in found.judges} == {(1, 6)}
        assert {one.reason for one in found.differences.values()} == {
            "not enough evidence: 7 clusters; at least 8 are needed"
        }


def test_every_two_of_three_judges_have_intervals_that_hold_together():
    profiles, codes = Profiles((0.5, 0.5), judges=(0.8, 0.8, 0.8)).draw(20, 10, np.random.default_rng(5))
    people = from_codes(codes[:, :3], q=2, clusters=tuple(map(str, profiles)))
    three = compare_judges(people, {f"j{j}": codes[:, 3 + j] for j in range(3)}, bootstrap=50)
    two = compare_judges(people, {f"j{j}": codes[:, 3 + j] for j in range(2)}, bootstrap=50)
    wide, alone = (found[0].figures["mean_cohen_kappa"].difference for found in (three, two))
    expected = stats.t.ppf(1 - 0.025 / 3, alone.df) / stats.t.ppf(0.975, alone.df)
    assert (wide.high - wide.low) / (alone.high - alone.low) == pytest.approx(expected)
    assert wide.confidence == 0.95
