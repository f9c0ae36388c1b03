"""Coefficients against other implementations on random tables."""

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

from annotation.stats.agreement import agreement
from annotation.stats.weighting import identity_weights, linear_weights, quadratic_weights

from .data import cohen_kappa, from_codes, value
from .strategies import code_tables

CLOSE = 1e-9


@pytest.mark.long
@given(code_tables(), st.sampled_from(["nominal", "ordinal", "interval", "ratio"]))
@settings(max_examples=200)
def test_alpha_is_that_of_krippendorff(table, level):
    codes, q = table
    found = value(agreement(from_codes(codes, q=q, level=level), bootstrap=0), "krippendorff_alpha")
    pairable = (codes >= 0).sum(axis=1) >= 2
    used = np.unique(codes[pairable][codes[pairable] >= 0])
    if len(used) < 2:
        assert np.isnan(found)
        return
    data = np.where(codes < 0, np.nan, codes).T
    expected = krippendorff.alpha(reliability_data=data, value_domain=np.arange(float(q)), level_of_measurement=level)
    assert found == pytest.approx(expected, abs=CLOSE)


@pytest.mark.long
@given(code_tables(missing=False))
@settings(max_examples=200)
def test_fleiss_and_randolph_are_those_of_statsmodels(table):
    codes, q = table
    ratings = from_codes(codes, q=q)
    found = agreement(ratings, bootstrap=0)
    assert value(found, "brennan_prediger") == pytest.approx(fleiss_kappa(ratings.counts, method="randolph"), abs=CLOSE)
    if ratings.n_used < 2:
        assert np.isnan(value(found, "fleiss_kappa"))
        return
    expected = fleiss_kappa(ratings.counts, method="fleiss")
    assert value(found, "fleiss_kappa") == pytest.approx(expected, abs=CLOSE)
    assert value(found, "fleiss_kappa_pooled") == pytest.approx(expected, abs=CLOSE)


@pytest.mark.long
@given(code_tables(most_raters=2), st.sampled_from(["identity", "linear", "quadratic"]))
@settings(max_examples=200)
def test_cohen_is_that_of_scikit_learn(table, weighting):
    codes, q = table
    makers = {
        "identity": identity_weights(q),
        "linear": linear_weights(np.arange(float(q))),
        "quadratic": quadratic_weights(np.arange(float(q))),
    }
    a, b = codes[:, 0], codes[:, 1]
    found = cohen_kappa(a, b, makers[weighting])
    both = (a >= 0) & (b >= 0)
    constant = len(set(a[both]) | set(b[both])) < 2
    if constant:
        assert np.isnan(found)
        return
    name = None if weighting == "identity" else weighting
    expected = cohen_kappa_score(a[both], b[both], labels=range(q), weights=name)
    assert found == pytest.approx(expected, abs=CLOSE)


@pytest.mark.long
@given(code_tables(missing=False))
@settings(max_examples=100)
def test_icc_is_that_of_the_analysis_of_variance(table):
    codes, q = table
    found = agreement(from_codes(codes, q=q, level="interval"), bootstrap=0)
    n, k = codes.shape
    x = codes.astype(float)
    items, raters = x.mean(axis=1, keepdims=True), x.mean(axis=0, keepdims=True)
    bms = k * ((items - x.mean()) ** 2).sum() / (n - 1)
    jms = n * ((raters - x.mean()) ** 2).sum() / (k - 1)
    ems = ((x - items - raters + x.mean()) ** 2).sum() / ((n - 1) * (k - 1))
    single = bms + (k - 1) * ems + k * (jms - ems) / n
    mean = bms + (jms - ems) / n
    assume(abs(single) > 1e-6)
    assume(abs(mean) > 1e-6)
    assert value(found, "icc_2_1") == pytest.approx((bms - ems) / single, abs=CLOSE)
    expected = (bms - ems) / mean if mean > 0 else np.nan
    assert value(found, "icc_2_k") == pytest.approx(expected, abs=1e-7, nan_ok=True)


