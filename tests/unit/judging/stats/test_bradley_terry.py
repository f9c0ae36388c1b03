import numpy as np
import pytest
from scipy.optimize import minimize

from judging.stats.bradley_terry import bradley_terry, is_connected


class TestByHand:
    def test_two_assistants(self):
        # 3 wins to 1: the strengths are as 3 to 1, their logs apart by ln 3
        found = bradley_terry(np.array([[[0, 3.0], [1, 0]]]), np.zeros((1, 2, 2)))
        assert found.log_strength[0] == pytest.approx([np.log(3) / 2, -np.log(3) / 2])
        assert found.tie[0] == 0

    def test_two_assistants_with_ties(self):
        # 4 wins, 1 loss, 5 ties: s_1 : s_2 = 4 : 1 and nu sqrt(4) = 5, on the scale of s_2 = 1
        found = bradley_terry(np.array([[[0, 4.0], [1, 0]]]), np.array([[[0, 5.0], [5, 0]]]))
        assert found.log_strength[0] == pytest.approx([np.log(4) / 2, -np.log(4) / 2])
        assert found.tie[0] == pytest.approx(5 / 2)


def test_four_assistants_as_by_a_general_optimiser():
    rng = np.random.default_rng(8)
    wins = rng.integers(1, 20, (4, 4)).astype(float) * (1 - np.eye(4))
    ties = np.triu(rng.integers(0, 10, (4, 4)), 1).astype(float)
    ties += ties.T

    def loss(at):
        s, nu = np.exp(np.r_[at[:3], -at[:3].sum()]), np.exp(at[3])
        root = np.sqrt(np.outer(s, s))
        either = s[:, None] + s[None, :] + nu * root
        return -(wins * np.log(s[:, None] / either)).sum() - (np.triu(ties, 1) * np.log(nu * root / either)).sum()

    best = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-8}).x
    found = bradley_terry(wins[None], ties[None])
    assert found.log_strength[0, :3] == pytest.approx(best[:3], abs=1e-5)
    assert found.tie[0] == pytest.approx(np.exp(best[3]), abs=1e-5)


def test_who_never_lost_has_no_strength():
    wins = np.array([[[0, 2, 2], [0, 0, 1], [0, 1, 0.0]]])
    assert not is_connected(wins)[0]
    assert np.isnan(bradley_terry(wins, np.zeros((1, 3, 3))).log_strength).all()


def test_a_tie_does_not_hold_the_strength_of_who_never_lost():
    # with nu root(s_1 s_2) = s_1 the likelihood of one win and one tie grows with s_1 for ever
    found = bradley_terry(np.array([[[0, 1.0], [0, 0]]]), np.array([[[0, 1.0], [1, 0]]]))
    assert np.isnan(found.log_strength).all()


def test_who_always_ties_is_as_strong():
    found = bradley_terry(np.zeros((1, 2, 2)), np.array([[[0, 4.0], [4, 0]]]))
    assert found.log_strength[0] == pytest.approx([0, 0])


def test_a_circle_connects():
    assert is_connected(np.array([[[0, 1, 0], [0, 0, 1], [1.0, 0, 0]]]))[0]
