"""Calibration of a judge on a study: the figures, and what every section says where it cannot tell."""

from __future__ import annotations

import json

import pytest

from annotation.corpus.models import Dialogue
from annotation.studies.models.labels import Annotation
from judging.assessment.models.assessment import CalibrationRun
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import report
from judging.runs.models.runs import Judgment
from judging.stats.calibrate import calibrate
from judging.stats.verdict import Rules
from tests.db.judging.assessment.services.judged import calibrated, study, trusted
from tests.support.factories import CriterionFactory
from tests.support.labelled import judge_says, pandalm_study, people_say, with_items

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.mark.long
def test_the_document_of_a_study_is_that_of_its_columns():
    criterion = study(labelled=50)
    found = calibrated(criterion)
    evidence = StudyData.load(criterion.study)
    columns = evidence.load_judge(evidence.judge("gpt")).evidence["personalization"].columns()
    same = calibrate(columns, bootstrap=40).to_json()
    for part in ("n_labelled", "n_unlabelled", "human_only", "judge_only", "ppi", "selective", "warnings"):
        assert found[part] == same[part], part
    assert (found["n_labelled"], found["n_unlabelled"]) == (50, 30)
    assert found["estimand"] == "the mean score"
    assert found["ppi"]["lambda"] > 0.2
    assert found["kappa"] == "weighted_cohen_kappa"
    json.dumps(found, allow_nan=False)


@pytest.mark.long
@pytest.mark.each_database
def test_verdicts_and_own_scores_are_recomputed_by_libraries():
    """Found: only agreement was, though maps and errors of scores stand on the same pages."""
    criterion = study(labelled=50)
    of_verdicts = calibrated(criterion)
    for value in ("1", "2", "3", "4"):
        Judgment.objects.filter(criterion=criterion, value=value).update(score=0.9 * float(value) + 0.1)
    of_scores = calibrated(criterion)
    assert [found["scores"]["of"] for found in (of_verdicts, of_scores)] == ["verdict", "score"]
    for found in (of_verdicts, of_scores):
        opinion, steps = found["second_opinion"], len(found["scores"]["map"]["scores"])
        # alpha; four figures by annotator, of judge and of people, and their means; seven against majority and mean
        assert opinion["recomputed"] == 1 + 2 * (3 * 4 + 4) + 7 + 4 + steps
        assert opinion["agrees"] is True
        assert opinion["libraries"] == ["krippendorff", "scikit-learn"]


@pytest.mark.long
@pytest.mark.each_database
def test_kept_until_a_label_changes():
    criterion = study(n=20)
    assert trusted(criterion).calibration == trusted(criterion).calibration
    label = Annotation.objects.filter(criterion=criterion, value="2").order_by("pk").first()
    Annotation.objects.filter(pk=label.pk).update(value="3")
    assert trusted(criterion).calibration.pk == CalibrationRun.objects.order_by("pk").last().pk
    assert CalibrationRun.objects.count() == 2


@pytest.mark.long
@pytest.mark.each_database
def test_means_of_assistants_with_ranks():
    criterion = study(n=80, labelled=60)
    for parity, name in ((0, "fern"), (1, "moss")):
        pks = [item.dialogue_id for item in criterion.study.items.all() if item.position % 2 == parity]
        Dialogue.objects.filter(pk__in=pks).update(assistant_model=name)
    found = calibrated(criterion)["groups"]["assistant"]
    assert set(found["corrected"]) == {"fern", "moss"}
    assert [place["rank"]["value"] for place in found["boards"]["corrected"]] == [1, 2]
    assert found["boards"]["corrected"][0]["rank"]["low"] == 1


def test_the_rate_is_that_of_yes():
    criterion = CriterionFactory(study=with_items(40, slug="yes"), key="done", yes_no=True)
    criterion.categories = criterion.categories[::-1]  # yes, no
    criterion.save()
    people_say(criterion, {"bob": ["yes"] * 10 + ["no"] * 20 + [None] * 10})
    judge_says(criterion, "gpt", ["yes"] * 12 + ["no"] * 28)
    found = calibrated(criterion)
    assert found["estimand"] == "the rate of yes"
    assert found["human_only"]["value"] == pytest.approx(1 / 3)
    assert found["rogan_gladen"]["sensitivity"] == 1


