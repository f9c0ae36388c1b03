"""Coefficients against printed tables. Each expected number has its source beside it."""

import numpy as np
import pytest

from annotation.stats import chance_corrected, cohen
from annotation.stats.agreement import agreement
from annotation.stats.alpha import krippendorff_alpha
from annotation.stats.table import RatingTable
from annotation.stats.weighting import identity_weights, linear_weights, quadratic_weights

from .data import cohen_kappa, from_codes, from_crosstab, load, shared, value

# Cohen (1960), Educational and Psychological Measurement 20:37-46: 200 cases, three categories.
COHEN_1960 = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, sections C and D: 4 observers, 12 units.
KRIPPENDORFF_2011 = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]

# Shrout and Fleiss (1979), Psychological Bulletin 86:420-428, table 2: 6 targets, 4 judges.
SHROUT_FLEISS_1979 = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]

# Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition: abstractors and diagnoses.
ABSTRACTORS = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
DIAGNOSES = [[40, 4, 4, 17], [6, 25, 2, 13], [4, 1, 21, 12], [15, 5, 9, 45]]


def krippendorff_2011(level):
    return RatingTable.from_wide(zip(*KRIPPENDORFF_2011, strict=True), categories=[1, 2, 3, 4, 5], level=level)


def fleiss_1971():
    """The counts of Fleiss (1971), table 1, as ratings by six anonymous raters."""
    ratings = load("classic/fleiss_1971.json")["ratings"]
    return RatingTable.from_wide(ratings, categories=[1, 2, 3, 4, 5])


class TestCohen:
    def kappa(self, weights):
        table = from_crosstab(COHEN_1960)
        return cohen_kappa(table.codes[:, 0], table.codes[:, 1], weights)

    def test_unweighted(self):
        # (0.70 - 0.41) / (1 - 0.41); Cohen (1960) prints .492
        assert self.kappa(identity_weights(3)) == pytest.approx(0.29 / 0.59, abs=1e-12)

    def test_disagreement_weights_of_1968(self):
        # Cohen (1968), Psychological Bulletin 70:213-220: weights 0-1-3 / 1-0-6 / 3-6-0, prints .348
        disagreement = np.array([[0, 1, 3], [1, 0, 6], [3, 6, 0]])
        assert self.kappa(1 - disagreement / 6) == pytest.approx(0.348, abs=5e-4)

    def test_linear_and_quadratic(self):
        # scikit-learn 1.6, cohen_kappa_score
        assert self.kappa(linear_weights(np.arange(3.0))) == pytest.approx(0.4736842105, abs=1e-9)
        assert self.kappa(quadratic_weights(np.arange(3.0))) == pytest.approx(0.4545454545, abs=1e-9)

    def test_sas_table_with_an_empty_column(self):
        # SAS PROC FREQ, AGREE: kappa .4842, linearly weighted .4701
        table = from_crosstab([[0, 4, 1], [0, 8, 0], [0, 1, 5]])
        first, second = table.codes.T
        assert cohen_kappa(first, second, identity_weights(3)) == pytest.approx(0.4842, abs=5e-5)
        assert cohen_kappa(first, second, linear_weights(np.arange(3.0))) == pytest.approx(0.4701, abs=5e-5)


class TestFleiss1971:
    def test_kappa(self):
        found = agreement(fleiss_1971(), bootstrap=0)
        # .430 in print; 0.4302445 in R irr::kappam.fleiss
        assert value(found, "fleiss_kappa") == pytest.approx(0.4302445, abs=5e-8)
        assert value(found, "fleiss_kappa_pooled") == pytest.approx(0.4302445, abs=5e-8)
        assert value(found, "percent_agreement") == pytest.approx(0.5555555556, abs=1e-9)

    def test_other_coefficients(self):
        found = agreement(fleiss_1971(), bootstrap=0)
        # (5/9 - 1/5) / (4/5)
        assert value(found, "brennan_prediger") == pytest.approx(4 / 9, abs=1e-12)
        # irrCAC on the same counts
        assert value(found, "gwet_ac") == pytest.approx(0.44788, abs=5e-6)
        assert value(found, "krippendorff_alpha") == pytest.approx(0.4334098283, abs=1e-9)

    def test_kappa_of_each_category(self):
        # R irr::kappam.fleiss, detail = TRUE: .245 .245 .520 .471 .566
        found = agreement(fleiss_1971(), bootstrap=200)
        kappas = [category.fleiss_kappa.value for category in found.per_category]
        assert [round(kappa, 3) for kappa in kappas] == [0.245, 0.245, 0.520, 0.471, 0.566]
        # shares: 26, 26, 30, 55 and 43 of 180 ratings
        shares = [category.share.value for category in found.per_category]
        assert shares == pytest.approx([26 / 180, 26 / 180, 30 / 180, 55 / 180, 43 / 180])
        assert all(c.fleiss_kappa.low < c.fleiss_kappa.value < c.fleiss_kappa.high for c in found.per_category)


