"""What a judge leaves to people becomes a study; what they say there comes back, apart from the sample's labels."""

from __future__ import annotations

import io
import json
import re

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.studies.models.studies import Criterion
from core.errors import InputError
from judging.assessment.models.assessment import Escalation
from judging.assessment.queries.assessment_data import StudyData
from judging.assessment.services import certificates, escalation
from judging.runs.models.runs import Judgment
from tests.db.judging.assessment.services.judged import study, trusted
from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import judge_says, people_say, with_items
from tests.support.shared_rows import share_rows

pytestmark = pytest.mark.django_db

N, SURE = 200, 150


@pytest.fixture(scope="module")
def made(django_db_setup, django_db_blocker):
    yield from share_rows(django_db_blocker, lambda: half_sure().pk)


@pytest.fixture
def criterion(made, db):
    return Criterion.objects.get(pk=made)


def half_sure():
    """A judge that is right on the 150 items of which it is sure, and wrong on the others; half are labelled."""
    made = CriterionFactory(study=with_items(N, slug="known", name="Known"), key="done", yes_no=True)
    truth = ["yes", "no"] * (N // 2)
    wrong = ["no", "yes"] * (N // 2)
    labelled = [value if k % 4 < 2 else None for k, value in enumerate(truth)]
    people_say(made, {"bob": labelled, "dana": labelled})
    run = judge_says(made, "gpt", [*truth[:SURE], *wrong[SURE:]])
    for value in ("yes", "no"):
        for sure, places in ((0.95, range(1, SURE + 1)), (0.55, range(SURE + 1, N + 1))):
            found = Judgment.objects.filter(run=run, value=value, item__position__in=places)
            found.update(details={"distribution": {value: sure}})
    trusted(made)
    return made


def made_from(criterion, **options):
    return escalation.escalate(by=None, found=trusted(criterion), name="Left", **{"target": 0.9, **options})


def test_the_unsure_and_unlabelled_are_left(criterion):
    found = escalation.find_escalated(trusted(criterion), 0.9)
    assert found.thresholds == {"done": 0.95}
    assert found.positions == [place for place in range(SURE + 1, N + 1) if (place - 1) % 4 >= 2]


def test_the_study_asks_the_same_of_people(criterion):
    made = made_from(criterion, overlap=2)
    target = made.target
    assert (target.state, target.overlap, target.kind) == ("draft", 2, "dialogue")
    assert list(target.criteria.values_list("key", "question", "level")) == list(
        criterion.study.criteria.values_list("key", "question", "level")
    )
    dialogues = set(target.items.values_list("dialogue_id", flat=True))
    assert dialogues <= set(criterion.study.items.filter(position__gt=SURE).values_list("dialogue_id", flat=True))
    assert len(dialogues) == target.items.count() == 26
    assert made.calibration.study == criterion.study


def test_criteria_are_asked_as_they_are_in_the_study(criterion):
    rated = {"unit": "assistant_turn", "limits": {"severities": []}, "is_required": False, "help": "Mark it."}
    CriterionFactory(study=criterion.study, key="faults", name="Faults", type="spans", level="spans", **rated)
    target = made_from(criterion).target
    fields = ("key", "type", "level", "unit", "limits", "is_required", "condition", "help", "is_asked")
    assert list(target.criteria.values_list(*fields)) == list(criterion.study.criteria.values_list(*fields))


@pytest.mark.any_database
def test_what_people_say_there_comes_back_and_enters_nothing_else(criterion, client):
    before = trusted(criterion).calibration
    made = made_from(criterion)
    theirs = made.target.criteria.get()
    truth = dict(
        zip(
            criterion.study.items.order_by("position").values_list("dialogue_id", flat=True),
            ["yes", "no"] * (N // 2),
            strict=True,
        )
    )
    dialogues = made.target.items.order_by("position").values_list("dialogue_id", flat=True)
    people_say(theirs, {"erin": [truth[pk] for pk in dialogues]})
    found = trusted(criterion)
    assert found.calibration == before
    back = escalation.summarise_return(escalation.newest(criterion.study, found.judge), found.evidence)
    one = back["criteria"]["done"]
    assert (back["items"], one["labelled"]) == (26, 26)
    assert one["confirmed"]["value"] == 0, "the judge is wrong wherever it is unsure"
    assert one["combined"] == pytest.approx(0.5), "every item has its true value: from people, or a sure verdict"
    certificate = certificates.issue(by=None, found=found)
    assert certificate.content["escalation"] == back
    client.force_login(ResearcherFactory())
    page = client.get(reverse("certificate_detail", args=[certificate.sha256])).content.decode()
    said = " ".join(re.sub(r"<[^>]+>", " ", page[page.index("Escalated to people") :]).split())
    assert f"{back['study']} holds 26 items whose verdicts are below the confidence threshold" in said
    assert f"{criterion.name} 26 0.000" in said


@pytest.mark.long
def test_before_people_have_begun_nothing_is_known(criterion):
    made_from(criterion)
    found = trusted(criterion)
    one = escalation.summarise_return(escalation.newest(criterion.study, found.judge), found.evidence)["criteria"][
        "done"
    ]
    assert one["confirmed"]["reason"] == "people have not decided any of them yet"
    assert one["combined"] is None


@pytest.mark.any_database
def test_without_a_guarantee_everything_unlabelled_is_left():
    criterion = study(n=60, labelled=40, noise=2.0, name="Other", judge="other")
    found = escalation.find_escalated(trusted(criterion, "other"), 0.95)
    assert found.thresholds == {"personalization": None}
    assert len(found.positions) == 20


@pytest.mark.long
def test_nothing_left_and_targets_that_were_not_tried_are_said():
    complete = trusted(study(n=30, name="Other", judge="other"), "other")
    with pytest.raises(InputError, match="nothing is escalated to people"):
        escalation.escalate(by=None, found=complete, name="Left")
    with pytest.raises(InputError, match=r"0\.8, 0\.9, 0\.95"):
        escalation.find_escalated(complete, 0.5)
    assert not Escalation.objects.exists()


@pytest.mark.long
def test_from_the_page_and_by_command(criterion, client):
    client.force_login(ResearcherFactory())
    judge = StudyData.load(criterion.study).judge("gpt")
    page = client.get(reverse("judge_verdict", args=["known", judge.pk]))
    assert "90 %: 26" in " ".join(page.content.decode().split())
    address = reverse("judge_escalate", args=["known", judge.pk])
    assert client.post(address, {"name": "Doubtful", "target": "0.9"})["Location"] == "/studies/doubtful/"
    for wrong, field, message in (
        ({"name": "Doubtful"}, "name", "There is a study called"),
        ({"name": ""}, "name", "This field is required."),
        ({"target": "0.5"}, "target", "Select a valid choice."),
        ({"overlap": "0"}, "overlap", "greater than or equal to 1"),
    ):
        refused = client.post(address, {"name": "Other", "target": "0.9", **wrong})
        assert refused.status_code == 400
        assert message in str(refused.context["escalating"].errors[field])
        assert f'id="id_{field}_error"' in refused.content.decode(), "the error is at its field"
    assert Escalation.objects.count() == 1
    shown = client.get(reverse("judge_verdict", args=["known", judge.pk])).content.decode()
    assert "Verdicts of the judge that people confirm" in shown
    out = io.StringIO()
    call_command("escalate", study="Known", judge="gpt", name="By command", json=True, stdout=out)
    assert json.loads(out.getvalue())["items"] == 26
