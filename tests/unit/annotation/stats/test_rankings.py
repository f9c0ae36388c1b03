"""Rankings: how they are read, how far they lie apart, Kendall's W, and alpha of the preferences that they imply."""

import itertools

import krippendorff
import numpy as np
import pytest
import scipy

from annotation.stats.agreement import agreement
from annotation.stats.concordance import item_concordance
from annotation.stats.kemeny import kemeny_distances, random_agreement, ranks_of
from annotation.stats.rankings import have_ties, parse_ranking, spell_ranking
from annotation.stats.table import MISSING, RatingTable
from annotation.stats.tiers import tiers

KENDALLS = (
    (1, 4.5, 2, 4.5, 3, 7.5, 6, 9, 7.5, 10),
    (2.5, 1, 2.5, 4.5, 4.5, 8, 9, 6.5, 10, 6.5),
    (2, 1, 4.5, 4.5, 4.5, 4.5, 8, 8, 8, 10),
)
"""Three rankings of ten objects with ties, W = .828: Kendall (1970), Rank Correlation Methods, chapter 6."""


def spelled(ranks):
    names = "ABCDEFGHIJ"
    return ">".join("=".join(names[k] for k, r in enumerate(ranks) if r == rank) for rank in sorted(set(ranks)))


def ranked(rows, **more):
    """A table with a row of rankings, as text, for each item."""
    return RatingTable.from_wide(rows, level="ranking", **more)


def drawn(n, r, responses, rng, *, missing=0.0):
    """Rankings around an order of each item, ties among them, some missing."""
    centre = rng.normal(0, 2, (n, 1, responses))
    ranks = scipy.stats.rankdata(np.round(centre + rng.normal(0, 1, (n, r, responses))), axis=2)
    text = [[spelled(one.tolist()) for one in row] for row in ranks]
    return ranked([[None if rng.random() < missing else one for one in row] for row in text])


def weak_orders(names):
    ranks = itertools.product(range(len(names)), repeat=len(names))
    return sorted({spelled(scipy.stats.rankdata(one).tolist()) for one in ranks})


class TestReading:
    def test_spellings_of_one_ranking_are_one_category(self):
        table = ranked([["B>A=C", " B > C=A "], ["A>B>C", "A >B> C"]])
        assert table.categories == ("A>B>C", "B>A=C")
        assert table.codes.tolist() == [[1, 1], [0, 0]]

    def test_ranks_share_the_places_of_a_tie(self):
        assert ranks_of(["B>A=C", "C>B>A"]).tolist() == [[2.5, 1, 2.5], [3, 2, 1]]
        assert spell_ranking(parse_ranking("C=A>B")) == "A=C>B"
        assert have_ties(["A>B", "A=B"])
        assert not have_ties(["A>B"])

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("A>B>A", "ranks 'A' twice"),
            ("A>>B", "a name is missing"),
            ("A", "is one response"),
            ("", "a name is missing"),
        ],
    )
    def test_what_is_no_ranking(self, text, message):
        with pytest.raises(ValueError, match=message):
            parse_ranking(text)

    def test_a_response_left_out_or_foreign_to_the_others(self):
        with pytest.raises(ValueError, match="ranks C, which is not among A, B"):
            ranked([["A>B>C", "A>B"]])
        with pytest.raises(ValueError, match=r"does not rank C|ranks D"):
            ranked([["A>B>C", "A>B>D"]])


class TestDistance:
    def test_a_pair_the_other_way_round_is_one_and_a_tie_half(self):
        found = kemeny_distances(["A>B>C", "B>A>C", "C>B>A", "A=B=C", "A=B>C"])
        assert found[0].tolist() == [0, 1, 3, 1.5, 0.5]
        assert (found == found.T).all()

    @pytest.mark.parametrize("n", [2, 3, 4])
    def test_agreement_by_chance_is_the_mean_over_all_rankings(self, n):
        for with_ties, texts in (
            (True, weak_orders("ABCD"[:n])),
            (False, [">".join(one) for one in itertools.permutations("ABCD"[:n])]),
        ):
            pairs = n * (n - 1) / 2
            assert random_agreement(n, with_ties=with_ties) == pytest.approx(1 - kemeny_distances(texts).mean() / pairs)
        assert len(weak_orders("ABCD")) == 75


