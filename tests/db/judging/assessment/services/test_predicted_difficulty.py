"""Difficulty of unrated items of a study, with what judges say of them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from annotation.agreement.services.predicted_difficulty import DATASET, STUDY, PredictionOptions
from annotation.corpus.models import ResponsePair
from annotation.stats.difficulty.features import ANSWERS_PROMPT, RESPONSES_ALIKE
from core import vectors
from core.errors import InputError
from judging.assessment.services import predicted_difficulty
from judging.assessment.services.predicted_difficulty import features_in_words
from tests.db.judging.assessment.services.judged import trusted
from tests.support.factories import CriterionFactory
from tests.support.labelled import judge_says, people_say, with_items
from tests.support.predictable import SIDES, study_of_pairs

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

QUICK = PredictionOptions(bootstrap=200)


@pytest.mark.each_database
def test_unrated_pairs_that_are_alike_are_predicted_to_be_hard():
    criterion = study_of_pairs(160, rated=120)
    judge_says(criterion, "gpt", ["1"] * 160)
    found = predicted_difficulty.compute_criterion(criterion.study, criterion, QUICK)
    json.dumps(found, allow_nan=False)
    assert list(found)[:5] == ["study", "criterion", "of", "predicts", "reason"]
    assert found["predicts"], found["reason"]
    assert found["error"]["gain"]["low"] > 0
    assert (found["n_rated"], found["n_items"]) == (120, 40)
    texts = dict(ResponsePair.objects.values_list("external_id", "response_2"))
    alike = np.array([texts[row["item"]].endswith("!") for row in found["items"]])
    value = np.array([row["difficulty"]["value"] for row in found["items"]])
    assert value[alike].min() > value[~alike].max()
    assert all(abs(sum(row["tiers"].values()) - 1) < 1e-9 for row in found["items"])
    assert [row["position"] for row in found["items"]] == list(range(121, 161))


@pytest.mark.skipif(bool(vectors.explain_missing()), reason=vectors.explain_missing() or "there")
@pytest.mark.parametrize("scope", [STUDY, DATASET])
def test_word_vectors_are_features_where_they_are_installed(scope):
    criterion = study_of_pairs(160, rated=120)
    found = predicted_difficulty.compute_criterion(
        criterion.study, criterion, PredictionOptions(scope=scope, bootstrap=200)
    )
    assert RESPONSES_ALIKE in found["features"]["used"]
    assert set(found["features"]["used"]) == set(found["slopes"])
    assert (found["features"]["word_vectors"], found["features"]["reason"]) == ("wordllama", None)
    assert RESPONSES_ALIKE in features_in_words(found["features"])


def test_without_word_vectors_it_says_so_and_predicts_by_the_rest(monkeypatch):
    monkeypatch.setattr(vectors, "WEIGHTS", "weights/none")
    criterion = study_of_pairs(160, rated=120)
    found = predicted_difficulty.compute_criterion(criterion.study, criterion, QUICK)
    assert found["predicts"]
    assert not {RESPONSES_ALIKE, ANSWERS_PROMPT} & set(found["features"]["used"])
    assert found["features"]["word_vectors"] is None
    assert "are not installed" in features_in_words(found["features"])


def test_a_judge_stands_in_fitted_and_in_predicted_tiers():
    criterion = study_of_pairs(160, rated=120)
    judge_says(criterion, "gpt", ["1", "2"] * 80)
    (one,) = predicted_difficulty.compute_criterion(criterion.study, criterion, QUICK)["judges"]
    for part in ("fitted", "predicted"):
        tiers = one[part]["by_tier"]
        assert list(tiers) == ["easy", "medium", "hard", "contested"]
        assert sum(tier["items"] for tier in tiers.values()) == pytest.approx(120)
        assert 0.25 <= one[part]["sure"] <= 1
    expected = one["on_predicted_items"]
    assert expected["low"] < expected["value"] < expected["high"]


@pytest.mark.long
def test_judges_are_features_of_the_study_but_not_of_its_dataset():
    criterion = study_of_pairs(150)
    judge_says(criterion, "gpt", ["1", "2"] * 75)
    ResponsePair.objects.create(
        source="test", external_id="new", content_hash="1", question="?", response_1="one", response_2="two"
    )
    of_study = predicted_difficulty.compute_criterion(criterion.study, criterion, QUICK)
    of_dataset = predicted_difficulty.compute_criterion(
        criterion.study, criterion, PredictionOptions(scope=DATASET, bootstrap=0)
    )
    assert "verdict 1" in of_study["slopes"]
    assert "verdict 1" not in of_dataset["slopes"]
    assert of_study["n_items"] == 0
    assert [(row["item"], row["position"]) for row in of_dataset["items"]] == [("new", None)]


def test_features_that_mean_nothing_give_everybody_the_mean():
    study = with_items(80, kind="pair", slug="noise")
    criterion = CriterionFactory(study=study, level="nominal", key="preference", categories=SIDES)
    rng = np.random.default_rng(4)
    clear, right = rng.random(60) < 0.5, rng.choice(["1", "2"], 60)
    answers = {
        name: [*np.where(clear, right, rng.choice(["1", "2"], 60)).tolist(), *[None] * 20]
        for name in ("bob", "carol", "dana")
    }
    people_say(criterion, answers)
    found = predicted_difficulty.compute_criterion(study, criterion, QUICK)
    assert not found["predicts"]
    assert found["reason"]
    assert "cannot be predicted" in predicted_difficulty.summarise(found)
    assert len({row["difficulty"]["value"] for row in found["items"]}) == 1
    (spread,) = {(row["difficulty"]["low"], row["difficulty"]["high"]) for row in found["items"]}
    assert spread[1] - spread[0] > 0.2


def test_too_few_items_are_said_so():
    study = with_items(30, kind="pair", slug="few")
    criterion = CriterionFactory(study=study, level="nominal", key="preference", categories=SIDES)
    people_say(criterion, {name: ["1", "2", "1"] * 10 for name in ("bob", "carol")})
    found = predicted_difficulty.compute_criterion(study, criterion)
    assert "30 rated items" in found["reason"]
    assert (found["error"], found["items"]) == (None, [])
    assert predicted_difficulty.summarise(found).startswith("Difficulty cannot be predicted here: 30 rated items")


def test_an_unknown_scope_is_refused():
    criterion = study_of_pairs(60)
    with pytest.raises(InputError, match="neither study nor dataset"):
        predicted_difficulty.compute_criterion(criterion.study, criterion, PredictionOptions(scope="world"))


def test_the_number_of_queries_does_not_grow_with_the_items(django_assert_max_num_queries):
    criterion = study_of_pairs(60)
    judge_says(criterion, "gpt", ["1", "2"] * 30)
    with django_assert_max_num_queries(40):
        predicted_difficulty.compute_criterion(criterion.study, criterion, QUICK)


@pytest.mark.long
def test_the_verdict_tells_agreement_by_tier_of_the_model():
    criterion = study_of_pairs(120)
    judge_says(criterion, "gpt", ["1", "2"] * 60)
    (document,) = trusted(criterion).calibration.result["criteria"].values()
    found = document["tiers"]["by_difficulty"]
    assert found["reason"] is None
    assert sum(one["items"] for one in found["by_tier"].values()) == pytest.approx(120)
    assert 0.25 < found["sure"] < 1
