import json
from dataclasses import replace

import numpy as np
import pytest

from judging.stats.asymptotic import build_undefined, figure, share
from judging.stats.verdict import ORDER, Facts, Rules, verdict


def kappa(value, low, high):
    return figure(value, (low, high), n_items=200, confidence=0.95, method="BCa")


NOTHING = build_undefined("not known", n_items=0)
GOOD = Facts(
    labelled=200,
    clusters=40,
    outside=80.0,
    unscored=share(2, 200),
    agreement=kappa(0.8, 0.72, 0.87),
    below_ceiling=kappa(0.02, -0.04, 0.08),
    accepted=share(160, 200),
    gained=kappa(1.5, 1.1, 2.0),
    alt_test_passed=True,
)


def codes(found):
    return [reason.code for reason in found.against]


def test_a_judge_as_good_as_people_replaces_them():
    found = verdict(GOOD)
    assert found.decision == "replace"
    assert found.against == ()
    assert len(found.reasons) == 7


ASSIST, UNKNOWN, NEVER = "assist and escalate", "not enough evidence", "do not use"


@pytest.mark.parametrize(
    ("change", "decision", "code"),
    [
        ({"alt_test_passed": False}, ASSIST, "alt_test"),
        ({"alt_test_passed": None}, ASSIST, "alt_test"),
        ({"biases": ("length",)}, ASSIST, "biases"),
        ({"below_ceiling": kappa(0.2, 0.1, 0.3)}, ASSIST, "ceiling"),
        ({"below_ceiling": kappa(0.0, np.nan, np.nan)}, ASSIST, "ceiling"),
        # too little, or too wide: no answer
        ({"labelled": 20}, UNKNOWN, "labelled"),
        ({"clusters": 5}, UNKNOWN, "labelled"),
        ({"outside": 5.0}, UNKNOWN, "labelled"),
        ({"agreement": kappa(0.05, -0.05, 0.15)}, UNKNOWN, "agreement"),
        ({"agreement": kappa(0.5, np.nan, np.nan)}, UNKNOWN, "agreement"),
        ({"agreement": build_undefined("one category used", n_items=200)}, UNKNOWN, "agreement"),
        ({"unscored": share(3, 12)}, UNKNOWN, "unscored"),
        ({"unscored": share(2, 2)}, UNKNOWN, "unscored"),
        ({"unscored": share(40, 49)}, UNKNOWN, "unscored"),
        ({"unscored": build_undefined("the judge was asked nothing", n_items=0)}, UNKNOWN, "unscored"),
        # known to be bad
        ({"agreement": kappa(-0.2, -0.3, -0.1)}, NEVER, "agreement"),
        ({"agreement": kappa(0.0, 0.0, 0.0)}, NEVER, "agreement"),
        ({"agreement": kappa(0.0, np.nan, np.nan), "constant": True}, NEVER, "agreement"),
        ({"unscored": share(120, 200)}, NEVER, "unscored"),
    ],
)
def test_each_rule(change, decision, code):
    found = verdict(replace(GOOD, **change))
    assert found.decision == decision
    assert codes(found) == [code]
    assert found.against[0].message


@pytest.mark.parametrize(
    ("change", "decision"),
    [
        ({"accepted": NOTHING, "gained": NOTHING}, UNKNOWN),
        ({"accepted": NOTHING, "gained": kappa(0.4, -0.1, 0.9)}, UNKNOWN),
        ({"accepted": NOTHING, "gained": kappa(0.01, 0.0, 0.02)}, UNKNOWN),
        ({"accepted": NOTHING, "gained": kappa(0.4, 0.2, 0.9)}, ASSIST),
        ({"accepted": share(30, 200), "gained": kappa(0.01, 0.0, 0.02)}, ASSIST),
        ({"accepted": share(1, 200), "gained": kappa(0.01, 0.0, 0.02)}, NEVER),
        ({"accepted": NOTHING, "acceptance_ruled_out": True, "gained": kappa(0.01, 0.0, 0.02)}, NEVER),
    ],
)
def test_to_assist_something_must_be_accepted_or_gained(change, decision):
    assert verdict(replace(GOOD, alt_test_passed=False, **change)).decision == decision
    assert verdict(replace(GOOD, **change)).decision == "replace", "a person's label is worth something"


def test_a_judge_above_the_ceiling_is_not_said_to_be_below_it_by_less_than_nothing():
    found = verdict(replace(GOOD, below_ceiling=kappa(-0.16, -0.21, -0.12)))
    (reason,) = (one for one in found.reasons if one.code == "ceiling")
    assert reason.message.startswith("inter-annotator agreement minus judge–human kappa: −0.16 [−0.21, −0.12]; ")


def test_few_clusters_widen_the_interval_of_the_ceiling():
    """t of 9 degrees of freedom is 2.262: .02 + 2.262 * .04 = .110 lies above .1, the bootstrap's .08 does not."""
    narrow = replace(kappa(0.02, -0.04, 0.08), se=0.04)
    assert verdict(replace(GOOD, clusters=40, below_ceiling=replace(narrow, se=0.03))).decision == "replace"
    found = verdict(replace(GOOD, clusters=10, below_ceiling=narrow))
    assert codes(found) == ["ceiling"]
    assert "(0.11 by Student's t)" in found.against[0].message


def test_labels_that_are_all_the_same_do_not_condemn():
    flat = {"outside": 0.0, "agreement": kappa(0.0, 0.0, 0.0), "constant": True}
    assert verdict(replace(GOOD, **flat)).decision == "not enough evidence"


def test_no_verdict_at_all_is_not_enough_evidence():
    nothing = build_undefined("no item has a verdict", n_items=0)
    found = verdict(Facts(0, 0, 0.0, nothing, nothing, nothing, accepted=nothing, gained=nothing))
    assert found.decision == "not enough evidence"


def test_nothing_accepted_and_a_gain_that_may_be_none_do_not_assist():
    """Found: 0.0 % could be kept, and labels saved at the limit of endless unlabelled items were enough."""
    found = verdict(replace(GOOD, accepted=NOTHING, gained=NOTHING, alt_test_passed=False))
    assert found.decision == "not enough evidence"
    assert "accepted without review: unknown" in next(one.message for one in found.against if one.code == "worth")


def test_few_labels_do_not_condemn():
    few = replace(GOOD, labelled=20, agreement=kappa(-0.5, -0.8, -0.1))
    assert verdict(few).decision == "not enough evidence"


def test_the_worst_rule_decides_and_all_are_told():
    found = verdict(replace(GOOD, biases=("length",), unscored=share(100, 200), agreement=kappa(0.1, -0.1, 0.3)))
    assert found.decision == "do not use"
    assert codes(found) == ["unscored", "agreement", "biases"]


def test_from_the_worst_to_the_best():
    assert ORDER == ("do not use", "not enough evidence", "assist and escalate", "replace")


def test_a_researcher_may_change_the_rules():
    rules = Rules(tolerated_biases=("length",), must_pass_alt_test=False)
    found = verdict(replace(GOOD, biases=("length",), alt_test_passed=False), rules)
    assert found.decision == "replace"
    assert found.to_json()["rules"]["tolerated_biases"] == ["length"]


def test_a_family_of_probes_stands_for_each_of_them():
    weak = replace(GOOD, biases=("invariance:names",), not_probed=("injection:note",))
    assert verdict(weak, Rules(tolerated_biases=("invariance",))).decision == "replace"
    required = Rules(tolerated_biases=("invariance",), required_probes=("injection",))
    assert "not run: injection:note" in verdict(weak, required).against[0].message


def test_document_is_json():
    document = verdict(GOOD).to_json()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
