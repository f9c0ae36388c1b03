"""People's labels as rating tables."""

import pytest

from annotation.studies.queries import ratings
from tests.support.factories import AnnotationFactory, AssignmentFactory, CriterionFactory, ItemFactory, StudyFactory
from tests.support.labelled import people_say, with_items

pytestmark = pytest.mark.django_db


def test_alice_reads_each_criterion_as_a_table(django_assert_num_queries):
    study = with_items(3)
    done = CriterionFactory(study=study, key="done", yes_no=True)
    depth = CriterionFactory(study=study, key="depth")
    people_say(done, {"bob": ["yes", "no", None], "dana": ["yes", "yes", "no"]})
    people_say(depth, {"bob": ["4", "1", None]})
    with django_assert_num_queries(4):
        first, second = ratings.load_study(study)
    assert (first.table.items, first.table.raters) == (("1", "2", "3"), ("bob", "dana"))
    assert first.table.codes.tolist() == [[1, 1], [0, 1], [-1, 0]]
    assert second.table.codes.tolist() == [[3], [0]]
    assert second.table.categories == ("1", "2", "3", "4")  # the criterion's, not those that were used
    assert second.table.level == "ordinal"
    assert first.positions == (1, 2, 3)


def test_an_answer_that_could_not_be_judged_is_counted_and_is_not_a_rating():
    study = with_items(2)
    criterion = CriterionFactory(study=study, yes_no=True)
    people_say(criterion, {"bob": ["yes", ""], "dana": ["yes", ""]})
    (found,) = ratings.load_study(study)
    assert found.unscored == {"bob": 1, "dana": 1}
    assert found.table.codes.tolist() == [[1, 1], [-1, -1]]


def test_what_bob_has_not_handed_in_is_not_read():
    item = ItemFactory(study=StudyFactory())
    CriterionFactory(study=item.study)
    AnnotationFactory(assignment=AssignmentFactory(item=item, leased=True), value="2")
    (found,) = ratings.load_study(item.study)
    assert found.table.n_ratings == 0


def test_a_study_without_labels_has_empty_tables():
    criterion = CriterionFactory()
    (found,) = ratings.load_study(criterion.study)
    assert (found.table.n_items, found.table.n_raters, found.unscored) == (0, 0, {})


def test_other_studies_stay_out():
    AnnotationFactory()
    criterion = CriterionFactory()
    (found,) = ratings.load_study(criterion.study)
    assert found.table.n_items == 0
