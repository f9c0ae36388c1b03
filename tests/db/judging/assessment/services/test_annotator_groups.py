"""An audit of a judge by what annotators said of themselves."""

from __future__ import annotations

import json

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotation.recruitment.models import DemographicAnswer
from annotation.recruitment.services import consents, demographics
from annotation.studies.models.studies import Criterion
from core.accounts.models.users import User
from judging.assessment.options import AuditOptions
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import runs
from judging.judges.models import Judge
from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import judge_says, people_say, with_items

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]
N, PEOPLE = 120, 12


def judged(*, harsh: float = 0.0, few: int = 0) -> Criterion:
    """A judge beside 12 people, of whom the first half ("old") rates ``harsh`` lower; ``few`` give an own answer."""
    rng = np.random.default_rng(5)
    truth = rng.uniform(1.5, 4, N)
    criterion = CriterionFactory(study=with_items(N, name="Known", slug="known"), key="personalization")

    def said(shift: float) -> list[str]:
        return [str(int(v)) for v in np.clip(np.round(truth + shift + rng.normal(0, 0.5, N)), 1, 4)]

    people_say(criterion, {f"p{k}": said(-harsh if k < PEOPLE // 2 else 0.0) for k in range(PEOPLE)})
    judge_says(criterion, "gpt", said(0.0))
    question = demographics.add_question(
        by=None, study=criterion.study, text="Age", options=["old", "young", "very old"], key="age"
    )
    for k in range(PEOPLE):
        person = User.objects.get(username=f"p{k}")
        person.studies.add(criterion.study)
        value = "very old" if k < few else "old" if k < PEOPLE // 2 else "young"
        DemographicAnswer.objects.create(question=question, annotator=person, value=value)
    return criterion


def audited(criterion: Criterion) -> dict:
    evidence = StudyData.load(criterion.study)
    made = runs.audit(by=None, evidence=evidence.load_judge(evidence.judge("gpt")), options=AuditOptions())
    return made.result["criteria"][criterion.key]


def probe(document: dict) -> dict:
    (found,) = [one for one in document["probes"] if one["name"] == "subgroups:annotator age"]
    return found


@pytest.mark.long
def test_a_judge_that_is_above_one_group_of_people_is_found() -> None:
    found = probe(audited(judged(harsh=1.0)))
    assert found["found"] is True
    assert found["details"]["old"]["value"] > found["details"]["young"]["value"] + 0.5
    assert found["effect"]["n_raters"] == PEOPLE + 1


@pytest.mark.long
def test_one_that_is_not_is_not() -> None:
    found = probe(audited(judged()))
    assert found["found"] is False
    assert found["effect"]["low"] < 0 < found["effect"]["high"]


@pytest.mark.long
def test_few_people_are_neither_shown_nor_counted_and_that_is_said() -> None:
    document = audited(judged(harsh=1.0, few=2))
    assert set(probe(document)["details"]) == {"old", "young"}
    assert document["annotator_groups"] == {
        "least_people": 3,
        "questions": {"age": {"people": 12, "answered": 12, "answers_left_out": 1}},
    }
    assert "very old" not in json.dumps(document)


@pytest.mark.long
def test_an_answer_more_is_another_result_and_a_withdrawal_too() -> None:
    criterion = judged(harsh=1.0)
    before = audited(criterion)
    assert audited(criterion) == before
    p0 = User.objects.get(username="p0")
    demographics.answer(by=p0, study=criterion.study, answers={"age": ""})
    after = audited(criterion)
    assert probe(after)["effect"]["n_raters"] == PEOPLE
    consents.withdraw(by=None, study=criterion.study, annotator=User.objects.get(username="p1"))
    assert audited(criterion)["annotator_groups"]["questions"]["age"] == {
        "people": 11,
        "answered": 10,
        "answers_left_out": 0,
    }


@pytest.mark.each_database
def test_without_questions_there_is_no_such_probe() -> None:
    criterion = judged()
    criterion.study.demographic_questions.all().delete()
    document = audited(criterion)
    assert [one for one in document["probes"] if "annotator" in one["name"]] == []
    assert document["annotator_groups"]["questions"] == {}


@pytest.mark.long
def test_the_page_says_what_was_left_out() -> None:
    criterion = judged(harsh=1.0, few=2)
    client = Client()
    client.force_login(ResearcherFactory())
    here = [criterion.study.slug, Judge.objects.get().pk, criterion.key]
    page = client.get(reverse("criterion_verdict", args=here)).content.decode()
    assert "Subgroups (annotator age)" in page
    assert "12 of 12 people answered" in " ".join(page.split())
    assert "very old" not in page


@pytest.mark.long
def test_pairs_compare_agreement() -> None:
    rng = np.random.default_rng(8)
    study = with_items(N, kind="pair", name="Pairs", slug="pairs")
    criterion = CriterionFactory(study=study, key="preference", preference=True)
    truth = rng.integers(1, 3, N)

    def said(right: float) -> list[str]:
        return [str(t if rng.random() < right else 3 - t) for t in truth]

    people_say(criterion, {f"p{k}": said(0.45 if k < 6 else 0.9) for k in range(12)})
    judge_says(criterion, "gpt", said(0.95), order="AB")
    question = demographics.add_question(by=None, study=study, text="Age", options=["old", "young"], key="age")
    for k in range(12):
        DemographicAnswer.objects.create(
            question=question, annotator=User.objects.get(username=f"p{k}"), value="old" if k < 6 else "young"
        )
    found = probe(audited(criterion))
    assert found["unit"].startswith("agreement with a person")
    assert found["effect"]["value"] is not None