class TestKendallsW:
    def test_the_printed_example_with_ties(self):
        table = ranked([[spelled(ranks) for ranks in KENDALLS]])
        assert item_concordance(table)[0] == pytest.approx(12 * 591 / (9 * 990 - 3 * 114))
        assert item_concordance(table)[0] == pytest.approx(0.828, abs=5e-4)

    def test_as_friedmans_test_by_scipy(self):
        """Friedman's statistic, corrected for ties, is m (N - 1) W."""
        table = drawn(30, 4, 5, np.random.default_rng(0))
        ranks = ranks_of([str(one) for one in table.categories])[table.codes]
        oracle = [scipy.stats.friedmanchisquare(*one.T).statistic / (4 * 4) for one in ranks]
        assert item_concordance(table) == pytest.approx(oracle)

    def test_is_a_mean_over_items_with_an_interval(self):
        table = drawn(60, 3, 4, np.random.default_rng(1), missing=0.2)
        w = item_concordance(table)
        found = agreement(table, bootstrap=200).coefficients["kendall_w"]
        assert found.value == pytest.approx(np.nanmean(w))
        assert np.isnan(w[~table.pairable]).all()
        assert 0 <= found.low < found.value < found.high <= 1
        assert found.n_items == int(table.pairable.sum())

    def test_all_tied_has_none_and_is_no_zero(self):
        found = agreement(ranked([["A=B", "A=B"]] * 9), bootstrap=0).coefficients["kendall_w"]
        assert np.isnan(found.value)
        assert found.reason == "everybody calls all responses tied"


class TestAgreement:
    def test_alpha_is_that_of_the_implied_preferences(self):
        """Disagreement of pairs of responses within items over that of all, counted pair by pair."""
        table = drawn(25, 3, 3, np.random.default_rng(2), missing=0.25)
        ranks = ranks_of([str(one) for one in table.categories])
        said = [[ranks[code] for code in row if code != MISSING] for row in table.codes]
        said = [row for row in said if len(row) > 1]
        everybody = [one for row in said for one in row]
        observed = expected = 0.0
        for a, b in itertools.combinations(range(3), 2):
            order = [[np.sign(one[b] - one[a]) for one in row] for row in said]
            for row in order:
                observed += sum(abs(x - y) for x, y in itertools.permutations(row, 2)) / (len(row) - 1)
            flat = [np.sign(one[b] - one[a]) for one in everybody]
            expected += sum(abs(x - y) for x, y in itertools.permutations(flat, 2))
        oracle = 1 - (len(everybody) - 1) * observed / expected
        assert agreement(table, bootstrap=0).coefficients["krippendorff_alpha"].value == pytest.approx(oracle)

    def test_alpha_by_the_package_krippendorff(self):
        table = drawn(40, 4, 4, np.random.default_rng(3), missing=0.1)
        apart = kemeny_distances([str(one) for one in table.categories])
        data = np.where(table.codes.T == MISSING, np.nan, table.codes.T)
        oracle = krippendorff.alpha(
            reliability_data=data,
            value_domain=np.arange(table.n_categories),
            level_of_measurement=lambda v1, v2, i1, i2, n_v, dtype: apart[i1, i2].astype(dtype),
        )
        assert agreement(table, bootstrap=0).coefficients["krippendorff_alpha"].value == pytest.approx(oracle)

    def test_names_of_responses_do_not_matter(self):
        table = drawn(30, 3, 3, np.random.default_rng(4))
        other = str.maketrans("ABC", "CAB")
        rows = [[str(table.categories[code]).translate(other) for code in row] for row in table.codes]
        one, two = (agreement(each, bootstrap=0).coefficients for each in (table, ranked(rows)))
        for name in ("krippendorff_alpha", "kendall_w", "pairwise_agreement", "mean_pairwise_weighted_cohen_kappa"):
            assert one[name].value == pytest.approx(two[name].value)

    def test_near_misses_count_as_near(self):
        near = ranked([["A>B>C", "A>C>B"], ["C>B>A", "C>A>B"], ["B>A>C", "B>C>A"]] * 4)
        found = agreement(near, bootstrap=0)
        assert found.coefficients["percent_agreement"].value == 0
        assert found.coefficients["pairwise_agreement"].value == pytest.approx(2 / 3)
        assert found.weights == "kemeny"

    def test_what_needs_numbers_or_a_count_of_categories_says_so(self):
        found = agreement(drawn(40, 3, 3, np.random.default_rng(5)), bootstrap=0).coefficients
        assert found["icc_2_1"].reason == "a ranking is not a number"
        assert "number of all answers" in (found["gwet_ac"].reason or "")

    def test_one_rater(self):
        found = agreement(ranked([["A>B"], ["B>A"]]), bootstrap=0)
        assert found.coefficients["kendall_w"].reason == "only one rater"
        assert found.coefficients["krippendorff_alpha"].reason == "only one rater"


def test_counted_tiers_go_by_pairs_of_responses():
    """Two people who order 2 of 3 pairs alike have kappa (2/3 - 1/2) / (1 - 1/2)."""
    found = tiers(ranked([["A>B>C", "A>C>B"], ["A>B>C", "A>B>C"], ["A>B>C", "C>B>A"]]), draws=0)
    assert found.kappas == pytest.approx([1 / 3, 1, -1])
    assert [one.tier for one in found.items] == ["contested", "easy", "contested"]
    assert found.plans == ()
