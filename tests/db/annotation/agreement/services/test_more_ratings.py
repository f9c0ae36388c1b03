"""What more ratings would tell of a study's items."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from django.core.cache import cache

from annotation.agreement.services import more_ratings
from annotation.studies.queries import ratings
from annotation.workbench.services import overlap
from core.errors import InputError
from tests.support.factories import CriterionFactory
from tests.support.labelled import people_say, with_items


def voted(n=40, people=6, seed=2, **study):
    """A criterion of yes and no that some people answered on all items: from easy to contested."""
    rng = np.random.default_rng(seed)
    criterion = CriterionFactory(
        study=with_items(n, **{"name": "Suits", "slug": "suits", "state": "open", **study}), key="done", yes_no=True
    )
    p = scipy.special.expit(4 * rng.normal(size=(n, 1)) + np.zeros(people))
    votes = rng.random(p.shape) < p
    people_say(criterion, {f"p{k}": ["yes" if one else "no" for one in votes[:, k]] for k in range(people)})
    return criterion


@pytest.fixture
def criterion(db):
    return voted()


def document(criterion, **more):
    return more_ratings.compute_criterion(criterion.study, ratings.load_criterion(criterion), **more)


def test_it_says_how_many_ratings_settle_how_many_items(criterion):
    found = document(criterion)
    assert found["reason"] is None
    assert found["n_clear"] + found["n_unclear"] == found["n_items"] == 40
    assert 0 < found["n_first"] == len(found["ask"]) <= found["n_unclear"]
    assert found["ask"] == [row["position"] for row in found["items"] if row["likely"]]
    assert found["items"][0]["item"] == f"suits-d{found['items'][0]['position']}"
    assert f"more ratings on {found['n_first']} items are expected to settle" in found["sentence"]


def test_items_that_wait_for_a_rating_are_not_asked_about_again(criterion):
    before = document(criterion)["ask"]
    assert overlap.ask_more(by=None, study=criterion.study, positions=before[:1]) == 1
    after = document(criterion)
    assert (after["ask"], after["n_waiting"]) == (before[1:], 1)


def test_it_is_computed_once_for_the_same_ratings(criterion, monkeypatch):
    first = document(criterion)
    monkeypatch.setattr(more_ratings, "compute_more_ratings", None)
    assert document(criterion) == first
    with pytest.raises(TypeError):
        document(criterion, ahead=2)


def test_a_large_study_is_left_to_the_command(criterion, monkeypatch):
    monkeypatch.setattr(more_ratings, "AT_ONCE", 100)
    left = more_ratings.build_more_context(criterion.study, ratings.load_criterion(criterion))
    assert "plan --settle-tiers" in left["more"]["sentence"]
    assert left["more_items"] == left["more"]["ask"] == []
    whole = document(criterion)
    kept = more_ratings.build_more_context(criterion.study, ratings.load_criterion(criterion))
    assert kept["more"]["sentence"] == whole["sentence"]
    assert len(kept["more_items"]) == min(10, whole["n_unclear"])


def test_too_few_items_have_a_reason(db):
    found = document(voted(n=5))
    assert found["reason"] == "5 items with two ratings; the model needs 20"
    assert found["sentence"] == f"What more ratings would tell is not known: {found['reason']}."
    assert found["ask"] == found["items"] == []


@pytest.mark.parametrize(("asked", "field"), [({"cuts": (0.1, 0.2, 1.5)}, "agreement_cuts"), ({"ahead": 7}, "ahead")])
def test_options_that_make_no_sense_are_refused(criterion, asked, field):
    with pytest.raises(InputError) as refused:
        document(criterion, **asked)
    assert refused.value.field == field


def words(noun="item", **more):
    figure = {"value": 41.3, "low": 33.0, "high": 49.0}
    found = {"n_items": 45, "n_unclear": 27, "n_first": 18, "ahead": 6, "ratings": figure, "settled": figure, **more}
    return more_ratings.to_words(found, noun)


def test_the_sentence_of_each_case():
    assert words() == (
        "41 (33 to 49) more ratings on 18 items are expected to settle 41 (33 to 49) of 27 unclear items. "
        "9 lie too near a threshold to become clear within 6 more ratings."
    )
    assert words(n_first=27).endswith("of 27 unclear items.")
    assert words(n_first=0, ahead=1) == "None of the 27 unclear items is likely to become clear within 1 more rating."
    assert words(n_unclear=0, n_first=0) == "All 45 items have a clear tier."
    assert words(n_items=0) == "No item has a difficulty."
    assert "more ratings on 18 responses" in words(noun="response")
    assert words(noun="response", n_unclear=0, n_first=0) == "All 45 responses have a clear tier."


@pytest.fixture(autouse=True)
def _empty_cache():
    cache.clear()
