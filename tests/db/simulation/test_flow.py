"""From scenarios over a server that answers by script to every table: equal to a calculation in plain Python."""

from __future__ import annotations

import random

import pytest
from sacrebleu.metrics.bleu import BLEU

from annotation.agreement.options import IntervalOptions as Options
from simulation.results.services import results
from simulation.results.services.data import Filters
from tests.support import by_hand, by_hand_datasets
from tests.support.experiment_flow import flow, human_check
from tests.support.model_server import KEY, running

pytestmark = pytest.mark.django_db
OF_EXPERIMENTS = {f"Table {n}" for n in (3, 4, 10, 12, 13)} | {"Figure 4", "Figure 5"}


@pytest.fixture
def played(monkeypatch):
    with running() as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        yield flow(server, users=3, tasks=5, conditions=["vanilla", "base"], assistants=2)


@pytest.mark.long
def test_every_number_of_every_table_and_figure(played):
    experiment, judge = played
    assert experiment.state == "finished"
    assert len(set(experiment.dialogues.values_list("ending", flat=True))) > 1, "dialogues end in several ways"
    found, expected = by_hand.values(results.document(experiment, judge, Options(bootstrap=0))), by_hand.tables(*played)
    assert {key[0] for key in found} == OF_EXPERIMENTS
    assert by_hand.differences(found, expected) == {}
    one = results.document(experiment, judge, Options(bootstrap=0), Filters(assistant="assistant-1"))
    alone = by_hand.tables(*played, assistant="assistant-1")
    assert by_hand.differences(by_hand.values(one), alone) == {}
    assert "Domain 0" in {key[1] for key in alone if key[0] == "Figure 5"}

    datasets = by_hand_datasets.of_datasets(experiment, human_check(experiment, judge, 40))
    assert {key[0] for key in datasets.expected} == {"1", "5", "6", "7", "8", "9", "10"}
    assert by_hand.differences(datasets.found, datasets.expected) == {}
    assert datasets.figure_3 == by_hand_datasets.figure_3("synthetic")
    assert list(datasets.figure_3) == ["gender", "age", "religion", "region"]


def test_the_plain_self_bleu_is_sacrebleus():
    drawn = random.Random(0)
    texts = [drawn.choices("abcdefgh", k=drawn.randint(1, 9)) for _ in range(60)] + [["z"], ["z", "y"]]
    joined = [" ".join(text) for text in texts]
    bleu = BLEU(tokenize="none", effective_order=True)
    scores = [bleu.sentence_score(one, joined[:n] + joined[n + 1 :]).score / 100 for n, one in enumerate(joined)]
    assert by_hand.self_bleu(texts) == pytest.approx(sum(scores) / len(scores), rel=1e-9)