class TestKrippendorff2011:
    @pytest.mark.parametrize(
        ("level", "printed", "computed"),
        [  # printed in Krippendorff (2011); computed by the package krippendorff
            ("nominal", 0.743, 0.743421052631579),
            ("ordinal", 0.815, 0.8153875037548814),
            ("interval", 0.849, 0.8491071428571428),
            ("ratio", 0.797, 0.7974027747116121),
        ],
    )
    def test_alpha(self, level, printed, computed):
        found = value(agreement(krippendorff_2011(level), bootstrap=0), "krippendorff_alpha")
        assert round(found, 3) == printed
        assert found == pytest.approx(computed, abs=1e-12)

    def test_missing_ratings_in_the_other_coefficients(self):
        # irrCAC (Gwet 2014 uses the same data), identity weights; quadratic for AC2
        nominal = agreement(krippendorff_2011("nominal"), bootstrap=0)
        assert value(nominal, "percent_agreement") == pytest.approx(0.81818, abs=5e-6)
        assert value(nominal, "fleiss_kappa") == pytest.approx(0.76117, abs=5e-6)
        assert value(nominal, "gwet_ac") == pytest.approx(0.77544, abs=5e-6)
        assert value(nominal, "brennan_prediger") == pytest.approx(0.77273, abs=5e-6)
        ordinal = agreement(krippendorff_2011("ordinal"), bootstrap=0)
        assert value(ordinal, "gwet_ac") == pytest.approx(0.914, abs=5e-6)
        assert ordinal.weights == "quadratic"

    def test_pooled_kappa_by_hand(self):
        # Ordered pairs: units 1 and 10 have three ratings (6 pairs each), unit 11 two (2), the other eight
        # four (12 each): 110. Of the same category: all 14 of the former; 12 in units 3, 4, 5, 7 and 9, 6 in
        # units 2 and 8 (three of four), none in unit 6: 86. Categories 1 to 5 hold 9, 13, 10, 5, 3 of 40.
        observed, expected = 86 / 110, (9**2 + 13**2 + 10**2 + 5**2 + 3**2) / 40**2
        found = agreement(krippendorff_2011("nominal"), bootstrap=0)
        assert value(found, "fleiss_kappa_pooled") == pytest.approx((observed - expected) / (1 - expected))


class TestGwet2014:
    @pytest.mark.parametrize(
        ("crosstab", "ac1", "kappa", "pi", "bp", "alpha"),
        [  # irrCAC, identity weights; Gwet (2014) prints AC1 .456 and kappa .432 for the diagnoses
            (ABSTRACTORS, 0.84933, 0.79641, 0.79624, 0.835, 0.79726),
            (DIAGNOSES, 0.45616, 0.4315, 0.43034, 0.44993, 0.43162),
        ],
    )
    def test_unweighted(self, crosstab, ac1, kappa, pi, bp, alpha):
        found = agreement(from_crosstab(crosstab), bootstrap=0)
        assert value(found, "gwet_ac") == pytest.approx(ac1, abs=5e-6)
        assert value(found, "mean_pairwise_cohen_kappa") == pytest.approx(kappa, abs=5e-6)
        assert value(found, "fleiss_kappa") == pytest.approx(pi, abs=5e-6)  # two raters: Scott's pi
        assert value(found, "brennan_prediger") == pytest.approx(bp, abs=5e-6)
        assert value(found, "krippendorff_alpha") == pytest.approx(alpha, abs=5e-6)

    @pytest.mark.parametrize(
        ("crosstab", "ac2", "kappa", "alpha"),
        [(ABSTRACTORS, 0.94024, 0.89216, 0.89265), (DIAGNOSES, 0.29857, 0.38319, 0.38342)],
    )
    def test_quadratic(self, crosstab, ac2, kappa, alpha):
        found = agreement(from_crosstab(crosstab, level="interval"), bootstrap=0)
        assert value(found, "gwet_ac") == pytest.approx(ac2, abs=5e-6)
        assert value(found, "mean_pairwise_weighted_cohen_kappa") == pytest.approx(kappa, abs=5e-6)
        assert value(found, "krippendorff_alpha") == pytest.approx(alpha, abs=5e-6)

    def test_ac2_with_linear_weights(self):
        table = from_crosstab(ABSTRACTORS)
        statistic = chance_corrected.chance_corrected(table, linear_weights(np.arange(3.0)))
        found = dict(zip(chance_corrected.NAMES, statistic.evaluate(np.ones((1, 100)))[0], strict=True))
        assert found["gwet_ac"] == pytest.approx(0.90002, abs=5e-6)


