"""Maps applied to a run: a judge of its own, whose judgments say what they are made of."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from django.core.management import call_command
from django.urls import reverse

from core.errors import InputError
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import recalibration
from judging.judges.models import Judge
from judging.judges.services import judges
from judging.runs.models.runs import Judgment
from tests.db.judging.assessment.services.judged import calibrated, study, trusted
from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import judge_says, people_say, with_items

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


def lenient(n=80, labelled=60):
    """A judge that always gives one point too much."""
    criterion = CriterionFactory(study=with_items(n, slug="known", name="Known"), key="personalization")
    truth = [1, 2, 3] * (n // 3 + 1)
    people_say(criterion, {name: [str(t) for t in truth[:labelled]] + [None] * (n - labelled) for name in "ab"})
    judge_says(criterion, "gpt", [str(t + 1) for t in truth[:n]])
    return criterion


@pytest.mark.long
@pytest.mark.each_database
def test_a_lenient_judge_is_put_right_and_its_judgments_name_their_source():
    criterion = lenient()
    run = recalibration.apply(by=None, found=trusted(criterion), anyway=True)
    assert str(run.judge) == "gpt recalibrated"
    assert run.finished_at
    assert run.judgments.count() == 80
    for judgment in run.judgments.select_related("item"):
        source = Judgment.objects.get(pk=judgment.details["members"][0])
        assert source.item_id == judgment.item_id
        assert judgment.score == pytest.approx(int(source.value) - 1)
    assert calibrated(criterion, "gpt recalibrated")["agreement"]["accuracy"]["value"] == 1
    assert calibrated(criterion, "gpt")["agreement"]["accuracy"]["value"] == 0


@pytest.mark.long
def test_the_same_maps_give_the_same_run_and_other_labels_a_new_version():
    criterion = lenient()
    first = recalibration.apply(by=None, found=trusted(criterion), anyway=True)
    assert recalibration.apply(by=None, found=trusted(criterion), anyway=True) == first
    people_say(criterion, {"c": [None] * 60 + ["4"] * 20})
    again = recalibration.apply(by=None, found=trusted(criterion), anyway=True)
    assert (again.judge.name, again.judge.version) == ("gpt recalibrated", 2)


@pytest.mark.long
@pytest.mark.each_database
def test_labelled_items_get_the_score_of_a_map_that_has_not_seen_them():
    criterion = study(n=60, labelled=40)
    found = trusted(criterion)
    evidence = found.evidence.evidence["personalization"]
    fitted = recalibration.recalibrate_scores(evidence, recalibration.AssessmentOptions(bootstrap=0))
    with pytest.raises(InputError, match=r"raises the mean absolute error: 0\.375 before, 0\.420 after\. Keep"):
        recalibration.apply(by=None, found=found)
    run = recalibration.apply(by=None, found=found, anyway=True)
    said = dict(run.judgments.values_list("item__position", "score"))
    seen = [said[position] for position in range(1, 41)]
    np.testing.assert_allclose(np.array(seen, dtype=float), fitted.mapped[:40])
    _, own = evidence.scores()
    unseen = [said[position] for position in range(41, 61)]
    np.testing.assert_allclose(np.array(unseen, dtype=float), fitted.map(own[40:]))


def test_a_score_outside_the_fitted_range_is_refused():
    criterion = CriterionFactory(study=with_items(40, slug="known", name="Known"), key="personalization")
    people_say(criterion, {"a": ["1", "2", "3"] * 10 + [None] * 10})
    judge_says(criterion, "gpt", ["1", "2", "3"] * 10 + ["4", "2"] * 5)
    run = recalibration.apply(by=None, found=trusted(criterion), anyway=True)
    refused = run.judgments.filter(unscored_reason=recalibration.OUTSIDE)
    assert sorted(refused.values_list("item__position", flat=True)) == [31, 33, 35, 37, 39]


def test_without_a_map_it_says_why():
    with pytest.raises(InputError, match="personalization: 8 labelled items"):
        recalibration.apply(by=None, found=trusted(study(n=20, labelled=8)))


def skewed(n=100):
    """A judge that is right in four of five: the mean of what people say lies far from most of them."""
    criterion = CriterionFactory(study=with_items(n, slug="known", name="Known"), key="personalization")
    said = [1 if k % 2 else 4 for k in range(n)]
    truth = [5 - value if k % 10 < 2 else value for k, value in enumerate(said)]
    people_say(criterion, {name: [str(value) for value in truth] for name in "ab"})
    judge_says(criterion, "gpt", [str(value) for value in said])
    return criterion


@pytest.mark.long
def test_a_map_that_raises_the_error_is_applied_only_if_it_is_wanted(client):
    criterion = skewed()
    client.force_login(ResearcherFactory())
    judge = StudyData.load(criterion.study).judge("gpt")
    address = reverse("api_maps", args=["known", judge.pk])
    refused = client.post(address, {}, content_type="application/json")
    assert refused.status_code == 400
    assert "raises the mean absolute error" in refused.content.decode()
    made = client.post(address, {"anyway": True}, content_type="application/json")
    assert made.status_code == 201, made.content
    page = reverse("judge_recalibrate", args=["known", judge.pk])
    assert "raises the mean absolute error" in client.post(page, follow=True).content.decode()
    recalibrated = Judge.objects.get(name="gpt recalibrated")
    assert client.post(page, {"anyway": "on"}).url == reverse("judge_verdict", args=["known", recalibrated.pk])


@pytest.mark.long
def test_by_page_and_command_and_it_cannot_be_run(client):
    criterion = lenient()
    client.force_login(ResearcherFactory())
    judge = StudyData.load(criterion.study).judge("gpt")
    shown = client.post(reverse("judge_recalibrate", args=["known", judge.pk]), follow=True)
    assert "gpt recalibrated" in shown.content.decode()
    out = io.StringIO()
    call_command("recalibrate", study="Known", judge="gpt", json=True, stdout=out)
    assert json.loads(out.getvalue())["counts"] == {"judgments": 80, "scored": 80}
    made = Judge.objects.get(name="gpt recalibrated")
    assert not made.is_runnable
    with pytest.raises(InputError, match="gpt recalibrated"):
        judges.check(made, [criterion])
