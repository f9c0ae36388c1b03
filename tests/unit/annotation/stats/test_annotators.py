import json

import numpy as np
import pytest

from annotation.stats.agreement import agreement
from annotation.stats.annotators import (
    annotator_report,
    find_inverted_raters,
    identical_raters,
    longest_run,
    relative_entropy,
)

from .data import from_codes

RNG = np.random.default_rng(12)
TRUTH = RNG.integers(0, 5, 120)


def rater(accuracy):
    noise = np.clip(TRUTH + RNG.choice([-1, 1], 120), 0, 4)
    return np.where(RNG.random(120) < accuracy, TRUTH, noise)


ALICE, BOB, CAROL = rater(0.9), rater(0.8), rater(0.85)


def report(*columns, level="ordinal", q=5, **options):
    table = from_codes(np.column_stack(columns), q=q, level=level)
    return annotator_report(table, bootstrap=100, **options)


def codes_of(found):
    return {warning.code for warning in found.warnings}


class TestSoundAnnotators:
    found = report(ALICE, BOB, CAROL)

    def test_nothing_is_flagged(self):
        assert self.found.warnings == ()
        assert not any(one.inverted or one.constant or one.straight_lining for one in self.found.annotators)

    def test_agreement_with_the_rest_is_the_mean_over_pairs(self):
        pairs = {
            frozenset((pair.a, pair.b)): pair.cohen_kappa.value
            for pair in agreement(from_codes(np.column_stack([ALICE, BOB, CAROL]), q=5), bootstrap=0).pairs
        }
        expected = (pairs[frozenset(("r1", "r2"))] + pairs[frozenset(("r1", "r3"))]) / 2
        assert self.found.annotators[0].rest.cohen_kappa.value == pytest.approx(expected)

    def test_every_figure_has_an_interval(self):
        for one in self.found.annotators:
            for figure in one.versus.values():
                flat = figure.value == 1  # nobody is ever more than one step away
                assert flat or figure.low <= figure.value <= figure.high
                assert figure.n_items > 0

    def test_accuracy_is_against_the_majority_of_the_others(self):
        # two others: a majority only where they agree
        agreed = BOB == CAROL
        found = self.found.annotators[0].versus["accuracy"]
        assert found.value == pytest.approx((ALICE == BOB)[agreed].mean())
        assert found.n_items == agreed.sum()

    def test_bias_is_leniency(self):
        lenient = report(np.minimum(TRUTH + 1, 4), TRUTH, TRUTH).annotators[0].versus["bias"]
        assert lenient.value == pytest.approx((np.minimum(TRUTH + 1, 4) - TRUTH).mean())

    def test_is_json(self):
        document = json.loads(json.dumps(self.found.to_json(), allow_nan=False))
        assert {"annotator", "cohen_kappa", "spearman", "entropy", "inverted"} <= set(document["annotators"][0])


