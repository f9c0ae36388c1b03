"""What a study knows of how its items depend on each other, and that every table of ratings carries it."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.corpus.models import Dialogue
from annotation.studies.models.studies import Item, Study
from annotation.studies.queries import ratings
from annotation.studies.queries.dependence import read_dependence
from annotation.studies.services import studies
from core.errors import InputError
from judging.assessment.options import AssessmentOptions, JudgedOptions
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import agreement, assessment, progress
from judging.assessment.services.agreement import StudyRatings
from judging.assessment.services.assessment import AssessmentRequest
from judging.judges.queries import study_items
from judging.judges.queries.study_items import load_texts
from judging.stats.agreement import judge_agreement
from tests.support import factories
from tests.support.labelled import hold_some_out, judge_says, people_say, with_items

pytestmark = pytest.mark.django_db


def scores(n: int, seed: int) -> list[str]:
    return [str(k) for k in np.random.default_rng(seed).integers(1, 5, n)]


@pytest.fixture
def criterion():
    """Forty dialogues of four profiles, ten each, rated by two people and a judge."""
    study = factories.StudyFactory(kind="dialogue", name="Known", slug="known")
    for _ in range(4):
        scenario = factories.ScenarioFactory(profile=factories.ProfileFactory())
        for _ in range(10):
            factories.ItemFactory(study=study, dialogue=factories.DialogueFactory(scenario=scenario))
    found = factories.CriterionFactory(study=study, key="personalization")
    people_say(found, {"bob": scores(40, 1), "dana": scores(40, 2)})
    judge_says(found, "gpt", scores(40, 3))
    return found


def weigh_unequally(study: Study) -> None:
    """Half of the items were drawn with a chance of one in six, half of one in two."""
    Item.objects.filter(study=study, position__lte=20).update(inclusion_probability=1 / 6)
    Item.objects.filter(study=study, position__gt=20).update(inclusion_probability=0.5)


def result(criterion, **options):
    chosen = JudgedOptions(bootstrap=200, **options)
    given = StudyRatings.from_options(criterion.study, chosen)
    return agreement.load_or_compute(by=None, study=criterion.study, options=chosen, ratings=given).result["criteria"][
        criterion.key
    ]


def calibrate(criterion):
    evidence = StudyData.load(criterion.study)
    asked = AssessmentRequest(calibration=AssessmentOptions(bootstrap=200))
    found = assessment.assess_judge(by=None, evidence=evidence.load_judge(evidence.judge("gpt")), asked=asked)
    return evidence, found.calibration.result["criteria"][criterion.key]


def codes_in(warnings):
    return {one["code"] for one in warnings}


@pytest.mark.any_database
@pytest.mark.long
def test_items_of_one_user_are_resampled_together_everywhere_without_being_asked(criterion):
    (given,) = ratings.load_study(criterion.study)
    assert len(set(given.table.clusters)) == 4
    found = result(criterion)
    assert "clusters as independent (4 profiles)" in found["dependence"]["message"]
    evidence, document = calibrate(criterion)
    assert document["dependence"] == found["dependence"]
    table = evidence.people[criterion.pk].table
    expected = judge_agreement(
        table,
        evidence.load_judge(evidence.judge("gpt")).evidence[criterion.key].said.codes,
        judge_name="gpt",
        bootstrap=200,
    )
    judged = found["judges"]["gpt"]
    assert document["agreement"]["mean_weighted_cohen_kappa"] == judged["mean_weighted_cohen_kappa"]
    assert document["agreement"]["below_ceiling_weighted"] == expected.below_ceiling_weighted.to_json()
    assert (
        document["agreement"]["mean_weighted_cohen_kappa"]
        != result(criterion, cluster="none")["judges"]["gpt"]["mean_weighted_cohen_kappa"]
    )


@pytest.mark.any_database
def test_figures_speak_of_all_the_material_that_was_drawn_with_unequal_chances(criterion):
    weigh_unequally(criterion.study)
    found, table = result(criterion), ratings.load_study(criterion.study)[0].table
    agree = np.array([row[0] == row[1] for row in table.codes], dtype=float)
    weights = np.repeat([6.0, 2.0], 20)
    assert found["coefficients"]["percent_agreement"]["value"] == pytest.approx(np.average(agree, weights=weights))
    assert "weighted by 1 / inclusion probability" in found["dependence"]["message"]
    judge = np.array([int(v) - 1 for v in scores(40, 3)])
    same = np.mean([np.average(judge == table.codes[:, k], weights=weights) for k in range(2)])
    _, document = calibrate(criterion)
    assert document["agreement"]["percent_agreement"]["value"] == pytest.approx(same)


def test_a_study_may_name_none_a_grouping_or_a_key_of_its_source(criterion):
    study = criterion.study
    studies.name_clustering(by=None, study=study, clustering="none")
    assert ratings.load_study(study)[0].table.clusters is None
    assert "treat items as independent" in result(criterion)["dependence"]["message"]
    studies.name_clustering(by=None, study=study, clustering="condition")
    assert set(ratings.load_study(study)[0].table.clusters) == {"base"}
    assert result(criterion)["coefficients"]["fleiss_kappa"]["reason"].startswith("not enough evidence")
    for item in study.items.filter(position__gt=4).select_related("dialogue"):
        Dialogue.objects.filter(pk=item.dialogue_id).update(extra={"batch": item.position % 5})
    studies.name_clustering(by=None, study=study, clustering="batch")
    found = result(criterion)
    assert len(set(ratings.load_study(study)[0].table.clusters)) == 5 + 4
    assert found["dependence"]["alone"] == 4
    assert "cluster_gaps" in codes_in(found["warnings"])
    assert any("4 items name no batch" in one["message"] for one in found["warnings"])
    with pytest.raises(InputError, match=r"no item of .* has a 'colour'"):
        studies.name_clustering(by=None, study=study, clustering="colour")
    assert Study.objects.get().clustering == "batch"


def test_naming_a_clustering_moves_no_item_into_or_out_of_the_held_out_part(criterion):
    hold_some_out(criterion.study)
    before = study_items.positions(criterion.study)
    split = study_items.find_hold_out(criterion.study)
    studies.name_clustering(by=None, study=criterion.study, clustering="none")
    items = load_texts(criterion.study)
    assert study_items.positions(criterion.study) == before
    assert {
        int(n) for n, out in zip(items.names, study_items.outside(split, items.split_units), strict=True) if out
    } == before
    assert len(set(items.clusters)) == 40


@pytest.mark.any_database
def test_one_profile_alone_gives_values_with_a_reason_instead_of_intervals():
    scenario = factories.ScenarioFactory(profile=factories.ProfileFactory())
    study = factories.StudyFactory(kind="dialogue", name="Known", slug="known")
    for _ in range(12):
        factories.ItemFactory(study=study, dialogue=factories.DialogueFactory(scenario=scenario))
    found = factories.CriterionFactory(study=study, key="personalization")
    people_say(found, {"bob": scores(12, 1), "dana": scores(12, 2)})
    judge_says(found, "gpt", scores(12, 3))
    kappa = result(found)["judges"]["gpt"]["mean_weighted_cohen_kappa"]
    assert kappa["value"] is not None
    assert kappa["low"] is None
    assert kappa["reason"].startswith("not enough evidence")
    _, document = calibrate(found)
    assert document["agreement"]["mean_weighted_cohen_kappa"] == kappa


def test_pairs_without_a_user_share_their_question():
    study = with_items(6, kind="pair")
    study.items.first().pair.__class__.objects.filter(items__position__lte=3).update(question="The same?")
    found = read_dependence(study)
    assert (found.design.by, len(set(found.clusters.values()))) == ("question", 4)


def test_strata_of_the_draw_are_kept_where_no_profile_crosses_them_and_each_is_large_enough(criterion):
    study = criterion.study
    study.items.filter(position__lte=20).update(stratum="a")
    study.items.filter(position__gt=20).update(stratum="b")
    assert read_dependence(study).strata is None, "two profiles each are too few to be kept"
    kept = read_dependence(study, cluster="none")
    assert set(kept.strata.values()) == {"a", "b"}
    study.items.filter(position=1).update(stratum="b")
    assert read_dependence(study).strata is None


def test_agreement_as_it_grows_ends_with_the_intervals_of_all_labels(criterion):
    for item in criterion.study.items.all():
        Dialogue.objects.filter(pk=item.dialogue_id).update(extra={"batch": item.position % 10})
    studies.name_clustering(by=None, study=criterion.study, clustering="batch")
    weigh_unequally(criterion.study)
    found = progress.compute_study(criterion.study)["growth"]
    last = found["criteria"][0]["points"][-1]["coefficients"]
    whole = result(criterion)
    for name in ("krippendorff_alpha", "percent_agreement"):
        for end in ("value", "low", "high", "method"):
            assert last[name][end] == pytest.approx(whole["coefficients"][name][end]), (name, end)
    assert found["dependence"] == whole["dependence"]["message"]
    assert "clusters as independent" in found["dependence"]


def test_two_readers_keep_one_result(criterion):
    first = result(criterion)
    assert result(criterion) == first
    assert criterion.study.agreement_runs.count() == 1


def test_a_judge_run_without_ratings_says_what_is_missing():
    study = with_items(4)
    found = factories.CriterionFactory(study=study, key="personalization")
    judge_says(found, "gpt", scores(4, 3))
    assert result(found)["judges"]["gpt"]["mean_cohen_kappa"]["reason"] == "no annotator has rated an item"
