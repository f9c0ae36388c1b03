"""Standard errors by formula: printed values, other programs, and the bootstrap."""

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from annotation.stats.agreement import agreement
from annotation.stats.analytic import cohen_error, compute_linearised_errors, fleiss_chance_test
from annotation.stats.chance_corrected import NAMES, chance_corrected
from annotation.stats.cohen import CategoryDistances, pairs_statistic
from annotation.stats.distinct import distinct_items
from annotation.stats.icc import f_intervals
from annotation.stats.resampling import Resampling
from annotation.stats.table import RatingTable
from annotation.stats.weighting import identity_weights, linear_weights

from .data import from_codes, from_crosstab, load
from .test_coefficients_published import ABSTRACTORS, COHEN_1960, SHROUT_FLEISS_1979, fleiss_1971

SAS = [[0, 4, 1], [0, 8, 0], [0, 1, 5]]


class TestCohen:
    def test_sas_unweighted(self):
        # SAS PROC FREQ, AGREE: kappa .4842, ASE .1380, ASE under the null hypothesis .1484, z 3.2626
        found = cohen_error(np.array(SAS), identity_weights(3))
        assert found.kappa == pytest.approx(0.4842, abs=5e-5)
        assert found.se == pytest.approx(0.1380, abs=5e-5)
        assert found.se_chance == pytest.approx(0.1484, abs=5e-5)
        assert found.kappa / found.se_chance == pytest.approx(3.2626, abs=5e-5)

    def test_sas_linear(self):
        # the same output, weighted kappa: .4701, ASE .1457, .1426, z 3.2971
        found = cohen_error(np.array(SAS), linear_weights(np.arange(3.0)))
        assert found.kappa == pytest.approx(0.4701, abs=5e-5)
        assert found.se == pytest.approx(0.1457, abs=5e-5)
        assert found.se_chance == pytest.approx(0.1426, abs=5e-5)
        assert found.kappa / found.se_chance == pytest.approx(3.2971, abs=5e-5)

    def test_the_interval_beside_a_pair_is_that_of_sas(self):
        # 95 % confidence limits .2137 and .7547
        pair = agreement(from_crosstab(SAS), bootstrap=0).pairs[0]
        assert (pair.cohen_kappa_analytic.low, pair.cohen_kappa_analytic.high) == pytest.approx(
            (0.2137, 0.7547), abs=5e-5
        )
        assert pair.cohen_kappa_analytic.method == "analytic"
        assert pair.cohen_kappa_analytic.se == pytest.approx(0.1380, abs=5e-5)

    @pytest.mark.parametrize("crosstab", [COHEN_1960, ABSTRACTORS, [[20, 5], [10, 15]]])
    def test_is_that_of_statsmodels(self, crosstab):
        theirs = cohens_kappa(np.array(crosstab))
        found = cohen_error(np.array(crosstab), identity_weights(len(crosstab)))
        assert found.se == pytest.approx(theirs.std_kappa, abs=1e-12)
        assert found.se_chance == pytest.approx(theirs.std_kappa0, abs=1e-12)

    def test_without_items_or_variety_there_is_none(self):
        assert np.isnan(cohen_error(np.zeros((2, 2)), identity_weights(2)).se)
        assert np.isnan(cohen_error(np.array([[5, 0], [0, 0]]), identity_weights(2)).kappa)

    def test_linearisation_is_the_same_formula(self):
        # Fleiss, Cohen and Everitt divide by n, the linearisation by n - 1
        table = from_crosstab(ABSTRACTORS)
        apart = 1 - linear_weights(np.arange(3.0))
        statistic = pairs_statistic(table.codes, [(0, 1)], 3, CategoryDistances(apart, apart))
        found = compute_linearised_errors(statistic, Resampling.from_table(table))
        weighted = cohen_error(np.array(ABSTRACTORS), linear_weights(np.arange(3.0)))
        plain = cohen_error(np.array(ABSTRACTORS), identity_weights(3))
        assert found[0] == pytest.approx(plain.se * np.sqrt(100 / 99), rel=1e-6)
        assert found[1] == pytest.approx(weighted.se * np.sqrt(100 / 99), rel=1e-6)

    def test_clusters_are_not_what_the_formula_assumes(self):
        table = from_crosstab([[10, 2], [3, 10]], clusters=tuple(str(i // 5) for i in range(25)))
        pair = agreement(table, bootstrap=0).pairs[0]
        assert pair.cohen_kappa.defined
        assert np.isnan(pair.cohen_kappa_analytic.low)
        assert "one by one" in pair.cohen_kappa_analytic.reason


class TestFleiss:
    def test_against_chance(self):
        # R irr::kappam.fleiss on Fleiss (1971): z = 17.65183; the standard error is Fleiss, Nee and Landis's
        found = fleiss_chance_test(fleiss_1971().counts)
        assert found.z == pytest.approx(17.65183, abs=5e-6)
        assert found.se == pytest.approx(0.024373932099411154, abs=1e-12)

    @pytest.mark.parametrize("counts", [[[2, 0], [1, 0]], [[1, 0], [0, 1]]])
    def test_is_made_for_equal_numbers_of_ratings(self, counts):
        with pytest.raises(ValueError, match="same number of ratings"):
            fleiss_chance_test(np.array(counts))

    def test_one_category_is_undefined(self):
        assert np.isnan(fleiss_chance_test(np.array([[3, 0], [3, 0]])).se)


class TestLinearised:
    @pytest.mark.parametrize("name", ["cont3x3abstractors", "cont4x4diagnosis"])
    def test_is_that_of_irrcac_on_complete_tables(self, name):
        # Gwet (2014), as computed by irrCAC on two raters. It divides by n, here by n - 1.
        data = load("classic/gwet_2014_tables.json")["datasets"][name]
        table = from_crosstab(data["table"])
        found = dict(
            zip(NAMES, compute_linearised_errors(chance_corrected(table), Resampling.from_table(table)), strict=True)
        )
        theirs = data["by_weights"]["identity"]
        factor = np.sqrt(table.n_items / (table.n_items - 1))
        for ours, name in (("fleiss_kappa", "scott"), ("gwet_ac", "gwet"), ("brennan_prediger", "bp")):
            assert found[ours] == pytest.approx(theirs[name]["se"] * factor, abs=1e-5)

    def test_alpha_is_that_of_irrcac(self):
        # which divides by n - 1 for alpha
        data = load("classic/gwet_2014_tables.json")["datasets"]["cont3x3abstractors"]
        found = agreement(from_crosstab(data["table"]), bootstrap=0).analytic["krippendorff_alpha"]
        theirs = data["by_weights"]["identity"]["krippendorff"]
        assert found.se == pytest.approx(theirs["se"], abs=1e-5)
        assert (found.low, found.high) == pytest.approx(theirs["confidence_interval"], abs=5e-5)

    def test_rows_that_are_alike_change_nothing(self):
        table = from_codes(np.random.default_rng(3).integers(0, 2, (80, 3)), q=2)
        distinct = distinct_items(table)
        few = compute_linearised_errors(
            chance_corrected(distinct.table), Resampling.from_table(distinct.table, copies=distinct.copies)
        )
        np.testing.assert_allclose(
            few, compute_linearised_errors(chance_corrected(table), Resampling.from_table(table))
        )

    def test_agrees_with_bootstrap_and_jackknife(self):
        rng = np.random.default_rng(8)
        truth = rng.integers(0, 3, (400, 1))
        codes = np.where(rng.random((400, 4)) < 0.7, truth, rng.integers(0, 3, (400, 4)))
        codes[rng.random(codes.shape) < 0.15] = -1
        found = agreement(from_codes(codes, q=3), bootstrap=2000)
        for name, analytic in found.analytic.items():
            if analytic.method != "analytic" or np.isnan(analytic.se):
                continue
            bootstrap = found.coefficients[name]
            assert bootstrap.se == pytest.approx(analytic.se, rel=0.02)
            # the ends of 2,000 replicates vary by about 5 % of the interval
            assert bootstrap.high - bootstrap.low == pytest.approx(analytic.high - analytic.low, rel=0.12)

    def test_a_single_item_has_none(self):
        found = agreement(from_codes([[0, 1]], q=2), bootstrap=0).analytic["percent_agreement"]
        assert found.value == 0
        assert np.isnan(found.low)
        assert found.reason == "no interval: there is only one unit to resample"


class TestIcc:
    def test_f_intervals(self):
        # psych::ICC (R) on Shrout and Fleiss's table 2, as printed in its manual, 95 %
        table = RatingTable.from_wide(SHROUT_FLEISS_1979, categories=list(range(1, 11)), level="interval")
        found = f_intervals(table)
        assert found["icc_1_1"] == pytest.approx((-0.133, 0.723), abs=6e-3)
        assert found["icc_2_1"] == pytest.approx((0.019, 0.761), abs=6e-3)
        assert found["icc_3_1"] == pytest.approx((0.342, 0.946), abs=6e-3)
        assert found["icc_1_k"] == pytest.approx((-0.884, 0.912), abs=6e-3)
        assert found["icc_2_k"] == pytest.approx((0.071, 0.927), abs=6e-3)
        assert found["icc_3_k"] == pytest.approx((0.676, 0.986), abs=6e-3)

    def test_stand_in_the_result(self):
        table = RatingTable.from_wide(SHROUT_FLEISS_1979, categories=list(range(1, 11)), level="interval")
        found = agreement(table, bootstrap=0)
        assert found.analytic["icc_3_1"].low == pytest.approx(0.342, abs=6e-3)
        assert found.analytic["icc_3_1"].value == found.coefficients["icc_3_1"].value

    def test_two_items_and_nominal_scales(self):
        assert np.isnan(f_intervals(from_codes([[0, 1]], q=2, level="ordinal"))["icc_2_1"]).all()
        nominal = agreement(from_crosstab([[5, 2], [1, 5]]), bootstrap=0).analytic["icc_2_1"]
        assert "nominal" in nominal.reason
