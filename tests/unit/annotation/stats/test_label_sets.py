"""Sets of categories: MASI and Jaccard, alpha by them, and what there is beside."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from annotation.stats.agreement import agreement
from annotation.stats.alpha import krippendorff_alpha
from annotation.stats.label_sets import options_of, parse_set, spell_set
from annotation.stats.masi import jaccard_weights, masi_weights, random_agreement
from annotation.stats.table import RatingTable
from annotation.stats.tiers import chance_agreement, tiers

SETS = st.frozensets(st.sampled_from("abcd")).map(spell_set)


def brute_masi(first: str, second: str) -> float:
    """Distance as Passonneau (2006) defines it."""
    a, b = parse_set(first), parse_set(second)
    if a == b:
        return 0.0
    jaccard = len(a & b) / len(a | b)
    m = 2 / 3 if a < b or b < a else 1 / 3 if a & b else 0.0
    return 1 - jaccard * m


def brute_alpha(rows: list[list[str | None]], distance: object) -> float:
    """Krippendorff's alpha pair by pair."""
    units = [[one for one in row if one is not None] for row in rows]
    units = [unit for unit in units if len(unit) > 1]
    values = [one for unit in units for one in unit]
    n = len(values)
    observed = sum(
        sum(distance(a, b) for i, a in enumerate(unit) for j, b in enumerate(unit) if i != j) / (len(unit) - 1)  # type: ignore[operator]
        for unit in units
    )
    expected = sum(distance(a, b) for i, a in enumerate(values) for j, b in enumerate(values) if i != j)  # type: ignore[operator]
    return 1 - (observed / n) / (expected / (n * (n - 1)))


class TestDistances:
    def test_masi_of_the_example_in_nltks_documentation(self) -> None:
        """NLTK (Bird, Klein and Loper), `nltk.metrics.distance`: masi_distance({1, 2, 3, 4}, {3, 4, 5}) is .868 and
        jaccard_distance .6; it takes .33 for a third.
        """
        pair = ["1|2|3|4", "3|4|5"]
        assert 1 - masi_weights(pair)[0, 1] == pytest.approx(0.868, abs=0.002)
        assert 1 - jaccard_weights(pair)[0, 1] == pytest.approx(0.6)

    @pytest.mark.parametrize(
        ("first", "second", "weight"),
        [
            ("a|b", "b|a", 1.0),
            ("a", "a|b", 1 / 2 * 2 / 3),
            ("a|b", "b|c", 1 / 3 * 1 / 3),
            ("a", "b", 0.0),
            ("-", "-", 1.0),
            ("-", "a", 0.0),
        ],
    )
    def test_monotonicity_is_one_two_thirds_one_third_or_nothing(self, first: str, second: str, weight: float) -> None:
        assert masi_weights([first, second])[0, 1] == pytest.approx(weight)

    @pytest.mark.long
    @given(st.lists(SETS, min_size=1, max_size=6))
    def test_against_brute_force(self, sets: list[str]) -> None:
        found = 1 - masi_weights(sets)
        assert found == pytest.approx(np.array([[brute_masi(a, b) for b in sets] for a in sets]))

    @pytest.mark.parametrize("k", [0, 1, 2, 3, 5])
    def test_two_random_sets_agree_as_all_pairs_of_sets_do_on_average(self, k: int) -> None:
        names = "abcde"[:k]
        sets = [spell_set(some) for size in range(k + 1) for some in combinations(names, size)]
        assert random_agreement(k) == pytest.approx(masi_weights(sets).mean())


class TestAlpha:
    @pytest.mark.long
    @given(st.lists(st.lists(st.none() | SETS, min_size=3, max_size=3), min_size=2, max_size=12))
    def test_is_that_of_all_pairs(self, rows: list[list[str | None]]) -> None:
        paired = [one for row in rows for one in row if one is not None and sum(x is not None for x in row) > 1]
        if len(set(paired)) < 2:
            return
        table = RatingTable.from_wide(rows, level="set")
        found = float(krippendorff_alpha(table).evaluate(np.ones((1, table.n_items)))[0, 0])
        assert found == pytest.approx(brute_alpha(rows, brute_masi))

    def test_stands_beside_the_other_coefficients_with_an_interval(self) -> None:
        rng = np.random.default_rng(0)
        pool = ["a", "a|b", "b|c", "-", "c"]
        truth = rng.choice(pool, 60)
        rows = [[one if rng.random() < 0.8 else str(rng.choice(pool)) for _ in range(3)] for one in truth]
        found = agreement(RatingTable.from_wide(rows, level="set"), bootstrap=200).coefficients
        for name in ("krippendorff_alpha", "krippendorff_alpha_jaccard", "mean_masi", "mean_jaccard"):
            assert found[name].low < found[name].value < found[name].high
        assert found["mean_masi"].value <= found["mean_jaccard"].value
        assert "number of all answers" in (found["gwet_ac"].reason or "")
        assert found["icc_2_1"].reason == "a set of categories is not a number"

    def test_clusters_make_it_less_sure(self) -> None:
        rng = np.random.default_rng(1)
        rows = [["a", rng.choice(["a", "a|b"]), rng.choice(["a", "b"])] for _ in range(20)]
        alone = RatingTable.from_wide(rows * 2, level="set")
        doubled = RatingTable.from_wide(rows * 2, level="set", clusters=[str(n % 20) for n in range(40)])
        few, many = (agreement(one, bootstrap=300).coefficients["krippendorff_alpha"] for one in (doubled, alone))
        assert few.value == pytest.approx(many.value)
        assert few.se > many.se


class TestTiers:
    def test_near_sets_are_near(self) -> None:
        table = RatingTable.from_wide([["a", "a", "a"], ["a|b", "a", "a"], ["a", "b", "c"]], level="set")
        equal, near, far = tiers(table, draws=0).kappas.tolist()
        assert equal == 1
        assert far < 0 < near < 1
        assert chance_agreement(table, "uniform") == pytest.approx(random_agreement(3))


class TestLabels:
    def test_spellings_of_one_set_are_one_category(self) -> None:
        table = RatingTable.from_wide([["b|a", "a | b"]], level="set")
        assert table.categories == ("a|b",)
        assert options_of(table.categories) == ("a", "b")  # type: ignore[arg-type]

    @pytest.mark.parametrize("text", ["a||b", "a|a", "|"])
    def test_what_is_no_set_is_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"set|twice"):
            RatingTable.from_wide([["a", text]], level="set")
