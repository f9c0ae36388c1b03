"""Results in words."""

import re

import pytest

from annotation.stats.headline import UNWEIGHTED
from judging.assessment import wording


def e(value, low=None, high=None, reason=None):
    return {"value": value, "low": low, "high": high, "reason": reason}


def document(kappa=0.7, n_raters=3, judges=None):
    return {
        "headline": UNWEIGHTED.to_json(),
        "coefficients": {UNWEIGHTED.people: e(kappa, 0.6, 0.8)},
        "n_raters": n_raters,
        "judges": judges or {},
    }


def judge(below, *, kind="judge"):
    return {
        "mean_cohen_kappa": e(0.6, 0.5, 0.7),
        "human_ceiling": e(0.65, 0.55, 0.75),
        "below_ceiling": below,
        "kind": kind,
    }


@pytest.mark.parametrize(  # Landis and Koch (1977), table 2
    ("kappa", "name"),
    [
        (-0.1, "poor"),
        (0.0, "slight"),
        (0.2, "slight"),
        (0.21, "fair"),
        (0.4, "fair"),
        (0.6, "moderate"),
        (0.61, "substantial"),
        (0.8, "substantial"),
        (0.81, "almost perfect"),
        (1.0, "almost perfect"),
    ],
)
def test_the_words_of_landis_and_koch(kappa, name):
    assert wording.band(kappa)[0] == name


@pytest.mark.parametrize(
    ("below", "said"),
    [
        (e(0.2, 0.1, 0.3), "gpt is below inter-annotator agreement"),
        (e(-0.2, -0.3, -0.1), "gpt is above inter-annotator agreement"),
        (e(0.0, -0.05, 0.05), "gpt reaches inter-annotator agreement"),
        (e(0.0, -0.3, 0.3), "the interval is too wide to tell"),
        (e(None, reason="the judge scored no item"), "gpt cannot be compared"),
    ],
)
def test_a_judge_is_placed_by_the_interval_of_what_it_lacks(below, said):
    sentence = wording.describe_criterion("Depth", document(judges={"gpt": judge(below)}))
    assert sentence.startswith("Three people agree substantially on Depth (mean Cohen’s kappa 0.70 [0.60, 0.80]); ")
    assert said in sentence


def test_the_difference_is_the_judge_less_the_people_named_before_it():
    sentence = wording.describe_criterion("Depth", document(judges={"gpt": judge(e(-0.1, -0.16, -0.04))}))
    assert re.search(r"gpt is above [a-z-]+ agreement \(\S+ against \S+, difference 0\.10 \[0\.04, 0\.16\]\)", sentence)
    sentence = wording.describe_criterion("Depth", document(judges={"gpt": judge(e(0.0, -0.02, 0.05))}))
    assert "difference 0.00 [−0.05, 0.02])" in sentence


def test_simulated_people_and_baselines_are_called_that():
    judges = {"longer": judge(e(0.2, 0.1, 0.3), kind="baseline judge")}
    sentence = wording.describe_criterion("Depth", document(judges=judges), simulated=3)
    assert sentence.startswith("Three simulated annotators agree")
    assert "the baseline judge longer is below" in sentence
    alone = wording.describe_criterion("Depth", document(judges={"baseline": judges["longer"]}))
    assert "; the baseline judge is below" in alone
    assert wording.raters(3, 1) == "three annotators, one of them simulated,"


def test_an_undefined_kappa_is_said_with_its_reason():
    found = document()
    found["coefficients"][UNWEIGHTED.people] = e(None, reason="one category used")
    assert (
        wording.describe_criterion("Depth", found)
        == "Agreement of three people on Depth is undefined (one category used)."
    )


def test_over_several_criteria():
    documents = {"a": document(0.3), "b": document(0.9), "c": document(0.5)}
    names = {"a": "Depth", "b": "Completion", "c": "Tone"}
    assert wording.summarise_people(names, documents, n_raters=3) == (
        "Inter-annotator agreement of three people runs from fair (Depth) to almost perfect (Completion)."
    )
    assert wording.summarise_people(names, documents, n_raters=3, simulated=3).startswith(
        "Inter-annotator agreement of three simulated annotators runs from fair"
    )
    assert wording.summarise_people({"a": "Depth"}, {"a": document(0.3)}, n_raters=2).endswith("is fair on Depth.")


def test_the_verdicts_are_counted():
    assert wording.summarise_decisions({}) == ""
    assert wording.summarise_decisions({"replace": 1}) == "The verdict on the judge: replace."
    assert wording.summarise_decisions({"do not use": 3}) == "Of 3 verdicts (criterion × judge), all are do not use."
    assert wording.summarise_decisions({"replace": 1, "assist and escalate": 2, "do not use": 3}) == (
        "Of 6 verdicts (criterion × judge), 1 replace, 2 assist and escalate and 3 do not use."
    )


def difference(name, best, **others):
    return {
        "name": name,
        "best": best,
        "rows": [{"judge": judge, "difference": e(*at)} for judge, at in others.items()],
    }


def test_judges_are_compared_in_a_sentence():
    assert wording.summarise_differences([]) == ""
    one = difference("Preference", "gpt", base=(0.365, 0.212, 0.518))
    assert wording.summarise_differences([one]) == (
        "gpt agrees most with people on Preference; base is lower by 0.36 [0.21, 0.52]."
    )
    two = difference("Depth", "base", gpt=(0.1, -0.1, 0.3))
    assert wording.summarise_differences([one, one, two]) == (
        "gpt agrees most with people on 2 of 3 criteria, base on 1. Of 3 differences, 2 exclude 0."
    )
    three = difference("Depth", "gpt", base=(None, None, None), other=(0.2, 0.1, 0.3))
    assert wording.summarise_differences([three]) == (
        "gpt agrees most with people on 1 of 1 criterion. Of 2 differences, 1 excludes 0."
    )


def test_many_judges_are_not_all_named():
    judges = {f"judge{n}": judge(e(0.2, 0.1, 0.3)) for n in range(7)}
    assert wording.describe_criterion("Depth", document(judges=judges)).endswith("; three more below.")
