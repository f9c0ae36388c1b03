"""Agreement as it grows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from annotation.stats.agreement import agreement
from annotation.stats.growth import ALPHA, SHOWN, growth
from annotation.stats.table import MISSING, RatingTable


def drawn(seed: int = 0, n: int = 60) -> tuple[RatingTable, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 5, n)
    rows = np.where(rng.random((n, 4)) < 0.7, truth[:, None], rng.integers(1, 5, (n, 4))).astype(object)
    rows[rng.random((n, 4)) < 0.25] = None
    return RatingTable.from_wide(rows.tolist(), categories=[1, 2, 3, 4], level="ordinal"), rng.random((n, 4))


def test_the_last_point_is_agreement_on_everything() -> None:
    table, when = drawn()
    last = growth(table, when, bootstrap=0)[-1]
    whole = agreement(table, bootstrap=0).coefficients
    for name in SHOWN:
        assert last.coefficients[name].value == pytest.approx(whole[name].value, abs=1e-12)
        assert last.coefficients[name].n_raters == whole[name].n_raters
    assert last.n_ratings == table.n_ratings


def test_every_point_is_agreement_on_the_ratings_until_then() -> None:
    table, when = drawn(3)
    points = growth(table, when, points=4, bootstrap=0)
    assert [point.n_ratings for point in points] == [round(table.n_ratings * k / 4) for k in (1, 2, 3, 4)]
    limit = np.sort(when[table.codes != MISSING])[points[1].n_ratings - 1]
    until = table.replace_codes(np.where(when <= limit, table.codes, MISSING))
    until = until.subset_items((until.codes != MISSING).any(axis=1))
    expected = agreement(until, bootstrap=0).coefficients
    for name in SHOWN:
        assert points[1].coefficients[name].value == pytest.approx(expected[name].value, abs=1e-12)
    assert points[1].n_items == until.n_items


def test_intervals_are_there_and_narrow_as_ratings_come_in() -> None:
    table, when = drawn(1, 400)
    points = growth(table, when, bootstrap=300)
    widths = [point.coefficients["krippendorff_alpha"] for point in points]
    assert widths[-1].high - widths[-1].low < widths[2].high - widths[2].low
    assert all(point.low < point.value < point.high for point in widths[2:])


def test_copies_of_an_item_add_nothing() -> None:
    table, when = drawn(2, 40)
    again = np.repeat(np.arange(40), 5)
    copies = RatingTable(
        table.codes[again],
        table.categories,
        table.level,
        tuple(str(k) for k in range(200)),
        table.raters,
        clusters=tuple(f"profile {k}" for k in again),
    )
    # the first half of the ratings of each item came before all others
    order = np.where(np.argsort(np.argsort(when, axis=1), axis=1) < 2, 0, 1) * 1000 + np.arange(4)
    single, clustered = (
        growth(one, order[rows], points=1, bootstrap=200)[-1].coefficients
        for one, rows in ((table, np.arange(40)), (copies, again))
    )
    for name in ("krippendorff_alpha", "percent_agreement"):
        width = [one[name].high - one[name].low for one in (single, clustered)]
        assert width[1] == pytest.approx(width[0], rel=0.01), name
    alone = growth(replace(copies, clusters=None), order[again], points=1, bootstrap=200)[-1].coefficients[ALPHA]
    assert alone.high - alone.low < 0.6 * (single[ALPHA].high - single[ALPHA].low)


def test_the_intervals_are_those_of_the_page_on_agreement() -> None:
    table, when = drawn(5, 90)
    clustered = replace(
        table,
        clusters=tuple(f"profile {k // 3}" for k in range(90)),
        strata=tuple("ab"[k // 45] for k in range(90)),
        weights=np.where(np.arange(90) % 2, 1.0, 2.5),
    )
    points = growth(clustered, when, bootstrap=50, seed=3)
    whole = agreement(clustered, bootstrap=50, seed=3).coefficients
    for name in SHOWN:
        assert points[-1].coefficients[name].to_json() == pytest.approx(whole[name].to_json()), name
    # after the first tenth of the ratings there are too few clusters of a stratum to keep their number
    without = growth(replace(clustered, strata=None), when, bootstrap=50, seed=3)
    assert points[0].coefficients == without[0].coefficients
    assert points[-1].coefficients != without[-1].coefficients


def test_items_that_nobody_could_judge_are_there_at_the_end_as_on_the_page_on_agreement() -> None:
    table, when = drawn(7, 90)
    declined = replace(
        table.replace_codes(np.where(np.arange(90)[:, None] % 9, table.codes, MISSING)),
        clusters=tuple(f"profile {k // 3 if k % 9 else k}" for k in range(90)),
    )
    last, whole = growth(declined, when)[-1], agreement(declined).coefficients
    for name in SHOWN:
        assert last.coefficients[name].to_json() == pytest.approx(whole[name].to_json()), name
    assert last.n_items == (declined.ratings_per_item > 0).sum() < declined.n_items


def test_no_pair_of_ratings_yet_says_so() -> None:
    table = RatingTable.from_wide([[1, None], [None, 2], [1, None]], categories=[1, 2])
    points = growth(table, np.arange(6).reshape(3, 2))
    assert [point.n_ratings for point in points] == [1, 2, 3]
    assert all(np.isnan(point.coefficients["fleiss_kappa"].value) for point in points)
    assert points[-1].coefficients["fleiss_kappa"].reason


def test_nothing_rated_has_no_points() -> None:
    table = RatingTable.from_wide([[None, None]], categories=[1, 2])
    assert growth(table, np.zeros((1, 2))) == ()


def test_an_order_that_does_not_fit_is_refused() -> None:
    table, when = drawn()
    with pytest.raises(ValueError, match="shape"):
        growth(table, when[:, :2])
    with pytest.raises(ValueError, match="no place"):
        growth(table, np.full(when.shape, np.nan))