def test_the_rate_of_a_response_names_it():
    criterion = CriterionFactory(study=with_items(20, kind="pair", slug="two"), key="preference", preference=True)
    criterion.categories = criterion.categories[:2]  # no tie
    criterion.save()
    people_say(criterion, {"bob": ["1"] * 12 + ["2"] * 8})
    judge_says(criterion, "gpt", ["1"] * 10 + ["2"] * 10)
    assert calibrated(criterion)["estimand"] == "the rate of Response 1"


def test_where_everything_is_labelled_nothing_is_gained():
    """Found: the limit of endless unlabelled items stood for what is saved, up to 661 %."""
    found = calibrated(study(n=60))
    assert found["gained"]["value"] is None
    assert found["gained"]["reason"] == "no unlabelled item that the judge scored"


@pytest.mark.long
def test_the_effective_sample_size_gained_is_that_of_the_corrected_mean():
    found = calibrated(study(labelled=50))
    assert found["gained"]["value"] == pytest.approx(found["ppi"]["effective_n"] / 50 - 1)
    assert found["gained"]["low"] < found["gained"]["value"] < found["gained"]["high"]


class TestBadInput:
    """Each section says what it cannot tell and why; the rest stands. The report is made of all of them."""

    def checked(self, criterion, decision="not enough evidence"):
        found = calibrated(criterion)
        json.dumps(found, allow_nan=False)
        trust = trusted(criterion)
        document = report.describe_judges(StudyData.load(criterion.study), [trust])
        assert "<html" in report.to_html(document)
        assert trust.verdicts[0].whole.decision == decision
        return found, trust

    def test_no_overlap(self):
        criterion = CriterionFactory(study=with_items(40, slug="apart"), key="personalization")
        people_say(criterion, {"bob": ["1", "2"] * 10 + [None] * 20, "dana": ["1", "3"] * 10 + [None] * 20})
        judge_says(criterion, "gpt", [None] * 20 + ["1", "2"] * 10)
        found, _ = self.checked(criterion)
        assert found["agreement"]["mean_cohen_kappa"]["reason"]
        assert found["judge_only"]["value"] == pytest.approx(1.5)
        assert found["ppi"]["reason"]

    @pytest.mark.long
    def test_one_annotator(self):
        found, trust = self.checked(study(n=40, people=1))
        assert found["alt_test"] is None
        assert found["agreement"]["human_ceiling"]["reason"]
        assert found["tiers"]["reason"] == "no item has two ratings, so that none has a tier"
        assert found["human_only"]["value"] is not None
        assert "not run: it needs two annotators" in " ".join(
            reason.message for reason in trust.verdicts[0].whole.reasons
        )

    @pytest.mark.long
    def test_all_labels_equal(self):
        criterion = CriterionFactory(study=with_items(60, slug="equal"), key="personalization")
        people_say(criterion, {name: ["2"] * 50 + [None] * 10 for name in ("bob", "dana")})
        judge_says(criterion, "gpt", ["2", "3"] * 30)
        found, _ = self.checked(criterion)
        assert "equal_labels" in {warning["code"] for warning in found["warnings"]}
        assert found["scores"]["reason"] == "every label is the same"

    @pytest.mark.long
    def test_a_constant_judge(self):
        criterion = CriterionFactory(study=with_items(60, slug="constant"), key="personalization")
        people_say(criterion, {name: ["1", "2", "3"] * 20 for name in ("bob", "dana")})
        judge_says(criterion, "gpt", ["3"] * 60)
        found, trust = self.checked(criterion, "do not use")  # its kappa of 0 has no interval, and needs none
        assert "constant_judge" in {warning["code"] for warning in found["warnings"]}
        assert found["gained"]["value"] is None
        assert trust.audit.result["criteria"]["personalization"]["found"] == ["leniency"]

    @pytest.mark.long
    def test_fewer_than_ten_labels(self):
        found, trust = self.checked(study(n=40, labelled=8))
        assert "few_labels" in {warning["code"] for warning in found["warnings"]}
        assert "8 labelled items" in found["scores"]["reason"]
        assert {probe["found"] for probe in trust.audit.result["criteria"]["personalization"]["probes"]} == {None}

    @pytest.mark.long
    def test_sixty_percent_unscored(self):
        criterion = CriterionFactory(study=with_items(100, slug="silent"), key="personalization")
        people_say(criterion, {name: ["1", "2", "3", "4"] * 25 for name in ("bob", "dana")})
        judge_says(criterion, "gpt", ["1", "2", "3", "4"] * 10 + [""] * 60)
        found, trust = self.checked(criterion, "do not use")
        assert found["unscored"] == 60
        assert "60.0 % of replies unscored" in trust.verdicts[0].whole.against[0].message + " ".join(
            reason.message for reason in trust.verdicts[0].whole.against
        )

    def test_nobody_labelled(self):
        criterion = CriterionFactory(study=with_items(30, slug="nobody"), key="personalization")
        judge_says(criterion, "gpt", ["1", "2", "3"] * 10)
        found, _ = self.checked(criterion)
        assert found["n_labelled"] == 0
        assert found["judge_only"]["value"] == pytest.approx(2)


