"""Camps of people: found where there are two, not told where there is one."""

import numpy as np
import pytest

from annotation.stats.disagreement.taste import taste
from tests.support import drawing, simulated_difficulty as simulated


def test_two_camps_are_found():
    rng = np.random.default_rng(0)
    first, second = (drawing.draw(*drawing.draw_graded_model(k, 4, rng), 150, rng)[0] for k in (5, 3))
    found = taste(simulated.table_of(np.column_stack([first, second]), 4, "ordinal"), bootstrap=300)
    assert found.gain.low > 0.02
    assert list(found.camps.values()) == [0] * 5 + [1] * 3


@pytest.mark.parametrize("seed", range(3))
def test_one_taste_is_left_alone(seed):
    """Also where people differ in severity and consistency. In 20 such tables none was told to have two camps."""
    rng = np.random.default_rng(seed)
    codes, _ = drawing.draw(*drawing.draw_graded_model(8, 4, rng), 100, rng)
    found = taste(simulated.table_of(codes, 4, "ordinal"), bootstrap=300)
    assert found.camps == {}
    assert found.gain.value < 0


def test_few_people_are_not_told_apart():
    codes = np.random.default_rng(0).integers(0, 2, (100, 3))
    assert "6 and 200 are needed" in taste(simulated.table_of(codes, 2, "nominal")).gain.reason
