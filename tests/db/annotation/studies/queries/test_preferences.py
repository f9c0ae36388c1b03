"""What the difficulty of preferences is computed from."""

from dataclasses import replace

import pytest

from annotation.corpus.models import ResponsePair
from annotation.studies.models.labels import Annotation
from annotation.studies.queries import ratings
from annotation.studies.queries.preferences import preferences
from tests.support.factories import CriterionFactory
from tests.support.labelled import people_say, with_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def criterion():
    made = CriterionFactory(study=with_items(3, kind="pair"), preference=True)
    people_say(made, {"bob": ["1", "2", ""], "dana": ["tie", None, "2"]})
    return made


def test_who_saw_which_response_first_and_whose_they_are(criterion, django_assert_num_queries):
    ResponsePair.objects.update(model_1="small", model_2="large")
    read = ratings.load_criterion(criterion)
    with django_assert_num_queries(3):
        table, shown = preferences(read)
    assert shown.order.tolist() == [[1, -1], [1, 0], [1, -1]]  # dana sees response 2 first
    assert shown.systems == [("small", "large")] * 3
    assert table is read.table  # nobody said by how much


def test_by_how_much_where_all_say_it(criterion):
    Annotation.objects.filter(value__in=["1", "2"]).update(strength="slightly")
    Annotation.objects.filter(value="1").update(strength="much")
    table, _ = preferences(ratings.load_criterion(criterion))
    assert table.categories == ("1 much", "1 slightly", "tie", "2 slightly", "2 much")
    assert table.codes.tolist() == [[0, 2], [3, -1], [-1, 3]]
    Annotation.objects.filter(value="1").update(strength="")
    assert preferences(ratings.load_criterion(criterion))[0].n_categories == 3


def test_other_criteria_are_left_as_they_are(django_assert_num_queries):
    made = CriterionFactory(study=with_items(2), yes_no=True)
    people_say(made, {"bob": ["yes", "no"]})
    read = ratings.load_criterion(made)
    with django_assert_num_queries(0):
        assert preferences(read) == (read.table, None)


def test_what_is_handed_in_meanwhile_is_left_to_the_next_reading(criterion):
    read = ratings.load_criterion(criterion)
    before = replace(read.table, codes=read.table.codes[:, :1], raters=read.table.raters[:1])
    table, shown = preferences(replace(read, table=before))
    assert table is before
    assert shown.order.tolist() == [[1], [1], [1]]
