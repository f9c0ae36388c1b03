import json

import numpy as np
import pytest
from scipy import stats

from judging.stats.audits.battery import correct, findings, probe_pairs, probe_scores
from judging.stats.audits.columns import PairColumns
from judging.stats.audits.probe import mean_probe
from tests.support.planted import (
    CLEAN,
    INDEPENDENT,
    NAMES,
    ON_PAIRS,
    ON_SCORES,
    PlantedDesign,
    find_planted,
    plant_pairs,
    plant_scores,
)

# the full measurement is scripts/bench_audits.py: 400 judges of each kind
PROFILES = PlantedDesign(per_profile=15)


def pairs(bias, seed, design=INDEPENDENT):
    return correct({"": probe_pairs(plant_pairs(bias, design=design, seed=seed))})[""]


def scores(bias, seed, design=INDEPENDENT):
    return correct({"": probe_scores(plant_scores(bias, design=design, seed=seed))})[""]


@pytest.mark.parametrize("name", ON_PAIRS)
def test_a_bias_planted_in_pairs_is_found(name):
    found = [name in pairs(find_planted(name, paired=True), seed).found for seed in range(3)]
    assert sum(found) >= 2


@pytest.mark.parametrize("name", ON_SCORES)
def test_a_bias_planted_in_scores_is_found(name):
    found = [name in scores(find_planted(name, paired=False), seed).found for seed in range(3)]
    assert sum(found) >= 2


@pytest.mark.long
@pytest.mark.parametrize("noise", [0.3, 1, 2])
@pytest.mark.parametrize("per_profile", [1, 15])
def test_a_clean_judge_is_not_accused(noise, per_profile):
    design = PlantedDesign(noise=noise, per_profile=per_profile)
    accused = [pairs(CLEAN, seed, design).found for seed in range(4)]
    accused += [scores(CLEAN, seed, design).found for seed in range(4)]
    assert sum(map(bool, accused)) <= stats.binom.ppf(0.999, 8, 0.05)


def p_values(name, design, times):
    made = (probe_scores(plant_scores(CLEAN, design=design, seed=seed)) for seed in range(times))
    return np.array([probe.p_value for probes in made for probe in probes if probe.name == name])


@pytest.mark.long
def test_a_judge_better_than_people_does_not_keep_to_the_middle():
    """The standard deviation of its scores is below a person's: by their ratio it was accused in 97 of 100."""
    p = p_values("central_tendency", PlantedDesign(noise=0.3), 20)
    assert (p < 0.05).sum() <= stats.binom.ppf(0.999, 20, 0.05)


def test_all_criteria_are_one_family():
    weak, nothing = mean_probe("weak", [1] * 16 + [-1] * 5, unit=""), mean_probe("nothing", [1, -1] * 10, unit="")
    assert correct({"one": [weak]})["one"].found == ("weak",)
    together = correct({"one": [weak], "two": [nothing] * 4, "three": [nothing] * 5})
    assert together["one"].found == ()
    assert [len(audit.findings) for audit in together.values()] == [1, 4, 5]


def test_documents_are_json():
    document = scores(CLEAN, 0, PlantedDesign(n=60)).to_json()
    json.dumps(document, allow_nan=False)
    assert document["correction"] == "holm"
    made = {probe["name"] for probe in document["probes"]}
    assert made == set(ON_SCORES) | set(NAMES)


def test_what_cannot_be_probed_accuses_nobody():
    ones = np.ones((5, 1))
    made = probe_pairs(PairColumns(people=ones, judge_ab=ones[:, 0], judge_ba=np.full(5, np.nan)))
    found = correct({"": made})[""]
    assert [one.found for one in found.findings] == [None, None, None]
    assert found.found == ()


def test_one_order_alone_counts_as_the_judges_preference():
    columns = PairColumns(np.ones((3, 1)), np.array([1.0, np.nan, np.nan]), np.array([0.0, 1.0, np.nan]))
    assert columns.judge == pytest.approx([0.5, 1.0, np.nan], nan_ok=True)


def test_more_probes_ask_for_more_evidence():
    weak = mean_probe("weak", [1] * 16 + [-1] * 5, unit="")
    nothing = [mean_probe("nothing", [1, -1] * 10, unit="") for _ in range(9)]
    assert findings([weak])[0].found
    assert not findings([weak, *nothing])[0].found