class TestKappaParadox:
    # Feinstein and Cicchetti (1990), Journal of Clinical Epidemiology 43:543-549, print kappa .70 and .32 at
    # the same 85 % agreement; the third table is Gwet's (2008), 125 subjects. AC1 and pi: irrCAC.
    @pytest.mark.parametrize(
        ("crosstab", "observed", "kappa", "pi", "ac1", "warned"),
        [
            ([[40, 9], [6, 45]], 0.85, 0.69952, 0.69925, 0.70075, False),
            ([[80, 10], [5, 5]], 0.85, 0.31818, 0.31429, 0.808, True),
            ([[118, 5], [2, 0]], 0.944, -0.02339, -0.02881, 0.94078, True),
        ],
    )
    def test_same_agreement_different_kappa(self, crosstab, observed, kappa, pi, ac1, warned):
        found = agreement(from_crosstab(crosstab), bootstrap=0)
        assert value(found, "percent_agreement") == pytest.approx(observed)
        assert value(found, "mean_pairwise_cohen_kappa") == pytest.approx(kappa, abs=5e-6)
        assert value(found, "fleiss_kappa") == pytest.approx(pi, abs=5e-6)
        assert value(found, "gwet_ac") == pytest.approx(ac1, abs=5e-6)
        assert ("kappa_paradox" in {warning.code for warning in found.warnings}) is warned


class TestShroutFleiss1979:
    def test_icc(self):
        # .29 and .62 in print; full digits from the mean squares 11.2417 (targets), 32.4861, 1.0194
        scale = list(range(1, 11))
        table = RatingTable.from_wide(SHROUT_FLEISS_1979, categories=scale, level="interval")
        found = agreement(table, bootstrap=0)
        assert value(found, "icc_2_1") == pytest.approx(0.2897637795, abs=1e-9)
        assert value(found, "icc_2_k") == pytest.approx(0.6200505476, abs=1e-9)

    @pytest.mark.parametrize(
        ("name", "printed", "computed"),
        [  # table 4 of the paper; full digits from its mean squares
            ("icc_1_1", 0.17, 0.16574176840547544),
            ("icc_2_1", 0.29, 0.2897637795275591),
            ("icc_3_1", 0.71, 0.7148407148407149),
            ("icc_1_k", 0.44, 0.44279713367926865),
            ("icc_2_k", 0.62, 0.6200505475989891),
            ("icc_3_k", 0.91, 0.9093155423770695),
        ],
    )
    def test_all_six(self, name, printed, computed):
        table = RatingTable.from_wide(SHROUT_FLEISS_1979, categories=list(range(1, 11)), level="interval")
        found = value(agreement(table, bootstrap=0), name)
        assert round(found, 2) == printed
        assert found == pytest.approx(computed, abs=1e-12)

    def test_items_that_someone_left_out_do_not_count(self):
        scale = list(range(1, 11))
        more = [*SHROUT_FLEISS_1979, [1, None, 10, 1]]
        found = agreement(RatingTable.from_wide(more, categories=scale, level="interval"), bootstrap=0)
        assert value(found, "icc_2_1") == pytest.approx(0.2897637795, abs=1e-9)
        assert found.coefficients["icc_2_1"].n_items == 6
        assert found.coefficients["icc_2_1"].n_ratings == 24