class TestSigns:
    @pytest.mark.long
    def test_an_inverted_scale(self):
        found = report(ALICE, BOB, 4 - CAROL)
        assert [one.inverted for one in found.annotators] == [False, False, True]
        assert "inverted_scale" in codes_of(found)
        assert "r3" in next(w.message for w in found.warnings if w.code == "inverted_scale")

    def test_an_inverted_answer_to_a_yes_no_question(self):
        yes = TRUTH > 2
        found = report(yes, yes, ~yes, level="nominal", q=2)
        assert [one.inverted for one in found.annotators] == [False, False, True]

    def test_an_inverted_scale_is_a_warning_of_agreement_too(self):
        table = from_codes(np.column_stack([ALICE, BOB, 4 - CAROL]), q=5, level="ordinal")
        assert "inverted_scale" in codes_of(agreement(table, bootstrap=0))
        upright = from_codes(np.column_stack([ALICE, BOB, CAROL]), q=5, level="ordinal")
        assert "inverted_scale" not in codes_of(agreement(upright, bootstrap=0))

    def test_an_accident_of_three_profiles_is_no_inverted_scale(self):
        # the first two see the profiles as 1, 3, 5, the third as 5, 3, 1: sixty items, and three things to disagree on
        profile = np.repeat([0, 1, 2], 20)
        noise = np.random.default_rng(8).integers(0, 2, (60, 3))
        clusters = tuple(map(str, profile))
        codes = np.clip(np.column_stack([2 * profile, 2 * profile, 4 - 2 * profile]) + noise, 0, 4)
        alone, shared = (
            find_inverted_raters(from_codes(codes, q=5, level="ordinal", clusters=names)) for names in (None, clusters)
        )
        assert alone == ["r3"]
        assert shared == []

    def test_an_inverted_scale_in_many_profiles_is_found(self):
        rng = np.random.default_rng(9)
        truth = np.clip(np.repeat(rng.integers(0, 5, 30), 4) + rng.integers(-1, 2, 120), 0, 4)
        codes = np.column_stack([truth, truth, 4 - truth])
        clusters = tuple(str(k // 4) for k in range(120))
        assert find_inverted_raters(from_codes(codes, q=5, level="ordinal", clusters=clusters)) == ["r3"]

    def test_a_random_rater_is_not_inverted(self):
        assert not report(ALICE, BOB, RNG.integers(0, 5, 120)).annotators[2].inverted

    def test_identical_raters(self):
        found = report(ALICE, BOB, ALICE)
        assert found.identical == (("r1", "r3"),)
        assert "identical_raters" in codes_of(found)

    @pytest.mark.parametrize(("n", "accuracy", "n_raters"), [(20, 0.98, 3), (20, 0.95, 3), (60, 0.98, 5)])
    def test_raters_who_are_right_on_easy_items_are_seldom_called_identical(self, n, accuracy, n_raters):
        # some two of them agree on every item in 35 to 76 % of such tables
        rng, called = np.random.default_rng(1), 0
        for _ in range(100):
            truth = rng.integers(0, 2, (n, 1))
            codes = np.where(rng.random((n, n_raters)) < accuracy, truth, 1 - truth)
            called += bool(identical_raters(from_codes(codes, q=2)))
        assert called <= 5

    def test_a_copied_column_of_a_rater_who_errs_is_found(self):
        rng, found = np.random.default_rng(2), 0
        for _ in range(50):
            truth = rng.integers(0, 2, (40, 1))
            codes = np.where(rng.random((40, 3)) < 0.9, truth, 1 - truth)
            codes[:, 1] = codes[:, 0]
            found += ("r1", "r2") in identical_raters(from_codes(codes, q=2))
        assert found >= 45

    def test_agreeing_on_one_category_is_not_being_identical(self):
        table = from_codes([[1, 1]] * 40, q=2)
        assert identical_raters(table) == []

    def test_a_constant_rater(self):
        found = report(ALICE, BOB, np.full(120, 3))
        assert [one.constant for one in found.annotators] == [False, False, True]
        assert found.annotators[2].entropy == 0

    def test_a_straight_line(self):
        lazy = BOB.copy()
        lazy[40:75] = 2
        found = report(ALICE, BOB, lazy)
        assert found.annotators[2].longest_run >= 35
        assert [one.straight_lining for one in found.annotators] == [False, False, True]

    def test_the_order_of_answering_is_what_counts(self):
        sorted_answers = np.sort(BOB)
        when = np.tile(RNG.permutation(120)[:, None].astype(float), (1, 3))
        assert report(ALICE, BOB, sorted_answers).annotators[2].straight_lining
        assert not report(ALICE, BOB, sorted_answers, order=when).annotators[2].straight_lining

    def test_missing_ratings_do_not_break_a_run(self):
        gaps = np.where(np.arange(120) % 2 == 0, -1, ALICE)
        found = report(gaps, BOB, CAROL).annotators[0]
        assert found.n_ratings == 60
        assert found.versus["accuracy"].n_items <= 60


class TestDegenerate:
    def test_one_annotator(self):
        found = report(ALICE)
        assert found.annotators[0].rest.cohen_kappa.reason == "only one rater"
        assert not found.annotators[0].versus["mae"].defined

    def test_annotators_who_never_meet(self):
        table = from_codes([[0, -1], [-1, 1]], q=2, level="ordinal")
        found = annotator_report(table, bootstrap=10).annotators
        assert found[0].versus["accuracy"].reason == "no item rated by someone else as well"

    def test_a_nominal_scale_has_no_bias(self):
        found = report(TRUTH, TRUTH, (TRUTH + 1) % 5, level="nominal").annotators[2]
        assert found.versus["bias"].reason == "the scale is nominal: its categories have no distances"
        assert not found.inverted

    def test_order_must_fit(self):
        with pytest.raises(ValueError, match="order has shape"):
            report(ALICE, BOB, order=[[1.0]])


class TestPieces:
    def test_entropy(self):
        assert relative_entropy(np.array([5.0, 5, 0, 0])) == pytest.approx(0.5)
        assert relative_entropy(np.array([3.0, 3, 3])) == pytest.approx(1)
        assert np.isnan(relative_entropy(np.zeros(3)))

    def test_longest_run(self):
        length, probability = longest_run(np.array([0, 1, 1, 1, 0, 0, 1]))
        assert length == 3
        assert 0.2 < probability <= 1

    def test_run_probability_is_that_of_simulated_sequences(self):
        # a run of 9 or more in 100 fair coin tosses: about .1; the approximation is for rare runs
        tosses = np.random.default_rng(0).integers(0, 2, (20_000, 100))
        runs = np.zeros(20_000, dtype=int)
        current = np.ones(20_000, dtype=int)
        for i in range(1, 100):
            current = np.where(tosses[:, i] == tosses[:, i - 1], current + 1, 1)
            runs = np.maximum(runs, current)
        sequence = np.array([0] * 9 + [1, 0] * 45 + [1])
        assert longest_run(sequence)[0] == 9
        assert longest_run(sequence)[1] == pytest.approx((runs >= 9).mean(), abs=0.03)

    def test_no_answers(self):
        assert longest_run(np.array([], dtype=int))[0] == 0
