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
    return Comparisons.from_names([NAMES[k] for k in first], [NAMES[k] for k in second], human, judge)


def values(board, figure="strength"):
    return [getattr(one, figure).value for one in board]


class TestBoards:
    found = leaderboard(arena())

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
        document = self.found.to_json()
        assert set(document) == {"people", "judge", "corrected", "lambda", "reason"}
        assert document["people"][0]["assistant"] == "a"


def test_a_good_judge_narrows_the_intervals():
    found = leaderboard(arena(favour=0))
    widths = [[one.strength.high - one.strength.low for one in b] for b in (found.people, found.corrected)]
    assert np.mean(widths[1]) < np.mean(widths[0])
    assert found.weight > 0.3


def test_win_rates_by_hand():
    # a beats b, a ties b, b beats c, c beats a: a 1.5 of 3, b 1.5 of 3, c 1 of 2
    pairs = Comparisons.from_names(list("abba"), list("bacc"), [1, 0.5, 1, 0], [np.nan] * 4)
    found = leaderboard(pairs)
    assert values(found.people, "win_rate") == pytest.approx([0.5, 0.5, 0.5])
    assert found.corrected == ()
    assert found.reason == "too few pairs with both labels"
    assert np.isnan(values(found.judge)).all()


def test_people_tied_between_a_response_and_a_tie_count_in_part_for_each():
    tied = Comparisons.from_names(list("ab"), list("ba"), [0.75, 1], [1, 1])
    apart = Comparisons.from_names(list("abab"), list("baba"), [1, 1, 0.5, 1], [1, 1, 1, 1])
    assert [one.win_rate.value for one in leaderboard(tied).people] == [3 / 8, 5 / 8]
    assert values(leaderboard(tied).people) == pytest.approx(values(leaderboard(apart).people))


def test_order_of_presentation_does_not_matter():
    one = leaderboard(Comparisons.from_names(list("aab"), list("bbc"), [1, 0, 1], [1, 0, 1]))
    other = leaderboard(Comparisons.from_names(list("bac"), list("abb"), [0, 0, 0], [0, 0, 0]))
    assert values(one.people, "win_rate") == values(other.people, "win_rate")


def test_wrong_input():
    with pytest.raises(ValueError, match="itself"):
        Comparisons.from_names(["a"], ["a"], [1], [1])
    with pytest.raises(ValueError, match="a tie"):
        Comparisons.from_names(["a"], ["b"], [2], [1])
    with pytest.raises(ValueError, match="one entry"):
        Comparisons.from_names(["a"], ["b"], [1, 0], [1])


def board_ends(board):
    return [[one.value, one.low, one.high] for place in board for one in (place.win_rate, place.strength, place.rank)]


class TestDependence:
    def test_copies_of_a_pair_add_nothing(self):
        pairs = arena(300, 120)
        single = leaderboard(pairs)
        again = np.repeat(np.arange(300), 4)
        names = [[NAMES[k] for k in side[again]] for side in (pairs.first, pairs.second)]
        copies = leaderboard(
            Comparisons.from_names(*names, pairs.human[again], pairs.judge[again], clusters=[str(k) for k in again])
        )
        for board in ("people", "judge"):
            assert np.array(board_ends(getattr(copies, board))) == pytest.approx(
                np.array(board_ends(getattr(single, board))), abs=1e-6
            )
        taken_alone = leaderboard(Comparisons.from_names(*names, pairs.human[again], pairs.judge[again]))
        one, other = taken_alone.people[0].strength, copies.people[0].strength
        assert one.high - one.low < 0.6 * (other.high - other.low)

    def test_a_pair_of_weight_two_counts_twice(self):
        pairs = arena(300, 120)
        twice = np.repeat(np.arange(300), np.where(np.arange(300) % 3, 1, 2))
        names = [[NAMES[k] for k in side] for side in (pairs.first, pairs.second)]
        weighted = Comparisons.from_names(
            *names, pairs.human, pairs.judge, weights=np.where(np.arange(300) % 3, 1.0, 2.0)
        )
        doubled = Comparisons.from_names(
            *([side[k] for k in twice] for side in names), pairs.human[twice], pairs.judge[twice]
        )
        for figure in ("win_rate", "strength"):
            for board in ("people", "judge"):
                found, expected = (getattr(leaderboard(one), board) for one in (weighted, doubled))
                assert values(found, figure) == pytest.approx(values(expected, figure), abs=1e-6)

    def test_few_clusters_with_labels_allow_no_interval(self):
        pairs = arena(300, 120)
        clusters = [str(k // 20) for k in range(300)]  # six of fifteen have labels
        names = [[NAMES[k] for k in side] for side in (pairs.first, pairs.second)]
        found = leaderboard(Comparisons.from_names(*names, pairs.human, pairs.judge, clusters=clusters))
        for board in (found.people, found.corrected):
            assert board[0].strength.defined
            assert board[0].strength.reason == "not enough evidence: 6 clusters; at least 8 are needed"
            assert np.isnan(board[0].rank.low)
        assert found.judge[0].strength.low < found.judge[0].strength.value

    @pytest.mark.long
    def test_ranks_hold_together(self):
        # three assistants of one strength: hardly ever is one of them certain to be first
        wrong = 0
        for seed in range(60):
            rng = np.random.default_rng(seed)
            first = rng.integers(0, 3, 150)
            second = (first + rng.integers(1, 3, 150)) % 3
            human = rng.integers(0, 2, 150).astype(float)
            pairs = Comparisons.from_names([NAMES[k] for k in first], [NAMES[k] for k in second], human, human)
            wrong += any((one.rank.low, one.rank.high) != (1, 3) for one in leaderboard(pairs).people)
        assert wrong <= 8  # 5 % of 60 is 3
