"""Columns of one's own: strata of a draw, filters, and groups of items."""

from __future__ import annotations

from collections import Counter

import pytest
from django.urls import reverse

from annotation.studies.models.studies import Study
from annotation.studies.queries import items
from annotation.studies.queries.items import list_column_values
from annotation.studies.services import samples
from core.errors import InputError
from judging.assessment.services.agreement import load_grouping
from tests.support.factories import DialogueFactory, ResearcherFactory, StudyFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    for number in range(12):
        extra = {"team": "red" if number % 3 else "blue", "score": number % 2, "note": f"n{number}"}
        DialogueFactory(extra=extra)
    DialogueFactory(extra={})
    return StudyFactory(kind="dialogue")


def drawn(study: Study, **given) -> Counter:
    samples.draw(by=None, study=study, **given)
    return Counter(study.items.values_list("stratum", flat=True))


def test_a_draw_is_stratified_by_a_column(study):
    assert drawn(study, method="stratified", size=5, strata=["team"], allocation="equal") == {
        "red": 2,
        "blue": 2,
        "(none)": 1,
    }


def test_a_draw_is_filtered_by_a_column_also_one_of_numbers(study):
    drawn(study, method="all", filters={"team": ["blue"], "score": "0"})
    found = study.items.values_list("dialogue__extra__team", "dialogue__extra__score")
    assert sorted(found) == [("blue", 0), ("blue", 0)]


@pytest.mark.parametrize("where", ["strata", "filters"])
def test_a_column_that_no_record_has_is_refused_with_those_that_there_are(study, where):
    given = {"strata": ["colour"]} if where == "strata" else {"filters": {"colour": ["red"]}}
    with pytest.raises(InputError, match=r"'colour' is not one of source, .*score, team") as refused:
        samples.draw(by=None, study=study, method="stratified" if where == "strata" else "all", size=2, **given)
    assert refused.value.field == where


def test_items_are_grouped_by_a_column(study):
    drawn(study, method="all")
    named, kinds = load_grouping(study, "team")
    assert kinds is None
    assert Counter(named.values()) == {"red": 8, "blue": 4, "(none)": 1}
    assert items.list_own_groupings(study) == ["score", "team"]
    with pytest.raises(InputError, match=r"cannot be grouped by 'colour'; choose one of tier, stratum, .*team"):
        load_grouping(study, "colour")


def test_the_page_offers_columns_of_few_values(client, study):
    client.force_login(ResearcherFactory())
    page = client.get(reverse("study_create") + "?kind=dialogue").content.decode()
    assert 'name="filter_team"' in page
    assert 'value="score"' in page
    assert "filter_note" not in page
    given = {"name": "Blue", "method": "all", "overlap": 1, "filter_team": ["blue"], "template": "published"}
    given |= {"access": "invited", "check_every": 0, "repeat_every": 0, "repeat_after": 10, "go": "create"}
    client.post(reverse("study_create") + "?kind=dialogue", given)
    assert set(Study.objects.get(name="Blue").items.values_list("dialogue__extra__team", flat=True)) == {"blue"}


def test_columns_of_one_value_or_of_another_in_each_record_are_no_groups():
    rows = [{"same": 1, "each": n, "some": n % 2, "deep": {"a": 1}, "flag": True} for n in range(5)]
    assert list_column_values([*rows, None]) == {"some": ["0", "1"]}