@pytest.mark.long
@given(code_tables(missing=False))
@settings(max_examples=100)
def test_the_other_iccs_are_those_of_the_analysis_of_variance(table):
    codes, q = table
    found = agreement(from_codes(codes, q=q, level="interval"), bootstrap=0)
    n, k = codes.shape
    x = codes.astype(float)
    items, raters = x.mean(axis=1, keepdims=True), x.mean(axis=0, keepdims=True)
    bms = k * ((items - x.mean()) ** 2).sum() / (n - 1)
    wms = ((x - items) ** 2).sum() / (n * (k - 1))
    ems = ((x - items - raters + x.mean()) ** 2).sum() / ((n - 1) * (k - 1))
    for name, above, below in (
        ("icc_1_1", bms - wms, bms + (k - 1) * wms),
        ("icc_1_k", bms - wms, bms),
        ("icc_3_1", bms - ems, bms + (k - 1) * ems),
        ("icc_3_k", bms - ems, bms),
    ):
        expected = above / below if below > 1e-9 else np.nan
        assert value(found, name) == pytest.approx(expected, abs=1e-7, nan_ok=True), name


@given(code_tables())
@settings(max_examples=100)
@pytest.mark.long
def test_kappa_of_a_category_is_that_of_all_others_merged(table):
    codes, q = table
    found = agreement(from_codes(codes, q=q), bootstrap=0).per_category
    for k in range(q):
        merged = np.where(codes < 0, -1, codes == k).astype(int)
        expected = value(agreement(from_codes(merged, q=2), bootstrap=0), "fleiss_kappa")
        assert found[k].fleiss_kappa.value == pytest.approx(expected, abs=CLOSE, nan_ok=True)


@pytest.mark.long
@given(code_tables(missing=False, most_raters=2))
@settings(max_examples=100)
def test_scotts_pi_is_fleiss_kappa_of_two_raters(table):
    codes, q = table
    ratings = from_codes(codes, q=q)
    found = agreement(ratings, bootstrap=0)
    if ratings.n_used < 2:
        assert np.isnan(value(found, "mean_pairwise_scott_pi"))
        return
    expected = fleiss_kappa(ratings.counts, method="fleiss")
    assert value(found, "mean_pairwise_scott_pi") == pytest.approx(expected, abs=CLOSE)
    assert found.pairs[0].scott_pi.value == pytest.approx(expected, abs=CLOSE)


@pytest.mark.long
@given(code_tables(), st.sampled_from(["interval", "ordinal"]))
@settings(max_examples=60)
def test_linear_kappa_of_a_pair_is_that_of_scikit_learn(table, level):
    codes, q = table
    for pair in agreement(from_codes(codes, q=q, level=level), bootstrap=0).pairs:
        a, b = codes[:, int(pair.a[1:]) - 1], codes[:, int(pair.b[1:]) - 1]
        both = (a >= 0) & (b >= 0)
        if len(set(a[both]) | set(b[both])) < 2:
            assert np.isnan(pair.linear_cohen_kappa.value)
            continue
        expected = cohen_kappa_score(a[both], b[both], labels=range(q), weights="linear")
        assert pair.linear_cohen_kappa.value == pytest.approx(expected, abs=CLOSE)


@pytest.mark.long
@given(code_tables())
@settings(max_examples=100)
def test_the_order_of_items_and_raters_plays_no_part(table):
    codes, q = table
    first = agreement(from_codes(codes, q=q, level="ordinal"), bootstrap=0)
    second = agreement(from_codes(codes[::-1, ::-1], q=q, level="ordinal"), bootstrap=0)
    for name, estimate in first.coefficients.items():
        assert estimate.value == pytest.approx(second.coefficients[name].value, abs=CLOSE, nan_ok=True)


@pytest.mark.long
@given(code_tables())
@settings(max_examples=100)
def test_undefined_has_a_reason_and_defined_is_at_most_one(table):
    codes, q = table
    found = agreement(from_codes(codes, q=q, level="interval"), bootstrap=0)
    for estimate in found.coefficients.values():
        assert estimate.reason, "without resamples every figure says why it, or its interval, is missing"
        assert not estimate.defined or estimate.value <= 1 + CLOSE
