import json
from dataclasses import replace

import numpy as np
import pytest

from judging.stats.asymptotic import figure, undefined
from judging.stats.verdict import Facts, Rules, verdict, verdicts_by_tier


def kappa(value, low, high):
    return figure(value, (low, high), n_items=200, confidence=0.95, method="BCa")


GOOD = Facts(
    labelled=200,
    unscored=0.01,
    agreement=kappa(0.8, 0.72, 0.87),
    below_ceiling=kappa(0.02, -0.04, 0.08),
    alt_test_passed=True,
    coverage=0.8,
    saved=1.5,
)


def codes(found):
    return [reason.code for reason in found.against]


def test_a_judge_as_good_as_people_replaces_them():
    found = verdict(GOOD)
    assert found.decision == "replace"
    assert found.against == ()
    assert len(found.reasons) == 7


@pytest.mark.parametrize(
    ("change", "decision", "code"),
    [
        ({"alt_test_passed": False}, "assist and escalate", "alt_test"),
        ({"alt_test_passed": None}, "assist and escalate", "alt_test"),
        ({"biases": ("length",)}, "assist and escalate", "biases"),
        ({"below_ceiling": kappa(0.2, 0.1, 0.3)}, "assist and escalate", "ceiling"),
        ({"labelled": 20}, "do not use", "labelled"),
        ({"unscored": 0.6}, "do not use", "unscored"),
        ({"agreement": kappa(0.05, -0.05, 0.15)}, "do not use", "agreement"),
        ({"agreement": undefined("one category used", n_items=200)}, "do not use", "agreement"),
        ({"coverage": 0.0, "saved": 0.02}, "do not use", "worth"),
        ({"coverage": np.nan, "saved": np.nan}, "do not use", "worth"),
    ],
)
def test_each_rule(change, decision, code):
    found = verdict(replace(GOOD, **change))
    assert found.decision == decision
    assert codes(found) == [code]
    assert found.against[0].message


def test_the_worst_rule_decides_and_all_are_told():
    found = verdict(replace(GOOD, biases=("length",), unscored=0.5))
    assert found.decision == "do not use"
    assert codes(found) == ["unscored", "biases"]


def test_a_researcher_may_change_the_rules():
    rules = Rules(tolerated_biases=("length",), must_pass_alt_test=False)
    found = verdict(replace(GOOD, biases=("length",), alt_test_passed=False), rules)
    assert found.decision == "replace"
    assert found.as_json()["rules"]["tolerated_biases"] == ["length"]


def test_a_family_of_probes_stands_for_each_of_them():
    weak = replace(GOOD, biases=("invariance:names",), not_probed=("injection:note",))
    assert verdict(weak, Rules(tolerated_biases=("invariance",))).decision == "replace"
    required = Rules(tolerated_biases=("invariance",), required_probes=("injection",))
    assert "could not be probed: injection:note" in verdict(weak, required).against[0].message


def test_by_tier():
    hard = replace(GOOD, agreement=kappa(0.1, -0.1, 0.3))
    found = verdicts_by_tier({"easy": GOOD, "hard": hard})
    assert {tier: one.decision for tier, one in found.items()} == {"easy": "replace", "hard": "do not use"}


def test_document_is_json():
    document = verdict(GOOD).as_json()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
