"""What makes people differ: parts add up, and the part that was put in is found."""

import numpy as np
import pytest

from annotation.stats.difficulty.graded import GradedResponseModel
from annotation.stats.disagreement.sources import pair_sums, sources
from annotation.stats.table import MISSING
from tests.support import drawing, simulated_difficulty as simulated


def drawn(severities, logs, n=400, seed=0):
    rng = np.random.default_rng(seed)
    r = len(severities)
    free = np.concatenate([[-1.2, *np.log([0.8] * 3)], severities[:-1], [np.log(2.5)], logs[:-1], [np.log(0.5)]])
    codes, _ = drawing.draw(GradedResponseModel(r, 5), free, n, rng)
    return simulated.table_of(codes, 5, "ordinal")


def test_people_alike_leave_all_to_the_items():
    found = sources(drawn([0, 0, 0, 0], [0, 0, 0, 0]), bootstrap=200)
    assert found.severity.value < 0.01
    assert found.carelessness.value < 0.02
    assert found.expected.value == pytest.approx(found.observed.value, abs=0.01)
    parts = found.severity.value + found.carelessness.value + found.items.value
    assert parts == pytest.approx(found.expected.value)
    assert found.guideline.reason == "all answers were given under one version of the guideline"


def test_severe_and_careless_people_are_a_part():
    severe = sources(drawn([0.8, 0.8, -0.8, -0.8], [0, 0, 0, 0]), bootstrap=200)
    assert severe.severity.low > 0.05
    careless = sources(drawn([0, 0, 0, 0], [0.5, 0.5, 0.5, -1.5]), bootstrap=200)
    assert careless.carelessness.low > 0.02
    assert careless.carelessness.value > 3 * careless.severity.value


@pytest.mark.long
def test_answers_that_moved_with_the_guideline_are_a_part():
    table = drawn([0, 0, 0, 0], [0, 0, 0, 0])
    versions = np.tile([1, 1, 2, 2], (400, 1))
    same = sources(table, versions=versions, bootstrap=200).guideline
    assert same.low < 0 < same.high
    moved = table.replace_codes(np.where(versions == 2, np.minimum(table.codes + 1, 4), table.codes))
    found = sources(moved, versions=versions, bootstrap=200)
    assert found.guideline.low > 0.02
    assert found.moved == 400


def test_pairs_by_hand():
    codes = np.array([[0, 1, 4], [2, 2, MISSING], [3, MISSING, MISSING]])
    sums = pair_sums(simulated.table_of(codes, 5, "ordinal"), np.array([[1, 1, 2], [1, 2, 1], [1, 1, 1]]))
    # steps of 4: 1 within version 1, and 4 and 3 between versions, a third of a pair each
    assert sums[0] == pytest.approx([0.25 / 3, 1 / 3, 1.75 / 3, 2 / 3])
    assert sums[1] == pytest.approx([0, 0, 0, 1])
    assert sums[2] == pytest.approx([0, 0, 0, 0])


def test_unordered_scales_have_skills_and_no_severity():
    rng = np.random.default_rng(1)
    codes, _ = drawing.draw(*drawing.categories(4, 4, rng), 300, rng)
    found = sources(simulated.table_of(codes, 4, "nominal"), bootstrap=200)
    assert found.severity.value == 0
    assert found.carelessness.value > 0


def test_versions_of_another_shape_are_refused():
    with pytest.raises(ValueError, match="versions have shape"):
        sources(drawn([0, 0], [0, 0]), versions=np.ones((3, 3), dtype=int))
