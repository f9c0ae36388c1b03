"""Labels as columns of numbers say what the labels say one by one, and large studies are not read by a page."""

from __future__ import annotations

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotation.agreement.services.tiers import TierOptions
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion
from annotation.studies.queries import columns, ratings
from annotation.studies.queries.units import build_names, parse_names
from annotation.workbench.queries import adjudication
from core import row_counts
from core.accounts.models.users import User
from judging.assessment.queries import items
from judging.assessment.services.items import RatedItems
from tests.support.factories import CriterionFactory, ResearcherFactory
from tests.support.labelled import judge_says, people_say, with_items
from tests.support.large import forget_counts

pytestmark = pytest.mark.django_db

ANSWERS = {
    "zoe": ["1", "2", "", None, "3"],
    "adam": [None, "2", "1", "3", "3"],
    "Émile": ["3", None, "1", "", "1"],
}


@pytest.fixture
def criterion() -> Criterion:
    made = CriterionFactory(study=with_items(5))
    people_say(made, ANSWERS)
    return made


def one_by_one(criterion: Criterion) -> ratings.PeoplesRatings:
    return ratings.build_ratings(criterion, list(ratings._labels(criterion)), tuple(criterion.values))


def test_columns_are_what_the_rows_are(criterion):
    fast, slow = ratings.load_criterion(criterion), one_by_one(criterion)
    assert fast.table.items == slow.table.items
    assert sorted(fast.table.raters) == sorted(slow.table.raters) == ["adam", "zoe", "Émile"]
    assert (fast.table.codes == slow.table.select_raters(fast.table.raters).codes).all()
    assert fast.unscored == slow.unscored == {"zoe": 1, "Émile": 1}
    assert fast.table.n_ratings == 10


def test_a_value_that_is_spelled_otherwise_than_on_the_scale_still_counts(criterion):
    Annotation.objects.filter(value="3").update(value="3.0")
    assert ratings.load_criterion(criterion).table.n_ratings == 10
    assert (ratings.load_criterion(criterion).table.counts[:, 2]).tolist() == [1, 0, 0, 1, 2]


def test_a_value_off_the_scale_is_named_with_its_item_and_rater(criterion):
    Annotation.objects.filter(assignment__annotator__username="adam", value="1").update(value="9")
    with pytest.raises(ValueError, match="item '3', rater 'adam'"):
        ratings.load_criterion(criterion)


def test_nothing_is_read_where_nothing_is_asked(criterion, django_assert_num_queries):
    with django_assert_num_queries(0):
        found = columns.read(Annotation.objects.none(), "pk", "turn")
    assert [one.size for one in found] == [0, 0]


def test_turns_are_numbered_in_order_and_named_as_they_are_called():
    names = ["2", "2.1", "2.11", "10", "10.2"]
    numbers = parse_names(names)
    assert (np.diff(numbers) > 0).all()
    assert build_names(numbers) == names


def test_some_positions_are_read_alone(criterion):
    judge_says(criterion, "gpt", ["1", "2", "1", "", "3"])
    whole = RatedItems.read(criterion.study, criterion, TierOptions(draws=0))
    some = RatedItems.read(criterion.study, criterion, TierOptions(draws=0), [2, 4])
    assert some.table.items == ("2", "4")
    assert some.summary([2, 4]) == whole.summary([2, 4])


