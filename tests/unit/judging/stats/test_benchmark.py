"""Figures of a benchmark, each expected value derived by hand beside it."""

import numpy as np
import pytest

from judging.stats import benchmark as stats
from judging.stats.answer_confidence import calibrate_confidence
from judging.stats.benchmark import Answers, Cases, Sheet

NAN = float("nan")


def cases(
    gold=(1, 1, 2, 2),
    *,
    persona=None,
    tier=None,
    kind=None,
    longer=None,
    kappa=None,
    votes=None,
    groups=None,
    odds=None,
):
    n = len(gold)
    persona = np.array(range(n) if persona is None else persona)
    return Cases(
        ids=np.arange(n) + 100,
        persona=persona,
        n_personas=int(persona.max()) + 1,
        tier=np.array(tier or [""] * n),
        kind=np.array(kind or [""] * n),
        gold=np.array(gold),
        longer=np.array(longer or [0] * n),
        kappa=np.array(kappa or [NAN] * n, dtype=float),
        votes=np.array(votes or [[NAN] * 3] * n, dtype=float),
        groups={name: np.array(values) for name, values in (groups or {}).items()},
        odds=None if odds is None else np.array(odds),
    )


def answers(*said, confidence=None):
    """One (AB, BA) pair for each case: the response named, 0 for an unscored reply, None for none at all."""
    there = np.array([[one is not None for one in row] for row in said])
    codes = np.array([[one or 0 for one in row] for row in said])
    sure = np.full(codes.shape, NAN) if confidence is None else np.array(confidence, dtype=float)
    return Answers(codes, there, sure)


def test_a_case_scores_the_share_of_its_scored_answers_that_are_right():
    said = answers((1, 1), (1, 2), (2, 0), (None, 1))
    # both right; one of two; right in the only scored order; wrong in the only order that was asked
    assert said.scores(cases()).tolist() == [1.0, 0.5, 1.0, 0.0]


def test_unscored_is_neither_right_nor_wrong():
    said = answers((0, 0), (1, 1), (None, None), (1, 0))
    scores = said.scores(cases())
    assert np.isnan(scores[[0, 2]]).all()
    assert scores[[1, 3]].tolist() == [1.0, 0.0]
    assert int(said.unscored.sum()) == 3
    sheet = Sheet(cases(), bootstrap=0)
    stats.add_cell_columns(sheet, "m", scores)
    found = sheet.estimates()["m", "all"]
    assert (found.value, found.n_items) == (0.5, 2)  # (1 + 0) / 2: two cases have no score


def test_a_figure_without_any_answer_is_undefined_with_the_reason():
    sheet = Sheet(cases(), bootstrap=100)
    sheet.add(("m", "all"), np.full(4, NAN), reason=stats.NO_ANSWER)
    found = sheet.estimates()["m", "all"]
    assert (np.isnan(found.value), found.reason, found.n_items) == (True, "no scored answer", 0)


def test_accuracy_by_tier_and_kind():
    some = cases(tier=["easy", "easy", "hard", "hard"], kind=["general", "specific", "general", "specific"])
    sheet = Sheet(some, bootstrap=0)
    stats.add_cell_columns(sheet, "m", answers((1, 1), (2, 2), (2, 1), (1, 1)).scores(some))  # 1, 0, .5, 0
    found = {cell: estimate.value for (_, cell), estimate in sheet.estimates().items()}
    assert found == {
        "all": 0.375,
        "easy": 0.5,
        "hard": 0.25,
        "kind general": 0.75,
        "kind specific": 0.0,
        "general easy": 1.0,
        "general hard": 0.5,
        "specific easy": 0.0,
        "specific hard": 0.0,
    }


def test_intervals_resample_whole_personas():
    """Ten cases of one persona that are all alike say no more than one: the interval is as wide as for two cases."""
    few = Sheet(cases((1, 1), persona=[0, 1]), bootstrap=2000)
    few.add(("m",), np.array([1.0, 0.0]), reason="")
    many = Sheet(cases((1,) * 20, persona=[0] * 10 + [1] * 10), bootstrap=2000)
    many.add(("m",), np.array([1.0] * 10 + [0.0] * 10), reason="")
    a, b = few.estimates()[("m",)], many.estimates()[("m",)]
    assert (a.low, a.high) == (b.low, b.high)
    assert b.value == 0.5


