"""Tiers of difficulty as groups in which an audit looks for a judge's bias."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.agreement.services import stored_difficulty, tiers
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion
from annotation.studies.queries import ratings
from judging.assessment.models.assessment import AuditRun
from judging.assessment.options import AuditOptions
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import hold_out, runs
from judging.assessment.wording import item_tiers
from judging.judges.queries.study_items import HELD_OUT
from tests.db.judging.assessment.services import judged
from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import judge_says, people_say, with_items

pytestmark = pytest.mark.django_db


def audited(criterion: Criterion) -> AuditRun:
    evidence = StudyData.load(criterion.study)
    return runs.audit(by=None, evidence=evidence.load_judge(evidence.judge("gpt")), options=AuditOptions())


def document(criterion: Criterion) -> dict[str, Any]:
    return audited(criterion).result["criteria"][criterion.key]


def of_model(criterion: Criterion) -> list[str]:
    (fit,) = stored_difficulty.load_or_fit_all([ratings.load_criterion(criterion)], patient=True)
    return [tier for tier in fit.found.tier if tier]


def test_bias_is_looked_for_by_the_likeliest_tier():
    criterion = judged.study(80)
    found, tiers = document(criterion), of_model(criterion)
    assert (found["tiers"]["made_by"], found["tiers"]["n_items"], found["tiers"]["reason"]) == ("model", 80, None)
    assert 0.25 < found["tiers"]["sure"] < 1
    (probe,) = [one for one in found["probes"] if one["name"] == "subgroups:tier"]
    sizes = {tier: tiers.count(tier) for tier in set(tiers) if tiers.count(tier) >= 10}  # smaller ones are left out
    assert {tier: one["n_items"] for tier, one in probe["details"].items()} == sizes
    assert item_tiers(found["tiers"]).endswith("on average; 80 items")


@pytest.mark.any_database
def test_a_tier_set_by_hand_stands_above_and_makes_another_result():
    criterion = judged.study(40)
    before = audited(criterion)
    item = criterion.study.items.order_by("position")[0]
    wanted = "contested" if of_model(criterion)[0] != "contested" else "easy"
    tiers.set_tier(by=ResearcherFactory(), item=item, criterion=criterion, tier=wanted, reason="a trap")
    after = audited(criterion)
    assert after.pk != before.pk
    assert after.input_hash != before.input_hash


def test_without_a_model_tiers_are_counted_and_the_reason_is_told():
    found = document(judged.study(16))["tiers"]
    assert (found["made_by"], found["sure"], found["n_items"]) == ("counted", None, 16)
    assert "the model needs 20" in found["reason"]
    assert "since the difficulty model is not fitted: 16 items with two ratings" in item_tiers(found)


def test_a_choice_without_order_has_no_tiers_in_its_audit():
    study = with_items(24, kind="pair", slug="pairs", asks_strength=True)
    criterion = CriterionFactory(study=study, key="preference", preference=True)
    people_say(criterion, {name: ["1", "2", "tie"] * 8 for name in ("ann", "ben")})
    judge_says(criterion, "gpt", ["1", "2"] * 12)
    assert document(criterion)["tiers"] is None
    before = audited(criterion).input_hash
    Annotation.objects.filter(value="1").update(strength="much")
    assert audited(criterion).input_hash != before


def test_tiers_of_a_part_follow_from_its_own_labels():
    criterion = judged.study(80)
    hold_out.hold_out(by=None, study=criterion.study, share=0.5, seed=3)
    before = audited(criterion)
    unseen = StudyData.load(criterion.study, HELD_OUT).material.names
    left = criterion.study.items.count() - len(unseen)
    assert before.result["criteria"][criterion.key]["tiers"]["n_items"] == left
    Annotation.objects.filter(assignment__item__position__in=unseen).update(value="1")
    AuditRun.objects.all().delete()
    after = audited(criterion)
    assert (after.input_hash, after.result) == (before.input_hash, before.result)
