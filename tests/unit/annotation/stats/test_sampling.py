from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from annotation.stats.sampling import allocate, draw_stratified_sample, simple_sample

IDS = [f"item{i}" for i in range(100)]
STRATA = ["books"] * 60 + ["hotels"] * 30 + ["music"] * 10


class TestSimple:
    def test_draws_without_replacement_and_says_how_probable_it_was(self):
        sample = simple_sample(IDS, 25, seed=1)
        assert len(set(sample.ids)) == 25
        assert {one.probability for one in sample.drawn} == {0.25}
        assert {one.stratum for one in sample.drawn} == {None}
        assert sum(sample.weights) == pytest.approx(100)

    def test_same_seed_same_draw_whatever_the_order(self):
        assert simple_sample(IDS, 10, seed=1) == simple_sample(IDS[::-1], 10, seed=1)
        assert simple_sample(IDS, 10, seed=1) != simple_sample(IDS, 10, seed=2)

    def test_every_id_is_equally_likely(self):
        drawn = Counter(one for seed in range(2000) for one in simple_sample(range(10), 3, seed).ids)
        # 2,000 draws with p = .3: standard error 20
        assert all(abs(drawn[one] - 600) < 5 * 20.5 for one in range(10))

    def test_all_of_them(self):
        assert sorted(simple_sample([3, 1, 2], 3, seed=0).ids) == [1, 2, 3]

    @pytest.mark.parametrize(
        ("ids", "n", "message"),
        [
            ([], 1, "nothing to draw from"),
            ([1, 1], 1, "stands twice"),
            ([1, 2], 3, "cannot draw 3 of 2"),
            ([1], 0, "cannot draw 0"),
        ],
    )
    def test_what_cannot_be_drawn(self, ids, n, message):
        with pytest.raises(ValueError, match=message):
            simple_sample(ids, n, seed=0)


class TestStratified:
    def test_proportional(self):
        sample = draw_stratified_sample(IDS, STRATA, 20, seed=1)
        assert sample.sizes == {"books": (12, 60), "hotels": (6, 30), "music": (2, 10)}
        assert Counter(one.stratum for one in sample.drawn) == {"books": 12, "hotels": 6, "music": 2}
        assert {one.probability for one in sample.drawn} == {0.2}

    def test_equal(self):
        sample = draw_stratified_sample(IDS, STRATA, 21, seed=1, allocation="equal")
        assert sample.sizes == {"books": (7, 60), "hotels": (7, 30), "music": (7, 10)}
        probability = {one.stratum: one.probability for one in sample.drawn}
        assert probability == {"books": 7 / 60, "hotels": 7 / 30, "music": 7 / 10}

    def test_ids_come_from_their_stratum(self):
        of = dict(zip(IDS, STRATA, strict=True))
        assert all(of[one.id] == one.stratum for one in draw_stratified_sample(IDS, STRATA, 20, seed=1).drawn)

    def test_the_order_of_the_rows_plays_no_part(self):
        backwards = draw_stratified_sample(IDS[::-1], STRATA[::-1], 20, seed=4)
        assert backwards == draw_stratified_sample(IDS, STRATA, 20, seed=4)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"allocation": "optimal"}, "allocation"),
            ({"strata": ["a"]}, "100 ids but 1 strata"),
            ({"n": 101}, "101"),
        ],
    )
    def test_what_cannot_be_drawn(self, change, message):
        with pytest.raises(ValueError, match=message):
            draw_stratified_sample(**{"ids": IDS, "strata": STRATA, "n": 10, "seed": 0} | change)


class TestAllocate:
    def test_largest_remainder(self):
        # quotas 3.5, 2.1, 1.4: floors 3, 2, 1 and the one left goes to .5
        assert allocate({"a": 50, "b": 30, "c": 20}, 7, "proportional") == {"a": 4, "b": 2, "c": 1}

    def test_at_least_one_where_possible(self):
        # quotas .01, .5, 9.49
        assert allocate({"a": 1, "b": 50, "c": 949}, 10, "proportional") == {"a": 1, "b": 1, "c": 8}

    def test_fewer_than_strata(self):
        assert allocate({"a": 5, "b": 50, "c": 945}, 2, "proportional") == {"a": 0, "b": 0, "c": 2}

    def test_a_small_stratum_passes_on_what_it_cannot_give(self):
        assert allocate({"a": 1, "b": 50, "c": 949}, 31, "equal") == {"a": 1, "b": 15, "c": 15}

    @given(
        st.dictionaries(st.integers(), st.integers(1, 50), min_size=1, max_size=8),
        st.data(),
        st.sampled_from(["proportional", "equal"]),
    )
    def test_always_adds_up_within_bounds(self, sizes, data, allocation):
        n = data.draw(st.integers(1, sum(sizes.values())))
        given_to = allocate(sizes, n, allocation)
        assert sum(given_to.values()) == n
        least = 1 if n >= len(sizes) else 0
        assert all(least <= given_to[stratum] <= size for stratum, size in sizes.items())

    @given(st.dictionaries(st.integers(), st.integers(1, 50), min_size=1, max_size=8), st.data())
    def test_proportional_is_within_one_of_the_quota_unless_the_minimum_forbids(self, sizes, data):
        total = sum(sizes.values())
        n = data.draw(st.integers(1, total))
        quotas = np.array([n * size / total for size in sizes.values()])
        given_to = np.array(list(allocate(sizes, n, "proportional").values()))
        if (quotas >= 1).all():
            assert (np.abs(given_to - quotas) < 1).all()
