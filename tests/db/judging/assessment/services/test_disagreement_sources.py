"""Why people differ, and how far a judge is from them: the service, the command and the page's section."""

import io
import json

import numpy as np
import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.stats.difficulty.latent import NoConvergenceError
from annotation.stats.shares import figure
from annotation.studies.models.labels import Annotation
from annotation.studies.queries.guidelines import versions_given
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import disagreement_sources
from judging.judges.models import Judge
from tests.support import drawing
from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import judge_says, people_say, with_items

pytestmark = pytest.mark.django_db

N, PEOPLE = 80, ("ann", "ben", "cas", "dan")


@pytest.fixture
def criterion():
    """Four people on four steps; the judge is one more of them."""
    rng = np.random.default_rng(1)
    codes = drawing.draw(*drawing.draw_graded_model(5, 4, rng), N, rng)[0] + 1
    found = CriterionFactory(study=with_items(N, slug="known", name="Known"), key="suits", name="Suits")
    people_say(found, {name: list(map(str, codes[:, k])) for k, name in enumerate(PEOPLE)})
    judge_says(found, "gpt", list(map(str, codes[:, 4])))
    return found


def evidence(criterion):
    return StudyData.load(criterion.study).load_judge(Judge.objects.get()).evidence["suits"]


def test_parts_of_the_document(criterion, django_assert_num_queries):
    one = evidence(criterion)
    with django_assert_num_queries(0):  # nobody has changed the guideline
        found = disagreement_sources.compute_criterion(criterion, one)
    assert set(found["distance"]) == {"jensen_shannon", "cross_entropy", "earth_mover"}
    assert found["distance"]["earth_mover"]["judge"]["n_items"] == N
    parts = [found["sources"][name]["value"] for name in ("severity", "carelessness", "items")]
    assert sum(parts) == pytest.approx(found["sources"]["expected"]["value"])
    assert "one version" in found["sources"]["guideline"]["reason"]
    assert found["taste"]["gain"]["reason"].startswith("4 people and 320 ratings; 6")
    assert found["sets"]["covered"]["n_items"] + found["sets"]["calibrated_on"] == N
    json.dumps(found, allow_nan=False)


def test_answers_under_two_versions_of_the_guideline(criterion):
    criterion.guideline_version = 2
    criterion.save()
    Annotation.objects.filter(assignment__annotator__username__in=["cas", "dan"]).update(guideline_version=2)
    one = evidence(criterion)
    assert versions_given(criterion, one.people.table)[0].tolist() == [1, 1, 2, 2]
    found = disagreement_sources.compute_criterion(criterion, one)["sources"]
    assert found["moved"] == N
    assert found["guideline"]["value"] is not None


def test_few_items_are_told_as_too_few(criterion):
    criterion.study.items.filter(position__gt=15).update(inclusion_probability=1.0)
    Annotation.objects.filter(assignment__item__position__gt=15).delete()
    found = disagreement_sources.compute_criterion(criterion, evidence(criterion))
    assert "the model needs 20" in found["sources"]["reason"]
    assert "40 are needed" in found["sets"]["reason"]
    assert found["distance"]["jensen_shannon"]["judge"]["n_items"] == 15


def test_camps_that_cannot_be_looked_for_say_why(criterion, monkeypatch):
    def refuse(*_given, **_named):
        raise NoConvergenceError("its steps do not end")

    monkeypatch.setattr(disagreement_sources, "taste", refuse)
    found = disagreement_sources.compute_criterion(criterion, evidence(criterion))["taste"]
    assert "its steps do not end" in disagreement_sources.camps_in_words(found)


def test_camps_without_an_interval_say_why():
    gain = {**figure(0.1, n_items=9, confidence=0.95, method="none").to_json(), "reason": "all in one cluster"}
    said = disagreement_sources.camps_in_words({"gain": gain, "camps": {}, "reason": None})
    assert "all in one cluster" in said


def test_shares_of_repeated_calls_are_the_judges_distribution(criterion):
    said = evidence(criterion).said
    one = evidence(criterion)
    repeated = np.column_stack([said.codes, said.codes, np.where(said.codes == 0, 1, 0)])
    object.__setattr__(one.said, "repeated", repeated)
    shares = disagreement_sources.compute_shares(one)
    assert shares[0, said.codes[0]] == pytest.approx(2 / 3)
    assert shares.sum(axis=1) == pytest.approx(np.ones(N))


@pytest.mark.any_database
@pytest.mark.long
def test_the_command_and_the_page_say_the_same(criterion, client):
    out = io.StringIO()
    call_command(
        "disagreements", "--study", "Known", "--judge", "gpt", "--explain", "--limit", "1", "--json", stdout=out
    )
    found = json.loads(out.getvalue())["differing"]["suits"]
    text = io.StringIO()
    call_command("disagreements", "--study", "Known", "--judge", "gpt", "--explain", "--limit", "1", stdout=text)
    value = f"{found['distance']['jensen_shannon']['judge']['value']:.3f}"
    assert value in text.getvalue()
    assert "camps of taste: not told, 4 people" in text.getvalue()
    client.force_login(ResearcherFactory())
    address = reverse("judge_improve", args=["known", Judge.objects.get().pk])
    assert "Distance from people’s answers" not in client.get(address).content.decode()
    wrong = client.get(address, {"explain": "nope"})
    assert (wrong.status_code, "there are suits" in wrong.content.decode()) == (400, True)
    page = client.get(address, {"explain": "suits"}).content.decode()
    assert value in page
    assert "Because some are more severe" in page
    assert "neighbouring values on average hold" in page
