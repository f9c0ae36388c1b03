"""Difficulty and tiers of items: against the truth, by hand, and on bad input."""

import json

import numpy as np
import pytest
import scipy

from annotation.stats.bands import TIERS
from annotation.stats.difficulty.items import AGREEMENT_CUTS, difficulty
from annotation.stats.difficulty.latent import LatentFit, NoConvergenceError, Ratings
from annotation.stats.table import MISSING, RatingTable
from tests.support import drawing, simulated_difficulty as simulated

ORDERED, TWO = (drawing.draw_graded_model, 5, "ordinal"), (drawing.draw_graded_model, 2, "nominal")
UNORDERED = (drawing.categories, 4, "nominal")


def drawn(kind, n, r, seed):
    make, q, level = kind
    rng = np.random.default_rng(seed)
    model, free = make(r, q, rng)
    codes, p = drawing.draw(model, free, n, rng)
    return model, free, simulated.table_of(codes, q, level), p.mean(axis=1)


def credit(q, level):
    steps = np.abs(np.subtract.outer(np.arange(q), np.arange(q)))
    return np.eye(q) if level == "nominal" and q > 2 else 1 - steps / (q - 1)


@pytest.mark.long
@pytest.mark.parametrize("r", [3, 9])
@pytest.mark.parametrize("kind", [ORDERED, TWO, UNORDERED], ids=["ordered", "two", "unordered"])
def test_difficulty_follows_the_truth_as_far_as_ratings_can_tell(kind, r):
    """Within .03 of the rank correlation that the posterior under the true parameters reaches; mean of four tables."""
    weights = credit(kind[1], kind[2])
    reached, possible = [], []
    for seed in range(4):
        model, free, table, fresh = drawn(kind, 500, r, [11, seed])
        truth = 1 - np.einsum("nk,kl,nl->n", fresh, weights, fresh)
        posterior = LatentFit(model, Ratings(table.codes, np.ones(500), kind[1]), free, np.eye(1), np.nan).posterior
        of_nodes = model.tables(free).p.mean(axis=0)
        best = posterior @ (1 - np.einsum("kn,kl,ln->n", of_nodes, weights, of_nodes))
        reached.append(scipy.stats.spearmanr(difficulty(table).value, truth)[0])
        possible.append(scipy.stats.spearmanr(best, truth)[0])
    assert np.mean(reached) > np.mean(possible) - 0.03
    assert np.mean(reached) > {3: 0.5, 9: 0.75}[r]


@pytest.mark.long
def test_stated_probabilities_of_tiers_hold():
    said, true = [], []
    for seed in range(8):
        _, _, table, fresh = drawn(ORDERED, 400, 3, [5, seed])
        agreement = np.einsum("nk,kl,nl->n", fresh, credit(5, "ordinal"), fresh)
        place = np.searchsorted(AGREEMENT_CUTS, agreement)
        found = difficulty(table)
        said.append(found.tiers.ravel())
        true.append((place[:, None] == np.arange(4)).ravel())
    p, y = np.concatenate(said), np.concatenate(true)
    for low in (0.1, 0.3, 0.5, 0.7):
        inside = (p >= low) & (p < low + 0.2)
        error = np.sqrt(0.25 / inside.sum())
        assert y[inside].mean() == pytest.approx(p[inside].mean(), abs=0.03 + 2 * error), low


def test_more_disagreement_is_more_difficult():
    _, _, table, _ = drawn(ORDERED, 300, 3, 2)
    found = difficulty(table)
    spread = np.ptp(table.codes, axis=1)
    by_spread = [found.value[spread == k].mean() for k in (0, 1, 2)]
    assert by_spread == sorted(by_spread)
    assert found.tiers.sum(axis=1) == pytest.approx(np.ones(300))
    assert found.answers.sum(axis=1) == pytest.approx(np.ones(300))
    assert sum(found.expected_counts.values()) == pytest.approx(300)
    assert ((found.low <= found.value) & (found.value <= found.high)).mean() > 0.98
    assert (found.clear == (found.tiers.max(axis=1) >= 0.8)).all()
    json.dumps(found.to_json(), allow_nan=False)


def test_a_severe_and_a_careless_person_are_known():
    rng = np.random.default_rng(4)
    trait = rng.integers(0, 5, 300)
    near = [np.clip(trait + rng.choice([-1, 0, 0, 1], 300), 0, 4) for _ in range(3)]
    severe = np.clip(trait + rng.choice([-2, -1, -1, 0], 300), 0, 4)
    codes = np.column_stack([*near, severe, rng.integers(0, 5, 300)])
    people = difficulty(simulated.table_of(codes, 5, "ordinal")).people
    assert max(people, key=lambda one: one.severity.value).person == "r3"
    assert min(people, key=lambda one: one.consistency.value).person == "r4"
    assert people[3].severity.low > 0
    assert all(0.6 < one.infit < 1.5 for one in people)


