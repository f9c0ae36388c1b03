import json

import numpy as np
import pytest

from judging.stats.audits.battery import PairColumns, audit_pairs, audit_scores
from judging.stats.audits.findings import findings
from judging.stats.audits.planted import CLEAN, ON_PAIRS, ON_SCORES, planted_pairs, planted_scores, stated
from judging.stats.audits.planted_copies import NAMES
from judging.stats.audits.probe import mean_probe

# the full measurement is scripts/bench_audits.py: 200 clean judges, 100 of each bias


@pytest.mark.parametrize("name", ON_PAIRS)
def test_a_bias_planted_in_pairs_is_found(name):
    found = [name in audit_pairs(planted_pairs(stated(name, paired=True), seed=seed)).found for seed in range(10)]
    assert sum(found) >= 8


@pytest.mark.parametrize("name", ON_SCORES)
def test_a_bias_planted_in_scores_is_found(name):
    found = [name in audit_scores(planted_scores(stated(name, paired=False), seed=seed)).found for seed in range(10)]
    assert sum(found) >= 8


def test_a_clean_judge_is_not_accused():
    accused = [audit_pairs(planted_pairs(CLEAN, seed=seed)).found for seed in range(20)]
    accused += [audit_scores(planted_scores(CLEAN, seed=seed)).found for seed in range(20)]
    assert sum(map(bool, accused)) <= 4


def test_documents_are_json():
    document = audit_scores(planted_scores(CLEAN, n=60)).as_json()
    json.dumps(document, allow_nan=False)
    assert document["correction"] == "holm"
    made = {probe["name"] for probe in document["probes"]}
    assert made == set(ON_SCORES) | set(NAMES)


def test_what_cannot_be_probed_accuses_nobody():
    found = audit_pairs(PairColumns(person=np.ones(5), judge_ab=np.ones(5), judge_ba=np.full(5, np.nan)))
    assert [one.found for one in found.findings] == [None, None, None]
    assert found.found == ()


def test_one_order_alone_counts_as_the_judges_preference():
    pairs = PairColumns(np.ones(3), np.array([1.0, np.nan, np.nan]), np.array([0.0, 1.0, np.nan]))
    assert pairs.judge == pytest.approx([0.5, 1.0, np.nan], nan_ok=True)


def test_more_probes_ask_for_more_evidence():
    weak = mean_probe("weak", [1] * 16 + [-1] * 5, unit="")
    nothing = [mean_probe("nothing", [1, -1] * 10, unit="") for _ in range(9)]
    assert findings([weak])[0].found
    assert not findings([weak, *nothing])[0].found
