import numpy as np

from judging.stats.label_shares import compute_agreement, majority_shares, nearest_shares

NAN = np.nan


def test_those_who_share_the_first_place_share_the_label():
    counts = np.array([[2, 1, 0], [1, 1, 0], [1, 1, 1], [0, 0, 0], [1, 1, 0]], dtype=float)
    gold = np.array([-1, -1, -1, -1, 2])
    third = 1 / 3
    expected = [[1, 0, 0], [0.5, 0.5, 0], [third, third, third], [NAN] * 3, [0, 0, 1]]
    np.testing.assert_array_equal(majority_shares(counts, gold), expected)


def test_halfway_between_two_is_half_of_each():
    shares = nearest_shares(np.array([4.5, 4.4, NAN, 9.0]), np.array([1.0, 4.0, 5.0]))
    np.testing.assert_array_equal(shares, [[0, 0.5, 0.5], [0, 1, 0], [NAN] * 3, [0, 0, 1]])


def test_agreement_is_the_share_of_the_verdict():
    shares = np.array([[1, 0], [0.5, 0.5], [0.5, 0.5], [NAN, NAN], [1, 0]])
    np.testing.assert_array_equal(compute_agreement(shares, np.array([0, 1, 0, 1, -1])), [1, 0.5, 0.5, NAN, NAN])


def test_a_scale_without_categories():
    assert nearest_shares(np.array([1.0]), np.zeros(0)).shape == (1, 0)
    np.testing.assert_array_equal(compute_agreement(np.zeros((2, 0)), np.array([-1, -1])), [NAN, NAN])