@pytest.mark.long
def test_ties_of_two_people_count_by_half():
    """Found: a quarter of the items was left out of the promise because two people are tied there."""
    criterion = CriterionFactory(study=with_items(200, slug="two"), key="done", yes_no=True)
    people_say(criterion, {"bob": ["yes", "no"] * 100, "dana": [*["yes", "no"] * 75, *["no", "yes"] * 25]})
    judge_says(criterion, "gpt", ["yes", "no"] * 100)
    found = calibrated(criterion)
    assert (found["n_labelled"], found["labels"]["tied"]) == (200, 50)
    kept = found["selective"][0]
    assert kept["agreement"] == pytest.approx((150 + 50 / 2) / 200)
    assert kept["agreement_with_person"] == kept["agreement"]
    assert (kept["coverage"], kept["ties"], kept["method"]) == (1, 50, "betting")
    assert found["risk_coverage"]["aurc"]["value"] == pytest.approx(0.125)
    assert found["human_only"]["value"] == pytest.approx(0.5)


@pytest.mark.long
def test_every_item_tied():
    criterion = CriterionFactory(study=with_items(80, slug="tied"), key="done", yes_no=True)
    people_say(criterion, {"bob": ["yes", "no"] * 40, "dana": ["no", "yes"] * 40})
    judge_says(criterion, "gpt", ["yes", "no"] * 40)
    found = calibrated(criterion)
    json.dumps(found, allow_nan=False)
    assert not any(one["guaranteed"] for one in found["selective"])
    assert found["selective"][0]["ruled_out"]
    assert trusted(criterion).decision != "replace"


def test_a_judge_without_one_verdict_is_not_enough_evidence():
    """Found: with n = 0 the answer was *do not use*."""
    criterion = CriterionFactory(study=with_items(60, slug="mute"), key="personalization")
    people_say(criterion, {name: ["1", "2", "3"] * 20 for name in ("bob", "dana")})
    judge_says(criterion, "gpt", [None] * 60)
    assert trusted(criterion).decision == "not enough evidence"


@pytest.mark.long
def test_how_often_studies_like_this_one_say_replace():
    criterion = study(n=60)
    power = calibrated(criterion)["power"]
    assert power["design"]["n_items"] == 60
    assert power["design"]["n_raters"] == 3
    assert [one["below"] for one in power["judges"]] == [0, 0.115]
    assert all(0 <= one["low"] <= one["replace"] <= one["high"] <= 1 for one in power["judges"])
    same, strict = trusted(criterion), trusted(criterion, rules=Rules(least_items=100))
    assert dict(same.verdicts[0].power) == power
    assert [one["replace"] for one in strict.verdicts[0].power["judges"]] == [0, 0]


@pytest.mark.long
def test_pandalm(shared_data):
    """Reference: arXiv 2501.10970 on these labels; with unparsable replies left out instead of counted as ties."""
    made = pandalm_study(shared_data / "pandalm")
    found = calibrated(made.criteria.get(), "gpt-3.5-turbo")
    assert found["alt_test"]["winning_rate"] == 0
    assert found["alt_test"]["advantage_probability"] == pytest.approx(0.758, abs=5e-4)
    assert found["labels"]["unscored"] == 25
    assert found["agreement"]["scored"] == 974
    verdict = trusted(made.criteria.get(), "gpt-3.5-turbo").verdicts[0]
    assert verdict.whole.decision == "not enough evidence", "every item has a label, so that nothing is gained"
    assert {reason.code for reason in verdict.whole.against} >= {"worth", "ceiling", "alt_test"}