def test_intervals_of_clusters_of_one_equal_those_of_means():
    """`clustered_means` reads rows and clusters; here they are summed by persona first. The draws are the same."""
    from judging.stats.means import compute_means

    rng = np.random.default_rng(3)
    values, persona = rng.integers(0, 2, 60).astype(float), rng.integers(0, 15, 60)
    persona[:15] = range(15)  # in this order, so that both number the personas alike
    sheet = Sheet(cases((1,) * 60, persona=persona), bootstrap=500, seed=4)
    sheet.add(("m",), values, reason="")
    names = [str(one) for one in persona]
    (expected,) = compute_means(
        [values], items=[str(n) for n in range(60)], clusters=names, bootstrap=500, seed=4, scale="share"
    )
    found = sheet.estimates()[("m",)]
    assert (found.value, found.low, found.high) == pytest.approx((expected.value, expected.low, expected.high))


def test_an_interval_of_a_share_does_not_pass_its_ends_and_that_of_a_difference_may():
    """One case of twelve is right: the standard error is as large as the share."""
    sheet = Sheet(cases((1,) * 12, persona=range(12)))
    sheet.add(("accuracy",), np.eye(12)[0], reason="")
    sheet.add(("difference",), np.eye(12)[0], reason="", scale="plain")
    accuracy, difference = sheet.estimates().values()
    assert 0 < accuracy.low < accuracy.value == 1 / 12 < accuracy.high < 1
    assert difference.low < 0


def test_one_persona_has_no_interval_and_says_why():
    sheet = Sheet(cases((1, 1), persona=[0, 0]), bootstrap=100)
    sheet.add(("m",), np.array([1.0, 0.0]), reason="")
    found = sheet.estimates()[("m",)]
    assert (found.value, np.isnan(found.low)) == (0.5, True)
    assert found.reason == "not enough evidence: 1 cluster; at least 8 are needed"


def test_differences_are_within_the_same_case():
    """The second model is better on every case by the same: nothing varies, though each alone does."""
    some = cases((1,) * 8)
    a, b = np.tile([1.0, 0.5], 4), np.tile([0.5, 0.0], 4)
    sheet = Sheet(some, bootstrap=500)
    sheet.add(("a",), a, reason="")
    sheet.add(("difference",), a - b, reason="")
    found = sheet.estimates()
    assert found[("a",)].low < found[("a",)].high
    assert found[("difference",)].value == 0.5
    assert found[("difference",)].reason == "no interval: leaving out any of the clusters changes nothing"


def test_position_consistency_and_leaning():
    said = answers((1, 1), (1, 2), (2, 1), (1, 0))
    # case 1 names the same response; case 2 the one shown first both times; case 3 the second; case 4 has one order
    assert stats.consistent(said)[:3].tolist() == [1.0, 0.0, 0.0]
    assert np.isnan(stats.consistent(said)[3])
    first = stats.mark_first_shown(said)
    assert first[:3].tolist() == [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    assert np.isnan(first[3, 1])
    assert stats.mark_both_right(said, cases())[:3].tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ([9, 0, 0], 1.0),
        ([8, 1, 0], 8 / 9),  # the eight agree with the others, the one does not
        ([5, 4, 0], 2.5 / 9),  # the five see 4 against 4, worth a half each; the four see 5 against 3
        ([4, 4, 0], 0.0),  # tied: each voter finds the others leaning the other way by one
        ([3, 3, 2], 1 / 8),  # as before, and two votes for neither, worth a half each
        ([2, 0, 1], 2.5 / 3),
        ([1, 1, 0], 0.0),
        ([0, 0, 4], 0.5),
        ([1, 0, 0], NAN),  # nobody else
        ([0, 0, 0], NAN),
        ([NAN, NAN, NAN], NAN),
    ],
)
def test_one_vote_against_the_others(votes, expected):
    assert stats.leave_one_out(np.array([votes], dtype=float))[0] == pytest.approx(expected, nan_ok=True)


def test_lines_that_models_are_held_to():
    lines = stats.lines(cases(longer=[1, 2, 0, 2]))
    assert lines["the longer response"][0].tolist() == [1.0, 0.0, 0.5, 1.0]
    assert set(lines["chance"][0]) == {0.5}
    human, reason = lines["human, leave one out"]
    assert np.isnan(human).all()
    assert reason == "no votes are known of these cases"


def test_what_nobody_gets():
    some = cases()
    one, other = answers((2, 2), (1, 2), (1, 1), (0, 0)), answers((2, 0), (2, 2), (1, 1), (0, None))
    # case 1: all wrong; case 2: right once; case 3: all wrong; case 4: nobody answered
    assert stats.find_unsolved(some, [one, other]).tolist() == [0, 2]
    assert stats.find_unsolved(some, []).tolist() == []


