"""One verdict of each judge per item."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.studies.queries import ratings as people
from judging.assessment.queries import ratings
from tests.support.factories import CriterionFactory, JudgeFactory, JudgeRunFactory
from tests.support.labelled import add_verdicts, judge_says, people_say, with_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def criterion():
    criterion = CriterionFactory(study=with_items(3, kind="pair"), preference=True)
    people_say(criterion, {"bob": ["1", "2", "tie"]})
    return criterion


def the_judges(criterion):
    return ratings.load_study(criterion.study).get(criterion.pk, ())


def table_of(criterion):
    return people.load_study(criterion.study)[0].table


def test_verdicts_line_up_with_the_peoples_items(criterion, django_assert_num_queries):
    judge_says(criterion, "gpt", ["2", "", "tie"])
    with django_assert_num_queries(5):
        (gpt,) = the_judges(criterion)
    assert gpt.codes(table_of(criterion)).tolist() == [1, -1, 2]
    assert gpt.find_unscored(table_of(criterion)).tolist() == [False, True, False]
    assert (gpt.name, gpt.kind, gpt.finished) == ("gpt", "judge", True)


def test_an_item_it_was_not_asked_about_is_missing_and_not_unscored(criterion):
    judge_says(criterion, "gpt", ["2", None, "tie"])
    (gpt,) = the_judges(criterion)
    assert gpt.codes(table_of(criterion)).tolist() == [1, -1, 2]
    assert not gpt.find_unscored(table_of(criterion)).any()


def test_both_orders_have_to_name_the_same_response(criterion):
    run = judge_says(criterion, "gpt", ["1", "1", ""], order="AB")
    add_verdicts(run, criterion, ["1", "2", "tie"], order="BA")
    (gpt,) = the_judges(criterion)
    assert gpt.codes(table_of(criterion)).tolist() == [0, -1, 2]
    assert gpt.find_unscored(table_of(criterion)).tolist() == [False, True, False]


def test_only_the_first_repeat_counts(criterion):
    run = judge_says(criterion, "gpt", ["1", "1", "1"])
    add_verdicts(run, criterion, ["2", "2", "2"], repeat=2)
    (gpt,) = the_judges(criterion)
    assert gpt.codes(table_of(criterion)).tolist() == [0, 0, 0]


def test_the_newest_finished_run_counts_also_while_another_one_is_going(criterion):
    judge = JudgeFactory(name="gpt")
    old, new, going = (
        JudgeRunFactory(study=criterion.study, judge=judge, criteria=[criterion], finished_at=finished)
        for finished in (timezone.now() - timedelta(days=1), timezone.now(), None)
    )
    for run, value in ((old, "1"), (new, "2"), (going, "tie")):
        add_verdicts(run, criterion, [value] * 3)
    (gpt,) = the_judges(criterion)
    assert (gpt.run_id, gpt.finished) == (new.pk, True)


def test_a_run_that_is_going_counts_where_there_is_no_other_and_says_so(criterion):
    run = JudgeRunFactory(study=criterion.study, criteria=[criterion])
    add_verdicts(run, criterion, ["1", None, None])
    (judge,) = the_judges(criterion)
    assert (judge.run_id, judge.finished, judge.kind) == (run.pk, False, "baseline judge")


def test_two_versions_of_a_judge_are_two_judges(criterion):
    for version in (2, 1):
        judge = JudgeFactory(name="gpt", version=version)
        add_verdicts(JudgeRunFactory(study=criterion.study, judge=judge, criteria=[criterion]), criterion, ["1"] * 3)
    assert [judge.name for judge in the_judges(criterion)] == ["gpt", "gpt v2"]


def test_a_study_without_runs_has_no_judges(criterion):
    assert ratings.load_study(criterion.study) == {}
