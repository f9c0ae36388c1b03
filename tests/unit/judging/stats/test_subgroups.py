import json

import numpy as np
import pytest

from annotation.stats.tiers import tiers
from judging.stats.agreement import judge_agreement
from judging.stats.subgroups import compute_agreement_by
from tests.unit.annotation.stats.data import from_codes

RNG = np.random.default_rng(5)
TRUTH = RNG.integers(0, 2, 240)
PEOPLE = from_codes(np.where(RNG.random((240, 5)) < 0.9, TRUTH[:, None], 1 - TRUTH[:, None]), q=2)
JUDGE = np.where(RNG.random(240) < np.where(np.arange(240) < 120, 0.95, 0.55), TRUTH, 1 - TRUTH)
DOMAINS = ["books"] * 120 + ["hotels"] * 110 + [None] * 10


def test_each_group_has_the_judge_and_the_ceiling_of_its_items():
    books, hotels = compute_agreement_by(PEOPLE, JUDGE, DOMAINS, judge_name="j", bootstrap=100)
    assert (books.group, hotels.group) == ("books", "hotels")
    assert (books.agreement.n_items, hotels.agreement.n_items) == (120, 110)
    assert books.agreement.accuracy.low > hotels.agreement.accuracy.high
    for one in (books, hotels):
        assert one.agreement.human_ceiling.low < one.agreement.human_ceiling.value < one.agreement.human_ceiling.high
    alone = judge_agreement(PEOPLE.subset_items([d == "books" for d in DOMAINS]), JUDGE[:120], judge_name="j")
    assert alone.accuracy.value == books.agreement.accuracy.value


def test_tiers_are_groups():
    names = [item.tier for item in tiers(PEOPLE, draws=0).items]
    found = {
        one.group: one.agreement for one in compute_agreement_by(PEOPLE, JUDGE, names, judge_name="j", bootstrap=50)
    }
    assert set(found) == {name for name in names if name}
    # unanimous items: nobody disagrees, so that the ceiling is full agreement
    assert found["easy"].ceiling["percent_agreement"].value == 1
    assert json.dumps(found["easy"].to_json(), allow_nan=True)


def test_unscored_replies_stay_with_their_group():
    judge, unscored = JUDGE.copy(), np.zeros(240, dtype=bool)
    judge[:3], unscored[:2] = -1, True
    books, hotels = compute_agreement_by(PEOPLE, judge, DOMAINS, judge_name="j", unscored=unscored, bootstrap=0)
    assert (books.agreement.unscored, books.agreement.not_judged, hotels.agreement.unscored) == (2, 1, 0)


@pytest.mark.parametrize(("codes", "groups"), [(JUDGE, ["a"]), (JUDGE[:3], DOMAINS)])
def test_one_entry_per_item(codes, groups):
    with pytest.raises(ValueError, match="for 240 items"):
        compute_agreement_by(PEOPLE, codes, groups, judge_name="j")
