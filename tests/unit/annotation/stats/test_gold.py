import json

import numpy as np
import pytest

from annotation.stats.difficulty.latent import NoConvergenceError
from annotation.stats.gold import REASONS, gold
from tests.support import drawing

from .data import from_codes

# nine raters on one scale of two: 9-0, 8-1 (kappa .56), 7-2 (.22), then 2-2, one rating, none
CODES = np.full((6, 9), -1)
CODES[0] = 0
CODES[1] = [1] * 8 + [0]
CODES[2] = [0] * 7 + [1] * 2
CODES[3, :4] = [0, 0, 1, 1]
CODES[4, 0] = 1
TABLE = from_codes(CODES, q=2)


class TestMajority:
    found = gold(TABLE)

    def test_each_item_has_gold_or_a_reason(self):
        assert self.found.codes.tolist() == [0, 1, -1, -1, -1, -1]
        assert [one.reason for one in self.found.items] == [
            None,
            None,
            "contested",
            "contested",
            "too few ratings",
            "no ratings",
        ]

    def test_confidence_is_the_share_of_the_majority(self):
        assert self.found.items[1].confidence == pytest.approx(8 / 9)
        assert np.isnan(self.found.items[2].confidence)

    def test_a_tie_is_named_with_its_candidates(self):
        assert self.found.items[3].candidates == (0, 1)
        assert self.found.n_tied == 1
        # a tie that is not contested: three options, uniform chance 1/3, cuts low enough
        low = gold(TABLE, cuts=(-0.9, 0.0, 0.5))
        assert low.items[3].reason == "tied"
        assert low.codes[2] == 0

    def test_counts_add_up(self):
        assert sum(self.found.counts.values()) == 6
        assert self.found.counts["contested"] == 2
        assert set(self.found.counts) == {"adjudication", "majority", *REASONS}

    def test_one_rating_can_be_enough_where_asked(self):
        assert gold(TABLE, min_ratings=1).codes[4] == 1


class TestAdjudication:
    found = gold(TABLE, adjudicated=[1, -1, -1, 0, -1, 1])

    def test_stands_above_everything(self):
        assert self.found.codes.tolist() == [1, 1, -1, 0, -1, 1]
        assert self.found.items[0].source == "adjudication"
        assert self.found.items[3].source == "adjudication"
        assert self.found.items[1].source == "majority"


class TestDawidSkene:
    def test_takes_the_posterior(self):
        rng = np.random.default_rng(1)
        truth = rng.integers(0, 2, 300)
        good = np.column_stack([np.where(rng.random(300) < 0.95, truth, 1 - truth) for _ in range(2)])
        coins = rng.integers(0, 2, (300, 3))
        table = from_codes(np.hstack([good, coins]), q=2)
        options = {"cuts": (-0.9, 0.0, 0.5)}
        by_em, by_majority = gold(table, method="dawid_skene", **options), gold(table, **options)
        known = by_em.codes >= 0
        assert (by_em.codes == truth)[known].mean() > (by_majority.codes == truth)[by_majority.codes >= 0].mean()
        assert {one.source for one in by_em.items} <= {"dawid_skene", None}
        assert min(one.confidence for one in by_em.items if one.source) >= 0.5

    def test_contested_items_stay_out(self):
        assert gold(TABLE, method="dawid_skene").items[2].reason == "contested"

    def test_too_uncertain(self):
        table = from_codes([[0, 1], [1, 0], [0, 0], [1, 1]], q=2)
        found = gold(table, method="dawid_skene", cuts=(-2.0, -1.5, 0.0), min_posterior=1.0)
        assert {one.reason for one in found.items} <= {None, "tied", "too uncertain"}
        assert found.items[0].reason in {"tied", "too uncertain"}


class TestOverriddenTiers:
    def test_decide_what_is_contested(self):
        tiers = ["contested", "hard", "easy", None, None, None]
        found = gold(TABLE, tiers=tiers)
        assert found.items[0].reason == "contested"
        assert found.codes[2] == 0
        assert found.items[3].reason == "tied"


def test_is_json_by_label():
    document = json.loads(json.dumps(gold(TABLE).to_json(), allow_nan=False))
    assert document["items"][1]["gold"] == 1
    assert document["items"][3] == {
        "item": "3",
        "gold": None,
        "source": None,
        "confidence": None,
        "reason": "contested",
        "candidates": [0, 1],
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "vote"}, "method is 'vote'"),
        ({"adjudicated": [0]}, "shape"),
        ({"adjudicated": [0, 0, 0, 0, 0, 2]}, "off the scale"),
        ({"tiers": ["easy"]}, "1 tiers"),
        ({"min_ratings": 0}, "least number"),
        ({"min_posterior": 2}, "posterior"),
        ({"cuts": (0.4, 0.2, 0.8)}, "ascending"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        gold(TABLE, **options)


class TestModel:
    def drawn(self, level="ordinal"):
        rng = np.random.default_rng(3)
        model, free = drawing.draw_graded_model(5, 5, rng)
        codes, p = drawing.draw(model, free, 400, rng)
        below = np.cumsum(p.mean(axis=1), axis=1)
        return from_codes(codes, q=5, level=level), (below < 0.5).sum(axis=1)

    def test_it_is_the_median_of_many_fresh_people_as_often_as_it_says(self):
        table, truth = self.drawn()
        found = gold(table, method="model", tiers=["easy"] * 400)
        given = found.codes >= 0
        assert found.counts["model"] == given.sum() > 250
        right = (found.codes == truth)[given].mean()
        assert right == pytest.approx(found.confidence[given].mean(), abs=2 * np.sqrt(0.2 / given.sum()))
        median = gold(table, method="median", tiers=["easy"] * 400)
        assert right > (median.codes == truth)[given].mean()
        assert (found.confidence[given] >= 0.5).all()
        assert found.counts["too uncertain"] == 400 - given.sum()

    def test_contested_items_and_decisions_stand_above_it(self):
        table, _ = self.drawn()
        decided = np.full(400, -1)
        decided[0] = 4
        found = gold(table, method="model", adjudicated=decided, tiers=["contested"] * 400)
        assert found.counts["contested"] == 399
        assert found.codes[0] == 4

    def test_ratings_that_the_model_does_not_fit_are_refused(self):
        with pytest.raises(NoConvergenceError, match="needs 20"):
            gold(TABLE, method="model")
