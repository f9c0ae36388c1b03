import numpy as np

from annotation.stats.majority import majority

from .data import from_codes


def test_ties_are_named_not_broken():
    found = majority(from_codes([[0, 0, 1], [0, 1, 2], [1, 1, 1], [-1, -1, -1], [2, -1, -1], [0, 1, -1]], q=3))
    assert found.codes.tolist() == [0, -1, 1, -1, 2, -1]
    assert found.tied.tolist() == [False, True, False, False, False, True]
    assert found.unrated.tolist() == [False, False, False, True, False, False]
    np.testing.assert_allclose(found.share, [2 / 3, 1 / 3, 1, np.nan, 1, 1 / 2])
