import numpy as np
import pytest

from judging.stats.leaderboard import Comparisons, leaderboard

NAMES = ("a", "b", "c")


def arena(n=1500, labelled=300, favour=1.0, seed=0):
    """Three assistants of strengths 1, 0, -1; the judge agrees with people four times in five and favours c."""
    rng = np.random.default_rng(seed)
    strength = np.array([1.0, 0.0, -1.0])
    first = rng.integers(0, 3, n)
    second = (first + rng.integers(1, 3, n)) % 3
    human = (rng.random(n) < 1 / (1 + np.exp(strength[second] - strength[first]))).astype(float)
    judge = np.where(rng.random(n) < 0.8, human, 1 - human)
    swayed = rng.random(n) < 0.4 * favour
    judge = np.where(swayed & (first == 2), 1, np.where(swayed & (second == 2), 0, judge))
    human[labelled:] = np.nan
    return Comparisons.of([NAMES[k] for k in first], [NAMES[k] for k in second], human, judge)


def values(board, figure="strength"):
    return [getattr(one, figure).value for one in board]


class TestBoards:
    found = leaderboard(arena(), bootstrap=100)

    def test_the_judge_favours_c_and_the_correction_takes_it_back(self):
        assert values(self.found.judge, "rank") != [1, 2, 3]
        assert values(self.found.people, "rank") == [1, 2, 3]
        assert values(self.found.corrected, "rank") == [1, 2, 3]

    def test_the_corrected_intervals_hold_the_truth(self):
        for standing, truth in zip(self.found.corrected, [1, 0, -1], strict=True):
            assert standing.strength.low < truth < standing.strength.high

    def test_the_judge_is_surely_wrong(self):
        assert self.found.judge[2].strength.low > -1

    def test_ranks_have_intervals(self):
        ranks = [one.rank for one in self.found.corrected]
        assert all(1 <= rank.low <= rank.value <= rank.high <= 3 for rank in ranks)

    def test_document(self):
        document = self.found.as_json()
        assert set(document) == {"people", "judge", "corrected", "lambda", "reason"}
        assert document["people"][0]["assistant"] == "a"


def test_a_good_judge_narrows_the_intervals():
    found = leaderboard(arena(favour=0), bootstrap=100)
    widths = [[one.strength.high - one.strength.low for one in b] for b in (found.people, found.corrected)]
    assert np.mean(widths[1]) < np.mean(widths[0])
    assert found.weight > 0.3


def test_win_rates_by_hand():
    # a beats b, a ties b, b beats c, c beats a: a 1.5 of 3, b 1.5 of 3, c 1 of 2
    pairs = Comparisons.of(list("abba"), list("bacc"), [1, 0.5, 1, 0], [np.nan] * 4)
    found = leaderboard(pairs, bootstrap=0)
    assert values(found.people, "win_rate") == pytest.approx([0.5, 0.5, 0.5])
    assert found.corrected == ()
    assert found.reason == "too few pairs with both labels"
    assert np.isnan(values(found.judge)).all()


def test_order_of_presentation_does_not_matter():
    one = leaderboard(Comparisons.of(list("aab"), list("bbc"), [1, 0, 1], [1, 0, 1]), bootstrap=0)
    other = leaderboard(Comparisons.of(list("bac"), list("abb"), [0, 0, 0], [0, 0, 0]), bootstrap=0)
    assert values(one.people, "win_rate") == values(other.people, "win_rate")


def test_wrong_input():
    with pytest.raises(ValueError, match="itself"):
        Comparisons.of(["a"], ["a"], [1], [1])
    with pytest.raises(ValueError, match="a tie"):
        Comparisons.of(["a"], ["b"], [2], [1])
    with pytest.raises(ValueError, match="one entry"):
        Comparisons.of(["a"], ["b"], [1, 0], [1])