class TestLargeStudies:
    @pytest.fixture(autouse=True)
    def small_limit(self, monkeypatch):
        monkeypatch.setattr(row_counts, "LARGE", 3)
        forget_counts()
        yield
        forget_counts()

    @pytest.fixture
    def alice(self, client: Client) -> User:
        researcher = ResearcherFactory(username="alice")
        client.force_login(researcher)
        return researcher

    @pytest.mark.parametrize("page", ["tiers", "adjudication", "quality", "gold", "calibration"])
    def test_what_reads_all_labels_says_so_first_and_does_it_when_asked(self, criterion, client, alice, page):
        address = reverse(page, args=[criterion.study.slug])
        first = client.get(address, {"criterion": criterion.key}).content.decode()
        assert "Read them all now" in first
        assert f"--study {criterion.study.slug}" in first
        assert f"?criterion={criterion.key}&amp;whole=1" in first
        whole = client.get(address, {"whole": "1"})
        assert whole.status_code == 200
        assert "Read them all now" not in whole.content.decode()

    def test_the_list_of_items_reads_its_own_page(self, criterion, client, alice):
        judge_says(criterion, "gpt", ["1", "2", "1", "", "3"])
        few = client.get(reverse("item_list", args=[criterion.study.slug])).context["rows"]
        row_counts.LARGE = 10**6
        assert few == client.get(reverse("item_list", args=[criterion.study.slug])).context["rows"]
        assert len(few) == 5

    def test_a_list_that_narrows_reads_all_labels_only_when_asked(self, criterion, client, alice):
        address = reverse("item_list", args=[criterion.study.slug])
        assert "Read them all now" in client.get(address, {"majority": "3"}).content.decode()
        whole = client.get(address, {"majority": "3", "whole": "1"})
        assert [item.position for item in whole.context["page"]] == [4, 5]

    def test_pages_are_counted_by_position_only_where_none_is_missing(self, criterion):
        assert list(items.positions(criterion.study)) == [1, 2, 3, 4, 5]
        assert isinstance(items.positions(criterion.study), range)
        forget_counts()
        criterion.study.items.filter(position=5).update(position=7)
        assert list(items.positions(criterion.study)) == [1, 2, 3, 4, 7]
        assert items.load_neighbours(criterion.study, criterion.study.items.get(position=7))[:3] == (5, 5, 4)

    def test_a_study_without_items_has_no_position(self):
        assert list(items.positions(with_items(0))) == []

    def test_the_next_item_to_be_decided_is_looked_for_among_those_that_follow(self, criterion, monkeypatch):
        monkeypatch.setattr(adjudication, "WINDOW", 2)
        found = adjudication.find_next_dispute(criterion, 1, 0)
        assert found is not None
        assert (found.position, found.answers) == (5, (("not at all", 1), ("mostly", 2))), "items 1 and 5 are disputed"
        assert adjudication.find_next_dispute(criterion, 5, 0) is None
        row_counts.LARGE = 10**6
        after_5 = adjudication.find_next_dispute(criterion, 5, 0)
        assert after_5 is not None
        assert after_5.position == 1

    def test_the_page_of_files_counts_up_to_a_number(self, criterion, client, alice):
        page = client.get(reverse("study_files", args=[criterion.study.slug])).content.decode()
        assert "More than 3 labels of people" in " ".join(page.split())
        row_counts.LARGE = 10**6
        page = client.get(reverse("study_files", args=[criterion.study.slug])).content.decode()
        assert "12 labels of people and 0 of judges" in " ".join(page.split())

    def test_what_was_counted_a_while_ago_says_so(self, criterion, client, alice, monkeypatch):
        now = [0.0]
        monkeypatch.setattr(row_counts.time, "monotonic", lambda: now[0])
        address = reverse("study_detail", args=[criterion.study.slug])
        assert "once a minute" not in client.get(address).content.decode()
        now[0] = 12.0
        assert "Counted 12 s ago" in client.get(address).content.decode()

    def test_neighbours_of_an_item(self, criterion, client, alice):
        page = client.get(reverse("item_detail", args=[criterion.study.slug, 3])).context
        assert page["where"] == "3 of 5"
        assert page["previous_href"].endswith("/items/2/")
        assert page["next_href"].endswith("/items/4/")
        last = client.get(reverse("item_detail", args=[criterion.study.slug, 5])).context
        assert last["next_href"] == ""

    def test_a_small_study_is_read_at_once(self, client, alice):
        small = CriterionFactory(study=with_items(1))
        people_say(small, {"zoe": ["1"], "adam": ["2"]})
        assert "Read them all now" not in client.get(reverse("tiers", args=[small.study.slug])).content.decode()

    def test_many_rows_are_counted_once_a_minute_and_few_each_time(self, monkeypatch):
        now = [0.0]
        monkeypatch.setattr(row_counts.time, "monotonic", lambda: now[0])
        found = iter([3, 4, 5, 1, 2])
        assert row_counts.count_cached("a", lambda: next(found), int) == 3
        assert row_counts.count_cached("a", lambda: next(found), int) == 3
        now[0] = row_counts.SECONDS + 1
        assert row_counts.count_cached("a", lambda: next(found), int) == 4
        assert row_counts.count_cached("b", lambda: next(found), int) == 5
        forget_counts()
        assert row_counts.count_cached("a", lambda: next(found), int) == 1
        assert row_counts.count_cached("a", lambda: next(found), int) == 2
