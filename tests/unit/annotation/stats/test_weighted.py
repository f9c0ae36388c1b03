"""Coefficients under any weights, against irrCAC (Gwet 2014) on the tables it ships; values to 1e-5."""

import numpy as np
import pytest

from annotation.stats.agreement import agreement
from annotation.stats.table import RatingTable
from annotation.stats.weighted import compute_weighted_agreement
from annotation.stats.weighting import compute_weights, ordinal_weights

from .data import cohen_kappa, from_codes, from_crosstab, load

WEIGHTINGS = ("identity", "linear", "quadratic", "ordinal", "radical", "ratio")
NAMES = {
    "fleiss": "fleiss_kappa",
    "scott": "fleiss_kappa",  # two raters
    "gwet": "gwet_ac",
    "bp": "brennan_prediger",
    "krippendorff": "krippendorff_alpha",
}


@pytest.mark.parametrize("name", ["cont3x3abstractors", "cont4x4diagnosis"])
@pytest.mark.parametrize("weighting", ["identity", "linear", "quadratic", "ordinal"])
def test_two_raters(name, weighting):
    data = load("classic/gwet_2014_tables.json")["datasets"][name]
    expected = data["by_weights"][weighting]
    q = len(data["table"])
    table = from_crosstab(data["table"], level="interval", values=np.arange(1.0, q + 1))
    found = compute_weighted_agreement(table, weighting, bootstrap=0)
    for theirs, ours in NAMES.items():
        if theirs in expected:
            assert found[ours].value == pytest.approx(expected[theirs]["coefficient_value"], abs=1e-5)
    kappa = cohen_kappa(table.codes[:, 0], table.codes[:, 1], compute_weights(table, weighting))
    assert kappa == pytest.approx(expected["cohen"]["coefficient_value"], abs=1e-5)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_four_raters_with_missing_ratings(weighting):
    data = load("classic/krippendorff_4x12.json")
    rows = zip(*data["reliability_data"], strict=True)
    table = RatingTable.from_wide(rows, categories=[1, 2, 3, 4, 5], level="interval")
    found = compute_weighted_agreement(table, weighting, bootstrap=0)
    expected = data["irrCAC_0.4.4_by_weights"][weighting]
    for theirs in ("fleiss", "gwet", "bp", "krippendorff"):
        assert found[NAMES[theirs]].value == pytest.approx(expected[theirs]["coefficient_value"], abs=1e-5)
    assert found["percent_agreement"].value == pytest.approx(expected["gwet"]["pa"], abs=1e-5)


def test_identity_weights_are_the_unweighted_coefficients():
    table = from_codes(np.random.default_rng(0).integers(-1, 4, (60, 4)), q=4)
    plain, weighted = agreement(table, bootstrap=100), compute_weighted_agreement(table, "identity", bootstrap=100)
    for name, figure in weighted.items():
        assert figure.value == pytest.approx(plain.coefficients[name].value, abs=1e-12)
        assert figure.low == pytest.approx(plain.coefficients[name].low, abs=1e-9)


def test_ordinal_weights_by_hand():
    # four categories: 1, 3 and 6 pairs of categories lie from one to the next, to the one after, to the last
    assert ordinal_weights(4)[0] == pytest.approx([1, 1 - 1 / 6, 1 - 3 / 6, 0])


def test_weights_of_ones_own():
    table = from_crosstab([[10, 4], [2, 10]])
    found = compute_weighted_agreement(table, np.eye(2), bootstrap=50)
    assert found["fleiss_kappa"].low < found["fleiss_kappa"].value < found["fleiss_kappa"].high


@pytest.mark.parametrize(("weighting", "message"), [("cubic", "weights are 'cubic'"), (np.eye(3), "for 2 categories")])
def test_bad_weights_are_refused(weighting, message):
    with pytest.raises(ValueError, match=message):
        compute_weighted_agreement(from_crosstab([[10, 4], [2, 10]]), weighting)


def test_undefined_has_a_reason():
    found = compute_weighted_agreement(from_codes([[0, 0], [0, 0]], q=2), "quadratic", bootstrap=10)
    assert found["fleiss_kappa"].reason == "one category used"
    assert found["percent_agreement"].value == 1