def test_fit_of_people_is_near_one_where_the_model_holds():
    _, _, table, _ = drawn(ORDERED, 800, 4, 9)
    for one in difficulty(table).people:
        assert one.infit == pytest.approx(1, abs=0.12)
        assert one.outfit == pytest.approx(1, abs=0.25)


def test_weights_and_missing_ratings():
    _, _, table, _ = drawn(TWO, 300, 4, 6)
    rng = np.random.default_rng(0)
    codes = np.where(rng.random(table.codes.shape) < 0.3, MISSING, table.codes)
    codes[7] = MISSING
    found = difficulty(simulated.table_of(codes, 2, "nominal", weights=rng.uniform(1, 3, 300)))
    assert (found.fitted == (codes != MISSING).any(axis=1)).all()
    assert found.tier[7] is None
    assert found.to_json()["items"][7]["difficulty"]["reason"]


class TestBadInput:
    def refused(self, codes, q=3, level="ordinal"):
        with pytest.raises(NoConvergenceError) as why:
            difficulty(simulated.table_of(np.asarray(codes, dtype=np.int64), q, level))
        return str(why.value)

    def test_one_rater_an_item(self):
        codes = np.full((60, 2), MISSING)
        codes[:30, 0] = codes[30:, 1] = np.tile([0, 1, 2], 10)
        assert "one rating" in self.refused(codes)

    def test_one_rater_in_all(self):
        assert "one rating" in self.refused(np.tile([0, 1, 2], 10)[:, None])

    def test_every_answer_equal(self):
        assert "every answer is the same" in self.refused(np.ones((60, 3)))

    def test_few_items(self):
        assert "needs 20" in self.refused(np.random.default_rng(0).integers(0, 3, (12, 3)))

    def test_no_ratings(self):
        assert "no ratings" in self.refused(np.full((5, 3), MISSING))

    def test_twenty_categories_and_thirty_items(self):
        rng = np.random.default_rng(2)
        codes = np.clip(rng.integers(0, 20, 30)[:, None] + rng.integers(-2, 3, (30, 3)), 0, 19)
        found = difficulty(simulated.table_of(codes, 20, "ordinal"))
        assert found.fitted.all()
        assert "takes 20" in self.refused(np.random.default_rng(0).integers(0, 25, (30, 3)), q=25)

    def test_people_who_share_no_item_are_fitted_apart(self):
        _, _, table, _ = drawn(TWO, 200, 4, 3)
        codes = table.codes.copy()
        codes[:100, 2:] = codes[100:, :2] = MISSING
        found = difficulty(simulated.table_of(codes, 2, "nominal"))
        assert found.component.tolist() == [0] * 100 + [1] * 100
        assert len(found.people) == 4
        alone = difficulty(simulated.table_of(codes[:100, :2], 2, "nominal"))
        assert found.value[:100] == pytest.approx(alone.value, abs=1e-6)

    def test_one_group_that_cannot_be_fitted_leaves_the_other(self):
        _, _, table, _ = drawn(TWO, 200, 3, 3)
        codes = np.full((230, 5), MISSING)
        codes[:200, :3], codes[200:, 3:] = table.codes, 1
        found = difficulty(simulated.table_of(codes, 2, "nominal"))
        assert found.fitted.sum() == 200
        assert found.reasons == {1: "every answer is the same"}


def test_tiers_are_named_from_contested_to_easy():
    assert TIERS == ("contested", "hard", "medium", "easy")


def test_soft_labels_are_what_fresh_people_say():
    """Over many items the mean soft label is the mean distribution of answers; of many categories there is none."""
    _, _, table, p = drawn(ORDERED, 400, 9, 12)
    rows = difficulty(table).to_json()["items"]
    told = np.array([[row["soft_label"][str(category)] for category in table.categories] for row in rows])
    assert told.sum(axis=1) == pytest.approx(np.ones(400))
    assert told.mean(axis=0) == pytest.approx(p.mean(axis=0), abs=0.02)
    assert np.abs(told - p).mean() < np.abs(p.mean(axis=0) - p).mean() / 2
    rng = np.random.default_rng(12)
    noisy = rng.normal(0, 1, (40, 1)) + rng.normal(0, 1, (40, 3)) * rng.gamma(2, 0.5, (40, 1))
    numbers = RatingTable.from_wide(noisy.round(3).tolist(), level="interval")
    assert {row["soft_label"] for row in difficulty(numbers).to_json()["items"]} == {None}
