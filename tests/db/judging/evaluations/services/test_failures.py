"""Wrong answers and what people see in them."""

from __future__ import annotations

import pytest

from core.errors import InputError
from judging.evaluations.queries import evaluations as queries
from judging.evaluations.services import failures
from judging.runs.models.evaluations import FailureTag
from judging.runs.models.runs import Judgment
from tests.support import factories
from tests.support.evaluated import benchmark_with, evaluated
from tests.support.judging import scripted

pytestmark = pytest.mark.django_db


@pytest.fixture
def evaluation():
    """Gold 1, 2, 1, 2; the judge always says response 1, so that cases 2 and 4 are wrong in both orders."""
    return evaluated(benchmark_with("1212"), scripted(otherwise="1"))


def wrong(evaluation):
    return list(queries.wrong(evaluation).order_by("pk"))


def test_wrong_answers_are_those_that_name_the_other_response(evaluation):
    found = wrong(evaluation)
    assert len(found) == 4
    assert {(one.value, one.gold, one.tier) for one in found} == {("1", "2", "hard")}


def test_unscored_answers_and_excluded_cases_are_not_wrong(evaluation):
    pair = wrong(evaluation)[0].item.pair_id
    Judgment.objects.filter(item__pair=pair).update(value="", unscored_reason="refusal")
    assert len(wrong(evaluation)) == 2
    evaluation.benchmark.cases.exclude(pair=pair).update(excluded_reason="contested")
    assert wrong(evaluation) == []


def test_tags_are_one_persons_and_can_be_changed_by_that_person_alone(evaluation):
    alice, bob = factories.ResearcherFactory(username="alice"), factories.ResearcherFactory(username="bob")
    one = wrong(evaluation)[0]
    failures.tag(by=alice, evaluation=evaluation, judgment=one, tags=["generic", "misread"])
    failures.tag(by=bob, evaluation=evaluation, judgment=one, tags=["generic"], note="says nothing")
    failures.tag(by=alice, evaluation=evaluation, judgment=one, tags=["misread"])

    found = set(FailureTag.objects.values_list("tagged_by__username", "tag", "note"))
    assert found == {("alice", "misread", ""), ("bob", "generic", "says nothing")}


def test_counts_by_model_with_intervals_and_who_tagged(evaluation):
    alice, bob = factories.ResearcherFactory(username="alice"), factories.ResearcherFactory(username="bob")
    first, second, third, _ = wrong(evaluation)
    failures.tag(by=alice, evaluation=evaluation, judgment=first, tags=["generic", "several"])
    failures.tag(by=bob, evaluation=evaluation, judgment=first, tags=["generic"])
    failures.tag(by=bob, evaluation=evaluation, judgment=second, tags=["distracted"])
    failures.tag(by=bob, evaluation=evaluation, judgment=third, tags=["generic"])

    (found,) = failures.counts(evaluation, bootstrap=100)
    assert (found["n_tagged"], found["tagged_by"]) == (3, ["alice", "bob"])
    assert {name: (one["n"], one["value"]) for name, one in found["tags"].items() if one["n"]} == {
        "generic": (2, pytest.approx(2 / 3)),
        "several": (1, pytest.approx(1 / 3)),
        "distracted": (1, pytest.approx(1 / 3)),
    }
    assert found["tags"]["misread"]["value"] == 0.0


def test_no_tags_no_counts(evaluation):
    assert failures.counts(evaluation) == []


@pytest.mark.parametrize(("tags", "note", "field"), [(["silly"], "", "tags"), (["generic"], "x" * 501, "note")])
def test_what_is_no_tag_is_refused(evaluation, tags, note, field):
    with pytest.raises(InputError) as error:
        failures.tag(
            by=factories.ResearcherFactory(), evaluation=evaluation, judgment=wrong(evaluation)[0], tags=tags, note=note
        )
    assert error.value.field == field


def test_a_right_answer_cannot_be_tagged(evaluation):
    right = Judgment.objects.filter(run__evaluation=evaluation).exclude(pk__in=queries.wrong(evaluation).values("pk"))
    with pytest.raises(InputError, match="not a wrong one"):
        failures.tag(by=factories.ResearcherFactory(), evaluation=evaluation, judgment=right.first(), tags=["generic"])
