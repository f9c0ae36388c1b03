"""The queue of items on which a judge contradicts people's label: what is in it, and what is not."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.studies.models.labels import Adjudication, Annotation
from annotation.studies.models.studies import Criterion
from annotation.workbench.services import adjudications
from judging.assessment.services.against_majority import contradictions
from judging.judges.models import HoldOut
from tests.support.factories import (
    AnnotationFactory,
    AssignmentFactory,
    CriterionFactory,
    ItemFactory,
    JudgeFactory,
    JudgeRunFactory,
    JudgmentFactory,
    ResearcherFactory,
    StudyFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db

PEOPLE = ["111", "222", "12", "444", "333"]
GPT = ["1", "4", "4", "3", ""]


@pytest.fixture
def criterion(django_user_model) -> Criterion:
    """Five items: the judge agrees, is two steps apart, two above both medians, is one step apart, says nothing."""
    study = StudyFactory(name="Pilot", slug="pilot")
    criterion = CriterionFactory(study=study, key="fit")
    raters = [UserFactory(username=name) for name in ("bob", "charlie", "dana")]
    run = JudgeRunFactory(study=study, judge=JudgeFactory(name="gpt"), criteria=[criterion])
    for values, said in zip(PEOPLE, GPT, strict=True):
        item = ItemFactory(study=study)
        for rater, value in zip(raters, values, strict=False):
            slot = AssignmentFactory(item=item, submitted=True, annotator=rater)
            AnnotationFactory(assignment=slot, criterion=criterion, value=value, note=f"A note on {value}.")
        reason = {} if said else {"unscored_reason": "refusal"}
        JudgmentFactory(run=run, item=item, criterion=criterion, value=said, **reason)
    return criterion


def found(criterion: Criterion, **given) -> list[tuple[int, int, str]]:
    return [(one.position, one.steps, one.decision) for one in contradictions(criterion.study, criterion, **given)]


def test_most_steps_first_and_what_is_decided_last(criterion: Criterion) -> None:
    assert found(criterion) == [(2, 2, ""), (3, 2, ""), (4, 1, "")]
    alice = ResearcherFactory()
    item = criterion.study.items.get(position=2)
    adjudications.decide(by=alice, item=item, criterion=criterion, value="3")
    assert found(criterion) == [(3, 2, ""), (4, 1, ""), (2, 2, "mostly")]
    assert contradictions(criterion.study, criterion)[2].answers == (("a little", 3),)


def test_on_an_ordered_scale_people_s_label_is_their_median(criterion: Criterion) -> None:
    """1, 3, 4 has no majority and the median 3; of 2 and 4 neither 2, 3 nor 4 contradicts."""
    answers = Annotation.objects.filter(assignment__item__position=1).order_by("pk")
    for answer, value in zip(answers, "134", strict=True):
        Annotation.objects.filter(pk=answer.pk).update(value=value)
    answers = Annotation.objects.filter(assignment__item__position=2).order_by("pk")
    for answer, value in zip(answers[1:], "44", strict=True):
        Annotation.objects.filter(pk=answer.pk).update(value=value)
    Annotation.objects.filter(pk=answers[2].pk).delete()
    assert found(criterion) == [(1, 2, ""), (3, 2, ""), (4, 1, "")]


def test_without_an_order_nothing_is_steps_apart(criterion: Criterion) -> None:
    Criterion.objects.update(level="nominal")
    criterion.refresh_from_db()
    assert found(criterion) == [(2, None, ""), (4, None, "")]


def test_held_out_items_are_no_part_of_it(criterion: Criterion) -> None:
    HoldOut.objects.create(study=criterion.study, share=0.999999, seed=1)
    assert len(found(criterion)) < 2


def test_the_number_of_queries_does_not_depend_on_the_items(criterion, django_assert_max_num_queries) -> None:
    with django_assert_max_num_queries(10):
        contradictions(criterion.study, criterion)


@pytest.mark.any_database
def test_alice_goes_from_the_queue_to_an_item_reads_without_names_and_comes_back(criterion: Criterion) -> None:
    client = Client()
    client.force_login(ResearcherFactory(username="alice"))
    queue = reverse("against_majority", args=["pilot"])
    assert "3 items, 3 not decided yet" in " ".join(client.get(queue).content.decode().split())
    address = reverse("adjudicate", args=["pilot", "fit", 2]) + f"?back={queue}"
    page = client.get(address).content.decode()
    assert "A note on 2." in page
    for hidden in ("bob", "charlie", "dana", "gpt"):
        assert hidden not in page
    assert client.post(address, {"value": "3"}).url == queue
    assert Adjudication.objects.get().method == "adjudicated"
    for elsewhere in ("https://example.org/", "//example.org/", "javascript:alert(1)"):
        outside = reverse("adjudicate", args=["pilot", "fit", 4]) + f"?back={elsewhere}"
        assert client.post(outside, {"value": "3"}).url.startswith("/studies/pilot/")


def test_a_judge_that_is_not_there_is_said(criterion: Criterion) -> None:
    client = Client()
    client.force_login(ResearcherFactory())
    answer = client.get(reverse("against_majority", args=["pilot"]) + "?judge=claude")
    assert answer.status_code == 400
    assert "there are: gpt" in answer.content.decode()
    client.force_login(UserFactory())
    assert client.get(reverse("against_majority", args=["pilot"])).status_code == 403


def test_the_same_as_a_command(criterion: Criterion) -> None:
    out = StringIO()
    call_command("disputes", "--study", "pilot", "--against-majority", "--judge", "gpt", "--json", stdout=out)
    document = json.loads(out.getvalue())
    assert (document["open"], [one["position"] for one in document["items"]]) == (3, [2, 3, 4])
    out = StringIO()
    call_command("disputes", "--study", "pilot", "--json", stdout=out)
    assert [one["position"] for one in json.loads(out.getvalue())["items"]] == [3]
    with pytest.raises(CommandError, match="there are: gpt") as wrong:
        call_command("disputes", "--study", "pilot", "--against-majority", "--judge", "claude")
    assert wrong.value.returncode == 2
    with pytest.raises(CommandError, match="belongs to --against-majority"):
        call_command("disputes", "--study", "pilot", "--judge", "gpt")