class TestPandaLM:
    # Wang et al. (2024), arXiv 2306.05087: Cohen's kappa .85, .88, .86 in the project's README
    def found(self):
        records = load("pandalm/testset-v1.json")
        rows = [[record[f"annotator{j}"] for j in (1, 2, 3)] for record in records]
        return agreement(RatingTable.from_wide(rows, categories=[0, 1, 2]), bootstrap=200)

    def test_published_agreement(self):
        found = self.found()
        kappas = {(pair.a, pair.b): pair.cohen_kappa.value for pair in found.pairs}
        assert kappas[("r1", "r2")] == pytest.approx(0.8520226785, abs=1e-9)
        assert kappas[("r1", "r3")] == pytest.approx(0.8789438113, abs=1e-9)
        assert kappas[("r2", "r3")] == pytest.approx(0.8616614541, abs=1e-9)
        assert value(found, "fleiss_kappa") == pytest.approx(0.864175365, abs=1e-9)
        assert value(found, "krippendorff_alpha") == pytest.approx(0.8642206852, abs=1e-9)
        assert value(found, "gwet_ac") == pytest.approx(0.88644, abs=5e-6)
        assert value(found, "brennan_prediger") == pytest.approx(0.8798798799, abs=1e-9)
        assert found.n_ratings == 2997
        assert found.warnings == ()

    def test_intervals_hold_their_values(self):
        for estimate in self.found().coefficients.values():
            if estimate.defined:
                assert estimate.low < estimate.value < estimate.high
                assert estimate.method == "BCa"


class TestRepeatsOfOneJudge:
    # 2 x 320 answers scored three times by GPT-4 (prometheus-eval); alphas by the package krippendorff, kappa
    # by statsmodels, ICC(1,1) from the mean squares
    @pytest.mark.parametrize("name", ["mt_bench_eval", "vicuna_eval"])
    def test_published_values(self, name):
        expected = load("gpt4_repeats/reference.json")[name]
        lines = shared("gpt4_repeats/repeats.csv").read_text().splitlines()
        rows = [line.split(",")[4:] for line in lines if line.startswith(name)]
        found = {
            level: agreement(RatingTable.from_wide(rows, categories=[1, 2, 3, 4, 5], level=level), bootstrap=0)
            for level in ("nominal", "ordinal", "interval")
        }
        for level, result in found.items():
            assert value(result, "krippendorff_alpha") == pytest.approx(expected[f"alpha_{level}"], abs=1e-6)
        assert value(found["interval"], "icc_1_1") == pytest.approx(expected["ICC(1,1)"], abs=1e-6)
        assert value(found["nominal"], "fleiss_kappa") == pytest.approx(expected["fleiss"], abs=1e-6)
        assert value(found["nominal"], "percent_agreement") == pytest.approx(expected["mean_pairwise_exact"], abs=1e-6)
        weighted = value(found["ordinal"], "mean_pairwise_weighted_cohen_kappa")
        assert weighted == pytest.approx(expected["mean_pairwise_qwk"], abs=1e-6)

    def test_as_cited(self):
        # ordinal alpha .8145 and ICC(1,1) .8513
        reference = load("gpt4_repeats/reference.json")["mt_bench_eval"]
        assert round(reference["alpha_ordinal"], 4) == 0.8145
        assert round(reference["ICC(1,1)"], 4) == 0.8513


class TestDices350:
    def test_alpha_of_123_raters(self):
        # JUDGE-BENCH (arXiv 2406.18403), committed results: 0.16086021565770392
        lines = shared("dices/dices350_labels.jsonl").read_text().splitlines()
        rows = [list(line.split('"labels": "')[1].split('"')[0]) for line in lines]
        table = RatingTable.from_wide(rows, categories=["N", "U", "Y"])
        assert (table.n_items, table.n_raters, table.n_ratings) == (350, 123, 43050)
        statistic = krippendorff_alpha(table)
        assert statistic.evaluate(np.ones((1, 350)))[0, 0] == pytest.approx(0.16086021565770392, abs=1e-12)


def test_the_mean_over_pairs_leaves_out_undefined_pairs():
    # r1 and r2 cross perfectly (kappa 1); r3 always says 0, as r4 does: their kappa is undefined; the other
    # four pairs have kappa 0 because one side never varies.
    table = from_codes([[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 0, 0]], q=2)
    found = agreement(table, bootstrap=0)
    assert value(found, "mean_pairwise_cohen_kappa") == pytest.approx(1 / 5)
    assert [pair.a + pair.b for pair in found.pairs if not pair.cohen_kappa.defined] == ["r3r4"]
    assert "undefined_pairs" in {warning.code for warning in found.warnings}


def test_running_means_without_pairs_are_undefined():
    assert all(np.isnan(mean.value).all() for mean in cohen.RunningMeans(3).means())