def test_tiers_with_other_cuts():
    some = cases(kappa=[0.55, 0.65, 0.9, NAN])
    found = {
        cuts: {tier: int(mask.sum()) for tier, mask in bands.items()}
        for cuts, bands in stats.iterate_shifted_tiers(some)
    }
    assert found == {
        (0.3, 0.5, 0.7): {"easy": 1, "medium": 2, "hard": 0, "contested": 0},
        (0.4, 0.6, 0.8): {"easy": 1, "medium": 1, "hard": 1, "contested": 0},
        (0.5, 0.7, 0.9): {"easy": 0, "medium": 1, "hard": 2, "contested": 0},  # a kappa on a cut is in the tier below
    }


def test_groups_of_personas_that_are_large_enough():
    some = cases((1,) * 25, groups={"Age": ["20–29"] * 12 + ["30–39"] * 11 + ["90–99"] * 2, "Name": ["a"] * 25})
    found = [(field, value, int(mask.sum())) for field, value, mask in stats.demographic_groups(some)]
    assert found == [("Age", "20–29", 12), ("Age", "30–39", 11)]


def test_calibration_of_confidence():
    """Four answers: .9 right, .9 wrong, .6 right, .6 right.

    ECE: the bin of .9 has accuracy .5, the bin of .6 accuracy 1: (2 x |.9 - .5| + 2 x |.6 - 1|) / 4 = .4.
    Brier: (.01 + .81 + .16 + .16) / 4 = .285. Excess: mean confidence .75 - accuracy .75 = 0.
    """
    said = answers((1, 0), (2, 0), (2, 0), (2, 0), confidence=[(0.9, NAN), (0.9, NAN), (0.6, NAN), (0.6, NAN)])
    found = calibrate_confidence(said, Sheet(cases(), bootstrap=200))
    assert found.plain_ece == pytest.approx(0.4)
    assert 0 < found.ece.value < 0.4  # four answers: some of it is noise
    assert found.brier.value == pytest.approx(0.285)
    assert found.excess.value == pytest.approx(0.0)
    assert [(one.low, one.accuracy.value, one.accuracy.n_items) for one in found.bins] == [
        (pytest.approx(0.6), 1.0, 2),
        (pytest.approx(0.9), 0.5, 2),
    ]


def test_a_model_that_tells_no_probabilities_has_no_calibration():
    found = calibrate_confidence(answers((1, 1), (1, 2), (2, 2), (2, 2)), Sheet(cases(), bootstrap=50))
    assert np.isnan(found.ece.value)
    assert np.isnan(found.plain_ece)
    assert found.ece.reason == "the model tells no probabilities"
    assert found.bins == ()


class TestLikelyTiers:
    """Columns of the odds: contested, hard, medium, easy."""

    ODDS = ((0, 0, 0.25, 0.75), (0, 0.5, 0.5, 0), (0, 1, 0, 0), (NAN, NAN, NAN, NAN))

    def test_a_case_counts_in_every_tier_by_its_probability(self):
        found = cases(odds=self.ODDS)
        sheet = Sheet(found, bootstrap=0)
        for tier, odds in stats.likely_tiers(found).items():
            sheet.add(("m", tier), np.array([1.0, 0.0, 1.0, 0.0]), where=odds, reason=stats.NO_ANSWER)
        told = sheet.estimates()
        assert list(told) == [("m", "easy"), ("m", "medium"), ("m", "hard")]  # none is contested
        assert told["m", "easy"].value == 1  # .75 / .75
        assert told["m", "medium"].value == pytest.approx(0.25 / 0.75)
        assert told["m", "hard"].value == pytest.approx(1 / 1.5)
        assert [one.n_items for one in told.values()] == [1, 1, 2]  # .75, .75 and 1.5, rounded

    def test_certain_tiers_are_those_that_are_counted(self):
        rng = np.random.default_rng(0)
        names, place = np.array(["hard", "medium", "easy"]), rng.integers(0, 3, 60)
        persona, scores = [*rng.integers(0, 30, 58).tolist(), 28, 29], rng.integers(0, 2, 60).astype(float)
        odds = np.eye(4)[place + 1]
        found = cases((1,) * 60, persona=persona, tier=names[place].tolist(), odds=odds)
        sheet = Sheet(found, bootstrap=300)
        stats.add_cell_columns(sheet, "m", scores)
        for tier, chance in stats.likely_tiers(found).items():
            sheet.add(("likely", tier), scores, where=chance, reason=stats.NO_ANSWER)
        told = sheet.estimates()
        for tier in names:
            one, two = told["m", tier], told["likely", tier]
            assert (one.value, one.n_items) == (two.value, two.n_items)
            assert (one.low, one.high) == pytest.approx((two.low, two.high), abs=1e-12)

    def test_without_the_model_there_are_none(self):
        assert stats.likely_tiers(cases()) == {}
